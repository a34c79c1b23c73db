"""Is what is put in place piece by piece what would be made at once?"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.domain.soul import Soul
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall import walk_graph as module
from soulmem.engine.recall.walk_graph import WalkGraph, WalkGraphParams, WalkGraphs

SOUL = SoulId("s1")
NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
KINDS = (
    MemoryKind.NOTE,
    MemoryKind.CONCEPT,
    MemoryKind.CONCEPT,
    MemoryKind.ACTION,
    MemoryKind.NOTE,
)
COUNT = 10
WALKED = (
    EdgeKind.NEXT,
    EdgeKind.MENTIONS,
    EdgeKind.RELATES,
    EdgeKind.ASSOCIATES,
    EdgeKind.KNOWS_HABIT,
)


def memory(number: int) -> Memory:
    """One of a few, some of them locked."""
    kind = KINDS[number % len(KINDS)]
    text = f"thing {number}"
    return Memory(
        MemoryId(f"m{number}"),
        SOUL,
        kind,
        text,
        Origin.USER,
        created=NOW,
        locked=number % 3 == 0,
    )


edges = st.builds(
    lambda source, target, kind, verb, strength, confidence, turn: Edge(
        SOUL,
        MemoryId(f"m{source}"),
        MemoryId(f"m{target}"),
        kind,
        Origin.USER,
        NOW,
        strength=strength,
        confidence=confidence,
        verb=verb if kind is EdgeKind.RELATES else None,
        at_turn=turn,
    ),
    st.integers(0, COUNT - 1),
    st.integers(0, COUNT - 1),
    st.sampled_from([*WALKED, EdgeKind.MENTIONS, EdgeKind.MENTIONS, EdgeKind.FIRES]),
    st.sampled_from(["knows", "owns"]),
    st.sampled_from([0.01, 0.3, 1.0]),
    st.sampled_from([0.5, 1.0]),
    st.sampled_from([0.0, 3.0, 40.0]),
)
steps = st.one_of(
    st.tuples(st.just("put"), edges),
    st.tuples(st.just("drop"), st.integers(0, 30)),
    st.tuples(st.just("gone"), st.integers(0, COUNT - 1)),
    st.tuples(st.just("new"), st.integers(0, COUNT - 1)),
    st.tuples(st.just("time"), st.sampled_from([1, 4, 30])),
    st.tuples(st.just("look"), st.none()),
)


def same(one: WalkGraph, other: WalkGraph) -> None:
    """Every array is equal; of slots those that are asked for."""
    for column in ("indptr", "indices", "weight", "kind", "edge"):
        assert (
            getattr(one.graph, column).tolist() == getattr(other.graph, column).tolist()
        ), column
    for column in ("fan", "is_fact", "fact_arcs", "fact_of", "places", "passed"):
        assert getattr(one, column).tolist() == getattr(other, column).tolist(), column
    assert one.slot[one.fact_rows].tolist() == other.slot[other.fact_rows].tolist()


@given(st.lists(steps, max_size=40))
def test_a_life_leaves_what_is_made_at_once(life: list[tuple[str, object]]) -> None:
    mind, turns = Mind(Soul(SOUL, "Mira", created=NOW)), 0
    mind.apply(MindChange(put_memories=tuple(memory(n) for n in range(0, COUNT, 2))))
    kept = WalkGraphs(WalkGraphParams(patched=100.0))
    kept.ready(mind, turns)
    for what, value in life:
        if what == "put" and isinstance(value, Edge):
            if {value.source, value.target} <= mind.memories.keys():
                mind.apply(MindChange(put_edges=(value,)))
        elif what == "drop" and isinstance(value, int) and len(mind.edges):
            known = sorted(mind.edges)
            mind.apply(MindChange(drop_edges=(known[value % len(known)],)))
        elif what == "gone":
            mind.apply(MindChange(drop_memories=(MemoryId(f"m{value}"),)))
        elif what == "new" and isinstance(value, int):
            mind.apply(MindChange(put_memories=(memory(value),)))
        elif what == "time" and isinstance(value, int):
            turns += value
        else:
            same(kept.ready(mind, turns), WalkGraphs().ready(mind, turns))
    same(kept.ready(mind, turns), WalkGraphs().ready(mind, turns))


def story() -> Mind:
    """A hundred notes in a row, and what some of them mention."""
    mind = Mind(Soul(SOUL, "Mira", created=NOW))
    notes = [
        replace(memory(0), id=MemoryId(f"n{n}"), text=f"note {n}") for n in range(100)
    ]
    mind.apply(MindChange(put_memories=(*notes, *(memory(n) for n in range(COUNT)))))
    row = [edge(f"n{n}", f"n{n + 1}", EdgeKind.NEXT) for n in range(98)]
    told = [edge(f"n{n}", f"m{n % 7}", EdgeKind.MENTIONS) for n in range(90)]
    mind.apply(MindChange(put_edges=(*row, *told)))
    return mind


def edge(source: str, target: str, kind: EdgeKind) -> Edge:
    return Edge(
        SOUL, MemoryId(source), MemoryId(target), kind, Origin.USER, NOW, strength=1.0
    )


@pytest.mark.parametrize("turns", [0, 4])
def test_what_changed_alone_is_made_anew(turns: int) -> None:
    mind, kept = story(), WalkGraphs()
    first = kept.ready(mind, 0)
    # The note mentions something already: that mention weighs less now, also where it leads back.
    mind.apply(
        MindChange(
            put_edges=(
                edge("n98", "n99", EdgeKind.NEXT),
                edge("n5", "m8", EdgeKind.MENTIONS),
            )
        )
    )
    with mock.patch.object(module, "_built", side_effect=AssertionError("all of it")):
        second = kept.ready(mind, turns)
        assert kept.ready(mind, turns) is second
    assert second is not first
    assert second.graph.edge.size == first.graph.edge.size + 4
    same(second, WalkGraphs().ready(mind, turns))


def test_a_new_memory_has_a_row() -> None:
    mind, kept = story(), WalkGraphs()
    kept.ready(mind, 0)
    mind.apply(MindChange(put_memories=(memory(COUNT),)))
    with mock.patch.object(module, "_built", side_effect=AssertionError("all of it")):
        assert kept.ready(mind, 0).graph.nodes == mind.size
    same(kept.ready(mind, 0), WalkGraphs().ready(mind, 0))


@pytest.mark.parametrize("way", ["faded", "forgetting", "much"])
def test_all_is_made_anew_where_much_changed(way: str) -> None:
    mind, kept = story(), WalkGraphs()
    kept.ready(mind, 0)
    if way == "forgetting":
        mind.set_soul(
            replace(mind.soul, settings=replace(mind.soul.settings, forgetting=0.5))
        )
    if way == "much":
        mind.apply(
            MindChange(
                put_edges=tuple(
                    edge(f"n{n}", f"n{n + 2}", EdgeKind.ASSOCIATES)
                    for n in range(0, 98)
                )
            )
        )
    built = module._built
    with mock.patch.object(module, "_built", side_effect=built) as asked:
        kept.ready(mind, 7 if way == "faded" else 0)
    assert asked.call_count == 1


def test_places_are_those_of_the_facts() -> None:
    mind, kept = story(), WalkGraphs(WalkGraphParams(patched=100.0))
    mind.apply(MindChange(put_edges=(edge("m1", "m2", EdgeKind.RELATES),)))
    kept.ready(mind, 0)
    mind.apply(MindChange(put_edges=(edge("m2", "n99", EdgeKind.ASSOCIATES),)))
    ground = kept.ready(mind, 0)
    marked = np.flatnonzero(ground.places >= 0)
    assert sorted(ground.graph.edge[marked].tolist()) == sorted(
        ground.fact_arcs.tolist()
    )
    assert (
        ground.fact_arcs[ground.places[marked]].tolist()
        == ground.graph.edge[marked].tolist()
    )


def test_a_fact_that_comes_back_lies_elsewhere() -> None:
    mind, kept = story(), WalkGraphs(WalkGraphParams(patched=100.0))
    one, other = edge("m1", "m2", EdgeKind.RELATES), edge("m2", "m4", EdgeKind.RELATES)
    mind.apply(MindChange(put_edges=(one, other)))
    kept.ready(mind, 0)
    mind.apply(MindChange(drop_edges=(one.id, other.id)))
    mind.apply(MindChange(put_edges=(edge("n1", "n9", EdgeKind.ASSOCIATES),)))
    mind.apply(MindChange(put_edges=(other, one)))
    same(kept.ready(mind, 0), WalkGraphs().ready(mind, 0))


def test_of_many_arcs_strengths_are_faded_when_nobody_waits() -> None:
    mind, kept, fresh = (
        story(),
        WalkGraphs(WalkGraphParams(many=1, patched=100.0)),
        WalkGraphs(),
    )
    old = replace(edge("m1", "m2", EdgeKind.ASSOCIATES), at_turn=0.0, stability=20.0)
    mind.apply(MindChange(put_edges=(old,)))
    kept.ready(mind, 4)
    with mock.patch.object(module, "_built", side_effect=AssertionError("all of it")):
        kept.renew(mind, 4)
        mind.apply(MindChange(put_edges=(edge("m2", "n99", EdgeKind.ASSOCIATES),)))
        waited = kept.ready(mind, 6)
    same(waited, fresh.ready(mind, 4))
    kept.renew(mind, 6)
    with mock.patch.object(module, "_built", side_effect=AssertionError("all of it")):
        renewed = kept.ready(mind, 6)
    same(renewed, WalkGraphs().ready(mind, 6))
    assert waited.graph.weight.tolist() != renewed.graph.weight.tolist()
    kept.ready(mind, 30)  # too long ago: now, whoever waits
    same(kept.ready(mind, 30), WalkGraphs().ready(mind, 30))
