"""Does the layout hold the edges it was made of?"""

from __future__ import annotations

import numpy as np
import pytest

from soulmem.kernels.csr import build_csr
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
    order = {"plain": None, "as python": order_edges, "compiled": compiled.order_edges}[way]
    graph = build_csr(40, source, target, weight, kind, order)
    assert np.array_equal(
        graph.edge, np.lexsort((np.arange(500), -weight.astype(np.float32), source))
    )
    assert np.array_equal(graph.sources, np.sort(source))
    assert np.array_equal(graph.indptr[1:], np.cumsum(np.bincount(source, minlength=40)))
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
