"""Is the error reached where nodes have very many in-edges, and sums in float32 are off by more?"""

from __future__ import annotations

import numpy as np
import pytest

from soulmem.kernels.csr import build_csr
from soulmem.kernels.walk import Walker, WalkParams

pytestmark = pytest.mark.timeout(300)  # the first test waits for the compiler


@pytest.mark.parametrize("restart", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("l1", [1e-3, 1e-4, 1e-5, 1e-9])
def test_sweeps_end_when_the_error_is_reached(restart: float, l1: float) -> None:
    n = 500
    rng = np.random.default_rng(1)
    source, target = np.divmod(np.arange(n * n), n)
    graph = build_csr(n, source, target, rng.lognormal(0, 1, n * n))
    walk = Walker(graph).walk(
        np.array([3], np.uint32), np.ones(1), WalkParams(restart=restart, l1=l1)
    )
    assert walk.error <= l1
    assert walk.visits <= 2 * graph.indices.size * np.log(l1) / np.log(1 - restart)
