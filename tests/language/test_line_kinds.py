"""Kinds of lines: the packaged encoder tells them apart in seven languages; words alone do in English."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from soulmem.language.kinds import example_words
from soulmem.language.kinds.kind_lines import kinds
from soulmem.language.kinds.line_kinds import KINDS, THEMES, Encode, LineKinds, fitted, lines_of
from soulmem.language.word_lists import FOLDER
from soulmem.ports.embedder import Embedder
from tests.bench.kinds import confusion, kept_apart, languages, share_right
from tests.packaged import the_encoder

pytestmark = pytest.mark.timeout(300)  # the encoder reads 2,500 lines once: 4 s

AMONG = [kind.name for kind in kinds() if not kind.against]


@cache
def packaged() -> tuple[Embedder, LineKinds]:
    """The packaged encoder, and the kinds as it tells them."""
    encoder = the_encoder()
    return encoder, fitted(encoder.embed)


@pytest.mark.slow("the packaged encoder reads all examples")
@pytest.mark.parametrize("language", languages())
def test_the_packaged_encoder_tells_kinds_apart_in_every_language(
    language: str,
) -> None:
    encoder, judge = packaged()
    right = share_right(confusion(judge, encoder.embed, kept_apart(language), AMONG))
    assert right >= (0.9 if language in ("en", "zh") else 0.85)


@pytest.mark.parametrize(
    ("right", "sure"), [(0.89, False), (0.92, True)], ids=["words alone", "encoder"]
)
def test_plain_talk_is_sure_where_it_is_told_apart_as_well_as_encoders_do(
    right: float, sure: bool
) -> None:
    encoder, judge = packaged()
    bars, middles, shares = judge._fitted
    other = LineKinds(judge._groups, bars, middles, np.full_like(shares, right))
    plain = KINDS.index("plain")
    scores = other.of_sentences(encoder.embed(["Pass the salt, please."]))
    assert bool(scores[0, plain] >= 0.5) is sure
    assert scores[0, plain] > 0.4


@pytest.mark.parametrize("language", ["en", "zh", "ja"])
def test_who_is_here_is_told_from_who_is_talked_of(language: str) -> None:
    encoder, judge = packaged()
    two = ["met", "talked_of"]
    counts = confusion(judge, encoder.embed, kept_apart(language), two)
    assert share_right(counts) >= 0.9


def test_words_of_the_examples_tell_english_kinds_apart_without_an_encoder() -> None:
    judge = example_words.word_kinds()
    counts = confusion(judge, example_words.embed, kept_apart("en"), AMONG)
    assert share_right(counts) >= 0.75


def test_what_is_kept_of_words_was_fitted_to_the_examples_of_today() -> None:
    """`python -m tests.bench.kinds --write` makes it anew."""
    kept, shown = example_words._kept(), [kind.lines[0] for kind in kinds()]
    assert kept is not None
    assert np.allclose(kept["rarity"], example_words._rarity_of_examples())
    vectors = example_words.embed(shown)
    fresh = example_words.fit().of_sentences(vectors)
    scores = example_words.word_kinds().of_sentences(vectors)
    assert np.allclose(scores, fresh, atol=1e-3)


def test_no_line_that_is_kept_apart_is_an_example() -> None:
    apart = {
        line
        for language in languages()
        for lines in kept_apart(language).values()
        for line in lines
    }
    shown = [line for kind in kinds() for line in kind.lines]
    assert len(apart) > 2000
    assert apart.isdisjoint(shown)


def test_every_file_is_a_kind_and_every_kind_has_lines() -> None:
    files = sorted(path.stem for path in (FOLDER / "kinds").glob("*.txt"))
    assert files == list(KINDS)
    themes = [KINDS[place] for place in THEMES]
    assert len(themes) > 20
    assert all(len(kind.lines) >= (12 if kind.name in themes else 100) for kind in kinds())
    assert {name for kind in kinds() for name in kind.against} <= set(KINDS)


def scores_of(text: str, encode: Encode, judge: LineKinds) -> dict[str, float]:
    """The calibrated scores of a text by kind."""
    lines = lines_of(text)
    scores = judge.of_texts(encode(lines), [len(lines)])
    return dict(zip(KINDS, np.round(scores[0], 2).tolist(), strict=True))


def test_one_sentence_makes_a_text_momentous_and_all_make_it_filler() -> None:
    encoder, judge = packaged()
    long = scores_of(
        "*nods* The soup is hot. I'm pregnant. Pass me the bread.",
        encoder.embed,
        judge,
    )
    assert long["momentous"] >= 0.5
    assert max(long["filler"], long["plain"]) < 0.5
    empty = scores_of("*nods* Okay. Thanks.", encoder.embed, judge)
    assert empty["filler"] >= 0.5
    assert max(empty["momentous"], empty["fact"], empty["promise"]) < 0.5


def test_a_sentence_that_says_nothing_leaves_plain_talk_plain() -> None:
    embedder, judge = packaged()
    bare, led, empty = (
        scores_of(text, embedder.embed, judge)
        for text in ("The broom stands in the corner.", "Hm. The broom stands in the corner.", "Hm. Well.")
    )  # fmt: skip
    assert led["plain"] == pytest.approx(bare["plain"], abs=0.05)
    assert led["filler"] < 0.5
    assert empty["plain"] < 0.5 < empty["filler"]


def test_a_plea_to_remember_alone_is_nothing_momentous() -> None:
    encoder, judge = packaged()
    got = scores_of("Remember to close the window.", encoder.embed, judge)
    assert max(got["momentous"], got["fact"]) < 0.5


def test_of_a_text_with_very_many_lines_some_that_are_spread_over_it_are_judged() -> None:
    many = [f"Line {number} says little." for number in range(3000)]
    lines = lines_of(" ".join(many))
    assert 100 < len(lines) < 500
    assert (lines[0], lines[-1]) == (many[0], many[-1])
    assert lines == sorted(set(lines), key=many.index)
    assert lines_of("Hm.\n" * 5000 + "I have a daughter.") == [
        "Hm.",
        "I have a daughter.",
    ]
    assert lines_of("") == [""]
