"""Is a graph whose rows were replaced in place, again and again, the graph that is built at once?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.kernels.csr import Csr, build_csr
from soulmem.kernels.explain import Chain, explain
from soulmem.kernels.patched_graph import PatchedGraph
from soulmem.kernels.tuning import Tuning
from soulmem.kernels.walk import Walk, Walker, WalkParams

pytestmark = pytest.mark.timeout(300)  # the first test waits for the compiler
NODES, MORE = 6, 3
Edges = dict[int, list[tuple[int, float]]]  # target and weight by source

edges = st.lists(
    st.tuples(st.integers(0, NODES - 1), st.sampled_from([0.0, 0.25, 0.5, 2.0])),
    max_size=14,
)
rows = st.dictionaries(st.integers(0, NODES + MORE - 1), edges, max_size=4)


def built(sources: list[int], leaving: Edges, targets: int) -> Csr:
    """A graph with a node for each of the sources; the number of an edge tells its ends and place."""
    listed = [
        (place, target, weight, (source * 64 + number) * 64 + target)
        for place, source in enumerate(sources)
        for number, (target, weight) in enumerate(leaving.get(source, ()))
    ]
    source, target, number = (np.asarray([edge[i] for edge in listed], np.int64) for i in (0, 1, 3))
    weight = np.asarray([edge[2] for edge in listed], np.float64)
    return build_csr(
        len(sources),
        source,
        target,
        weight,
        target % 3,
        number=number.astype(np.uint32),
        targets=targets,
    )


def walk_on(walker: Walker, n: int, l1: float) -> Walk:
    """A walk from two nodes, through all but one."""
    alive = np.ones(n, np.bool_)
    alive[1] = False
    factor = np.ones(256, np.float32)
    factor[2] = 0.5
    tuning = Tuning(alive=alive, kind_factor=factor)
    seeds = np.asarray([0, n - 1], np.uint32)
    return walker.walk(seeds, np.asarray([0.5, 0.5]), WalkParams(0.2, l1), tuning)


def told(chain: Chain) -> tuple[list[int], list[int]]:
    """The nodes and edges of a chain."""
    return chain.rows.tolist(), chain.edges.tolist()


def scores(walk: Walk, n: int) -> list[float]:
    """By node."""
    out = np.zeros(n)
    out[walk.rows] = walk.score
    return list(map(float, out))


@given(rows, st.lists(st.tuples(rows, st.integers(0, 1)), max_size=6))
def test_walks_on_replaced_rows_are_those_on_a_new_graph(
    first: Edges, changes: list[tuple[Edges, int]]
) -> None:
    n = NODES
    leaving: Edges = {source: first[source] for source in first if source < n}
    patched = PatchedGraph(built(list(range(n)), leaving, n))
    walker = Walker(patched)
    walk_on(walker, n, 0.1)
    for change, more in changes:
        n = min(n + more, NODES + MORE)
        sources = sorted(source for source in change if source < n)
        leaving |= {source: change[source] for source in sources}
        replaced = np.asarray(sources, np.int64)
        part = built(sources, leaving, n)
        fresh = built(list(range(n)), leaving, n)
        if patched.has_room(part, replaced, n):
            patched.replace(part, replaced, n)
            walker.replaced(replaced, np.zeros(0, np.int32))
        else:
            patched = PatchedGraph(fresh)
            walker = Walker(patched)
        packed = patched.packed()
        assert (patched.nodes, patched.size) == (n, fresh.size)
        for column in ("indptr", "indices", "weight", "kind", "edge"):
            mine, theirs = getattr(packed, column), getattr(fresh, column)
            assert mine.tolist() == theirs.tolist(), column
        for l1 in (0.3, 1e-7):
            mine = walk_on(walker, n, l1)
            theirs = walk_on(Walker(fresh), n, l1)
            assert scores(mine, n) == scores(theirs, n)
            assert (mine.error, mine.visits) == (theirs.error, theirs.visits)
            targets, seeds = np.arange(n, dtype=np.uint32), np.zeros(1, np.uint32)
            chains = [
                explain(graph, walk, targets, seeds, 0.2)
                for graph, walk in ((patched, mine), (fresh, theirs))
            ]
            assert list(map(told, chains[0])) == list(map(told, chains[1]))


def test_without_room_nothing_is_replaced() -> None:
    patched = PatchedGraph(built([0, 1], {0: [(1, 1.0)]}, 2))
    many = built([0], {0: [(1, 0.5)] * 60}, 2)
    row = np.zeros(1, np.int64)
    assert patched.has_room(built([0], {0: [(1, 0.5)] * 40}, 2), row, 2)
    assert not patched.has_room(many, row, 2)
    assert not patched.has_room(built([0], {}, 2), row, patched.most_nodes + 1)
    assert patched.packed().indices.tolist() == [1]
