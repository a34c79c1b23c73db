"""Which learned names does a chat know? Those that two texts mention which it knows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import EdgeKind
from soulmem.domain.memories import MemoryKind, Origin
from soulmem.graph.association import MEMORY_KINDS
from soulmem.graph.columns import ORIGINS, Columns
from soulmem.graph.edge_table import EdgeTable
from soulmem.graph.residency import Residency

Ints = NDArray[np.int64]

_CONCEPT = MEMORY_KINDS.index(MemoryKind.CONCEPT)
_ABSTRACT = MEMORY_KINDS.index(MemoryKind.ABSTRACT_EPISODE)
_CHAT = ORIGINS.index(Origin.CHAT)
_ENOUGH = 2


class NameScope:
    """Reads mentions; what it finds of them is kept until an edge or a name changes."""

    def __init__(
        self, edges: EdgeTable, columns: Columns, residency: Residency
    ) -> None:
        self._edges, self._columns, self._residency = edges, columns, residency
        self._made_for = -1
        self._learned = np.zeros(0, np.bool_)
        self._source = self._target = self._names = np.zeros(0, np.int64)

    def hide_unsupported(self, known: NDArray[np.bool_]) -> None:
        """Let learned names not be known, shape (rows,), that fewer known texts mention."""
        if not self._residency.whole:  # most mentions are in the store
            return
        self._look(known.size)
        if not self._names.size:
            return
        kinds = self._columns.kind[self._source]
        told = known[self._source] * np.where(
            kinds == _ABSTRACT, _ENOUGH, 1
        )  # it stands for several
        count = np.bincount(self._target, weights=told, minlength=known.size)
        known[self._names] &= count[self._names] >= _ENOUGH

    def rows(self, size: int) -> Ints:
        """The rows of learned names that texts mention, of the first `size`."""
        if self._residency.whole:
            self._look(size)
        return self._names

    def _look(self, size: int) -> None:
        columns = self._columns
        learned = (
            (columns.kind[:size] == _CONCEPT)
            & (columns.origin[:size] == _CHAT)
            & columns.in_use[:size]
        )
        if self._made_for == self._edges.revision and np.array_equal(
            learned, self._learned
        ):
            return
        self._names = np.zeros(0, np.int64)
        if learned.any():
            mentions = self._edges.arrays([EdgeKind.MENTIONS], np.flatnonzero(learned))
            of_names = learned[mentions.target]
            self._source = mentions.source[of_names].astype(np.int64)
            self._target = mentions.target[of_names].astype(np.int64)
            self._names = np.unique(self._target)  # topics are mentioned nowhere
        self._made_for, self._learned = self._edges.revision, learned
