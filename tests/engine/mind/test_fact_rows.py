"""Does every fact keep its place among the rows, whatever comes and goes?"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from soulmem.consolidation.validity import are_exclusive, is_same_fact
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
    return Edge(
        SOUL, *ends, EdgeKind.RELATES, Origin.USER, NOW, strength=1.0, verb=verb
    )


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
    mind = Mind(Soul(SOUL, "Mira", created=NOW))
    mind.apply(MindChange(put_memories=tuple(concept(n) for n in range(5))))
    for number, (comes, source, target, verb) in enumerate(steps):
        edge = relation(source, target, verb)
        mind.apply(
            MindChange(put_edges=(edge,))
            if comes
            else MindChange(drop_edges=(edge.id,))
        )
        if number == 20:
            mind.apply(MindChange(drop_memories=(MemoryId("c1"),)))
            mind.apply(MindChange(put_memories=(concept(1),)))
    facts, subjects, objects = mind.facts.row_arrays()
    expected = {
        tuple(mind.memory_at(row).id for row in rows)
        for rows in np.column_stack([facts, subjects, objects]).tolist()
    }
    assert expected == {
        (edge.id, edge.source, edge.target) for edge in mind.edges.every()
    }
    assert len(mind.facts) == facts.size == len(mind.edges)

    ground = Walks(mind).refresh(0)
    walked = {
        row: mind.edges.edge_at(int(slot)).id
        for row, slot in zip(
            ground.fact_rows.tolist(), ground.slot[ground.fact_rows], strict=True
        )
    }
    assert walked == {
        mind.row(MemoryId(edge.id)): edge.id for edge in mind.edges.every()
    }
    assert np.unique(ground.fact_arcs).size == 2 * facts.size


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
    edges = [
        replace(relation(subject, object_, ""), verb=verb)
        for subject, object_, verb in relations
    ]
    mind.apply(MindChange(put_edges=tuple(edges)))
    accessible = np.ones(mind.size, np.bool_)
    for edge, is_known in zip(edges, shown, strict=False):
        accessible[mind.row(MemoryId(edge.id))] = is_known
    standings = FactValidities(mind, accessible, None)
    seen = [edge for edge in edges if standings.is_accessible(MemoryId(edge.id))]
    claims = {
        edge.id: claim for edge in seen if (claim := standings.claim(edge)) is not None
    }
    for edge in seen:
        others = [claim for key, claim in claims.items() if key != edge.id]
        if edge.id in claims and standings.has_no_related(edge.id, edge):
            assert not standings.related_claims(claims[edge.id], edge)
            assert standings.of(edge).by is None
            assert not any(is_same_fact(claims[edge.id], other) for other in others)
            assert not any(are_exclusive(claims[edge.id], other) for other in others)
        elif edge.id in claims:
            assert len(seen) > 1
