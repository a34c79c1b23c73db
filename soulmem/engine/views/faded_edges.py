"""Faded edges: associations whose strength fell below the floor are ignored.

They are not deleted: walks and views leave them out, but they stay stored. A deleted mention
would be created again at full strength the next time its text is linked. If both ends are
recalled together, the edge is strengthened again. Compute thread only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from soulmem.consolidation.plasticity import FLOOR
from soulmem.domain.edges import DECAYING, Edge
from soulmem.domain.memories import Memory, Origin
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.graph.edge_arrays import EDGE_KINDS, EdgeArrays
from soulmem.kernels.arrays import Float64s

_FADES = np.asarray([kind in DECAYING for kind in EDGE_KINDS])


@compute_only
def remaining_strengths(mind: Mind, edges: EdgeArrays, extra: int, before: float = 0.0) -> Float64s:
    """Strength of each edge after decay, 0..1, `before` turns ago; 0 of a faded one.

    `extra` turns of a moved clock are added.
    """
    strength = mind.edge_strengths(edges, extra, before)
    weak = np.flatnonzero(_FADES[edges.kind] & (strength < FLOOR))
    if weak.size:
        strength[weak] = 0.0
        fixed = mind.columns.permanent | mind.columns.locked
        near = weak[fixed[edges.source[weak]] | fixed[edges.target[weak]]]
        kept = [
            index
            for index in near
            if mind.edges.edge_at(int(edges.slot[index])).origin is Origin.USER
        ]
        strength[kept] = FLOOR
    return strength


@compute_only
def unfaded_edges(
    mind: Mind, memories: Sequence[Memory], extra: int, most: int
) -> tuple[list[Edge], int]:
    """At most `most` edges at these memories with their present strengths, the strongest, and how many there are.

    Without faded ones. Some people have tens of thousands.
    """
    rows = np.unique(np.asarray([mind.row_of(m) for m in memories], np.int64))
    edges = mind.edges.arrays(rows=rows)
    strength = remaining_strengths(mind, edges, extra)
    kept = np.flatnonzero((strength > 0.0) | ~_FADES[edges.kind])
    strongest = kept[np.argsort(-strength[kept], kind="stable")[:most]]
    turn = mind.lived_turns(extra)
    stored = map(mind.edges.edge_at, edges.slot[strongest].tolist())
    shown = (unfaded_edge(mind, edge, turn) for edge in stored)
    by_id = sorted((e for e in shown if e is not None), key=lambda edge: edge.id)
    return by_id, int(kept.size)


@compute_only
def unfaded_edge(mind: Mind, edge: Edge, turn: int) -> Edge | None:
    """The edge with its strength at `turn` of the soul's clock; None if it has faded."""
    if edge.kind not in DECAYING:
        return edge
    strength = mind.edge_strength(edge, turn)
    if strength < FLOOR:
        return replace(edge, strength=FLOOR) if is_protected(mind, edge) else None
    return replace(edge, strength=strength)


@compute_only
def is_protected(mind: Mind, edge: Edge) -> bool:
    """Whether the edge never fades: the user made it, and an end is permanent or locked."""
    ends = (mind.memories[edge.source], mind.memories[edge.target])
    return edge.origin is Origin.USER and any(end.permanent or end.locked for end in ends)
