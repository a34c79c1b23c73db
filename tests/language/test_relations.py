"""Do spellings of a verb that say the same read the same, and is what they rule out told?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.language.relations import (
    RelationClass,
    also_called,
    no_longer,
    relation_of,
)

SAME = [
    (
        "lives in",
        "lives_in",
        "lived in",
        "has lived in",
        "now lives in",
        "is still living in",
    ),
    ("is a friend of", "was the friend of", "friend of"),
    ("trusts", "trusted", "really trusts"),
    ("spoke of", "speaks of"),
    ("住在", "现在住在", "已经住在", "住在了"),
    ("是朋友", "朋友"),
    ("喜欢", "很喜欢", "一直喜欢着"),
]
OVER = [
    (
        "lives in",
        (
            "no longer lives in",
            "used to live in",
            "stopped living in",
            "doesn't live in anymore",
        ),
    ),
    (
        "is a friend of",
        ("is not a friend of", "is no longer a friend of", "was once a friend of"),
    ),
    ("住在", ("不再住在", "曾经住在", "已经不住在", "曾住在")),
    ("喜欢", ("不喜欢", "喜欢过", "再也不喜欢")),
]


@pytest.mark.parametrize("spellings", SAME)
def test_spellings_of_one_verb_are_one(spellings: tuple[str, ...]) -> None:
    assert (
        len({(r.topic, r.pole) if (r := relation_of(one)).topic else r.base for one in spellings})
        == 1
    )
    assert not any(relation_of(one).is_over for one in spellings)


@pytest.mark.parametrize(("verb", "denied"), OVER)
def test_what_is_denied_is_the_same_verb_and_over(verb: str, denied: tuple[str, ...]) -> None:
    plain = relation_of(verb)
    assert denied
    for one in denied:
        found = relation_of(one)
        assert found.is_over
        assert (found.topic, found.pole) == (plain.topic, plain.pole)


@pytest.mark.parametrize(
    ("one", "other", "is_same_topic"),
    [
        ("lives in", "resides at", True),
        ("works as", "works for", False),
        ("is married to", "is the wife of", True),
        ("loves", "hates", True),
        ("likes", "trusts", False),
        ("住在", "搬到", True),
        ("lives in", "住在", True),
        ("visited", "lives in", False),
        ("spoke of", "spoke of", False),
    ],
)
def test_what_verbs_are_about(one: str, other: str, is_same_topic: bool) -> None:
    topics = relation_of(one).topic, relation_of(other).topic
    assert (topics[0] is not None and topics[0] == topics[1]) is is_same_topic


@given(st.text(max_size=30).filter(str.strip))
def test_any_verb_can_be_read_and_denied_once(verb: str) -> None:
    denied = no_longer(verb)
    assert no_longer(denied) == denied or not relation_of(denied).is_over
    assert (
        relation_of(verb) == relation_of(f" {verb.upper().lower()} ")
        or verb.casefold() != verb.lower()
    )


def test_names_of_one_thing() -> None:
    assert relation_of(also_called("Robert", "Bob")).is_alias
    assert relation_of(also_called("罗伯特", "老罗")).is_alias
    assert not relation_of("is called").is_alias


@pytest.mark.parametrize(
    ("says", "verbs"),
    [
        (RelationClass.SAME, ("is also called", "又名", "is the same as", "等于")),
        (
            RelationClass.CAUSE,
            (
                "causes",
                "was caused by",
                "because_of",
                "led to",
                "has resulted in",
                "导致了",
                "因为",
                "是由于",
            ),
        ),
        (
            RelationClass.CONTRAST,
            (
                "unlike",
                "differs from",
                "is opposed to",
                "rather than",
                "不同于",
                "不像",
            ),
        ),
        (
            RelationClass.OTHER,
            ("lives in", "likes", "is called", "住在", "喜欢", None, ""),
        ),
    ],
)
def test_a_relation_says_the_same_a_cause_a_contrast_or_anything_else(
    says: RelationClass, verbs: tuple[str | None, ...]
) -> None:
    assert {verb: relation_of(verb).says for verb in verbs} == dict.fromkeys(verbs, says)
