"""Changes that one query makes to the weights of a graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.kernels.arrays import Bools, Float64s
from soulmem.kernels.csr import LARGEST, Csr, Ids, Weights
from soulmem.kernels.patched_graph import PatchedGraph

Places = NDArray[np.int32]

NO_KINDS = np.ones(256, np.float32)
NO_IDS = np.empty(0, np.uint32)
NO_WEIGHTS = np.empty(0, np.float32)
NO_FLAGS = np.empty(0, np.bool_)
NO_PLACES = np.empty(0, np.int32)


@dataclass(frozen=True, slots=True)
class Tuning:
    """Multipliers and masks of one query; None changes nothing.

    kind_factor  float32[256], 0..1e12  multiplies the weight of every edge of a kind
    edges        uint32[k], distinct    the caller's numbers of edges with an own multiplier;
                                        pass the same array again to reuse its look-up
    factor       float32[k], 0..1e12    own multipliers, applied beside those of the kind
    places       int32[m]               `places_of` these edges, if at hand
    base         uint32[..]             the first of `edges`, if only the others are of this query alone:
                                        pass the same array again to reuse its look-up; needs `places`
    rows         uint32[..]             nodes where those others start; with `base`
    alive        bool[n]                edges to other nodes do not exist
    boundary     bool[n]                nodes whose out-edges are not all loaded: they keep what arrives

    A weight of the query is the float32 product of the weight and its multipliers.
    """

    kind_factor: Weights | None = None
    edges: Ids | None = None
    factor: Weights | None = None
    places: Places | None = None
    base: Ids | None = None
    rows: Ids | None = None
    alive: Bools | None = None
    boundary: Bools | None = None

    @property
    def reweights(self) -> bool:
        """True if any weight may change."""
        return self.kind_factor is not None or self.edges is not None or self.alive is not None


def check_tuning(graph: Csr | PatchedGraph, tuning: Tuning) -> None:
    """Raises ValueError if a multiplier or mask does not fit the graph."""
    n, m = graph.nodes, graph.edge.size
    columns = (
        ("alive", tuning.alive, n),
        ("boundary", tuning.boundary, n),
        ("places", tuning.places, m),
    )
    for name, column, size in columns:
        if column is not None and column.shape != (size,):
            raise ValueError(
                f"{name} must be of shape {(size,)} in a graph of {n} nodes and {m} edges"
            )
    _check_own_factors(graph, tuning)
    if tuning.kind_factor is not None and tuning.kind_factor.shape != (256,):
        raise ValueError("kind_factor must have 256 numbers")
    for factors in (tuning.kind_factor, tuning.factor):
        if factors is None or not factors.size:
            continue
        if not 0 <= factors.min() <= factors.max() <= LARGEST:
            raise ValueError(f"multipliers must be in 0..{LARGEST:g}")


def _check_own_factors(graph: Csr | PatchedGraph, tuning: Tuning) -> None:
    edges, factor = tuning.edges, tuning.factor
    if edges is None and factor is None:
        return
    if edges is None or factor is None:
        raise ValueError("edges and factor belong together")
    if edges.shape != factor.shape:
        raise ValueError("edges and factor must have the same length")
    if edges.size and int(edges.max()) >= graph.numbers:
        raise ValueError(f"there is no edge {int(edges.max())}")
    base, rows = tuning.base, tuning.rows
    if base is None and rows is None:
        return
    if base is None or rows is None or tuning.places is None:
        raise ValueError("base needs rows and places")
    if rows.size and int(rows.max()) >= graph.nodes:
        raise ValueError(f"there is no node {int(rows.max())}")


def places_of(graph: Csr | PatchedGraph, edges: Ids) -> Places:
    """int32[m] by position: index in `edges` (the caller's numbers) of the edge there, or -1. O(m)."""
    by_edge = np.full(graph.numbers, -1, np.int32)
    by_edge[edges] = np.arange(edges.size)
    return np.asarray(by_edge[graph.edge], np.int32)


def own_places(graph: Csr | PatchedGraph, tuning: Tuning) -> Places:
    """`places_of` the edges with an own multiplier; `tuning.edges` must be set."""
    assert tuning.edges is not None
    return tuning.places if tuning.places is not None else places_of(graph, tuning.edges)


def tuned_weight(graph: Csr, tuning: Tuning | None) -> Weights:
    """float32[m] by position: the weight of every edge for this query. O(m)."""
    if tuning is None or not tuning.reweights:
        return graph.weight
    weight: Weights = graph.weight.copy()
    if tuning.kind_factor is not None:
        np.multiply(weight, tuning.kind_factor.astype(np.float32)[graph.kind], out=weight)
    if tuning.edges is not None and tuning.factor is not None:
        by_edge = np.ones(graph.numbers, np.float32)
        by_edge[tuning.edges] = tuning.factor
        np.multiply(weight, by_edge[graph.edge], out=weight)
    if tuning.alive is not None:
        weight[~tuning.alive[graph.indices]] = 0
    return weight


def transition(graph: Csr, tuning: Tuning | None) -> tuple[Float64s, Bools]:
    """Probability of each edge, and which nodes are sinks. O(m).

    Returns float64[m] by position, 0 from boundary nodes, and bool[n]: nodes without a
    weighted out-edge that are not boundary nodes.
    """
    n, weight = graph.nodes, tuned_weight(graph, tuning).astype(np.float64)
    total = np.bincount(graph.sources, weights=weight, minlength=n)
    scale = np.divide(1.0, total, out=np.zeros(n), where=total > 0)
    sink = total == 0
    if tuning is not None and tuning.boundary is not None:
        scale[tuning.boundary] = 0
        sink &= ~tuning.boundary
    weight *= np.repeat(scale, np.diff(graph.indptr))
    return weight, sink
