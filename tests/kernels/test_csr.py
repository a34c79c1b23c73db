"""Does the layout hold the edges it was made of?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.kernels.csr import Csr, build_csr, with_rows
from soulmem.kernels.ordering import order_edges
from soulmem.kernels.warm import kernels

pytestmark = pytest.mark.timeout(300)  # the first test waits for the compiler


@pytest.mark.parametrize("way", ["plain", "as python", "compiled"])
def test_edges_stand_by_source_and_falling_weight_and_keep_their_number(
    way: str,
) -> None:
    rng = np.random.default_rng(3)
    source, target, kind = (
        rng.integers(0, 40, 500),
        rng.integers(0, 40, 500),
        rng.integers(0, 256, 500),
    )
    weight = rng.choice([0.0, -0.0, 1e-40, 0.2, 0.3, 7.0, 1e12], 500)
    compiled = kernels()
    order = {"plain": None, "as python": order_edges, "compiled": compiled.order_edges}[
        way
    ]
    graph = build_csr(40, source, target, weight, kind, order)
    assert np.array_equal(
        graph.edge, np.lexsort((np.arange(500), -weight.astype(np.float32), source))
    )
    assert np.array_equal(graph.sources, np.sort(source))
    assert np.array_equal(
        graph.indptr[1:], np.cumsum(np.bincount(source, minlength=40))
    )
    assert sorted(graph.edge) == list(range(500))
    assert np.array_equal(graph.indices, target[graph.edge])
    assert np.array_equal(graph.kind, kind[graph.edge])
    assert np.array_equal(graph.weight, weight[graph.edge].astype(np.float32))
    for node in range(40):
        row = graph.weight[graph.indptr[node] : graph.indptr[node + 1]]
        assert (np.diff(row) <= 0).all()


def test_a_graph_may_have_no_edges() -> None:
    none = np.empty(0, np.int64)
    compiled = kernels()
    for order in (None, compiled.order_edges):
        graph = build_csr(2, none, none, np.empty(0), order_edges=order)
        assert graph.nodes == 2
        assert graph.indptr.tolist() == [0, 0, 0]


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf, 2e12])
def test_weights_out_of_range_are_refused(weight: float) -> None:
    with pytest.raises(ValueError, match="weights"):
        build_csr(2, np.array([0]), np.array([1]), np.array([weight]))


@pytest.mark.parametrize(("source", "target"), [(0, 2), (2, 0), (-1, 0)])
def test_edges_of_unknown_nodes_are_refused(source: int, target: int) -> None:
    with pytest.raises(ValueError, match="outside"):
        build_csr(2, np.array([source]), np.array([target]), np.ones(1))


@given(
    st.lists(
        st.tuples(
            st.integers(0, 5), st.integers(0, 5), st.sampled_from([0.0, 0.5, 2.0])
        ),
        max_size=30,
    ),
    st.lists(
        st.tuples(
            st.integers(0, 7), st.integers(0, 7), st.sampled_from([0.0, 0.5, 2.0])
        ),
        max_size=30,
    ),
    st.sets(st.integers(0, 7)),
)
def test_some_rows_are_put_in_place_of_others(
    old: list[tuple[int, int, float]], new: list[tuple[int, int, float]], some: set[int]
) -> None:
    """The old graph has six nodes, the new one eight."""
    part = [edge for edge in new if edge[0] in some]
    rows = np.asarray(sorted(some), np.int64)
    made = with_rows(made_of(6, old), made_of(8, part), rows)
    expected = [edge for edge in old if edge[0] not in some] + part
    assert made.nodes == 8
    assert made.numbers == max(len(old), len(part))
    for node in range(8):
        mine = slice(*made.indptr[node : node + 2].tolist())
        wanted = [edge for edge in expected if edge[0] == node]
        assert sorted(
            zip(made.indices[mine].tolist(), made.weight[mine].tolist(), strict=True)
        ) == sorted((target, weight) for _, target, weight in wanted)
        assert (np.diff(made.weight[mine]) <= 0).all()


def made_of(nodes: int, edges: list[tuple[int, int, float]]) -> Csr:
    """The graph of these (source, target, weight)."""
    source, target = (
        np.asarray([edge[position] for edge in edges], np.int64)
        for position in range(2)
    )
    return build_csr(
        nodes, source, target, np.asarray([edge[2] for edge in edges], np.float64)
    )
