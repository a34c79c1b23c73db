"""Do walks equal the dense solution of their definition, within the error they state?"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from soulmem.kernels.csr import LARGEST, build_csr
from soulmem.kernels.tuning import Tuning, places_of, tuned_weight
from soulmem.kernels.walk import Walk, WalkParams
from tests.kernels.conftest import MakeWalker
from tests.kernels.graphs import (
    Query,
    dense,
    queries,
    solution,
    start,
    transition_matrix,
    tunings,
)

pytestmark = pytest.mark.timeout(300)  # the first test waits for the compiler
MANY = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def walk(make_walker: MakeWalker, query: Query, tuning: Tuning | None = None) -> Walk:
    return make_walker(query.graph).walk(query.seeds, query.share, query.params, tuning)


def check_certificate(result: Walk, query: Query, tuning: Tuning | None = None) -> None:
    """The score is a lower bound and the error exact."""
    pi, score = solution(query, tuning), dense(result, query.graph.nodes)
    assert (score <= pi + 1e-12).all()
    assert abs(np.abs(pi - score).sum() - result.error) < 1e-9
    assert np.unique(result.rows).size == result.rows.size
    assert (result.score > 0).all()


@MANY
@given(query=queries())
def test_the_error_is_exact_and_as_small_as_asked_for(
    make_walker: MakeWalker, query: Query
) -> None:
    result = walk(make_walker, query)
    check_certificate(result, query)
    assert result.error <= query.params.l1 + 1e-12
    assert result.stuck_rows.size == 0


@MANY
@given(data=st.data())
def test_a_tuned_walk_equals_one_on_a_graph_of_those_weights(
    make_walker: MakeWalker, data: st.DataObject
) -> None:
    query = data.draw(queries())
    tuning = data.draw(tunings(query))
    result = walk(make_walker, query, tuning)
    check_certificate(result, query, tuning)
    stuck = result.stuck.sum()
    assert result.error <= max(query.params.l1, stuck + query.params.l1 / 2) + 1e-12
    graph, tuned = query.graph, tuned_weight(query.graph, tuning)
    if tuning.boundary is None and tuned.max(initial=0) <= LARGEST:
        rebuilt = build_csr(graph.nodes, graph.sources, graph.indices, tuned)
        same = walk(make_walker, dataclasses.replace(query, graph=rebuilt))
        difference = dense(result, graph.nodes) - dense(same, graph.nodes)
        assert np.abs(difference).sum() <= result.error + same.error + 1e-9


@MANY
@given(data=st.data())
def test_stuck_walk_is_all_that_is_missing(make_walker: MakeWalker, data: st.DataObject) -> None:
    query = data.draw(queries())
    n, restart = query.graph.nodes, query.params.restart
    query = dataclasses.replace(query, params=WalkParams(restart, 1e-10))
    boundary = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1))).random(n) < 0.3
    result = walk(make_walker, query, Tuning(boundary=boundary))
    assert boundary[result.stuck_rows].all()
    assert set(result.rows[boundary[result.rows]]) == set(result.stuck_rows)
    assert abs(result.error - result.stuck.sum()) <= 1.001e-10
    matrix = transition_matrix(query.graph)
    matrix[matrix.sum(axis=1) == 0] = start(query)
    sent_on = np.bincount(result.stuck_rows, weights=result.stuck, minlength=n) @ matrix
    rest = np.linalg.solve(np.eye(n) - (1 - restart) * matrix.T, restart * sent_on)
    np.testing.assert_allclose(dense(result, n) + rest, solution(query), atol=2e-10)


@MANY
@given(data=st.data())
def test_loading_where_walk_is_stuck_leads_to_the_answer_of_the_whole_graph(
    make_walker: MakeWalker, data: st.DataObject
) -> None:
    query = data.draw(queries())
    n = query.graph.nodes
    boundary = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1))).random(n) < 0.7
    sources = query.graph.sources
    for _ in range(n + 1):
        loaded = ~boundary[sources]
        resident = build_csr(
            n, sources[loaded], query.graph.indices[loaded], query.graph.weight[loaded]
        )
        result = walk(
            make_walker,
            dataclasses.replace(query, graph=resident),
            Tuning(boundary=boundary),
        )
        check_certificate(result, query)
        if result.error <= query.params.l1 + 1e-12:
            break
        assert result.stuck.sum() >= query.params.l1 / 2 - 1e-12
        boundary[result.stuck_rows[result.stuck.argmax()]] = False
    assert result.error <= query.params.l1 + 1e-12


def test_walks_of_one_walker_do_not_leave_traces(make_walker: MakeWalker) -> None:
    rng = np.random.default_rng(5)
    graph = build_csr(300, rng.integers(0, 300, 2000), rng.integers(0, 300, 2000), rng.random(2000))
    used, params = make_walker(graph), WalkParams(0.2, 1e-3)
    dead = Tuning(
        kind_factor=np.full(256, 0.5, np.float32),
        edges=np.arange(0, 2000, 3, dtype=np.uint32),
        factor=np.full(667, 4, np.float32),
        alive=np.arange(300) % 2 == 0,
        boundary=np.arange(300) % 5 == 0,
    )
    for seed in range(0, 300, 7):
        seeds, share = np.array([seed // 2 * 2], np.uint32), np.ones(1)
        used.walk(seeds, share, params, dead)
        other = Tuning(
            edges=np.arange(1, 2000, 3, dtype=np.uint32),
            factor=np.full(667, 0.1, np.float32),
        )
        alike = dataclasses.replace(
            dead, factor=np.full(667, 0.3, np.float32), alive=None
        )  # the same edges
        tuning = (None, other, alike)[seed % 3]
        again = used.walk(seeds, share, params, tuning)
        fresh = make_walker(graph).walk(seeds, share, params, tuning)
        assert np.array_equal(again.rows, fresh.rows)
        assert np.array_equal(again.score, fresh.score)
        assert (again.error, again.visits) == (fresh.error, fresh.visits)


@pytest.mark.parametrize("own", [0, 200])
def test_edges_of_one_query_beside_those_of_all_leave_no_traces(
    make_walker: MakeWalker, own: int
) -> None:
    """With and without multipliers that all queries have."""
    rng = np.random.default_rng(6)
    graph = build_csr(300, rng.integers(0, 300, 2000), rng.integers(0, 300, 2000), rng.random(2000))
    used, params = make_walker(graph), WalkParams(0.2, 1e-3)
    base = rng.choice(1000, own, replace=False).astype(np.uint32)
    factor = rng.random(own).astype(np.float32) + 1
    common = Tuning(edges=base, factor=factor, places=places_of(graph, base))
    for seed in range(30):
        more = rng.choice(np.arange(1000, 2000), 9, replace=False).astype(np.uint32)
        edges = np.concatenate([base, more])
        tuning = Tuning(
            edges=edges,
            factor=np.concatenate([factor, np.full(9, 5, np.float32)]),
            places=places_of(graph, edges),
        )
        short = dataclasses.replace(
            tuning, base=base, rows=graph.sources[np.isin(graph.edge, more)]
        )
        seeds, share = np.array([seed], np.uint32), np.ones(1)
        for given_tuning, plain in ((short, tuning), (common, common)):
            again = used.walk(seeds, share, params, given_tuning)
            fresh = make_walker(graph).walk(seeds, share, params, plain)
            assert np.array_equal(again.rows, fresh.rows)
            assert np.array_equal(again.score, fresh.score)


def test_a_seed_that_hardly_matters_costs_nothing(make_walker: MakeWalker) -> None:
    rng = np.random.default_rng(5)
    graph = build_csr(
        3000,
        rng.integers(0, 3000, 20000),
        rng.integers(0, 3000, 20000),
        rng.random(20000),
    )
    seeds, share = (
        np.arange(4, dtype=np.uint32),
        np.array([1.0 - 1e-9, 1e-9, 1e-30, 1e-104]),
    )
    walker, params = make_walker(graph), WalkParams(0.5, 1e-2)
    alone = walker.walk(seeds[:1], np.ones(1), params)
    seeds_of_both = walker.walk(seeds, share, params)
    assert seeds_of_both.error <= params.l1
    assert seeds_of_both.visits <= alone.visits + 100
    exact = walker.walk(seeds, share, WalkParams(0.5, 1e-9))
    score, truth = np.zeros(3000), np.zeros(3000)
    score[seeds_of_both.rows], truth[exact.rows] = seeds_of_both.score, exact.score
    assert np.abs(truth - score).sum() <= params.l1 + 1e-9


def test_top_tells_the_best_first_and_equal_ones_by_node() -> None:
    rows, score = np.array([7, 3, 9, 1], np.uint32), np.array([0.1, 0.4, 0.1, 0.2])
    none = np.empty(0)
    result = Walk(rows, score, 0.2, 4, none.astype(np.uint32), none)
    assert result.top(3)[0].tolist() == [3, 1, 7]
    assert result.top(9)[0].tolist() == [3, 1, 7, 9]
    assert result.top(9)[1].tolist() == [0.4, 0.2, 0.1, 0.1]
    assert result.top(0)[0].size == 0


@pytest.mark.parametrize(
    ("seeds", "share", "tuning", "words"),
    [
        ([], [], None, "needs seeds"),
        ([0, 1], [1.0], None, "share for each"),
        ([4], [1.0], None, "no node 4"),
        ([0], [0.5], None, "sum to 1"),
        ([0, 1], [1.5, -0.5], None, "positive"),
        ([0], [1.0], Tuning(alive=np.array([False, True, True, True])), "not alive"),
        ([0], [1.0], Tuning(alive=np.ones(3, np.bool_)), "alive must"),
        ([0], [1.0], Tuning(boundary=np.ones(5, np.bool_)), "boundary must"),
        ([0], [1.0], Tuning(places=np.zeros(9, np.int32)), "places must"),
        ([0], [1.0], Tuning(edges=np.zeros(1, np.uint32)), "belong together"),
        (
            [0],
            [1.0],
            Tuning(edges=np.zeros(2, np.uint32), factor=np.ones(1, np.float32)),
            "same length",
        ),
        (
            [0],
            [1.0],
            Tuning(edges=np.full(1, 2, np.uint32), factor=np.ones(1, np.float32)),
            "no edge 2",
        ),
        (
            [0],
            [1.0],
            Tuning(
                edges=np.zeros(1, np.uint32),
                factor=np.ones(1, np.float32),
                base=np.zeros(0, np.uint32),
            ),
            "base needs",
        ),
        (
            [0],
            [1.0],
            Tuning(
                edges=np.zeros(1, np.uint32),
                factor=np.ones(1, np.float32),
                places=np.zeros(2, np.int32),
                base=np.zeros(0, np.uint32),
                rows=np.full(1, 4, np.uint32),
            ),
            "no node 4",
        ),
        ([0], [1.0], Tuning(kind_factor=np.ones(3, np.float32)), "256"),
        ([0], [1.0], Tuning(kind_factor=np.full(256, -1, np.float32)), "multipliers"),
        (
            [0],
            [1.0],
            Tuning(kind_factor=np.full(256, np.nan, np.float32)),
            "multipliers",
        ),
    ],
)
def test_what_cannot_be_walked_is_refused(
    make_walker: MakeWalker,
    seeds: list[int],
    share: list[float],
    tuning: Tuning | None,
    words: str,
) -> None:
    graph = build_csr(4, np.array([0, 1]), np.array([1, 2]), np.ones(2))
    with pytest.raises(ValueError, match=words):
        make_walker(graph).walk(np.array(seeds, np.uint32), np.array(share), WalkParams(), tuning)


@pytest.mark.parametrize(("restart", "l1"), [(0, 0.1), (1.1, 0.1), (0.5, 0)])
def test_params_out_of_range_are_refused(restart: float, l1: float) -> None:
    with pytest.raises(ValueError, match="must be"):
        WalkParams(restart, l1)
