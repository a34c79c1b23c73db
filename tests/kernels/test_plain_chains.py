"""Until kernels are compiled, does a chain go over the best nodes only, so that nobody waits for it?"""

from __future__ import annotations

import numpy as np
import pytest

from soulmem.kernels import explain as explaining
from soulmem.kernels.explain import explain
from soulmem.kernels.walk import Walker, WalkParams
from tests.kernels.graphs import random_graph

pytestmark = pytest.mark.timeout(300)  # the first test waits for the compiler


def test_chains_pass_over_the_best_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explaining, "PLAIN_ROWS", 20)
    graph = random_graph(np.random.default_rng(3), 400, 2400, 2)
    seeds, share = np.array([5, 17], np.uint32), np.array([0.7, 0.3])
    walk = Walker(graph).walk(seeds, share, WalkParams(restart=0.3, l1=1e-4))
    targets = walk.top(60)[0]
    chains = explain(graph, walk, targets, seeds, 0.3, find_kernels=lambda: None)
    within = {*walk.top(20)[0].tolist(), *seeds.tolist(), *targets.tolist()}
    score = dict(zip(walk.rows.tolist(), walk.score.tolist(), strict=True))
    over = {int(row) for chain in chains for row in chain.rows}
    assert over <= within
    assert {int(chain.rows[-1]) for chain in chains} >= set(walk.top(10)[0].tolist())
    assert all(
        chain.flow <= score[int(chain.rows[-1])] + 1e-12
        for chain in chains
        if len(chain.edges)
    )
    assert {
        int(row)
        for chain in explain(graph, walk, targets, seeds, 0.3)
        for row in chain.rows
    } - within
