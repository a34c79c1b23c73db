"""Every token store keeps the promises of its port: one suite, in memory and in files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from soulmem.adapters.token_files import TokenFolder
from soulmem.domain.ids import Owner, SoulId
from soulmem.kernels.token_codes import Center, PackedStates, pack
from soulmem.ports.token_store import NO_RECORD, Numbers, TokenFile, TokenStore
from tests.fakes.token_store import FakeTokenStore

ME, LIN = Owner("me"), SoulId("lin")
WIDTH = 10
CENTER = np.linspace(-0.3, 0.6, WIDTH).astype(np.float16)


@pytest.fixture(params=["in memory", "files"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> TokenStore:
    """Each store, empty."""
    if request.param == "in memory":
        return FakeTokenStore()
    return TokenFolder(tmp_path / "tokens")


@pytest.fixture(autouse=True)
def closing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Files that a test leaves open are closed after it."""
    files: list[TokenFile] = []
    original = TokenFolder.open

    def open_noted(
        folder: TokenFolder, owner: Owner, soul: SoulId, model: str, width: int
    ) -> TokenFile:
        files.append(original(folder, owner, soul, model, width))
        return files[-1]

    monkeypatch.setattr(TokenFolder, "open", open_noted)
    yield
    for file in files:
        file.close()


def key(number: int) -> bytes:
    """A key of its own for each number."""
    return number.to_bytes(4, "little") + bytes(11) + b"k"


def texts(*numbers: int, center: Center = CENTER) -> PackedStates:
    """States that differ with their number; text i has i + 2 tokens."""
    states, pieces = [], []
    for number in numbers:
        rng = np.random.default_rng(number)
        states.append(rng.normal(size=(number + 2, WIDTH)).astype(np.float32))
        pieces.append(np.arange(number, 2 * number + 2, dtype=np.int32))
    begins = [np.arange(each.size) % 2 == 0 for each in pieces]
    return pack(states, pieces, center, begins)


def opened(store: TokenStore, model: str = "e5", width: int = WIDTH) -> TokenFile:
    """The file of one soul."""
    return store.open(ME, LIN, model, width)


def numbers(*values: int) -> Numbers:
    """Numbers of records."""
    return np.array(values, np.int64)


def assert_same(first: PackedStates, other: PackedStates) -> None:
    """The same states."""
    for name in ("codes", "scale", "pieces", "starts", "begins", "center"):
        assert_array_equal(getattr(first, name), getattr(other, name))


def test_what_was_put_is_read_in_the_order_that_is_asked(store: TokenStore) -> None:
    file = opened(store)
    records = file.put([key(1), key(2), key(3)], texts(1, 2, 3))
    assert [file.record(key(n)) for n in (1, 2, 3)] == records
    assert len(file) == 3
    assert_same(file.read(numbers(records[2], records[0])), texts(3, 1))
    lists = file.pieces(numbers(records[1]))
    assert_array_equal(lists.pieces, texts(2).pieces)
    assert_array_equal(lists.starts, [0, 4])
    assert_array_equal(lists.begins, [True, False, True, False])


def test_a_number_without_a_record_has_no_tokens(store: TokenStore) -> None:
    file = opened(store)
    (record,) = file.put([key(1)], texts(1))
    states = file.read(numbers(NO_RECORD, record, 99))
    assert_array_equal(np.diff(states.starts), [0, 3, 0])
    assert file.record(key(2)) == NO_RECORD
    assert file.read(numbers()).starts.tolist() == [0]
    assert file.pieces(numbers(NO_RECORD)).starts.tolist() == [0, 0]


def test_a_key_that_has_a_record_keeps_it(store: TokenStore) -> None:
    file = opened(store)
    first = file.put([key(1)], texts(1))
    again = file.put([key(1), key(2), key(2)], texts(5, 2, 3))
    assert again[0] == first[0]
    assert again[1] == again[2]
    assert len(file) == 2
    assert_same(file.read(numbers(*again[:2])), texts(1, 2))


def test_records_outlive_the_file(store: TokenStore) -> None:
    file = opened(store)
    file.put([key(1), key(2)], texts(1, 2))
    file.close()
    file = opened(store)
    file.put([key(3)], texts(3))
    file.close()
    file = opened(store)
    assert_same(file.read(numbers(*map(file.record, map(key, (1, 2, 3))))), texts(1, 2, 3))


@pytest.mark.parametrize(("model", "width"), [("other", WIDTH), ("e5", 12)])
def test_a_file_of_another_model_is_begun_anew(store: TokenStore, model: str, width: int) -> None:
    file = opened(store)
    file.put([key(1)], texts(1))
    file.close()
    other = opened(store, model, width)
    assert len(other) == 0
    assert other.width == width
    assert other.record(key(1)) == NO_RECORD
    other.close()
    assert len(opened(store)) == 0


def test_souls_and_owners_have_files_of_their_own(store: TokenStore) -> None:
    file = opened(store)
    file.put([key(1)], texts(1))
    others = [store.open(ME, SoulId("mo"), "e5", WIDTH)]
    others.append(store.open(Owner("you"), LIN, "e5", WIDTH))
    assert [len(other) for other in others] == [0, 0]
    for each in (file, *others):
        each.close()
    store.drop(ME, LIN)
    store.drop(ME, SoulId("nobody"))
    assert len(opened(store)) == 0


def test_an_erased_record_is_not_there_any_more(store: TokenStore) -> None:
    file = opened(store)
    records = file.put([key(1), key(2), key(3)], texts(1, 2, 3))
    file.erase(numbers(records[1], 99))
    file.erase(numbers(records[1]))
    assert file.record(key(2)) == NO_RECORD
    assert_array_equal(file.records(), [records[0], records[2]])
    assert_array_equal(np.diff(file.read(numbers(*records)).starts), [3, 0, 5])
    (fresh,) = file.put([key(2)], texts(4))
    assert fresh not in records
    file.close()
    file = opened(store)
    assert len(file) == 3
    assert_same(file.read(numbers(file.record(key(2)))), texts(4))


def test_compaction_changes_nothing_but_the_size(store: TokenStore) -> None:
    file = opened(store)
    many = range(4000)
    records = file.put([key(n) for n in many], texts(*(100 for _ in many)))
    before = file.size
    file.erase(numbers(*records[::2]))
    for _ in file.compact():
        pass
    assert file.size <= 0.51 * before
    assert len(file) == 2000
    assert_same(file.read(numbers(*records[1:6:2])), texts(100, 100, 100))
    (record,) = file.put([key(9999)], texts(3))
    file.close()
    file = opened(store)
    assert len(file) == 2001
    wanted = [file.record(key(n)) for n in (1, 9999)]
    assert_same(file.read(numbers(*wanted)), texts(100, 3))
    assert record != NO_RECORD


def test_the_center_of_the_first_record_stays(store: TokenStore) -> None:
    file = opened(store)
    assert file.center is None
    (record,) = file.put([key(1)], texts(1))
    file.erase(numbers(record))
    file.close()
    file = opened(store)
    assert_array_equal(file.center, CENTER)
    other = np.zeros(WIDTH, np.float16)
    with pytest.raises(ValueError, match="another center"):
        file.put([key(2)], texts(2, center=other))
    assert file.record(key(2)) == NO_RECORD
    file.put([key(2)], texts(2))
    assert_same(file.read(numbers(file.record(key(2)))), texts(2))


def test_a_file_of_another_model_takes_another_center(store: TokenStore) -> None:
    file = opened(store)
    file.put([key(1)], texts(1))
    file.close()
    file = opened(store, "other")
    assert file.center is None
    other = np.ones(WIDTH, np.float16)
    file.put([key(1)], texts(1, center=other))
    file.close()
    assert_array_equal(opened(store, "other").center, other)
