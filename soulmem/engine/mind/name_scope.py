"""NameScope: a chat may use a learned name if two texts that it may use mention it."""

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
_ENOUGH = 2  # texts


class NameScope:
    """The mentions of learned names, cached until an edge or a learned name changes."""

    def __init__(
        self, edges: EdgeTable, columns: Columns, residency: Residency
    ) -> None:
        self._edges, self._columns, self._residency = edges, columns, residency
        self._revision = -1  # of the edges that the cache was made for
        self._learned = np.zeros(0, np.bool_)
        self._source = self._target = self._names = np.zeros(0, np.int64)

    def hide_unsupported(self, accessible: NDArray[np.bool_]) -> None:
        """In place, bool[rows]: clear learned names that fewer than two accessible texts mention.

        An abstract episode counts as two texts. Does nothing for a part-loaded soul.
        """
        if not self._residency.whole:  # most mentions are not loaded
            return
        self._update(accessible.size)
        if not self._names.size:
            return
        kinds = self._columns.kind[self._source]
        texts = np.where(kinds == _ABSTRACT, _ENOUGH, 1)
        count = np.bincount(
            self._target,
            weights=accessible[self._source] * texts,
            minlength=accessible.size,
        )
        accessible[self._names] &= count[self._names] >= _ENOUGH

    def rows(self, size: int) -> Ints:
        """Rows below `size` of the learned names that texts mention."""
        if self._residency.whole:
            self._update(size)
        return self._names

    def _update(self, size: int) -> None:
        """Read the mentions of learned names below row `size` again if anything changed."""
        columns = self._columns
        learned = (
            (columns.kind[:size] == _CONCEPT)
            & (columns.origin[:size] == _CHAT)
            & columns.in_use[:size]
        )
        if self._revision == self._edges.revision and np.array_equal(
            learned, self._learned
        ):
            return
        self._names = np.zeros(0, np.int64)
        if learned.any():
            mentions = self._edges.arrays([EdgeKind.MENTIONS], np.flatnonzero(learned))
            of_names = learned[mentions.target]
            self._source = mentions.source[of_names].astype(np.int64)
            self._target = mentions.target[of_names].astype(np.int64)
            self._names = np.unique(self._target)  # found topics have no mentions
        self._revision, self._learned = self._edges.revision, learned
