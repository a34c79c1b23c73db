"""Does energy spread as the definition says, bounded on any graph, whatever the order of its nodes?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from soulmem.kernels.spread import Activation, Links, SpreadParams, StopReason, spread

pytestmark = pytest.mark.timeout(120)  # some hundred graphs a test on a busy machine
Floats = NDArray[np.float64]
LINKS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.floats(0, 1)), max_size=40)
SEEDS = st.lists(st.integers(0, 7), min_size=1, max_size=4)
PARAMS = st.builds(
    SpreadParams,
    start=st.floats(0.01, 1),
    threshold=st.floats(0, 1),
    transmission=st.floats(0, 1),
    rounds=st.integers(3, 10),
)


def links(n: int, triples: list[tuple[int, int, float]], both_ways: bool = False) -> Links:
    every = triples + [(b, a, w) for a, b, w in triples] if both_ways else triples
    ends = np.asarray([[a, b] for a, b, _ in every], np.int64).reshape(-1, 2)
    return Links.of(n, ends[:, 0], ends[:, 1], np.asarray([w for _, _, w in every], np.float64))


def run(
    n: int, triples: list[tuple[int, int, float]], seeds: list[int], **params: float
) -> Activation:
    made = replace(SpreadParams(), **params)  # type: ignore[arg-type]
    return spread(links(n, triples, both_ways=True), np.asarray(seeds, np.int64), made)


def slowly(
    n: int, triples: list[tuple[int, int, float]], seeds: list[int], p: SpreadParams
) -> Floats:
    """The definition, node by node."""
    energy = np.zeros(n)
    for seed in seeds:
        energy[seed] += p.start
    unsent = energy.copy()
    for _ in range(p.rounds):
        received = np.zeros(n)
        for i in range(n):
            out = [(b, w) for a, b, w in triples if a == i]
            if energy[i] > p.threshold and unsent[i] > 0:
                for j, weight in out:
                    received[j] += (
                        p.transmission * unsent[i] * weight / max(1.0, sum(w for _, w in out))
                    )
                unsent[i] = 0.0
        energy += received
        unsent += received
        if received.sum() < p.delta:
            break
    return energy


@given(LINKS, SEEDS, PARAMS)
def test_it_is_the_definition(
    triples: list[tuple[int, int, float]], seeds: list[int], p: SpreadParams
) -> None:
    result = spread(links(8, triples), np.asarray(seeds, np.int64), p)
    np.testing.assert_allclose(result.energy, slowly(8, triples, seeds, p), atol=1e-9)
    assert result.rounds <= p.rounds


@given(LINKS, SEEDS, PARAMS)
def test_it_is_bounded_on_any_graph(
    triples: list[tuple[int, int, float]], seeds: list[int], p: SpreadParams
) -> None:
    result = spread(links(8, triples), np.asarray(seeds, np.int64), p)
    most = sum(p.transmission**done for done in range(p.rounds + 1)) * len(seeds) * p.start
    assert (result.energy >= 0).all()
    assert result.energy.sum() <= most + 1e-9


@given(LINKS, SEEDS, PARAMS, st.permutations(range(8)))
def test_the_order_of_nodes_does_not_matter(
    triples: list[tuple[int, int, float]],
    seeds: list[int],
    p: SpreadParams,
    order: list[int],
) -> None:
    item = spread(links(8, triples), np.asarray(seeds, np.int64), p)
    moved = [(order[a], order[b], w) for a, b, w in reversed(triples)]
    other = spread(links(8, moved), np.asarray([order[s] for s in seeds], np.int64), p)
    np.testing.assert_allclose(other.energy[order], item.energy, atol=1e-9)


@given(LINKS, SEEDS, PARAMS, st.floats(0, 1))
def test_a_higher_threshold_shrinks_and_more_transmission_widens(
    triples: list[tuple[int, int, float]],
    seeds: list[int],
    p: SpreadParams,
    other: float,
) -> None:
    graph, index = links(8, triples), np.asarray(seeds, np.int64)
    low, high = sorted((p.threshold, other))
    wide, narrow = (spread(graph, index, replace(p, threshold=f)).energy for f in (low, high))
    assert (wide >= narrow - 1e-9).all()
    low, high = sorted((p.transmission, other))
    near, far = (spread(graph, index, replace(p, transmission=d)).energy for d in (low, high))
    assert (far >= near - 1e-9).all()


SIX = [(0, 1, 0.5), (0, 2, 1.0), (1, 3, 0.8), (2, 3, 0.4), (3, 4, 0.6), (4, 5, 0.9)]


@pytest.mark.parametrize("seed", range(5))
def test_six_nodes_by_hand(seed: int) -> None:
    """Node 0 has 1.0 and F is .1, D .5; links both ways.

    1: 0 shares .5 by fan 1.5: 1/6 to node 1, 1/3 to node 2.
    2: 1 (fan 1.3) passes 1/12: 5/156 to 0, 4/78 to 3. 2 (fan 1.4) passes 1/6: 5/42 to 0, 1/21 to 3.
    3: 3 has 4/78 + 1/21 = 9/91 < .1; 0 fires what it received, 5/156 + 5/42 = 55/364, a half of it by fan:
       55/2184 to node 1, 55/1092 to node 2.
    """
    order = np.random.default_rng(seed).permutation(6)
    moved = [(int(order[a]), int(order[b]), w) for a, b, w in SIX]
    result = run(6, moved, [int(order[0])], threshold=0.1, rounds=3)
    after = [1 + 55 / 364, 1 / 6 + 55 / 2184, 1 / 3 + 55 / 1092, 9 / 91, 0.0, 0.0]
    np.testing.assert_allclose(result.energy[order], after, atol=1e-9)
    assert result.stopped is StopReason.ROUNDS
    assert result.parent[order[3]] == order[1]
    assert result.parent[order[0]] == -1


def test_between_two_nodes_of_equal_fan_as_much_flows_either_way() -> None:
    triples = [(0, 1, 0.7), (0, 2, 0.6), (1, 3, 0.6)]
    assert run(4, triples, [0]).energy[1] == pytest.approx(
        run(4, triples, [1]).energy[0], abs=1e-12
    )


def test_a_ring_stops_by_delta_and_a_star_by_rounds() -> None:
    ring = [(i, (i + 1) % 12, 1.0) for i in range(12)]
    assert run(12, ring, [0], threshold=0.0, transmission=0.4).stopped is StopReason.DELTA
    star = [(0, leaf, 1.0) for leaf in range(1, 20_001)]
    result = run(20_001, star, [0], threshold=0.0, transmission=1.0)
    assert (result.stopped, result.rounds) == (StopReason.ROUNDS, 10)
    assert run(20_001, star, [0]).stopped is StopReason.QUIET  # no leaf has enough to fire


def test_who_is_fed_by_two_outranks_who_is_fed_by_one() -> None:
    """Stanford and Alzheimer's: nobody but Südhof belongs to both."""
    stanford, alzheimer, suedhof, ng, church, alois = range(6)
    result = run(
        6,
        [
            (stanford, suedhof, 0.5),
            (stanford, ng, 0.6),
            (stanford, church, 0.6),
            (alzheimer, suedhof, 0.5),
            (alzheimer, alois, 0.6),
        ],
        [stanford, alzheimer],
    )
    assert np.argsort(-result.energy)[2] == suedhof


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("start", 0.0),
        ("start", 1.5),
        ("threshold", -0.1),
        ("threshold", 1.1),
        ("transmission", -0.1),
        ("transmission", 1.1),
        ("rounds", 2),
        ("rounds", 11),
        ("delta", 0.0),
        ("delta", 2.0),
    ],
)
def test_a_parameter_out_of_its_range_is_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name} {value}"):
        replace(SpreadParams(), **{name: value})  # type: ignore[arg-type]


def test_parents_lead_to_a_seed() -> None:
    result = run(5, [(0, 1, 0.9), (1, 2, 0.9), (2, 3, 0.9), (4, 3, 0.1)], [0])
    assert result.parent.tolist()[:4] == [-1, 0, 1, 2]
    assert result.fired.tolist()[0] is True
