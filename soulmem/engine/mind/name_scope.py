"""NameScope: a chat may use a learned name if two texts that it may use mention it, or one introduces it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from soulmem.domain.memories import MemoryKind, Origin
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.graph.columns import ORIGINS, Columns
from soulmem.graph.edge_table import EdgeTable
from soulmem.graph.residency import Residency
from soulmem.kernels.arrays import Bools, Int64s

_CONCEPT = MEMORY_KINDS.index(MemoryKind.CONCEPT)
_ABSTRACT = MEMORY_KINDS.index(MemoryKind.ABSTRACT_EPISODE)
_CHAT = ORIGINS.index(Origin.CHAT)
_ENOUGH = 2  # texts


class NameScope:
    """The learned names of a mind, and which of them are mentioned often enough."""

    def __init__(
        self,
        edges: EdgeTable,
        columns: Columns,
        residency: Residency,
        introducing: Callable[[int], Iterable[int]],
    ) -> None:
        """`introducing`: the rows of the texts that introduce somebody by the learned name at a row."""
        self._edges, self._columns, self._residency = edges, columns, residency
        self._introducing = introducing

    def hide_unsupported(self, accessible: Bools) -> None:
        """In place, bool[rows]: clear learned names that fewer than two accessible texts mention.

        An abstract episode counts as two texts, and so does a text that introduces the name. Does nothing for a
        part-loaded soul.
        """
        if not self._residency.whole:  # most mentions are not loaded
            return
        n = accessible.size
        names = self._learned(n)
        if names.size:
            is_abstract = self._columns.kind[:n] == _ABSTRACT
            worth = accessible.astype(np.uint8) + (accessible & is_abstract)
            count = self._edges.worth_of_mentions(names, worth, _ENOUGH)
            is_few = (count >= 0) & (count < _ENOUGH) & accessible[names]
            accessible[names[is_few]] = False
            once = names[is_few & (count == 1)].tolist()
            introduced = [name for name in once if self._is_introduced(name, accessible)]
            accessible[introduced] = True

    def rows(self, size: int) -> Int64s:
        """Rows below `size` of the learned names that texts mention; none of a part-loaded soul."""
        if not self._residency.whole:
            return np.zeros(0, np.int64)
        names = self._learned(size)
        worth = np.ones(size, np.uint8)
        return names[self._edges.worth_of_mentions(names, worth, 1) >= 0]

    def _is_introduced(self, name: int, accessible: Bools) -> bool:
        """Whether an accessible text introduces somebody by the learned name at a row."""
        texts = self._introducing(name)
        return any(text < accessible.size and accessible[text] for text in texts)

    def _learned(self, n: int) -> Int64s:
        """The rows of learned names and found topics, which no text mentions."""
        columns = self._columns
        is_concept = columns.kind[:n] == _CONCEPT
        is_learned = columns.origin[:n] == _CHAT
        return np.flatnonzero(is_concept & is_learned & columns.in_use[:n])
