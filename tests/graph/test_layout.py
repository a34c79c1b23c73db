"""Do linked nodes stand near each other, always at the same place, whatever the graph's shape?"""

from __future__ import annotations

import math
import subprocess
import sys
from random import Random

import pytest

from soulmem.graph.layout import MIDDLE, RINGS, Point, layout_of, ring_layout

Links = list[tuple[str, str]]


def clusters(nodes: int, groups: int, seed: int = 0) -> tuple[list[str], Links]:
    """Nodes of so many groups, each linked to one or two before it in its own."""
    rng = Random(seed)
    ids = [f"n{number:04d}" for number in range(nodes)]
    links: Links = []
    for number in range(groups, nodes):
        for _ in range(2):
            before = rng.randrange(number // groups)
            links.append((ids[number], ids[number % groups + groups * before]))
    return ids, links


def distance(places: dict[str, Point], first: str, second: str) -> float:
    """How far apart two nodes stand."""
    return math.dist(places[first], places[second])


@pytest.mark.parametrize(("nodes", "groups"), [(60, 6), (400, 8)])
def test_linked_nodes_stand_nearer_than_others(nodes: int, groups: int) -> None:
    ids, links = clusters(nodes, groups)
    places = layout_of(ids, links)
    rng = Random(1)
    linked = [distance(places, *link) for link in links]
    others = [distance(places, *rng.sample(ids, 2)) for _ in range(2000)]
    assert sum(linked) / len(linked) < 0.5 * sum(others) / len(others)


@pytest.mark.parametrize("size", [0, 1, 2, 7, 300])
@pytest.mark.parametrize("linked", [0.0, 0.3, 1.0])
def test_every_node_has_a_place_of_its_own_in_the_square(size: int, linked: float) -> None:
    ids, links = clusters(size, max(1, size // 20))
    places = layout_of(ids, links[: int(linked * len(links))])
    assert sorted(places) == ids
    assert all(0 <= value <= 1 for place in places.values() for value in place)
    assert len(set(places.values())) == size


@pytest.mark.parametrize("nodes", [40, 300])
def test_the_order_of_nodes_and_links_does_not_matter(nodes: int) -> None:
    ids, links = clusters(nodes, 5)
    mixed, turned = list(ids), [(second, first) for first, second in links]
    Random(2).shuffle(mixed)
    Random(3).shuffle(turned)
    assert layout_of(mixed, turned) == layout_of(ids, links)


def test_another_process_gives_the_same_places() -> None:
    ids, links = clusters(300, 10)
    program = (
        "from tests.graph.test_layout import clusters, layout_of;"
        "print(layout_of(*clusters(300, 10)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == str(layout_of(ids, links))


def test_links_to_nowhere_and_to_itself_are_ignored() -> None:
    places = layout_of(["a", "b"], [("a", "b"), ("b", "b"), ("a", "gone")])
    assert places == layout_of(["a", "b"], [("a", "b")])


@pytest.mark.parametrize("size", range(RINGS + 1))
def test_on_rings_nobody_stands_on_anybody(size: int) -> None:
    """Nor on the two in the middle."""
    ids, links = clusters(size, 3)
    places = ring_layout(ids, links)
    assert sorted(places) == ids
    points = [*places.values(), *MIDDLE]
    assert all(0 <= value <= 1 for point in points for value in point)
    pairs = [(a, b) for i, a in enumerate(points) for b in points[:i]]
    assert min(math.dist(a, b) for a, b in pairs) > 0.15


@pytest.mark.parametrize("size", range(1, RINGS))
def test_who_is_met_anew_moves_little_on_rings(size: int) -> None:
    ids, links = clusters(size, 3)
    before = ring_layout(ids, links)
    after = ring_layout([*ids, "new"], [*links, (ids[0], "new")])
    moves = [math.dist(before[key], after[key]) for key in ids]
    assert max(moves) <= (0.13 if size == 8 else 0.0)


def test_rings_hold_so_many_and_no_more() -> None:
    with pytest.raises(ValueError, match="25 nodes"):
        ring_layout([f"n{number}" for number in range(RINGS + 1)], [])
