"""Layout: a place in a square for each node of a graph, so that linked nodes stand near each other.

Forces of springs (Fruchterman and Reingold 1991, https://doi.org/10.1002/spe.4380211102) lay out small
graphs. Their cost grows with the square of the nodes, so a larger graph is laid out by its communities:
first these among each other, then the nodes of each within a disc of its size.

A few people round two in the middle need no forces: they have places on rings, which they keep.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import networkx


Point = tuple[float, float]
# Within this file nodes are numbers: sets of texts are in another order in each process.
Places = dict[int, NDArray[np.float64]]  # x and y by node

_HUB = -1  # no node has this number
# Of a ring layout: the places of the two in the middle, and how far from there nodes stand when there are few
MIDDLE: tuple[Point, Point] = ((0.38, 0.5), (0.62, 0.5))
_NEAR, _FAR, _ALONE = 0.335, 0.48, 0.42
# Where on half a ring they stand, in degrees: such that lines from the middle pass nobody too near
_INNER = (29.0, 72.5, 121.0, 163.0)
_OUTER = (18.5, 38.0, 57.0, 80.5, 100.0, 128.0, 147.0, 170.5)
_ON_INNER = 2 * len(_INNER)
RINGS = _ON_INNER + 2 * len(_OUTER)


# How a graph is laid out.
_SEED = 7  # of the first places, and of the order in which communities are found
_ROUNDS = 50  # of the forces; the library's default
_WHOLE = 120  # nodes up to which all forces between all nodes cost some 50 ms
_GAP = 1.3  # distance of neighbouring discs, in sums of their radii
# Pull on what hangs together with nothing else, as a share of a link's: enough that it does not fly away.
_PULL = 0.2


def layout_of(
    nodes: Iterable[str],
    links: Iterable[tuple[str, str]],
) -> dict[str, Point]:
    """A place for each node, x and y in 0..1; the same for the same graph, in whatever order it comes.

    Links count once in either direction; those of a node to itself or to none of `nodes` are ignored. Imports
    networkx, and takes half a second for 1,000 nodes: call it off the event loop.
    """
    ids = sorted(set(nodes))
    graph = _graph(ids, links)
    single = sorted(node for node, degree in graph.degree() if not degree)
    graph.remove_nodes_from(single)
    is_small = graph.number_of_nodes() <= _WHOLE
    places = _sprung(graph) if is_small else _by_communities(graph)
    points = _in_square({**places, **_around(places, single)})
    return {ids[node]: point for node, point in points.items()}


def ring_layout(nodes: Sequence[str], links: Iterable[tuple[str, str]]) -> dict[str, Point]:
    """A place for each of at most `RINGS` nodes on rings round `MIDDLE`; the first ones stand nearer.

    Each takes the free place that is nearest to where its name and those linked to it pull it, so a node at the
    end of the order moves none of the others, but when there is one too many for one ring, which then narrows.
    """
    if len(nodes) > RINGS:
        raise ValueError(f"{len(nodes)} nodes have no room on rings for {RINGS}")
    radius = _NEAR if len(nodes) > _ON_INNER else _ALONE
    free = _ring(radius, _INNER)
    linked = _linked(links)
    out: dict[str, complex] = {}
    for count, node in enumerate(nodes):
        if count == _ON_INNER:
            free = _ring(_FAR, _OUTER)
        pull = cmath.rect(1.0, math.tau * crc32(node.encode()) / 2**32)
        near = [out[other] for other in linked.get(node, ()) if other in out]
        pull += sum((place / abs(place) for place in near), 0j)
        # All free places lie on one ring
        out[node] = max(free, key=lambda place: (pull * place.conjugate()).real)
        free.remove(out[node])
    return {
        node: (round(0.5 + place.real, 6), round(0.5 + place.imag, 6))
        for node, place in out.items()
    }


def _linked(links: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The neighbours of each node, in either direction."""
    out: dict[str, list[str]] = {}
    for first, second in links:
        out.setdefault(first, []).append(second)
        out.setdefault(second, []).append(first)
    return out


def _ring(radius: float, degrees: Sequence[float]) -> list[complex]:
    """The places on both halves of a ring, seen from its middle."""
    turns = [sign * math.radians(angle) for sign in (1, -1) for angle in degrees]
    return [cmath.rect(radius, turn) for turn in turns]


def _graph(ids: Sequence[str], links: Iterable[tuple[str, str]]) -> networkx.Graph[int]:
    import networkx

    number = {node: index for index, node in enumerate(ids)}
    graph: networkx.Graph[int] = networkx.Graph()
    graph.add_nodes_from(range(len(ids)))
    ends = ((number.get(first), number.get(second)) for first, second in links)
    pairs = {(min(a, b), max(a, b)) for a, b in ends if a is not None and b is not None and a != b}
    graph.add_edges_from(sorted(pairs))
    return graph


def _sprung(graph: networkx.Graph[int]) -> Places:
    """Places by springs, in units of the mean distance of linked nodes; parts of the graph stay together."""
    import networkx

    nodes = list(graph)
    if len(nodes) < 2:
        return {node: np.zeros(2) for node in nodes}
    links = list(graph.edges())
    parts = [min(part) for part in networkx.connected_components(graph)]
    tied = graph
    if len(parts) > 1:
        tied = graph.copy()
        tied.add_weighted_edges_from((_HUB, part, _PULL) for part in sorted(parts))
    found: Mapping[int, NDArray[np.float64]] = networkx.spring_layout(
        tied, iterations=_ROUNDS, seed=_SEED, method="force"
    )
    lengths = [float(np.linalg.norm(found[a] - found[b])) for a, b in links]
    unit = float(np.mean(lengths)) if lengths else 1.0
    return {node: np.asarray(found[node], np.float64) / (unit or 1.0) for node in nodes}


def _by_communities(graph: networkx.Graph[int]) -> Places:
    """Places by springs among communities, and within each."""
    import networkx

    groups = networkx.community.louvain_communities(graph, seed=_SEED)
    members = sorted((sorted(group) for group in groups), key=_largest_first)
    name = {node: group[0] for group in members for node in group}
    quotient: networkx.Graph[int] = networkx.Graph()
    quotient.add_nodes_from(sorted(name[group[0]] for group in members))
    for first, second in graph.edges():
        a, b = sorted((name[first], name[second]))
        if a != b:
            count = quotient.get_edge_data(a, b, {"weight": 0.0})["weight"]
            quotient.add_edge(a, b, weight=count + 1.0)
    radius = {group[0]: math.sqrt(len(group)) for group in members}
    centers = _spread(_sprung(quotient), radius)
    out: Places = {}
    for group in members:
        inner = _sprung(networkx.Graph(graph.subgraph(group)))
        out.update(_in_disc(inner, centers[group[0]], radius[group[0]]))
    return out


def _largest_first(group: Sequence[int]) -> tuple[int, int]:
    return -len(group), group[0]


def _spread(centers: Places, radius: Mapping[int, float]) -> Places:
    """The centers so far apart that the disc of a community seldom covers its neighbour's."""
    if len(centers) < 2:
        return centers
    keys = list(centers)
    places = np.asarray([centers[key] for key in keys])
    radii = np.asarray([radius[key] for key in keys])
    distance = np.linalg.norm(places[:, None] - places[None, :], axis=2)
    np.fill_diagonal(distance, np.inf)
    wanted = _GAP * (radii[:, None] + radii[None, :])
    factor = float(np.median((wanted / np.maximum(distance, 1e-9)).max(axis=1)))
    return {key: place * factor for key, place in centers.items()}


def _in_disc(places: Places, center: NDArray[np.float64], radius: float) -> Places:
    """The places moved and scaled into a disc."""
    points = np.asarray(list(places.values()))
    points = points - points.mean(axis=0)
    reach = float(np.linalg.norm(points, axis=1).max())
    points = center + points * (radius / reach if reach else 1.0)
    return dict(zip(places, points, strict=True))


def _around(places: Places, single: Sequence[int]) -> Places:
    """Places on rings round the others, for nodes without a link."""
    if not single:
        return {}
    inner, step = 0.0, 1.0
    middle = np.zeros(2)
    if places:
        points = np.asarray(list(places.values()))
        middle = points.mean(axis=0)
        inner = float(np.linalg.norm(points - middle, axis=1).max())
        step = max(inner, 1.0) / math.sqrt(len(places))
    out: Places = {}
    ring, place, room = inner + step, 0, 0
    for node in single:
        if place >= room:
            ring, place = ring + (step if room else 0.0), 0
            room = max(1, int(math.tau * ring / step))
        angle = math.tau * place / room
        out[node] = middle + ring * np.asarray([math.cos(angle), math.sin(angle)])
        place += 1
    return out


def _in_square(places: Places) -> dict[int, Point]:
    """The places moved and scaled into the middle of the square 0..1, with their proportions kept."""
    if not places:
        return {}
    points = np.asarray(list(places.values()))
    low, high = points.min(axis=0), points.max(axis=0)
    size = float((high - low).max())
    points = 0.5 + (points - (low + high) / 2) / (size or 1.0)
    rounded = np.clip(points, 0.0, 1.0).round(6).tolist()
    return {node: (x, y) for node, (x, y) in zip(places, rounded, strict=True)}
