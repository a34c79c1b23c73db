"""Does every fact keep its place among the rows, whatever comes and goes?"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from soulmem.consolidation.validity import FactClaim, are_exclusive, is_same_fact
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.domain.soul import Soul
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.walks import Walks
from soulmem.engine.views.fact_validity import FactValidities

SOUL = SoulId("s1")
NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)


def concept(number: int) -> Memory:
    """One of a few."""
    return Memory(
        MemoryId(f"c{number}"),
        SOUL,
        MemoryKind.CONCEPT,
        f"thing {number}",
        Origin.USER,
        created=NOW,
    )


def relation(source: int, target: int, verb: str) -> Edge:
    """A fact about two."""
    ends = MemoryId(f"c{source}"), MemoryId(f"c{target}")
    return Edge(SOUL, *ends, EdgeKind.RELATES, Origin.USER, NOW, strength=1.0, verb=verb)


@given(
    st.lists(
        st.tuples(
            st.booleans(),
            st.integers(0, 4),
            st.integers(0, 4),
            st.sampled_from(["knows", "owns"]),
        ),
        max_size=40,
    )
)
def test_rows_are_those_of_the_facts_that_are_left(
    steps: list[tuple[bool, int, int, str]],
) -> None:
    mind = changed_mind(steps)
    edges = list(mind.edges.every())
    facts, subjects, objects = mind.facts.row_arrays()
    rows = np.column_stack([facts, subjects, objects]).tolist()
    assert {tuple(mind.ids_at(fact_rows)) for fact_rows in rows} == {
        (edge.id, edge.source, edge.target) for edge in edges
    }
    assert len(mind.facts) == facts.size == len(mind.edges)

    ground = Walks(mind).refresh(0)
    slots = ground.slot[ground.fact_rows].tolist()
    walked = [mind.edges.edge_at(slot).id for slot in slots]
    assert dict(zip(ground.fact_rows.tolist(), walked, strict=True)) == {
        mind.row(MemoryId(edge.id)): edge.id for edge in edges
    }
    assert np.unique(ground.fact_arcs).size == 2 * facts.size


def changed_mind(steps: list[tuple[bool, int, int, str]]) -> Mind:
    """A mind with five concepts after these relations were put or dropped, one concept dropped meanwhile."""
    mind = Mind(Soul(SOUL, "Mira", created=NOW))
    mind.apply(MindChange(put_memories=tuple(concept(n) for n in range(5))))
    for number, (is_put, source, target, verb) in enumerate(steps):
        edge = relation(source, target, verb)
        put, drop = ((edge,), ()) if is_put else ((), (edge.id,))
        mind.apply(MindChange(put_edges=put, drop_edges=drop))
        if number == 20:
            mind.apply(MindChange(drop_memories=(MemoryId("c1"),)))
            mind.apply(MindChange(put_memories=(concept(1),)))
    return mind


VERBS = [
    None,
    "knows",
    "loves",
    "likes",
    "no longer loves",
    "hates",
    "lives in",
    "moved to",
    "marry",
    "own",
    "lose",
]


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from(VERBS)),
        unique=True,
        max_size=14,
    ),
    st.lists(st.booleans(), min_size=14, max_size=14),
)
def test_a_fact_that_is_alone_is_touched_by_no_other(
    relations: list[tuple[int, int, str | None]], shown: list[bool]
) -> None:
    """Whatever of them a chat knows: what nobody looks into would not have been over, nor told twice."""
    mind = Mind(Soul(SOUL, "Mira", created=NOW))
    mind.apply(MindChange(put_memories=tuple(concept(n) for n in range(5))))
    edges = [replace(relation(s, o, ""), verb=verb) for s, o, verb in relations]
    mind.apply(MindChange(put_edges=tuple(edges)))
    accessible = np.ones(mind.size, np.bool_)
    for edge, is_shown in zip(edges, shown, strict=False):
        accessible[mind.row(MemoryId(edge.id))] = is_shown
    validities = FactValidities(mind, accessible, None)
    seen = [edge for edge in edges if validities.is_accessible(MemoryId(edge.id))]
    claims = list(filter(None, map(validities.claim, seen)))
    by_id = {edge.id: edge for edge in seen}
    for claim in claims:
        edge = by_id[claim.key]
        if validities.has_no_related(edge.id, edge):
            assert not validities.related_claims(claim, edge)
            assert validities.of(edge).by is None
            assert_unrelated(claim, claims)
        else:
            assert len(seen) > 1


def assert_unrelated(claim: FactClaim, claims: list[FactClaim]) -> None:
    """No other of the claims is the same fact, or excludes it."""
    for other in claims:
        if other.key != claim.key:
            assert not is_same_fact(claim, other)
            assert not are_exclusive(claim, other)
