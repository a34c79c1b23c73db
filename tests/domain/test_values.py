"""Which values cannot exist, and what may be joined to what?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from math import e

import pytest

from soulmem.domain.dialogue import Message, Role, digest, text_hash
from soulmem.domain.edges import Edge, EdgeKind, check_join, edge_id
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import MemoryId, SlotId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.domain.situation import Emotion, Situation, TimeSpan
from soulmem.domain.soul import KnownName, Soul, SoulSettings

NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
HOUR = timedelta(hours=1)
EPISODE, ABSTRACT, CONCEPT = (
    MemoryKind.EPISODE,
    MemoryKind.ABSTRACT_EPISODE,
    MemoryKind.CONCEPT,
)
TRIGGER, ACTION, NOTE = MemoryKind.TRIGGER, MemoryKind.ACTION, MemoryKind.NOTE


def memory(
    text: str = "rain", importance: float = 0.5, situation: Situation | None = None
) -> Memory:
    """A memory made at noon."""
    return Memory(
        MemoryId("m1"),
        SoulId("s1"),
        EPISODE,
        text,
        Origin.USER,
        NOON,
        importance=importance,
        situation=situation or Situation(),
    )


def edge(strength: float = 0.5, confidence: float = 1.0, probability: float | None = None) -> Edge:
    """An edge between two memories."""
    return Edge(
        SoulId("s1"),
        MemoryId("a"),
        MemoryId("b"),
        EdgeKind.ASSOCIATES,
        Origin.USER,
        NOON,
        strength=strength,
        confidence=confidence,
        probability=probability,
    )


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: memory(text=" \n"), "text"),
        (lambda: memory(importance=1.01), "importance"),
        (lambda: memory(importance=float("nan")), "importance"),
        (lambda: edge(strength=-0.1), "edges.strength"),
        (lambda: replace(edge(), stability=0.0), "edges.stability"),
        (lambda: edge(confidence=2), "edges.confidence"),
        (lambda: edge(probability=1.5), "edges.probability"),
        (lambda: Emotion("joy", 1.2), "fields.emotions"),
        (lambda: TimeSpan(NOON, NOON - HOUR), "fields.time_span.to"),
        (lambda: SoulSettings(forgetting=2.5), "config.forgetting"),
        (lambda: SoulSettings(restraint=2.5), "config.restraint"),
        (lambda: SoulSettings(restraint=-0.5), "config.restraint"),
    ],
)
def test_impossible_values_are_refused_by_name(make: Callable[[], object], field: str) -> None:
    """Blank texts, shares outside 0..1 and spans that end before they start cannot be made."""
    with pytest.raises(Unprocessable) as refused:
        make()
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("span", "happened"),
    [
        (None, NOON),
        (TimeSpan(NOON - HOUR, NOON), NOON - HOUR),
        (TimeSpan(None, NOON + HOUR), NOON + HOUR),
        (TimeSpan(story="that winter"), NOON),
    ],
)
def test_a_memory_happened_when_its_span_says(span: TimeSpan | None, happened: datetime) -> None:
    """Its start, else its end, else when it was made."""
    assert memory(situation=Situation(time_span=span)).happened == happened


LEGAL = {
    EdgeKind.RELATES: {(CONCEPT, CONCEPT)},
    EdgeKind.MENTIONS: {(EPISODE, CONCEPT), (ABSTRACT, CONCEPT), (NOTE, CONCEPT)},
    EdgeKind.INSTANCE_OF: {(EPISODE, ABSTRACT)},
    EdgeKind.NEXT: {(EPISODE, EPISODE)},
    EdgeKind.TOPIC_OF: {(CONCEPT, CONCEPT)},
    EdgeKind.TRIGGERS: {(EPISODE, TRIGGER), (ABSTRACT, TRIGGER)},
    EdgeKind.FIRES: {(TRIGGER, ACTION)},
    EdgeKind.KNOWS_HABIT: {(CONCEPT, ACTION)},
    EdgeKind.ASSOCIATES: {(a, b) for a in MemoryKind for b in MemoryKind},
}


def joins(kind: EdgeKind, source: MemoryKind, target: MemoryKind) -> bool:
    """Whether the edge is taken."""
    try:
        check_join(kind, source, target)
    except Unprocessable:
        return False
    return True


@pytest.mark.parametrize("kind", EdgeKind)
def test_edges_join_what_the_design_says_and_nothing_else(kind: EdgeKind) -> None:
    """The table of design 2, for every pair of kinds."""
    assert {(a, b) for a in MemoryKind for b in MemoryKind if joins(kind, a, b)} == LEGAL[kind]


def test_a_refused_edge_says_what_it_could_join() -> None:
    """The remedy is in the message, the place in the field."""
    with pytest.raises(Unprocessable, match="it joins trigger -> action") as refused:
        check_join(EdgeKind.FIRES, NOTE, ACTION)
    assert refused.value.field == "edges.kind"


def test_edges_of_other_ends_kinds_or_verbs_are_other_edges() -> None:
    """`loves` and `hates` may both join the same two; a direction counts."""
    a, b = MemoryId("a"), MemoryId("b")
    names = [
        edge_id(EdgeKind.RELATES, a, b, "loves"),
        edge_id(EdgeKind.RELATES, a, b, "hates"),
        edge_id(EdgeKind.RELATES, b, a, "loves"),
        edge_id(EdgeKind.ASSOCIATES, a, b),
    ]
    assert len(set(names)) == 4
    assert edge().id == names[3]


def test_hash_and_digest_are_those_of_the_contract() -> None:
    """Known answers, so that a client in another language can be checked against them."""
    hello = Message(SlotId("m1"), text_hash("héllo 雨"), Role.USER, "Al", "héllo 雨")
    ghost = Message(SlotId("m2"), text_hash(""), Role.USER, "Al", "", hidden=True)
    assert hello.hash == "3cb447c65ac33cae"
    assert ghost.hash == "e3b0c44298fc1c14"
    assert digest([]) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert (
        digest([hello, ghost]) == "f10607a5e8c4489b8d2a5bd4cc5b755513ba12848c728ce9d33f40e568ed3248"
    )


def test_a_soul_knows_each_name_once_its_own_first() -> None:
    """Names and aliases in order, blank and repeated ones left out."""
    soul = Soul(
        SoulId("s1"),
        "Mira",
        (KnownName("Bob", ("Robert", " ")), KnownName("Mira", ("Mi",))),
    )
    assert soul.known_names() == ("Mira", "Bob", "Robert", "Mi")


@pytest.mark.parametrize(
    ("kind", "at_turn", "turn", "left"),
    [
        (EdgeKind.RELATES, 100.0, 100.0, 0.5),
        (EdgeKind.RELATES, 100.0, 400.0, 0.5 / e),
        (EdgeKind.MENTIONS, 100.0, 250.0, 0.5 / e**0.5),
        (EdgeKind.ASSOCIATES, 100.0, 700.0, 0.5 / e**2),
        (EdgeKind.ASSOCIATES, 100.0, 20.0, 0.5),  # the clock was set back
        (EdgeKind.ASSOCIATES, None, 700.0, 0.5),  # not known when
        (EdgeKind.NEXT, 100.0, 700.0, 0.5),
        (EdgeKind.TOPIC_OF, 100.0, 700.0, 0.5),
        (EdgeKind.KNOWS_HABIT, 100.0, 700.0, 0.5),
    ],
)
def test_unused_edges_fade(kind: EdgeKind, at_turn: float | None, turn: float, left: float) -> None:
    """Of stability 300 turns: after 300 turns 1/e is left, and only of the kinds that fade."""
    assert replace(edge(), kind=kind, at_turn=at_turn).strength_at(turn) == pytest.approx(left)
