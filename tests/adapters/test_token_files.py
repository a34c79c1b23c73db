"""Files of token states survive kills, damage and full disks, and keep nothing of what was erased."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from soulmem.adapters import token_files
from soulmem.adapters.token_files import TokenFolder
from soulmem.domain.errors import StoreError, StoreFull
from soulmem.domain.ids import Owner, SoulId
from soulmem.kernels.token_codes import PackedStates, pack
from soulmem.ports.token_store import NO_RECORD, TokenFile

ME, LIN = Owner("me"), SoulId("lin")
WIDTH = 16
TOKENS = 5
CENTER = np.linspace(-0.5, 0.7, WIDTH).astype(np.float16)

WRITER = """
import sys
from pathlib import Path
from tests.adapters.test_token_files import key, opened, states
file = opened(Path(sys.argv[1]))
for number in range(1_000_000):
    file.put([key(number)], states(number))
    print(number, flush=True)
"""


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
    return number.to_bytes(8, "little") + b"key-of-a"


def states(number: int) -> PackedStates:
    """States of a text, which differ with the number."""
    rows = np.random.default_rng(number).normal(size=(TOKENS, WIDTH))
    pieces = [np.full(TOKENS, 7777, np.int32)]
    return pack([rows.astype(np.float32)], pieces, CENTER)


def opened(folder: Path) -> TokenFile:
    """The file of one soul."""
    return TokenFolder(folder).open(ME, LIN, "e5", WIDTH)


def fill(folder: Path, count: int) -> None:
    """Put so many texts into a file and close it."""
    file = opened(folder)
    for number in range(count):
        file.put([key(number)], states(number))
    file.close()


def is_whole(file: TokenFile, number: int) -> bool:
    """Whether the states of a text are there, as they were put."""
    read = file.read(np.array([file.record(key(number))]))
    wanted = states(number)
    same_center = np.array_equal(read.center, wanted.center)
    return same_center and read.codes.tobytes() == wanted.codes.tobytes()


def path_of(folder: Path, suffix: str) -> Path:
    """The one file with that suffix."""
    (path,) = folder.glob(f"*.{suffix}")
    return path


def test_what_was_reported_before_a_kill_is_there(tmp_path: Path) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert writer.stdout is not None
    reported = -1
    while reported < 40:
        reported = int(writer.stdout.readline())
    writer.kill()
    writer.communicate()
    file = opened(tmp_path)
    assert len(file) > reported
    assert all(is_whole(file, number) for number in range(reported + 1))
    file.put([key(10**6)], states(10**6))
    file.close()
    assert is_whole(opened(tmp_path), 10**6)


@pytest.mark.parametrize("suffix", ["tokens", "index"])
def test_a_file_that_was_cut_anywhere_keeps_what_is_whole(tmp_path: Path, suffix: str) -> None:
    fill(tmp_path / "full", 3)
    size = path_of(tmp_path / "full", suffix).stat().st_size
    kept = []
    for length in range(size):
        folder = tmp_path / str(length)
        shutil.copytree(tmp_path / "full", folder)
        with path_of(folder, suffix).open("r+b") as cut:
            cut.truncate(length)
        file = opened(folder)
        assert all(is_whole(file, number) for number in range(len(file)))
        kept.append(len(file))
        file.put([key(9)], states(9))
        file.close()
        file = opened(folder)
        assert is_whole(file, 9)
        assert len(file) == kept[-1] + 1
        file.close()
    assert kept == sorted(kept)
    assert kept[0] == 0
    assert kept[-1] == 2


def test_a_file_that_is_cut_while_it_is_open_keeps_what_is_whole(
    tmp_path: Path,
) -> None:
    fill(tmp_path / "full", 3)
    size = path_of(tmp_path / "full", "tokens").stat().st_size
    kept = []
    for length in (*range(0, size, 7), size - 1):
        folder = tmp_path / str(length)
        shutil.copytree(tmp_path / "full", folder)
        file = opened(folder)
        assert all(is_whole(file, number) for number in range(3))
        with path_of(folder, "tokens").open("r+b") as cut:
            cut.truncate(length)
        kept.append(sum(is_whole(file, number) for number in range(3)))
        file.put([key(9)], states(9))
        file.close()
    assert kept == sorted(kept)
    assert (kept[0], kept[-1]) == (0, 2)


def test_a_damaged_record_is_dropped_when_it_is_read(tmp_path: Path) -> None:
    fill(tmp_path, 3)
    path = path_of(tmp_path, "tokens")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)
    file = opened(tmp_path)
    assert [is_whole(file, number) for number in range(3)] == [True, False, True]
    assert file.record(key(1)) == NO_RECORD
    file.put([key(1)], states(1))
    assert is_whole(file, 1)


@pytest.mark.parametrize("content", [b"", b"x" * 30, b"\xff" * 5000])
def test_an_unreadable_index_is_begun_anew(tmp_path: Path, content: bytes) -> None:
    fill(tmp_path, 2)
    path_of(tmp_path, "index").write_bytes(content)
    file = opened(tmp_path)
    assert len(file) == 0
    file.put([key(1)], states(1))
    file.close()
    assert is_whole(opened(tmp_path), 1)


def test_a_file_with_a_damaged_center_is_begun_anew(tmp_path: Path) -> None:
    fill(tmp_path, 2)
    path = path_of(tmp_path, "index")
    content = bytearray(path.read_bytes())
    place = content.index(CENTER.tobytes())
    content[place + 3] ^= 1
    path.write_bytes(content)
    file = opened(tmp_path)
    assert len(file) == 0
    assert file.center is None
    assert path_of(tmp_path, "tokens").stat().st_size == 0
    file.put([key(1)], states(1))
    file.close()
    assert is_whole(opened(tmp_path), 1)


def test_a_file_of_a_former_version_is_begun_anew(tmp_path: Path) -> None:
    fill(tmp_path, 2)
    path = path_of(tmp_path, "index")
    path.write_bytes(path.read_bytes().replace(b"tokens 3", b"tokens 2"))
    assert len(opened(tmp_path)) == 0


def test_a_missing_file_of_states_is_begun_anew(tmp_path: Path) -> None:
    fill(tmp_path, 2)
    path_of(tmp_path, "tokens").unlink()
    assert len(opened(tmp_path)) == 0


def test_what_is_erased_is_overwritten_on_disk(tmp_path: Path) -> None:
    fill(tmp_path, 2)
    # The first piece is written in another way.
    codes, pieces = states(1).codes.tobytes(), states(1).pieces[1:].tobytes()
    tokens, index = path_of(tmp_path, "tokens"), path_of(tmp_path, "index")
    assert codes in tokens.read_bytes()
    assert index.read_bytes().count(pieces) == 2
    file = opened(tmp_path)
    file.erase(np.array([file.record(key(1))]))
    assert codes not in tokens.read_bytes()
    assert index.read_bytes().count(pieces) == 1
    assert key(1) not in index.read_bytes()
    assert is_whole(file, 0)


def test_a_full_disk_is_said_and_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, 2)
    file = opened(tmp_path)
    with monkeypatch.context() as patch:
        no_room = SimpleNamespace(free=1 << 20)
        patch.setattr(shutil, "disk_usage", lambda _: no_room)
        with pytest.raises(StoreFull, match="no room for the token states"):
            file.put([key(5)], states(5))
    assert len(file) == 2
    file.put([key(6)], states(6))
    file.close()
    file = opened(tmp_path)
    assert [is_whole(file, number) for number in (0, 1, 5, 6)] == [
        True,
        True,
        False,
        True,
    ]


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("a file")
    with pytest.raises(StoreError, match="cannot be written"):
        opened(tmp_path / "tokens")


def test_compaction_that_is_disturbed_or_broken_off_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_files, "_WASTED", 1)
    monkeypatch.setattr(token_files, "_COPIED", 1)
    fill(tmp_path, 6)
    file = opened(tmp_path)
    file.erase(np.array([file.record(key(number)) for number in (0, 2)]))
    steps = file.compact()
    next(steps)
    file.put([key(9)], states(9))
    assert list(steps) == [None, None, None]
    assert all(is_whole(file, number) for number in (1, 3, 4, 5, 9))
    next(file.compact())  # and it is killed here
    file.close()
    file = opened(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    assert all(is_whole(file, number) for number in (1, 3, 4, 5, 9))
    size = file.size
    assert len(list(file.compact())) == 5
    assert file.size < size
    assert all(is_whole(file, number) for number in (1, 3, 4, 5, 9))
    assert list(file.compact()) == []
