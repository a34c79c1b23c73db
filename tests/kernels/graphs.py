"""Random graphs and queries for the kernels, and what is true of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from soulmem.kernels.arrays import Bools, Float64s
from soulmem.kernels.csr import Csr, Ids, build_csr
from soulmem.kernels.tuning import Tuning, tuned_weight
from soulmem.kernels.walk import Walk, WalkParams

HARD_WEIGHTS = (0.0, 1e-40, 1e-30, 1e-9, 1e-3, 0.5, 1.0, 1.0, 3.0, 1e6, 1e12)


@dataclass(frozen=True)
class Query:
    """Something to ask of a graph."""

    graph: Csr
    seeds: Ids
    share: Float64s
    params: WalkParams


def random_graph(rng: np.random.Generator, n: int, m: int, hubs: int) -> Csr:
    """n nodes, m edges and `hubs` nodes with 3n more edges each; loops, sinks, duplicates, hard weights."""
    source, target = rng.integers(0, n, m), rng.integers(0, n, m)
    for hub in rng.choice(n, min(hubs, n), replace=False):
        source = np.concatenate([source, np.full(3 * n, hub)])
        target = np.concatenate([target, rng.integers(0, n, 3 * n)])
    weight = np.where(
        rng.random(source.size) < 0.3,
        rng.choice(HARD_WEIGHTS, source.size),
        rng.lognormal(0, 2, source.size),
    )
    weight[rng.random(n)[source] < 0.1] = 0  # whole rows
    return build_csr(n, source, target, weight, rng.integers(0, 5, source.size))


@st.composite
def queries(draw: st.DrawFn) -> Query:
    """A query on a random graph of up to 60 nodes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 60))
    graph = random_graph(rng, n, draw(st.integers(0, 6 * n)), draw(st.integers(0, 2)))
    seeds = rng.choice(n, draw(st.integers(1, min(n, 5))), replace=draw(st.booleans())).astype(
        np.uint32
    )
    share = rng.dirichlet(np.ones(seeds.size)) + 1e-6
    restart = draw(st.sampled_from([0.05, 0.2, 0.5, 0.9, 1.0]))
    l1 = 10.0 ** draw(st.floats(-11, 0))
    return Query(graph, seeds, share / share.sum(), WalkParams(restart, l1))


@st.composite
def tunings(draw: st.DrawFn, query: Query) -> Tuning:
    """Some multipliers and masks for a query; its seeds stay alive."""
    graph = query.graph
    n, m = graph.nodes, graph.edge.size
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind_factor = rng.choice([0.0, 0.1, 0.7, 1.0, 5.0, 1e4], 256).astype(np.float32)
    edges = rng.choice(m, rng.integers(0, m + 1), replace=False).astype(np.uint32) if m else None
    factor = (
        None if edges is None else rng.choice([0.0, 1e-6, 0.3, 2.0], edges.size).astype(np.float32)
    )
    alive = rng.random(n) < rng.choice([0.3, 0.9])
    alive[query.seeds] = True
    boundary = rng.random(n) < rng.choice([0.1, 0.5])
    own = draw(st.booleans())
    return Tuning(
        kind_factor=kind_factor if draw(st.booleans()) else None,
        edges=edges if own else None,
        factor=factor if own else None,
        alive=alive if draw(st.booleans()) else None,
        boundary=boundary if draw(st.booleans()) else None,
    )


def transition_matrix(graph: Csr, tuning: Tuning | None = None) -> Float64s:
    """P, dense, with rows of zeros at sinks."""
    weight = tuned_weight(graph, tuning).astype(np.float64)
    dense = np.zeros((graph.nodes, graph.nodes))
    np.add.at(dense, (graph.sources, graph.indices), weight)
    total = dense.sum(axis=1, keepdims=True)
    shares: Float64s = np.divide(dense, total, out=np.zeros_like(dense), where=total > 0)
    return shares


def start(query: Query) -> Float64s:
    """Where the walk starts, by node."""
    shares: Float64s = np.bincount(query.seeds, query.share, query.graph.nodes).astype(np.float64)
    return shares


def solution(query: Query, tuning: Tuning | None = None) -> Float64s:
    """pi by linear algebra: from a sink the walk returns to the seeds; boundary nodes are as others."""
    matrix = transition_matrix(query.graph, tuning)
    matrix[matrix.sum(axis=1) == 0] = start(query)
    restart = query.params.restart
    system = np.eye(query.graph.nodes) - (1 - restart) * matrix.T
    pi: Float64s = np.linalg.solve(system, restart * start(query))
    return pi


def dense(walk: Walk, n: int) -> Float64s:
    """The scores by node."""
    score = np.zeros(n)
    score[walk.rows] = walk.score
    return score


def mask(n: int, nodes: Ids) -> Bools:
    """Bools of some nodes."""
    flags = np.zeros(n, np.bool_)
    flags[nodes] = True
    return flags
