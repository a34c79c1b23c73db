"""Does every marked edge get what passes over it?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from soulmem.kernels.csr import build_csr
from soulmem.kernels.passing import add_passed
from soulmem.kernels.tuning import NO_FLAGS
from soulmem.kernels.warm import kernels

pytestmark = pytest.mark.timeout(300)  # the first test waits for the compiler


@given(st.integers(1, 12), st.integers(0, 60), st.integers(0, 9999), st.booleans())
def test_marked_edges_share_what_leaves_their_source(
    n: int, m: int, seed: int, is_whole: bool
) -> None:
    """Edge by edge by the formula, with sinks, dead and boundary nodes; plain and compiled."""
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, n, (2, m))
    weight_of = rng.random(m) * (rng.random(m) < 0.8)
    graph = build_csr(n, source, target, weight_of, rng.integers(0, 3, m))
    mark = np.where(rng.random(m) < 0.5, rng.integers(0, 9, m), -1).astype(np.int32)
    to = rng.integers(0, 5, 9).astype(np.int32)
    factor = np.ones(256, np.float32)
    factor[:3] = 0.0, 0.5, 2.0
    alive = rng.random(n) < 0.8
    boundary = NO_FLAGS if is_whole else rng.random(n) < 0.3
    rows = np.flatnonzero(rng.random(n) < 0.7).astype(np.uint32)
    score = rng.random(rows.size)

    weight = graph.weight.astype(np.float64) * factor[graph.kind] * alive[graph.indices]
    expected = np.full(5, 0.25)
    for row, row_score in zip(rows.tolist(), score, strict=True):
        leaving = [position for position in range(m) if graph.sources[position] == row]
        total = sum(weight[position] for position in leaving)
        if total > 0 and (is_whole or not boundary[row]):
            for position in leaving:
                if mark[position] >= 0:
                    expected[to[mark[position]]] += 0.8 * row_score * weight[position] / total
    marked = np.zeros(n, np.bool_)
    marked[graph.sources[mark >= 0]] = True
    compiled = kernels()
    functions: tuple[Callable[..., None], ...] = add_passed, compiled.add_passed
    for function in functions:
        out = np.full(5, 0.25, np.float32)
        function(
            *(graph.starts, graph.ends, graph.indices, graph.weight, graph.kind),
            *(rows, score),
            *(factor, alive, boundary, 0.2, mark, to, marked, out),
        )
        assert_allclose(out, expected, rtol=1e-5)
