"""Rare words that scenes of a situation share mark it; common words do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.engine.recall.situation_fit import SignatureParams, signature_fit
from soulmem.retrieval.calibration import rarity

PARAMS = SignatureParams(scenes=2, rare=0.5, fit=1.5)
SCENES = [
    [{"scar", "cheek", "old"}, {"scar", "aunt"}, {"scar", "cheek"}],
    [{"flute"}],
    [],
]
TEXTS = 100


def found(*lines: set[str]) -> list[list[float]]:
    """What the lines get."""
    out = signature_fit(
        lines,
        SCENES,
        rarity(lambda word: {"old": 60}.get(word, 3), TEXTS),
        TEXTS,
        PARAMS,
    )
    return [[round(float(value), 3) for value in row] for row in out]


def test_a_word_of_two_scenes_marks_it_and_one_of_one_does_not() -> None:
    assert found({"scar", "cheek"}, {"scar"}, {"flute"}, {"aunt"}, set()) == [
        [1.5, 0, 0],
        [0.75, 0, 0],
        *([[0, 0, 0]] * 3),
    ]


def test_what_is_in_every_other_text_marks_nothing() -> None:
    often = rarity(lambda _word: 60, TEXTS)
    assert signature_fit([{"scar"}], SCENES, often, TEXTS, PARAMS).max() == 0.0


@given(
    st.lists(st.sets(st.sampled_from("abcdefg")), max_size=4),
    st.lists(st.lists(st.sets(st.sampled_from("abcdefg")), max_size=4), max_size=4),
)
def test_it_is_never_less_than_nothing_nor_more_than_all(
    lines: list[set[str]], scenes: list[list[set[str]]]
) -> None:
    out = signature_fit(lines, scenes, rarity(lambda _word: 1, TEXTS), TEXTS, PARAMS)
    assert out.shape == (len(lines), len(scenes))
    assert not out.size or 0.0 <= out.min() <= out.max() <= PARAMS.fit + 1e-6
    for line, row in zip(lines, out, strict=True):
        for value, seen in zip(row, scenes, strict=True):
            words = [word for word in line if sum(word in item for item in seen) >= PARAMS.scenes]
            assert (value > 0) == bool(words)


def test_rare_words_tell_more() -> None:
    fit = rarity(lambda word: {"old": 60, "scar": 3}[word], TEXTS)
    assert fit("scar") > 3 * fit("old") > 0
    assert fit("scar") == pytest.approx(rarity(lambda _word: 3, TEXTS)("scar"))
