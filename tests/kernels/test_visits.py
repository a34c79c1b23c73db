"""Does a walk visit few edges? Counted, not timed, so that it holds on any machine.

N* is the number of nodes that any answer of that accuracy must name; each costs an edge at least.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

import numpy as np
import pytest

from soulmem.kernels import laid_out_graph
from soulmem.kernels.csr import build_csr
from soulmem.kernels.walk import Walk, Walker, WalkParams
from soulmem.kernels.warm import warm
from tests.bench.graphs import SHAPES, Query, make_graph, queries
from tests.bench.reference import Floats, Plain, compress, exact, fewest_nodes
from tests.kernels.edgepush_heap import EdgePush

RESTART = 0.2

pytestmark = pytest.mark.timeout(300)  # the first test waits for the compiler


@dataclass(frozen=True, slots=True)
class Asked:
    """A graph of 100,000 memories, and queries with their true answers."""

    plain: Plain
    walker: Walker
    known: list[tuple[Query, Floats]]

    def walk(self, query: Query, l1: float) -> Walk:
        """Ours."""
        return self.walker.walk(query.seeds, query.share, WalkParams(restart=RESTART, l1=l1))


@pytest.fixture(scope="module")
def asked() -> Asked:
    """Six single seeds on 100k-8."""
    warm(None)
    edges = make_graph(SHAPES["100k-8"])
    plain = compress(edges)
    walker = Walker(build_csr(edges.nodes, edges.source, edges.target, edges.weight))
    drawn = queries(edges.nodes, 6, 1, RESTART, 0.1)
    return Asked(plain, walker, [(query, exact(plain, query, 1e-9)) for query in drawn])


@pytest.mark.parametrize(("l1", "times"), [(0.1, 5), (0.05, 8)])
def test_visits_stay_near_the_fewest_possible(asked: Asked, l1: float, times: float) -> None:
    ratios = []
    for query, truth in asked.known:
        walk = asked.walk(query, l1)
        score = np.zeros(truth.size)
        score[walk.rows] = walk.score
        assert np.abs(truth - score).sum() <= l1 + 2e-7
        ratios.append(walk.visits / fewest_nodes(truth, l1))
    assert median(ratios) <= times, ratios


@pytest.mark.parametrize("asked_l1", [2.0, 0.1])
def test_fewer_visits_than_edgepush_for_the_same_error(
    asked: Asked, asked_l1: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By pushing alone: sweeps visit more edges, at a small part of the cost of each."""
    monkeypatch.setattr(laid_out_graph, "SWEEP_COST", 0.0)
    pusher = EdgePush(asked.plain.indptr, asked.plain.indices, asked.plain.weight)
    theirs, ours = [], []
    for query, _ in asked.known:
        pushed = pusher.walk(query.seeds, query.share, RESTART, asked_l1)
        theirs.append(pushed.visits)
        ours.append(asked.walk(query, pushed.error).visits)
    assert sum(ours) < sum(theirs), list(zip(ours, theirs, strict=True))
