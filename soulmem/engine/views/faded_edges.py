"""Which associations still hold: one that faded below the floor is cut.

That is read, not written: no walk goes over it and no view shows it, but it stays stored. A link that a text
made would otherwise be made anew, in full strength, the next time texts are linked, and the memory would no
longer be that of a replay. Should both ends come to mind together it is learned again.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from soulmem.consolidation.plasticity import FLOOR
from soulmem.domain.edges import DECAYING, Edge
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Origin
from soulmem.engine.mind.mind import Mind
from soulmem.graph.edge_arrays import EDGE_KINDS, EdgeArrays

Floats = NDArray[np.float64]

_FADES = np.asarray([kind in DECAYING for kind in EDGE_KINDS])


def remaining_strengths(
    mind: Mind, edges: EdgeArrays, extra: int, before: float = 0.0
) -> Floats:
    """What is left of each of these edges, 0..1, or was so many turns `before`; 0 of one that is cut.

    `extra` turns of a moved clock count. Computes.
    """
    strength = mind.edge_strengths(edges, extra, before)
    weak = np.flatnonzero(_FADES[edges.kind] & (strength < FLOOR))
    if weak.size:
        strength[weak] = 0.0
        held = mind.columns.permanent | mind.columns.locked
        near = weak[held[edges.source[weak]] | held[edges.target[weak]]]
        kept = [
            at
            for at in near
            if mind.edges.edge_at(int(edges.slot[at])).origin is Origin.USER
        ]
        strength[kept] = FLOOR
    return strength


def unfaded_edges(mind: Mind, memory: MemoryId, extra: int) -> list[Edge]:
    """The edges that start or end at the memory as they are now, without those that are cut. Computes."""
    turn = mind.lived_turns(extra)
    return [
        edge
        for known in mind.edges_of(memory)
        if (edge := unfaded_edge(mind, known, turn)) is not None
    ]


def unfaded_edge(mind: Mind, edge: Edge, turn: int) -> Edge | None:
    """The edge as it is when the soul's clock shows `turn`; None when it is cut. Computes."""
    if edge.kind not in DECAYING:
        return edge
    strength = mind.edge_strength(edge, turn)
    if strength < FLOOR:
        return replace(edge, strength=FLOOR) if is_protected(mind, edge) else None
    return replace(edge, strength=strength)


def is_protected(mind: Mind, edge: Edge) -> bool:
    """Whether nothing may cut the edge: the user drew it, and an end is permanent or locked."""
    ends = (mind.memories[edge.source], mind.memories[edge.target])
    return edge.origin is Origin.USER and any(
        end.permanent or end.locked for end in ends
    )
