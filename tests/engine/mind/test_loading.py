"""Is a mind that was loaded page by page the one that the same memories and edges make one by one?"""

from __future__ import annotations

from datetime import datetime, timezone

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from soulmem.domain.edges import Edge, EdgeKind, EdgePage
from soulmem.domain.ids import ChatId, MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.domain.soul import Soul
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.world.opening import load_memories
from soulmem.graph.branches import Branch
from soulmem.language.keywords import terms

SOUL = SoulId("s1")
NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
TEXTS = [
    "Lady Esk hid the silver lantern under the old bridge.",
    "埃斯克夫人把银灯笼藏在旧桥下面。",
    "The lantern's oil had run out, didn't it?",
    "小灯笼和大灯笼都在河边。",
    "Nothing of it was said again.",
]
NAMES = ["Lady Esk", "灯笼", "silver lantern", "Bridge"]


def memory(key: str, text: str, kind: MemoryKind, state: MemoryState) -> Memory:
    """A line of a chat, or a concept of the user."""
    is_text = kind is MemoryKind.EPISODE
    return Memory(
        MemoryId(key),
        SOUL,
        kind,
        text,
        Origin.CHAT if is_text else Origin.USER,
        created=NOW,
        importance=0.4,
        state=state,
        terms=terms(text) if is_text else (),
    )


def stored() -> tuple[Branch, list[Memory], list[Edge]]:
    """A chat with its episodes, one of them in the bin, the concepts that they name, and edges."""
    active, binned = MemoryState.ACTIVE, MemoryState.BIN
    episodes = [
        memory(f"e{n}", text, MemoryKind.EPISODE, binned if n == 2 else active)
        for n, text in enumerate(TEXTS)
    ]
    concepts = [memory(f"c{n}", name, MemoryKind.CONCEPT, active) for n, name in enumerate(NAMES)]
    ends = [("e0", "c0"), ("e0", "c2"), ("e0", "c3"), ("e1", "c1"), ("e3", "c1")]
    mentions = [edge(one, other, EdgeKind.MENTIONS) for one, other in ends]
    facts = [
        edge("c0", "c2", EdgeKind.RELATES, "owns"),
        edge("c1", "c3", EdgeKind.RELATES),
    ]
    order = tuple(episode.id for episode in episodes)
    return (
        Branch(ChatId("chat"), ChatId("chat"), order),
        [*episodes[::-1], *concepts],
        [*mentions, *facts],
    )


def edge(source: str, target: str, kind: EdgeKind, verb: str | None = None) -> Edge:
    """An edge of full strength."""
    ends = MemoryId(source), MemoryId(target)
    return Edge(SOUL, *ends, kind, Origin.CHAT, NOW, strength=1.0, verb=verb)


def page(edges: list[Edge]) -> EdgePage:
    """The edges as the store gives them."""
    return EdgePage(
        id=[e.id for e in edges],
        source=[e.source for e in edges],
        target=[e.target for e in edges],
        kind=[e.kind.value for e in edges],
        origin=[e.origin.value for e in edges],
        touched=[int(e.touched.timestamp()) * 1_000_000 for e in edges],
        strength=[e.strength for e in edges],
        confidence=[e.confidence for e in edges],
        stability=[e.stability for e in edges],
        uses=[e.uses for e in edges],
        verb=[e.verb for e in edges],
        probability=[e.probability for e in edges],
        at_turn=[e.at_turn for e in edges],
        made=[None] * len(edges),
    )


def loaded(*, packed: bool) -> Mind:
    """The mind as it is opened from the store."""
    branch, memories, edges = stored()
    mind = Mind(Soul(SOUL, "Mira", created=NOW))
    mind.preload_branch(branch)
    mind.terms.begin_loading()
    load_memories(mind, memories[:3], packed=packed)
    load_memories(mind, memories[3:], packed=packed)
    mind.load_edges(page(edges))
    assert not mind.terms.incidence.terms
    for _ in mind.terms.end_loading():
        pass
    return mind


def applied() -> Mind:
    """The mind as changes make it."""
    branch, memories, edges = stored()
    mind = Mind(Soul(SOUL, "Mira", created=NOW))
    mind.preload_branch(branch)
    mind.apply(MindChange(put_memories=tuple(memories)))
    mind.apply(MindChange(put_edges=tuple(edges)))
    return mind


@pytest.mark.parametrize("packed", [False, True])
def test_it_is_the_mind_that_changes_make(packed: bool) -> None:
    one, other = loaded(packed=packed), applied()
    assert dict(one.memories) == dict(other.memories)
    assert one.memories.unpacked() == (0 if packed else 8)
    for name, column in one.columns.packed(one.size).items():
        assert_array_equal(column, other.columns.packed(one.size)[name], name)
    for word in {token for text in TEXTS for token in one.tokeniser.tokens(text)}:
        assert sorted(one.words.rows(word)) == sorted(other.words.rows(word)), word
    assert set(one.vector_queue.pending_keys()) == set(other.vector_queue.pending_keys())
    assert one.names.all_concept_names() == other.names.all_concept_names()
    assert set(one.facts) == set(other.facts) != set()
    visible = np.ones(one.size, np.bool_)
    for key in one.memories:
        row = one.row(key)
        assert row is not None
        assert dict(one.terms.incidence.terms_of(row)) == dict(
            other.terms.incidence.terms_of(row)
        ), key
    for term in range(one.terms.incidence.terms):
        number = other.terms.incidence.number(one.terms.incidence.key(term))
        assert number is not None
        counts = one.terms.incidence.counts(visible)[term]
        assert counts == other.terms.incidence.counts(visible)[number]


def test_words_of_a_name_are_no_terms_of_a_text_that_mentions_it() -> None:
    mind = loaded(packed=True)
    row = mind.row(MemoryId("e0"))
    assert row is not None
    keys = [key for key, _ in mind.terms.incidence.terms_of(row)]
    assert {"@c0", "@c2", "@c3"} <= set(keys)
    assert not {"lantern", "silver lantern", "bridge"} & set(keys)
