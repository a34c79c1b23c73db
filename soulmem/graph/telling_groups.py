"""Tellings: which memories stand for others that tell the same event."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState
from soulmem.graph.row_numbers import Rows
from soulmem.kernels.arrays import Bools, Int64s

_NO_ROWS = np.zeros(0, np.int64)


class Tellings:
    """Merged memories by the memory that stands for them."""

    def __init__(self, rows: Rows[MemoryId]) -> None:
        self._rows = rows
        self._centre: dict[MemoryId, MemoryId] = {}  # by merged memory
        self._merged: dict[MemoryId, dict[MemoryId, None]] = {}  # by centre
        self._arrays: tuple[Int64s, Int64s] | None = None

    def __len__(self) -> int:
        """Number of memories that stand for others."""
        return len(self._merged)

    def __iter__(self) -> Iterator[MemoryId]:
        """The memories that stand for others."""
        return iter(self._merged)

    def centre(self, memory: MemoryId) -> MemoryId | None:
        """The memory that stands for this one; None unless it is merged."""
        return self._centre.get(memory)

    def merged(self, centre: MemoryId) -> tuple[MemoryId, ...]:
        """The memories that this one stands for."""
        return tuple(self._merged.get(centre, ()))

    def put(self, memory: Memory) -> None:
        """Take over the state of a memory that is new or changed."""
        if memory.kind is not MemoryKind.EPISODE:
            return
        centre = memory.merged_into if memory.state is MemoryState.MERGED else None
        if self._centre.get(memory.id) == centre:
            return
        self._leave(memory.id)
        if centre is not None:
            self._centre[memory.id] = centre
            self._merged.setdefault(centre, {})[memory.id] = None

    def drop(self, key: MemoryId) -> None:
        """Remove a memory; those that it stood for must be put anew."""
        self._leave(key)

    def stand_ins(
        self, reached: Bools, accessible: Bools, happened: NDArray[np.float64]
    ) -> list[int]:
        """Rows of merged memories that stand for an event whose own memory is not accessible: the first told.

        reached     rows that would be accessible were they in use, bool[rows]
        accessible  rows that are, bool[rows]
        happened    POSIX seconds, by row
        """
        if not self._merged:
            return []
        rows, centres = self.row_pairs()
        free = np.flatnonzero(reached[rows] & ~accessible[centres])
        order = free[np.lexsort((rows[free], happened[rows[free]]))]
        first: dict[int, int] = {}
        for index in order.tolist():
            first.setdefault(int(centres[index]), int(rows[index]))
        return list(first.values())

    def row_pairs(self) -> tuple[Int64s, Int64s]:
        """The row of each merged memory, and that of the memory that stands for it; read only."""
        if self._arrays is None:
            pairs = [
                (row, centre)
                for key, other in self._centre.items()
                if (row := self._rows.row(key)) is not None
                and (centre := self._rows.row(other)) is not None
            ]
            columns = np.asarray(pairs, np.int64).reshape(-1, 2)
            self._arrays = columns[:, 0], columns[:, 1]
        return self._arrays

    def _leave(self, key: MemoryId) -> None:
        self._arrays = None
        centre = self._centre.pop(key, None)
        if centre is None:
            return
        beside = self._merged[centre]
        del beside[key]
        if not beside:
            del self._merged[centre]
