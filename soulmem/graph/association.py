"""What leads to what: a soul's edges as arcs between rows, in the classes a walk weighs them by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import EdgeKind
from soulmem.domain.memories import MemoryKind
from soulmem.graph.edge_table import EDGE_KINDS, EdgeArrays
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
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class AssociationParams:
    """How the arcs of one node share its attention."""

    # What all arcs of one class may weigh together, in edges of full strength. Without a bound a name that
    # five hundred scenes mention would hardly ever lead to the one thing it is related to.
    class_mass: float = 1.0  # > 0


@dataclass(frozen=True, slots=True)
class Arcs:
    """Edges as a walk sees them. Of m edges arc i of the first m runs along edge i, those after them run back
    over all edges in turn but those that are walked one way only.
    """

    graph: Csr
    one_way: Ints  # numbers of these edges, rising

    @property
    def edges(self) -> int:
        """How many there are."""
        return (self.graph.edge.size + self.one_way.size) // 2

    def edge_of(self, arcs: NDArray[np.integer]) -> Ints:
        """The edge that each of these arcs runs along or back over."""
        back = arcs.astype(np.int64) - self.edges
        skipped = np.searchsorted(self.one_way - np.arange(self.one_way.size), back, "right")
        return np.where(back < 0, arcs, back + skipped)

    def back_over(self, edges: NDArray[np.integer]) -> Ints:
        """The arc that runs back over each of these edges, -1 where it is walked one way only."""
        skipped = np.searchsorted(self.one_way, edges)
        back = self.edges + edges.astype(np.int64) - skipped
        return np.where(np.isin(edges, self.one_way), -1, back)


def arc_class(kind: EdgeKind, target: MemoryKind, *, back: bool = False) -> int:
    """The class of the arcs of that kind that arrive at a memory of kind `target`, 0..CLASSES - 1."""
    forward = EDGE_KINDS.index(kind) * len(MEMORY_KINDS) + MEMORY_KINDS.index(target)
    return forward + (_BACK if back else 0)


def arcs(edges: EdgeArrays, weight: Floats, kinds: Codes, params: AssociationParams | None = None) -> Arcs:
    """The arcs of a walk over `kinds.size` rows.

    edges   those of the kinds in WALKED
    weight  float64[m], 0..1: strength now times confidence
    kinds   uint8[n]: each row's place in MEMORY_KINDS
    """
    p = params or AssociationParams()
    count = edges.source.size
    returns: Any = slice(None)
    one_way = np.flatnonzero(edges.kind == _ONE_WAY)
    if one_way.size:
        returns = np.flatnonzero(edges.kind != _ONE_WAY)
    source = np.concatenate([edges.source, edges.target[returns]])
    target = np.concatenate([edges.target, edges.source[returns]])
    code = np.concatenate([edges.kind, edges.kind[returns]]) * np.uint8(len(MEMORY_KINDS)) + kinds[target]
    code[count:] += np.uint8(_BACK)
    compiled, order = kernels(), None
    both = np.concatenate([weight, weight[returns]])
    if compiled is None:
        bounded = _bounded(source, code, both, p.class_mass)
    else:
        bounded = np.empty(both.size)
        compiled.bound_classes(source, code, both, p.class_mass, kinds.size, bounded)
        order = compiled.order_edges
    return Arcs(build_csr(kinds.size, source, target, bounded, code, order), one_way)


def _bounded(source: Rows, code: Codes, weight: Floats, most: float) -> Floats:
    """The weights, those of one node and class scaled down where together they exceed `most`."""
    out: Floats = weight.copy()
    for one in np.unique(code):
        which = np.flatnonzero(code == one)
        rows = source[which]
        total = np.bincount(rows, weights=weight[which])
        out[which] *= most / np.maximum(total, most)[rows]
    return out
