"""Are rows, terms and counts what a recount of what was put says, whatever came before?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from soulmem.graph import incidence as module
from soulmem.graph.incidence import WIDTH, Incidence
from soulmem.graph.windows import Windows
from soulmem.kernels.interpreted import interpreted
from soulmem.kernels.warm import installed_cache, kernels, warm

pytestmark = pytest.mark.timeout(300)  # a thousand scripts on a busy machine, after the compiler
ROWS = st.integers(0, 12)
TEXTS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.floats(0, 1)), max_size=6)
Script = list[tuple[int, list[tuple[str, float]] | None]]
SCRIPTS = st.lists(st.tuples(ROWS, st.none() | TEXTS), max_size=40)


both_ways = pytest.mark.parametrize("_way", ["compiled", "plain"], indirect=True)


@pytest.fixture(autouse=True, scope="module")
def _way(request: pytest.FixtureRequest) -> Iterator[None]:
    """Compiled code; where a test asks for both ways, also plain code."""
    way = getattr(request, "param", "compiled")
    warm(installed_cache())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "kernels", kernels if way == "compiled" else interpreted)
        yield


def played(script: Script) -> tuple[Incidence, dict[int, dict[str, float]]]:
    """An incidence after puts and drops (None), and what it should hold."""
    incidence, truth = Incidence(), dict[int, dict[str, float]]()
    for row, terms in script:
        if terms is None:
            incidence.drop(row)
        else:
            incidence.put(row, terms)
        truth[row] = dict(terms or [])
    return incidence, {row: terms for row, terms in truth.items() if terms}


def check(incidence: Incidence, truth: dict[int, dict[str, float]], visible: list[bool]) -> None:
    mask = np.asarray(visible, np.bool_)
    seen = {row: terms for row, terms in truth.items() if row < len(visible) and visible[row]}
    keys = sorted({key for terms in truth.values() for key in terms})
    numbers = [incidence.number(key) for key in keys]
    assert None not in numbers
    assert [incidence.key(n) for n in numbers if n is not None] == keys
    place, row = incidence.rows_of(np.asarray(numbers, np.int64), mask)
    rows_found = list(zip((keys[index] for index in place), row.tolist(), strict=True))
    assert sorted(rows_found) == sorted((key, row) for row, terms in seen.items() for key in terms)
    assert (np.diff(place) >= 0).all()
    assert incidence.windows(mask) == len(seen)
    counts, true = (
        incidence.counts(mask),
        Counter(key for terms in seen.values() for key in terms),
    )
    assert {key: int(counts[n]) for key, n in zip(keys, numbers, strict=True) if n is not None} == {
        key: true[key] for key in keys
    }
    assert counts.sum() == true.total()
    for row_, terms in truth.items():
        assert {key: round(255 * s) for key, s in incidence.terms_of(row_)} == {
            key: round(255 * s) for key, s in terms.items()
        }
    for key in set("abcdefgh") - set(keys):
        assert incidence.number(key) is None
    together = incidence.counts_in(np.asarray([*truth, 99], np.int64))
    every = Counter(key for terms in truth.values() for key in terms)
    assert {incidence.key(int(n)): int(together[n]) for n in np.flatnonzero(together)} == every
    for windows in (Windows.single(len(visible)), Windows.by(of_exchanges(visible))):
        check_windows(incidence, seen, mask, windows)


def of_exchanges(visible: list[bool]) -> NDArray[np.int32]:
    """A partition of the rows that differs with the mask: three rows, or two, are one."""
    size = 2 + sum(visible) % 2
    return (np.arange(len(visible)) // size * size).astype(np.int32)


def check_windows(
    incidence: Incidence,
    seen: dict[int, dict[str, float]],
    mask: NDArray[np.bool_],
    windows: Windows,
) -> None:
    """Are the counts of windows those of a plain loop?"""
    held: defaultdict[int, set[str]] = defaultdict(set)
    for row, terms in seen.items():
        held[int(windows.of[row])].update(terms)
    counts, total = incidence.window_counts(mask, windows)
    expected = Counter(key for terms in held.values() for key in terms)
    assert total == len(held)
    assert {incidence.key(n): int(counts[n]) for n in np.flatnonzero(counts).tolist()} == expected
    asked = np.asarray([*held, *held][1:], np.int64)
    met, often, holding = incidence.terms_in(asked, mask, windows)
    assert (np.diff(met) > 0).all()
    assert holding == len(set(asked.tolist()))
    assert {
        incidence.key(n): times for n, times in zip(met.tolist(), often.tolist(), strict=True)
    } == Counter(key for window in set(asked.tolist()) for key in held[window])


@both_ways
@given(script=SCRIPTS, known=st.lists(st.booleans(), max_size=14))
def test_it_holds_what_a_recount_says(script: Script, known: list[bool]) -> None:
    check(*played(script), known)


@given(st.lists(st.tuples(SCRIPTS, st.lists(st.booleans(), max_size=14)), max_size=4))
def test_asking_by_another_mask_between_changes_changes_nothing(
    parts: list[tuple[Script, list[bool]]],
) -> None:
    incidence, truth = Incidence(), dict[int, dict[str, float]]()
    for script, visible in parts:
        for row, terms in script:
            incidence.put(row, terms or [])
            truth[row] = dict(terms or [])
        expected = {row: terms for row, terms in truth.items() if terms}
        check(incidence, expected, visible)


@given(script=SCRIPTS, more=SCRIPTS)
def test_packed_and_unpacked_it_is_the_same_and_goes_on_alike(script: Script, more: Script) -> None:
    incidence, truth = played(script)
    again = Incidence.unpacked(incidence.packed())
    check(again, truth, [True] * 13)
    for row, terms in more:
        again.put(row, terms or [])
        truth[row] = dict(terms or [])
    check(again, {row: terms for row, terms in truth.items() if terms}, [True] * 13)


def test_the_next_row_finds_room_when_it_was_loaded() -> None:
    """Also where rows without terms stand before it."""
    incidence, _ = played([(0, [("a", 1.0)]), (3, [("b", 1.0)])])
    loaded = Incidence.unpacked(incidence.packed(), 1000)
    cells = loaded._cells
    loaded.put(1000, [("a", 1.0)])
    assert loaded._cells is cells
    assert loaded.terms_of(1000) == [("a", 1.0)]


def test_many_rows_in_small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that are merged, and large ones that are not, with rows that left them."""
    monkeypatch.setattr(module, "_MOST_FRESH", 40)
    monkeypatch.setattr(module, "_LARGE_RUN", 200)
    draw = np.random.default_rng(7)
    script: Script = []
    for _ in range(800):
        terms = [
            ("abcdefgh"[i], float(draw.random())) for i in np.flatnonzero(draw.random(8) < 0.3)
        ]
        script.append((int(draw.integers(0, 60)), terms if draw.random() < 0.9 else None))
    incidence, truth = played(script)
    check(incidence, truth, [bool(b) for b in draw.random(60) < 0.7])


def test_a_row_keeps_the_first_terms_only() -> None:
    incidence = Incidence()
    incidence.put(3, [(f"t{i}", 0.5) for i in range(WIDTH + 5)])
    assert [key for key, _ in incidence.terms_of(3)] == [f"t{i}" for i in range(WIDTH)]
    assert incidence.number(f"t{WIDTH}") is None


def test_terms_of_unknown_rows_alone_are_counted_as_none() -> None:
    """More of them than there was ever room for: nobody may know the rows that hold them."""
    incidence = Incidence()
    incidence.put(0, [("known", 1.0)])
    visible = np.array([True])
    assert incidence.counts(visible)[incidence.number("known") or 0] == 1
    for row in range(1, 200):
        incidence.put(row, [(f"hidden {row}", 1.0)])
    seeds = [incidence.number(f"hidden {row}") or 0 for row in range(1, 200)]
    assert not incidence.counts(visible)[seeds].any()
    assert not incidence.counts(np.arange(200) == 0)[seeds].any()
