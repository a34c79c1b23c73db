"""Confidence of drafts: faithful retellings keep it, exchanged names and inventions lose it, in any language.

The stretches are faithful and unfaithful drafts of the same lines, in other words than theirs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from soulmem.domain.derivations import WAITING
from soulmem.domain.drafts import DraftEpisode, DraftFact, Drafts, Passage
from soulmem.language.names import names
from soulmem.prompts import extraction
from soulmem.prompts.grounding.evidence import Grounds
from soulmem.prompts.grounding.support import Support
from tests.prompts.passages import EN, ZH, passage

LANGUAGES = ("en", "fr", "zh")
KEPT = 0.9  # least share of what is true
FALSE = 0.5  # most share of what is false
APART = 0.15  # least difference of the mean confidence of both


@cache
def stretch(language: str) -> dict[str, Any]:
    path = Path(__file__).parent / "stretches" / f"{language}.json"
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def lines_of(language: str) -> Passage:
    told = stretch(language)
    rows = [(speaker, text) for speaker, text in told["lines"]]
    spotted = dict.fromkeys(name for _, text in rows for name in names(text))
    return passage(
        rows,
        soul=told["soul"],
        users=(told["user"],),
        language="zh" if language == "zh" else "en",
        names=tuple(spotted),
    )


def drafts(language: str, **lists: Sequence[Any]) -> Drafts:
    """What comes of an answer that also tells the true facts, which name everybody."""
    concepts = stretch(language)["concepts"]
    answer = json.dumps({"concepts": concepts, **lists}, ensure_ascii=False)
    return extraction.parse(answer, lines_of(language))


def confidences(made: Iterable[DraftEpisode | DraftFact]) -> list[float]:
    return [draft.confidence for draft in made]


def recalled(made: Iterable[DraftEpisode | DraftFact]) -> list[float]:
    return [share for share in confidences(made) if share >= WAITING]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", ["facts", "episodes"])
def test_what_is_true_is_recalled(language: str, kind: str) -> None:
    told = stretch(language)[kind]
    made = getattr(drafts(language, **{kind: told}), kind)
    assert len(recalled(made)) >= KEPT * len(told)


@pytest.mark.parametrize("language", LANGUAGES)
def test_exchanged_names_are_recalled_seldom(language: str) -> None:
    facts, episodes = (stretch(language)[f"false_{k}"] for k in ("facts", "episodes"))
    made = drafts(language, facts=facts, episodes=episodes)
    wrong = [*recalled(made.facts), *recalled(made.episodes)]
    assert len(wrong) <= FALSE * len([*facts, *episodes])


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_no_line_knows_is_no_draft(language: str) -> None:
    assert drafts(language, facts=stretch(language)["unknown"]).facts == ()


@pytest.mark.parametrize("language", LANGUAGES)
def test_descriptions_stay(language: str) -> None:
    about = [concept.description for concept in drafts(language).concepts]
    assert about == [concept["about"] for concept in stretch(language)["concepts"]]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_evidence_is_what_was_cited(language: str) -> None:
    told = stretch(language)["facts"]
    assert told
    for draft, fact in zip(drafts(language, facts=told).facts, told, strict=True):
        assert set(fact["lines"]) <= set(draft.lines)
        assert len(draft.lines) <= len(fact["lines"]) + 2


def test_confidence_tells_true_from_false() -> None:
    true, false = list[float](), list[float]()
    for language in LANGUAGES:
        told = stretch(language)
        for kind in ("facts", "episodes"):
            true += recalled(getattr(drafts(language, **{kind: told[kind]}), kind))
            made = drafts(language, **{kind: told[f"false_{kind}"]})
            false += recalled(getattr(made, kind))
    assert sum(true) / len(true) >= sum(false) / len(false) + APART


def confidence(text: str, *lines: int, chat: Passage = EN) -> float:
    return Support(chat, Grounds(chat)).of(text, lines)


def test_a_word_that_the_line_denies_halves_it() -> None:
    chat = passage([("Lena", "I never liked the sea."), ("Nora", "Why?")])
    denied = confidence("Lena liked the sea.", 1, chat=chat)
    assert denied == pytest.approx(0.5 * confidence("Lena never liked the sea.", 1, chat=chat))


def test_i_and_you_may_be_anybody() -> None:
    assert confidence("Lena promised Anton I'd feed his cat.", 4) == pytest.approx(
        0.5 * confidence("Lena promised Anton to feed his cat.", 4)
    )


def test_a_quotation_may_say_i() -> None:
    assert confidence('Lena promised Anton: "I\'d feed his cat."', 4) == confidence(
        "Lena promised Anton: 'd feed his cat.", 4
    )


def test_in_an_unlisted_language_speakers_fit_their_own_lines_better() -> None:
    chat = passage(
        [
            ("Aino", "Kadotin avaimen metsään myöhään illalla."),
            ("Eero", "Etsitään avainta huomenna järven rannalta."),
        ],
        soul="Aino",
        users=("Eero",),
    )
    right = confidence("Aino kadotti avaimen metsään illalla.", 1, chat=chat)
    assert right > confidence("Eero kadotti avaimen metsään illalla.", 1, chat=chat) > 0


def test_of_nobody_nobody_is_confused() -> None:
    assert confidence("The bakery smells of apples.", 2) == 1.0
    assert confidence("A glacier melted.", 2) == 0.0


def test_a_strict_reading_wants_words_that_one_line_has_together() -> None:
    strict = Support(EN, Grounds(EN), is_strict=True)
    scattered = (1, 2, 3, 4, 5, 6)
    assert strict.of("Nora sleeps at the bakery.", scattered) < WAITING
    assert strict.of("Hester buried the locket.", scattered) == 1.0
    assert strict.of("Lena sang wisely.", (11,)) < WAITING
    assert strict.of("Lena sang.", (11,)) == 1.0


def test_what_is_quoted_is_said_by_who_said_it() -> None:
    buried = "'Hester buried the locket in the bakery.'"
    for strict in (True, False):
        support = Support(EN, Grounds(EN), is_strict=strict)
        assert support.of(f"Nora says: {buried}", (1,)) == 1.0
        assert support.of(f"Lena says: {buried}", (1,)) < WAITING
        assert support.of("Nora asked: Where do we sleep tonight?", (3,)) == 1.0
        assert support.of("Hester said: Anton hates thunder.", (10,)) < WAITING


def test_what_is_quoted_in_chinese_is_said_by_who_said_it() -> None:
    support = Support(ZH, Grounds(ZH), is_strict=True)
    assert support.of("阿明说：“外婆把怀表藏在了阁楼的箱子里。”", (1,)) == 1.0
    assert support.of("林月说：“外婆把怀表藏在了阁楼的箱子里。”", (1,)) < WAITING


def test_a_strict_reading_wants_the_verb_of_a_fact_in_the_lines() -> None:
    strict, plain = (Support(EN, Grounds(EN), is_strict=s) for s in (True, False))
    for verb, is_said in (("buried", True), ("brought", False)):
        text = f"Hester {verb} the locket"
        assert (strict.of(text, (1,), verb) > 0.5) is is_said
        assert plain.of(text, (1,), verb) > 0.5


def test_a_strict_reading_keeps_copied_descriptions() -> None:
    about = ["older brother", "brother of Lena"]
    concepts = [
        {"name": name, "about": text, "lines": [10]}
        for name, text in zip(("thunder", "Anton"), about, strict=True)
    ]
    answer = json.dumps({"concepts": concepts})
    strict, plain = (extraction.parse(answer, EN, is_strict=s).concepts for s in (True, False))
    assert [concept.description for concept in plain] == about
    assert [concept.description for concept in strict] == [about[0], None]


def test_a_fact_is_of_somebody_with_a_name() -> None:
    fact = {"lines": [4], "verb": "promised", "object": "Anton"}
    subjects = ("I", "you", "my brother", "she", "Lena")
    answer = json.dumps({"facts": [{**fact, "subject": name} for name in subjects]})
    assert [made.subject for made in extraction.parse(answer, EN).facts] == ["Lena"]


def test_the_object_of_a_fact_is_somebody_whom_a_line_means() -> None:
    chat = passage(
        [
            ("Nora", "Petra sold her boat."),
            ("Lena", "*sits down* She loved that boat."),
            ("Nora", "Petra trusts you."),
            ("Lena", "Petra trusts me, yes."),
        ],
        names=("Petra",),
    )
    support = Support(chat, Grounds(chat))

    def of(verb: str, thing: str, *lines: int) -> float:
        return support.of(f"Petra {verb} {thing}", lines, verb, thing)

    for lines in ((1,), (1, 3, 4)):
        assert of("sold her boat to", "Lena", *lines) <= 0.3
    assert of("loved that boat of", "Lena", 2) <= 0.3
    for line in (3, 4):
        assert of("trusts", "Lena", line) > 0.5
    assert of("sold", "her boat", 1) > 0.5


def test_an_end_needs_a_line_that_denies() -> None:
    chat = passage([("Lena", "Anton lives in Rome."), ("Lena", "He lives here no more.")])
    fact = {"subject": "Anton", "verb": "lives in", "object": "Rome"}

    def confidence_of(line: int, *, is_over: bool) -> float:
        told = {"facts": [{**fact, "lines": [1, line], "over": is_over}]}
        (made,) = extraction.parse(json.dumps(told), chat).facts
        assert made.is_over is is_over
        return made.confidence

    assert confidence_of(2, is_over=True) == confidence_of(2, is_over=False)
    for line in (1, 3):
        assert confidence_of(line, is_over=True) == 0.5 * confidence_of(line, is_over=False)


def test_names_alone_carry_half_of_what_is_told() -> None:
    carried = confidence("Hester buried the locket.", 1)
    assert confidence("Hester polished the brass trumpet.", 1) <= 0.5 < carried
