"""Is the strength of an association what the counts of the known rows say, and nothing else?"""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.graph.cooccurrence import CooccurrenceParams, associates, npmi
from soulmem.graph.incidence import Incidence
from soulmem.graph.windows import Windows

# Five exchanges.
TABLE = ["tea lemon", "tea lemon", "tea rain", "rain bus", "bus late rain"]


def held(texts: list[str]) -> Incidence:
    incidence = Incidence()
    for row, text in enumerate(texts):
        incidence.put(row, [(word, 1.0) for word in text.split()])
    return incidence


def told(incidence: Incidence, word: str, visible: list[bool]) -> dict[str, tuple[float, int, int]]:
    number = incidence.number(word)
    assert number is not None
    associates_found = associates(incidence, number, np.asarray(visible))
    rows = zip(
        associates_found.terms,
        associates_found.strength,
        associates_found.pair,
        associates_found.windows,
        strict=True,
    )
    return {incidence.key(int(term)): (float(s), int(pair), int(w)) for term, s, pair, w in rows}


def test_five_exchanges_by_hand() -> None:
    """tea 3, lemon 2, both 2, of 5: ln(2*5/6) / ln(5/2) * 2/3 * 2/3; rain and bus likewise."""
    pair_count = log(10 / 6) / log(5 / 2) * (2 / 3) * (2 / 3)
    late = log(5 / 3) / log(5) * (1 / 2) * (1 / 2)
    incidence = held(TABLE)
    of_tea, of_rain = (told(incidence, word, [True] * 5) for word in ("tea", "rain"))
    assert {word: counts[1:] for word, counts in of_tea.items()} == {
        "lemon": (2, 2)
    }  # with rain it is < 0
    assert {word: counts[1:] for word, counts in of_rain.items()} == {
        "bus": (2, 2),
        "late": (1, 1),
    }
    assert of_tea["lemon"][0] == pytest.approx(pair_count, abs=1e-9)
    assert of_rain["bus"][0] == pytest.approx(pair_count, abs=1e-9)
    assert of_rain["late"][0] == pytest.approx(late, abs=1e-9)


def test_what_is_not_known_is_not_counted() -> None:
    incidence = held([*TABLE, "tea late", "tea late"])
    assert told(incidence, "tea", [True] * 5 + [False] * 2) == told(held(TABLE), "tea", [True] * 5)


def test_what_is_in_every_window_says_nothing() -> None:
    assert npmi(np.array([4]), np.array([4]), np.array([4]), 4).tolist() == [0.0]
    assert npmi(np.array([0]), np.array([0]), np.array([4]), 0).tolist() == [0.0]


@given(st.integers(1, 50), st.integers(0, 50), st.integers(0, 50), st.integers(0, 500))
def test_it_is_between_0_and_1_and_symmetric(pair: int, more: int, others: int, rest: int) -> None:
    f, a, b, n = pair, pair + more, pair + others, pair + more + others + rest
    first = float(npmi(np.array([f]), np.array([a]), np.array([b]), n)[0])
    assert 0.0 <= first <= 1.0
    assert first == pytest.approx(
        float(npmi(np.array([f]), np.array([b]), np.array([a]), n)[0]), abs=1e-12
    )
    if f * n <= a * b:
        assert first == 0.0


def test_new_experience_overtakes() -> None:
    texts = ["cat sofa"] * 4 + ["rain bus"] * 30
    before = told(held(texts), "cat", [True] * 34)
    texts += ["cat roof"] * 20
    after = told(held(texts), "cat", [True] * 54)
    assert list(before) == ["sofa"]
    assert after["roof"][0] > after["sofa"][0]


def test_of_very_many_those_met_most_often_count() -> None:
    incidence = held(
        [*(f"hub once{i}" for i in range(30)), *["hub often"] * 3, *["elsewhere"] * 40]
    )
    number = incidence.number("hub")
    assert number is not None
    visible = np.ones(73, np.bool_)
    few = associates(incidence, number, visible, CooccurrenceParams(most=10))
    assert [incidence.key(int(t)) for t in few.terms] == ["often"]
    assert associates(incidence, number, visible).terms.size == 31


@given(
    texts=st.lists(st.lists(st.sampled_from("abcdef"), max_size=4), max_size=12),
    seed=st.integers(0, 9999),
)
def test_what_an_exchange_says_together_is_counted_once(texts: list[list[str]], seed: int) -> None:
    """Of any partition of rows, with rows that are not known: as a plain loop over windows says."""
    rng = np.random.default_rng(seed)
    n = len(texts)
    incidence = held([" ".join(text) for text in texts])
    of = rng.integers(0, max(n, 1), n).astype(np.int32)
    visible = rng.random(n) < 0.8
    exchanges = [
        {word for row in range(n) if of[row] == w and visible[row] for word in texts[row]}
        for w in range(n)
    ]
    exchanges = [words for words in exchanges if words]
    for word in sorted(set().union(*exchanges)):
        number = incidence.number(word)
        assert number is not None
        found = associates(incidence, number, visible, windows=Windows.by(of))
        columns = found.terms.tolist(), found.strength, found.pair, found.windows
        rows = zip(*columns, strict=True)
        told = {incidence.key(t): (float(s), int(p), int(w)) for t, s, p, w in rows}
        expected: dict[str, object] = {}
        for other in sorted(set().union(*exchanges) - {word}):
            pair = np.array([sum({word, other} <= words for words in exchanges)])
            first, second = (
                np.array([sum(one in words for words in exchanges)]) for one in (word, other)
            )
            strength = float(npmi(pair, first, second, len(exchanges))[0])
            if strength > 0:
                close = pytest.approx(strength, abs=1e-12)
                expected[other] = (close, int(pair[0]), int(second[0]))
        assert dict[str, object](told) == expected
