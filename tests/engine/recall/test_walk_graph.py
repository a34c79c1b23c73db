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
from soulmem.kernels.walk import Tuning, WalkParams

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


def assert_same(graph: WalkGraph, other: WalkGraph) -> None:
    """Every array is equal where it means something; of slots those that are asked for."""
    one, two = graph.graph.packed(), other.graph.packed()
    assert graph.graph.size == other.graph.size
    for column in ("indptr", "indices", "weight", "kind", "edge"):
        assert getattr(one, column).tolist() == getattr(two, column).tolist(), column
    for column in ("fact_arcs", "fact_of"):
        assert getattr(graph, column).tolist() == getattr(other, column).tolist(), column
    n = graph.graph.nodes
    for column in ("fan", "is_fact", "passed"):
        mine, theirs = getattr(graph, column)[:n], getattr(other, column)[:n]
        assert mine.tolist() == theirs.tolist(), column
    for each in (graph, other):
        count = each.fact_rows.size
        assert each.fact_index[each.fact_rows].tolist() == list(range(count))
    places, wanted = (each.places[each.graph.positions_of(np.arange(n))] for each in (graph, other))
    assert places.tolist() == wanted.tolist()
    assert_same_walks(graph, other)
    assert graph.slot[graph.fact_rows].tolist() == other.slot[other.fact_rows].tolist()


def assert_same_walks(graph: WalkGraph, other: WalkGraph) -> None:
    """A walk from every row, by pushing alone and by sweeps as well, arrives at the same."""
    n = graph.graph.nodes
    if not n:
        return
    seeds, share = np.arange(n, dtype=np.uint32), np.full(n, 1 / n)
    alive = np.ones(n, np.bool_)
    factor = np.linspace(1.0, 1.5, graph.fact_arcs.size).astype(np.float32)
    for l1 in (0.1, 1e-6):
        walks = [
            each.walker.walk(
                seeds,
                share,
                WalkParams(l1=l1),
                Tuning(
                    alive=alive,
                    edges=each.fact_arcs,
                    factor=factor,
                    places=each.places,
                ),
            )
            for each in (graph, other)
        ]
        mine, theirs = (np.zeros(n) for _ in walks)
        for out, walk in zip((mine, theirs), walks, strict=True):
            out[walk.rows] = walk.score
        assert mine.tolist() == theirs.tolist()


def change_of(mind: Mind, step: str, value: object) -> MindChange:
    """The change that a step of a life makes; an empty one where it cannot be made."""
    if step == "put" and isinstance(value, Edge):
        if {value.source, value.target} <= mind.memories.keys():
            return MindChange(put_edges=(value,))
    elif step == "drop" and isinstance(value, int) and len(mind.edges):
        keys = sorted(mind.edges)
        return MindChange(drop_edges=(keys[value % len(keys)],))
    elif step == "gone":
        return MindChange(drop_memories=(MemoryId(f"m{value}"),))
    elif step == "new" and isinstance(value, int):
        return MindChange(put_memories=(memory(value),))
    return MindChange()


@given(st.lists(steps, max_size=40))
def test_a_graph_patched_through_a_life_equals_a_fresh_one(
    life: list[tuple[str, object]],
) -> None:
    mind, turns = Mind(Soul(SOUL, "Mira", created=NOW)), 0
    mind.apply(MindChange(put_memories=tuple(memory(n) for n in range(0, COUNT, 2))))
    graphs = WalkGraphs(WalkGraphParams(patched=100.0))
    graphs.ready(mind, turns)
    for step, value in life:
        if step == "look":
            assert_same(graphs.ready(mind, turns), WalkGraphs().ready(mind, turns))
        elif step == "time" and isinstance(value, int):
            turns += value
        else:
            mind.apply(change_of(mind, step, value))
    assert_same(graphs.ready(mind, turns), WalkGraphs().ready(mind, turns))


def story() -> Mind:
    """A hundred notes in a row, and what some of them mention."""
    mind = Mind(Soul(SOUL, "Mira", created=NOW))
    notes = [replace(memory(0), id=MemoryId(f"n{n}"), text=f"note {n}") for n in range(100)]
    mind.apply(MindChange(put_memories=(*notes, *(memory(n) for n in range(COUNT)))))
    row = [edge(f"n{n}", f"n{n + 1}", EdgeKind.NEXT) for n in range(98)]
    mentions = [edge(f"n{n}", f"m{n % 7}", EdgeKind.MENTIONS) for n in range(90)]
    mind.apply(MindChange(put_edges=(*row, *mentions)))
    return mind


def edge(source: str, target: str, kind: EdgeKind) -> Edge:
    return Edge(SOUL, MemoryId(source), MemoryId(target), kind, Origin.USER, NOW, strength=1.0)


@pytest.mark.parametrize("turns", [0, 4])
def test_only_changed_rows_are_built_again(turns: int) -> None:
    mind, graphs = story(), WalkGraphs()
    first = graphs.ready(mind, 0)
    before = first.graph.size
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
        second = graphs.ready(mind, turns)
        assert graphs.ready(mind, turns) is second
    assert second is not first
    assert second.graph.size == before + 4
    assert_same(second, WalkGraphs().ready(mind, turns))


def test_a_new_memory_has_a_row() -> None:
    mind, graphs = story(), WalkGraphs()
    graphs.ready(mind, 0)
    mind.apply(MindChange(put_memories=(memory(COUNT),)))
    with mock.patch.object(module, "_built", side_effect=AssertionError("all of it")):
        assert graphs.ready(mind, 0).graph.nodes == mind.size
    assert_same(graphs.ready(mind, 0), WalkGraphs().ready(mind, 0))


@pytest.mark.parametrize("way", ["faded", "forgetting", "much"])
def test_the_whole_graph_is_built_again_where_much_changed(way: str) -> None:
    mind, graphs = story(), WalkGraphs()
    graphs.ready(mind, 0)
    if way == "forgetting":
        mind.set_soul(replace(mind.soul, settings=replace(mind.soul.settings, forgetting=0.5)))
    if way == "much":
        mind.apply(
            MindChange(
                put_edges=tuple(
                    edge(f"n{n}", f"n{n + 2}", EdgeKind.ASSOCIATES) for n in range(0, 98)
                )
            )
        )
    built = module._built
    with mock.patch.object(module, "_built", side_effect=built) as build:
        graphs.ready(mind, 7 if way == "faded" else 0)
    assert build.call_count == 1


def test_places_are_those_of_the_facts() -> None:
    mind, graphs = story(), WalkGraphs(WalkGraphParams(patched=100.0))
    mind.apply(MindChange(put_edges=(edge("m1", "m2", EdgeKind.RELATES),)))
    graphs.ready(mind, 0)
    mind.apply(MindChange(put_edges=(edge("m2", "n99", EdgeKind.ASSOCIATES),)))
    walk_graph = graphs.ready(mind, 0)
    positions = walk_graph.graph.positions_of(np.arange(mind.size))
    places, arcs = walk_graph.places[positions], walk_graph.graph.edge[positions]
    assert sorted(arcs[places >= 0].tolist()) == sorted(walk_graph.fact_arcs.tolist())
    assert walk_graph.fact_arcs[places[places >= 0]].tolist() == arcs[places >= 0].tolist()


def test_a_fact_that_comes_back_lies_elsewhere() -> None:
    mind, graphs = story(), WalkGraphs(WalkGraphParams(patched=100.0))
    first, second = (
        edge("m1", "m2", EdgeKind.RELATES),
        edge("m2", "m4", EdgeKind.RELATES),
    )
    mind.apply(MindChange(put_edges=(first, second)))
    graphs.ready(mind, 0)
    mind.apply(MindChange(drop_edges=(first.id, second.id)))
    mind.apply(MindChange(put_edges=(edge("n1", "n9", EdgeKind.ASSOCIATES),)))
    mind.apply(MindChange(put_edges=(second, first)))
    assert_same(graphs.ready(mind, 0), WalkGraphs().ready(mind, 0))


def test_of_many_arcs_strengths_are_faded_when_nobody_waits() -> None:
    mind, graphs, fresh = (
        story(),
        WalkGraphs(WalkGraphParams(many=1, patched=100.0)),
        WalkGraphs(),
    )
    old = replace(edge("m1", "m2", EdgeKind.ASSOCIATES), at_turn=0.0, stability=20.0)
    mind.apply(MindChange(put_edges=(old,)))
    graphs.ready(mind, 4)
    with mock.patch.object(module, "_built", side_effect=AssertionError("all of it")):
        assert not graphs.renew(mind, 4)
        mind.apply(MindChange(put_edges=(edge("m2", "n99", EdgeKind.ASSOCIATES),)))
        waited = graphs.ready(mind, 6)
    assert_same(waited, fresh.ready(mind, 4))
    weight = waited.graph.packed().weight.tolist()
    with mock.patch.object(module, "_built", side_effect=AssertionError("all of it")):
        while graphs.renew(mind, 6):
            pass
        renewed = graphs.ready(mind, 6)
    assert_same(renewed, WalkGraphs().ready(mind, 6))
    assert weight != renewed.graph.packed().weight.tolist()
    graphs.ready(mind, 30)  # too long ago: now, whoever waits
    assert_same(graphs.ready(mind, 30), WalkGraphs().ready(mind, 30))


@given(st.lists(steps, max_size=12), st.lists(steps, max_size=20))
def test_strengths_updated_in_steps_equal_those_of_a_fresh_graph(
    before: list[tuple[str, object]], meanwhile: list[tuple[str, object]]
) -> None:
    """Whatever changes between two steps; a recall between them walks on the strengths of before."""
    mind = Mind(Soul(SOUL, "Mira", created=NOW))
    mind.apply(MindChange(put_memories=tuple(memory(n) for n in range(0, COUNT, 2))))
    for step, value in before:
        mind.apply(change_of(mind, step, value))
    graphs = WalkGraphs(WalkGraphParams(patched=100.0, many=0, step=2))
    graphs.ready(mind, 4)
    assert_same(graphs.ready(mind, 5), WalkGraphs().ready(mind, 4))
    for step, value in meanwhile:
        if graphs.renew(mind, 5) and step == "look" and graphs._is_behind:
            assert_same(graphs.ready(mind, 5), WalkGraphs().ready(mind, 4))
        mind.apply(change_of(mind, step, value))
    while graphs.renew(mind, 5):
        pass
    assert not graphs._is_behind
    assert_same(graphs.ready(mind, 5), WalkGraphs().ready(mind, 5))


def test_no_step_of_an_update_makes_the_whole_graph() -> None:
    mind, graphs = story(), WalkGraphs(WalkGraphParams(many=1, step=20))
    graphs.ready(mind, 4)
    graphs.ready(mind, 6)
    with (
        mock.patch.object(module, "_built", side_effect=AssertionError("all of it")),
        mock.patch.object(module, "_arcs_that_leave", side_effect=module._arcs_that_leave) as made,
    ):
        while graphs.renew(mind, 6):
            pass
    graph = graphs.ready(mind, 6).graph
    degree = graph.ends - graph.starts
    sizes = [int(degree[call.args[0]].sum()) for call in made.call_args_list]
    assert sum(sizes) == graph.size
    assert max(sizes) < 20 + int(degree.max())
    assert graphs.ready(mind, 6).walker._laid_out is not None
