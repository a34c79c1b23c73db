"""What comes to mind with what is told: memories at strong edges of experience, whatever their text says."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from itertools import chain, islice

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.retrieval.vector_expansion import Opened

# Edges that were lived or drawn by hand. The order of a chat and plain mentions bring nothing by themselves.
_KINDS = (EdgeKind.ASSOCIATES, EdgeKind.INSTANCE_OF)
# Least strength of all edges of a way, multiplied, at restraint 1. A link of two memories that came together in
# one reply has .1; after five replies that were kept, and no long time, it is above.
_LEAST = 0.25
_HOPS = 2
_MOST_EDGES = 64  # of a memory: one with more brings nothing in particular


@compute_only
def brought_by(mind: Mind, context: RecallContext, told: Iterable[int]) -> list[Opened]:
    """The memories that these rows bring, the strongest first; not the rows themselves.

    told  rows that the moment calls for
    """
    least = min(_LEAST * context.restraint, 1.0)
    turn = mind.lived_turns(context.extra_turns)
    seeds = list(dict.fromkeys(told))
    best: dict[int, Opened] = {}
    # Negative score, row, edges of the way, way: the edges decide between ways of one score to one row.
    queue: list[tuple[float, int, tuple[str, ...], Opened]] = []
    for row in seeds:
        heappush(queue, (-1.0, row, (), Opened(row, 1.0, (row,), ())))
    while queue:
        _, row, _, way = heappop(queue)
        if row in best:
            continue
        best[row] = way
        if len(way.edges) == _HOPS:
            continue
        key = mind.id_at(row)
        for edge in lived_edges(mind, key):
            target = mind.row(other_end(edge, key))
            strength = mind.edge_strength(edge, turn) * edge.confidence
            score = way.score * strength
            if target is None or target in best or score < least or not score:
                continue
            if context.accessible[target]:
                step = Opened(target, score, (*way.rows, target), (*way.edges, edge.id))
                heappush(queue, (-score, target, step.edges, step))
    out = [way for way in best.values() if way.edges and context.visible[way.row]]
    return sorted(out, key=lambda way: (-way.score, way.row))


@compute_only
def lived_edges(mind: Mind, key: MemoryId) -> list[Edge]:
    """The edges of a memory that were lived or drawn by hand; none of one with too many."""
    # Asked for by kind: a concept that most texts mention has thousands of other edges.
    lived = chain.from_iterable(mind.edges.of(key, kind) for kind in _KINDS)
    edges = list(islice(lived, _MOST_EDGES + 1))
    return edges if len(edges) <= _MOST_EDGES else []


def other_end(edge: Edge, key: MemoryId) -> MemoryId:
    """What the edge joins the memory to."""
    return edge.target if edge.source == key else edge.source
