"""Memory vectors at a recall: what a match of query and vector means, which edges it opens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class VectorParams:
    """How memory vectors open edges and weigh in a walk."""

    # Standard deviations of what the query has with the soul's texts, below which a match means nothing.
    # Paraphrases of what was learned stand 2 to 6 above, other queries below 3.5.
    usual: float = 2.5
    opens: float = (
        0.55  # an edge opens when class * strength + evidence exceeds this; design 4.3
    )
    walk: float = (
        1.0  # lambda: added to the weight of an edge of full evidence; design 3
    )
    seeds: int = 2  # texts from which edges are opened; design 4.3
    hops: int = 3  # edges from a seed to what is opened
    matching: int = 32  # edges of the greatest evidence that are looked at
    slots: int = 2  # places among the first five for what was opened
    # Standard deviations that a query is like the lines at which a memory was wanted, with this share of those
    # that it is like the memory, from which on that comes. Of 64 paraphrases of such lines (en and zh, two
    # encoders) 7 in 10 are above; with 16 taught memories 1 plain line in 15.
    wanted: float = 3.6
    wanted_text: float = 0.75


@dataclass(frozen=True, slots=True)
class VectorArc:
    """A way over an edge from one row to another.

    weight    class * strength, 0..1
    evidence  0..1, that the edge leads to what the query asks for
    """

    target: int
    edge: str
    weight: float
    evidence: float


@dataclass(frozen=True, slots=True)
class Opened:
    """A row that memory vectors open.

    score  0..1, the least evidence of an edge with a vector on the way
    edges  from the seed to the row; none where the memory itself was taught
    """

    row: int
    score: float
    rows: tuple[int, ...]
    edges: tuple[str, ...]


def evidence(
    match: Doubles, noise: float, params: VectorParams | None = None
) -> Doubles:
    """What matches of a query with memory vectors mean, 0..1: 0 for what is usual among the soul's texts.

    match  <q, m>, seen from the mean of the texts
    noise  standard deviation of the cosines of the query with the texts, seen from there
    """
    p = params or VectorParams()
    usual = min(p.usual * noise, 0.9)
    return np.clip((match - usual) / (1.0 - usual), 0.0, 1.0)


def wanted(
    match: float, own: float, noise: float, params: VectorParams | None = None
) -> float:
    """How surely a query calls for a memory by what that was taught, in units of the bar.

    match  <q, m> of its memory vector
    own    cosine of the query with the memory, seen from the mean of the texts
    noise  standard deviation of such cosines
    """
    p = params or VectorParams()
    return (match + p.wanted_text * max(0.0, own)) / max(noise, 1e-6) / p.wanted


def opened_rows(
    seeds: Sequence[int],
    arcs: Mapping[int, Sequence[VectorArc]],
    params: VectorParams | None = None,
) -> list[Opened]:
    """The rows that open from the seeds, the strongest first; seeds are not among them.

    arcs  by row, the ways that leave it

    A way is open when weight + evidence exceeds `opens`. Its last edge has evidence: what is
    strongly connected anyway is left to the walk.
    """
    p = params or VectorParams()
    best: dict[int, Opened] = {}
    queue: list[tuple[float, int, tuple[str, ...], Opened]] = []
    for seed in dict.fromkeys(seeds):
        heappush(queue, (-1.0, seed, (), Opened(seed, 1.0, (seed,), ())))
    while queue:
        _, row, _, way = heappop(queue)
        if row in best:
            continue
        best[row] = way
        if len(way.edges) == p.hops:
            continue
        for arc in arcs.get(row, ()):
            if arc.target in best or arc.weight + arc.evidence <= p.opens:
                continue
            score = min(way.score, arc.evidence) if arc.evidence else way.score
            step = Opened(
                arc.target, score, (*way.rows, arc.target), (*way.edges, arc.edge)
            )
            heappush(queue, (-score, arc.target, step.edges, step))
    taught = {arc.edge for ways in arcs.values() for arc in ways if arc.evidence > 0.0}
    out = [way for way in best.values() if way.edges and way.edges[-1] in taught]
    return sorted(out, key=lambda way: (-way.score, way.row))
