"""What comes to mind with what is called for: over strong edges of experience, over rare names of an answer."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import chain

import numpy as np

from soulmem.domain.edges import EdgeKind
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext
from soulmem.engine.recall.vector_expansion import Opened
from soulmem.engine.runtime.worker import compute_only
from soulmem.kernels.arrays import Float64s, Int64s

# Edges that were lived or drawn by hand. The order of a chat and names of many memories bring nothing.
_KINDS = (EdgeKind.ASSOCIATES, EdgeKind.INSTANCE_OF)
# Least strength of all edges of a way, multiplied, at restraint 1. A link of two memories that came together in
# one reply has .1; after five replies that were kept, and no long time, it is above.
_LEAST = 0.25
_HOPS = 2
# A name leads from one memory that mentions it to the others where there are so many at most.
_FEW_MENTIONS = 5
# Least weight of what a name leads to, at restraint 1. With .25 a question of role-play chats brings more that is
# no evidence, with .5 fewer questions over two passages are answered.
_LEAST_NAMED = 0.4
_MOST_EDGES = 64  # of a memory: one with more brings nothing in particular


@dataclass(frozen=True, slots=True)
class LivedEdges:
    """Edges of some rows, shape (m,) each.

    place     index of the row in the list that was given
    far       the row at the other end
    strength  0..1, after decay, times the confidence
    slot      the edge's slot in `EdgeTable`
    """

    place: Int64s
    far: Int64s
    strength: Float64s
    slot: Int64s

    def of_all(self) -> Iterator[tuple[int, float, int]]:
        """Other end, strength and slot of each."""
        return zip(self.far.tolist(), self.strength.tolist(), self.slot.tolist(), strict=True)


@compute_only
def brought_by(
    mind: Mind,
    context: RecallContext,
    called: Mapping[int, float],
    asked: Collection[int],
) -> list[Opened]:
    """The memories that called rows bring, without these rows: highest product of weight and edge strengths first.

    called  by row its weight, > 0: how likely the moment calls for it
    asked   rows that a question or the request calls for: rare names in them lead on, too
    """
    least = min(_LEAST * context.restraint, 1.0)
    least_named = _LEAST_NAMED * context.restraint
    best: dict[int, Opened] = {}
    # Negative score, row, edges of the way, way: the edges decide between ways of one score to one row.
    queue: list[tuple[float, int, tuple[str, ...], Opened]] = []
    for row, likely in called.items():
        heappush(queue, (-likely, row, (), Opened(row, likely, (row,), ())))
    while queue:
        _, row, _, way = heappop(queue)
        if row in best:
            continue
        best[row] = way
        if len(way.edges) == _HOPS:
            continue
        steps: Iterator[Opened] = _over_links(mind, context, way, least * called[way.rows[0]])
        if not way.edges and row in asked and way.score >= least_named:
            steps = chain(steps, _over_names(mind, context, way, least_named))
        for step in steps:
            if step.row not in best and step.row not in called:
                heappush(queue, (-step.score, step.row, step.edges, step))
    out = [way for way in best.values() if way.edges and context.visible[way.row]]
    return sorted(out, key=lambda way: (-way.score, way.row))


def _over_links(mind: Mind, context: RecallContext, way: Opened, least: float) -> Iterator[Opened]:
    """The way and one link more, where the product of strengths is above 0 and at least `least`."""
    lived = lived_edges(mind, [way.row], context.extra_turns)
    for target, share, slot in lived.of_all():
        score = way.score * share
        if score and score >= least and context.accessible[target]:
            edges = (*way.edges, mind.edges.edge_at(slot).id)
            yield Opened(target, score, (*way.rows, target), edges)


def _over_names(mind: Mind, context: RecallContext, way: Opened, least: float) -> Iterator[Opened]:
    """From a memory, over each name in it that the query does not say, to the others that mention the name.

    The score of each is that of the memory divided by how many these are; below `least` none comes.
    """
    names, _ = mind.edges.target_rows(np.asarray([way.row]), EdgeKind.MENTIONS)
    said = {mind.row(concept) for concept in context.concepts}
    for name in names.tolist():
        if name in said or not context.accessible[name]:
            continue
        mentions = _few_mentions(mind, name)
        onward = [row for row in mentions if row != way.row and context.visible[row]]
        score = way.score / max(1, len(onward))
        if score >= least:
            for row in onward:
                edges = mentions[way.row], mentions[row]
                yield Opened(row, score, (way.row, name, row), edges)


def _few_mentions(mind: Mind, name: int) -> dict[int, str]:
    """The rows that mention a concept, each with the id of its edge; none of a concept with more than a few."""
    slots = mind.edges.mention_slots(np.asarray([name]))
    if slots.size > _FEW_MENTIONS:
        return {}
    edges = map(mind.edges.edge_at, slots.tolist())
    return {row: edge.id for edge in edges if (row := mind.row(edge.source)) is not None}


@compute_only
def lived_edges(mind: Mind, rows: Sequence[int], extra: int) -> LivedEdges:
    """The edges of these distinct rows that were lived or drawn by hand; none of a row with too many.

    extra  turns by which the soul's clock was moved
    """
    # Asked for by kind: a concept that most texts mention has thousands of other edges.
    near = np.asarray(rows, np.int64)
    place, edges = mind.edges.touching(near, _KINDS, _MOST_EDGES)
    strength = mind.edge_strengths(edges, extra) * edges.confidence
    far = np.where(edges.source == near[place], edges.target, edges.source)
    return LivedEdges(place, far.astype(np.int64), strength, edges.slot)
