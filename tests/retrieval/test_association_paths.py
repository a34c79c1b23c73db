"""Association paths: length, directness, flow; not along sequences, not through crowded nodes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from soulmem.domain.edges import EdgeKind
from soulmem.domain.memories import MemoryKind
from soulmem.graph.arcs import arc_class
from soulmem.kernels.csr import Csr, build_csr
from soulmem.retrieval.association_paths import (
    AssociationPaths,
    PathParams,
    association_paths,
)

LINK = arc_class(EdgeKind.ASSOCIATES, MemoryKind.EPISODE)
NEXT = arc_class(EdgeKind.NEXT, MemoryKind.EPISODE)

Arc = tuple[int, int, float, int]


def graph(n: int, *arcs: Arc) -> Csr:
    source, target, weight, kind = (np.asarray(column) for column in zip(*arcs, strict=True))
    return build_csr(n, source, target, weight.astype(np.float64), kind)


def both(a: int, b: int, weight: float = 0.5, kind: int = LINK) -> tuple[Arc, Arc]:
    return (a, b, weight, kind), (b, a, weight, kind)


def find(
    arcs: Csr,
    *seeds: int,
    params: PathParams | None = None,
    alive: NDArray[np.bool_] | None = None,
    factor: NDArray[np.float32] | None = None,
) -> AssociationPaths:
    n = arcs.nodes
    walked = np.zeros(n, np.float32)
    walked[list(seeds)] = 1 / len(seeds)
    return association_paths(
        arcs,
        np.asarray(seeds, np.uint32),
        walked,
        np.ones(n, np.bool_) if alive is None else alive,
        np.ones(256, np.float32) if factor is None else factor,
        params,
    )


def test_hops_are_counted_from_the_nearest_seed() -> None:
    chain = graph(6, *both(0, 1), *both(1, 2), *both(2, 3), *both(3, 4))
    assert find(chain, 0).hops.tolist() == [0, 1, 2, 3, 4, -1]
    assert find(chain, 0, 4).hops.tolist() == [0, 1, 2, 1, 0, -1]
    assert find(chain, 0, params=PathParams(hops=2)).hops.tolist() == [
        0,
        1,
        2,
        -1,
        -1,
        -1,
    ]


def test_what_merely_came_next_is_no_association() -> None:
    mixed = graph(4, *both(0, 1, kind=NEXT), *both(0, 2), *both(2, 3, kind=NEXT))
    assert find(mixed, 0).hops.tolist() == [0, -1, 1, -1]


def test_a_crowd_leads_nowhere_unless_the_cue_names_it() -> None:
    arcs = [arc for other in range(2, 8) for arc in both(1, other)]
    hub = graph(8, *both(0, 1), *arcs)
    few = PathParams(crowd=5)
    assert find(hub, 0, params=few).hops.tolist() == [0, 1] + [-1] * 6
    assert find(hub, 1, params=few).hops.tolist() == [1, 0] + [1] * 6


def test_what_arrives_is_shared_by_weight() -> None:
    fork = graph(4, (0, 1, 3.0, LINK), (0, 2, 1.0, LINK), (1, 3, 1.0, LINK), (2, 3, 1.0, LINK))
    assert_allclose(find(fork, 0).flow, [1, 0.75, 0.25, 1])


def test_a_sequence_takes_its_share_though_it_is_not_followed() -> None:
    mixed = graph(3, (0, 1, 1.0, NEXT), (0, 2, 1.0, LINK))
    assert_allclose(find(mixed, 0).flow, [1, 0, 0.5])


def test_the_first_step_is_straight_and_later_ones_as_wide_as_their_share() -> None:
    arcs = graph(
        5,
        (0, 1, 1.0, LINK),
        (0, 2, 9.0, LINK),
        (1, 3, 1.0, LINK),
        (1, 0, 3.0, LINK),
        (3, 4, 1.0, LINK),
    )
    assert_allclose(find(arcs, 0).directness, [1, 1, 1, 0.25, 0.25])


def test_factors_and_the_dead_change_the_ways() -> None:
    fork = graph(4, (0, 1, 1.0, LINK), (0, 2, 1.0, LINK), (1, 3, 1.0, LINK))
    dead = np.asarray([True, False, True, True])
    assert find(fork, 0, alive=dead).hops.tolist() == [0, -1, 1, -1]
    assert_allclose(find(fork, 0, alive=dead).flow, [1, 0, 1, 0])
    silent = np.ones(256, np.float32)
    silent[LINK] = 0
    assert find(fork, 0, factor=silent).hops.tolist() == [0, -1, -1, -1]


@pytest.mark.parametrize("seed", range(20))
def test_hops_agree_with_a_plain_search(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 30
    pairs = {(int(a), int(b)) for a, b in rng.integers(0, n, (60, 2)) if a != b}
    arcs = graph(n, *((a, b, 1.0, LINK) for a, b in sorted(pairs)))
    expected, front, step = {0: 0}, {0}, 0
    while front and step < 6:
        step += 1
        front = {b for a, b in pairs if a in front} - set(expected)
        expected |= dict.fromkeys(front, step)
    assert find(arcs, 0).hops.tolist() == [expected.get(row, -1) for row in range(n)]
