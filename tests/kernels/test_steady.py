"""Is there one steady state, whatever the graph and wherever one starts, and is the error what is stated?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from soulmem.kernels.csr import Csr, build_csr
from soulmem.kernels.steady import SteadyParams, _passing, norm_bound, steady
from soulmem.kernels.tuning import Tuning
from tests.kernels.graphs import Query, queries

pytestmark = pytest.mark.timeout(120)
Floats = NDArray[np.float64]
GAINS = st.sampled_from([0.0, 0.3, 0.5, 0.9, 0.99])


def stimulus(query: Query) -> Floats:
    return np.bincount(query.seeds, weights=query.share, minlength=query.graph.nodes).astype(
        np.float64
    )


def bound_of(graph: Csr) -> float:
    back, takes = _passing(graph, graph.weight.astype(np.float64))
    return norm_bound(back, np.sqrt(takes))


def dense(graph: Csr) -> Floats:
    """W, from its definition."""
    n = graph.nodes
    w = np.zeros((n, n))
    np.add.at(
        w,
        (graph.sources.astype(np.int64), graph.indices.astype(np.int64)),
        graph.weight,
    )
    fan = np.sqrt(np.outer(w.sum(axis=1), w.sum(axis=0)))
    return np.divide(w, fan, out=np.zeros_like(w), where=fan > 0)


@given(query=queries(), gain=GAINS, seed=st.integers(0, 99))
def test_one_state_from_any_start(query: Query, gain: float, seed: int) -> None:
    s, params = stimulus(query), SteadyParams(gain, 1e-9)
    anywhere = np.random.default_rng(seed).random(query.graph.nodes)
    zero, other = (steady(query.graph, s, params, start=x) for x in (None, anywhere))
    np.testing.assert_allclose(zero.potential, other.potential, atol=3e-9)
    assert ((zero.potential >= 0) & (zero.potential <= 1)).all()
    assert zero.contraction <= gain + 1e-12


@given(query=queries(), gain=GAINS)
def test_it_solves_the_equation_and_is_as_near_as_stated(query: Query, gain: float) -> None:
    w, s = dense(query.graph), stimulus(query)
    rough = steady(query.graph, s, SteadyParams(gain, 1e-2))
    exact = steady(query.graph, s, SteadyParams(gain, 1e-11))
    norm = bound_of(query.graph)
    g = gain / norm if norm > 0 else 0.0
    np.testing.assert_allclose(exact.potential, np.tanh(g * w.T @ exact.potential + s), atol=1e-9)
    assert np.linalg.norm(rough.potential - exact.potential) <= rough.error + 1e-10


@given(query=queries(), seed=st.integers(0, 99))
def test_a_round_is_a_contraction_by_the_bound(query: Query, seed: int) -> None:
    w = dense(query.graph)
    bound = bound_of(query.graph)
    true = float(np.linalg.norm(w, 2)) if w.size else 0.0
    assert true <= bound + 1e-9
    assert bound <= 1 + 1e-6
    if bound > 0:
        draw = np.random.default_rng(seed)
        state, two = draw.random((2, query.graph.nodes)) * 3
        s = stimulus(query)
        after = [np.tanh(0.9 / bound * w.T @ x + s) for x in (state, two)]
        assert np.linalg.norm(after[0] - after[1]) <= 0.9 * np.linalg.norm(state - two) + 1e-9


@pytest.mark.parametrize("gain", [1.0, 1.5, -0.1])
def test_a_gain_that_need_not_settle_is_refused_by_name(gain: float) -> None:
    with pytest.raises(ValueError, match="gain"):
        SteadyParams(gain)


def test_an_error_of_nothing_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="error"):
        SteadyParams(error=0.0)


def test_nearer_is_more_active_and_the_dead_are_not() -> None:
    ends = np.array([[0, 1], [1, 2], [2, 3], [1, 0], [2, 1], [3, 2]])
    graph = build_csr(4, ends[:, 0], ends[:, 1], np.ones(6))
    s = np.array([1.0, 0, 0, 0])
    result = steady(graph, s).potential
    assert (np.diff(result) < 0).all()
    assert result[3] > 0
    alive = np.array([True, True, False, True])
    assert steady(graph, s, tuning=Tuning(alive=alive)).potential[2:].tolist() == [0, 0]
