"""Is the chain that is told the best one there is?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.kernels.compiled import Kernels
from soulmem.kernels.csr import build_csr
from soulmem.kernels.explain import explain
from soulmem.kernels.interpreted import interpreted
from soulmem.kernels.tuning import Tuning, tuned_weight
from soulmem.kernels.walk import Walker, WalkParams
from soulmem.kernels.warm import kernels
from tests.kernels.graphs import Query, queries, tunings
from tests.kernels.test_walk import MANY

pytestmark = pytest.mark.timeout(300)  # the first test waits for the compiler

FindKernels = Callable[[int], Kernels]


@pytest.fixture(params=["compiled", "python"])
def find_kernels(request: pytest.FixtureRequest) -> FindKernels:
    """With compiled code and without."""
    return kernels if request.param == "compiled" else interpreted


def best_flows(
    query: Query, tuning: Tuning, score: dict[int, float], max_hops: int
) -> tuple[dict[int, float], dict[int, float]]:
    """By node the most that a chain brings, tried out edge by edge; and the chance of every edge."""
    graph, weight = query.graph, tuned_weight(query.graph, tuning).astype(np.float64)
    total = np.bincount(graph.sources, weights=weight, minlength=graph.nodes)
    flows = {int(seed): score[int(seed)] for seed in query.seeds}
    chance = {
        int(graph.edge[position]): (1 - query.params.restart) * weight[position] / total[source]
        for position, source in enumerate(graph.sources.tolist())
        if weight[position] > 0
    }
    best = dict(flows)
    for _ in range(max_hops):
        longer: dict[int, float] = {}
        for position, source in enumerate(graph.sources.tolist()):
            halts = tuning.boundary is not None and tuning.boundary[source]
            target = int(graph.indices[position])
            if source in flows and weight[position] > 0 and not halts and target in score:
                flow = flows[source] * chance[int(graph.edge[position])]
                longer[target] = max(longer.get(target, 0.0), flow)
        flows = longer
        for node, flow in flows.items():
            best[node] = max(best.get(node, 0.0), flow)
    return best, chance


@MANY
@given(data=st.data())
def test_chains_are_real_and_the_best(find_kernels: FindKernels, data: st.DataObject) -> None:
    query = data.draw(queries())
    tuning = data.draw(tunings(query))
    max_hops = data.draw(st.integers(0, 7))
    result = Walker(query.graph, find_kernels).walk(query.seeds, query.share, query.params, tuning)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    targets = rng.permutation(query.graph.nodes)[:12].astype(np.uint32)
    chains = explain(
        query.graph,
        result,
        targets,
        query.seeds,
        query.params.restart,
        tuning,
        max_hops,
        find_kernels,
    )
    score = dict(zip(result.rows.tolist(), result.score.tolist(), strict=True))
    best, chance = best_flows(query, tuning, score, max_hops)
    reachable = [node for node in targets.tolist() if best.get(node, 0) > 1e-300]
    assert [int(chain.rows[-1]) for chain in chains if chain.flow > 1e-300] == reachable
    source = dict(zip(query.graph.edge.tolist(), query.graph.sources.tolist(), strict=True))
    target = dict(zip(query.graph.edge.tolist(), query.graph.indices.tolist(), strict=True))
    for chain in chains:
        assert chain.edges.size <= max_hops
        assert chain.rows[0] in query.seeds
        assert [source[edge] for edge in chain.edges.tolist()] == chain.rows[:-1].tolist()
        assert [target[edge] for edge in chain.edges.tolist()] == chain.rows[1:].tolist()
        along = score[int(chain.rows[0])] * np.prod([chance[edge] for edge in chain.edges.tolist()])
        assert chain.flow == pytest.approx(along, rel=1e-9)
        assert chain.flow == pytest.approx(best[int(chain.rows[-1])], rel=1e-9)


def test_a_short_chain_is_found_behind_a_richer_long_one(
    find_kernels: FindKernels,
) -> None:
    """0-1-2-3 carries more to 2 than 0-2, but has no hop left for 3."""
    graph = build_csr(
        4,
        np.array([0, 0, 1, 2]),
        np.array([1, 2, 2, 3]),
        np.array([0.9, 0.1, 1.0, 1.0]),
    )
    seeds = np.array([0], np.uint32)
    result = Walker(graph, find_kernels).walk(seeds, np.ones(1), WalkParams(0.1, 1e-6))
    targets = np.array([3, 2], np.uint32)
    (far, near) = explain(graph, result, targets, seeds, 0.1, None, 2, find_kernels)
    assert far.rows.tolist() == [0, 2, 3]
    assert near.rows.tolist() == [0, 1, 2]
    assert near.edges.tolist() == [0, 2]
