"""Do our walks and those of EdgePush, another algorithm, find the same?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.kernels.csr import Csr, build_csr
from soulmem.kernels.walk import Walker, WalkParams
from tests.kernels.edgepush_heap import EdgePush


def connected(n: int, m: int, rng: np.random.Generator) -> Csr:
    """Edges of very different weights between any nodes, and one to the next node so that none is a sink."""
    ring = np.arange(n)
    source = np.concatenate([ring, rng.integers(0, n, m)])
    target = np.concatenate([(ring + 1) % n, np.minimum(rng.zipf(1.5, m), n) - 1])
    return build_csr(n, source, target, rng.lognormal(0, 2, n + m))


@pytest.mark.timeout(300)  # compiles first
@given(
    n=st.integers(2, 60),
    density=st.floats(0.0, 8.0),
    seeds=st.integers(1, 4),
    restart=st.floats(0.05, 0.9),
    loose=st.floats(1e-4, 2.0),
    l1=st.floats(1e-5, 0.5),
    seed=st.integers(0, 2**32 - 1),
)
def test_both_are_apart_by_no_more_than_their_errors(
    n: int,
    density: float,
    seeds: int,
    restart: float,
    loose: float,
    l1: float,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    graph = connected(n, int(n * density), rng)
    start = rng.choice(n, min(seeds, n), replace=False).astype(np.uint32)
    share = rng.dirichlet(np.ones(start.size))
    theirs = EdgePush(graph.indptr, graph.indices, graph.weight.astype(np.float64)).walk(
        start, share, restart, loose
    )
    ours = Walker(graph).walk(start, share, WalkParams(restart=restart, l1=l1))
    score = np.zeros(n)
    score[ours.rows] = ours.score
    assert ours.error <= l1 + 1e-9
    assert theirs.error <= loose + 1e-9
    assert np.abs(score - theirs.score).sum() <= ours.error + theirs.error + 1e-6
