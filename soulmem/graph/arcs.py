"""A soul's edges as arcs of a walk: CSR layout by source row, with a class per arc for its factor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import EdgeKind
from soulmem.domain.memories import MemoryKind
from soulmem.graph.edge_arrays import EDGE_KINDS, EdgeArrays
from soulmem.kernels.arrays import Float64s, Int64s
from soulmem.kernels.csr import Csr, build_csr
from soulmem.kernels.warm import kernels

MEMORY_KINDS = tuple(MemoryKind)
CLASSES = 2 * len(EDGE_KINDS) * len(MEMORY_KINDS)  # fewer than a byte can tell apart

# Which kinds a walk follows; all but one of them from their end back to their start as well (design 2). What
# sets actions off is a push of its own, so `triggers` and `fires` are left out.
WALKED = tuple(kind for kind in EDGE_KINDS if kind not in (EdgeKind.TRIGGERS, EdgeKind.FIRES))
_ONE_WAY = EDGE_KINDS.index(EdgeKind.KNOWS_HABIT)
_BACK = CLASSES // 2  # what the class of an arc against its edge has on top

Rows = NDArray[np.uint32]
Codes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class AssociationParams:
    """Limits on the weights of the arcs that leave one node."""

    # What all arcs of one class may weigh together, in edges of full strength. Without a bound a name that
    # five hundred scenes mention would hardly ever lead to the one thing it is related to.
    class_mass: float = 1.0  # > 0


def arcs_along(slots: NDArray[np.integer]) -> Rows:
    """Arc numbers (uint32) in the direction of the edges in these slots."""
    return (2 * slots).astype(np.uint32)


def arcs_back(slots: NDArray[np.integer]) -> Rows:
    """Arc numbers (uint32) against the direction of these edges; unused for one-way kinds."""
    return (2 * slots + 1).astype(np.uint32)


def slots_of(arcs: NDArray[np.integer]) -> Int64s:
    """Edge slots (int64) of these arc numbers, whichever direction they run in."""
    return np.asarray(arcs >> 1, np.int64)


def arc_class(kind: EdgeKind, target: MemoryKind, *, back: bool = False) -> int:
    """Class, 0..CLASSES - 1, of arcs of edge kind `kind` into a memory of kind `target`."""
    forward = EDGE_KINDS.index(kind) * len(MEMORY_KINDS) + MEMORY_KINDS.index(target)
    return forward + (_BACK if back else 0)


def arcs(
    edges: EdgeArrays,
    weight: Float64s,
    kinds: Codes,
    params: AssociationParams | None = None,
    rows: Int64s | None = None,
) -> Csr:
    """CSR graph of the arcs among `kinds.size` rows: two per edge, one for one-way kinds.

    With `rows` the graph has a source for each of these, in their order, and no others.

    edges   edges of the kinds in WALKED
    weight  float64[m], 0..1: current strength * confidence
    kinds   uint8[n]: index of each row's kind in MEMORY_KINDS
    rows    ascending; only arcs that leave these rows; then `edges` must be all that start or end there

    The weights of one source and class are scaled down to a sum of at most `class_mass`.
    """
    p = params or AssociationParams()
    along: Any = slice(None)
    returns: Any = slice(None)
    if (edges.kind == _ONE_WAY).any():
        returns = np.flatnonzero(edges.kind != _ONE_WAY)
    if rows is not None:
        wanted = np.zeros(kinds.size, np.bool_)
        wanted[rows] = True
        along = np.flatnonzero(wanted[edges.source])
        returns = np.flatnonzero(wanted[edges.target] & (edges.kind != _ONE_WAY))
    source = np.concatenate([edges.source[along], edges.target[returns]])
    count = kinds.size
    if rows is not None:
        source, count = np.searchsorted(rows, source).astype(np.uint32), rows.size
    target = np.concatenate([edges.target[along], edges.source[returns]])
    number = np.concatenate([arcs_along(edges.slot[along]), arcs_back(edges.slot[returns])])
    kind = np.concatenate([edges.kind[along], edges.kind[returns]])
    code = kind * np.uint8(len(MEMORY_KINDS)) + kinds[target]
    code[edges.slot[along].size :] += np.uint8(_BACK)
    weights_of_arcs = np.concatenate([weight[along], weight[returns]])
    compiled = kernels(source.size)
    bounded = np.empty(source.size)
    compiled.bound_classes(source, code, weights_of_arcs, p.class_mass, count, bounded)
    order = compiled.order_edges
    return build_csr(count, source, target, bounded, code, order, number, targets=kinds.size)
