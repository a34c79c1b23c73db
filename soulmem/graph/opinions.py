"""The user's opinions of memories, by memory and by row."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.opinions import NEUTRAL, Opinion
from soulmem.graph.row_numbers import Rows
from soulmem.kernels.arrays import Int64s


class Opinions:
    """Opinions by memory; most memories have none."""

    def __init__(self, rows: Rows[MemoryId]) -> None:
        self._rows = rows
        self._said: dict[MemoryId, Opinion] = {}

    def put(self, opinions: Iterable[Opinion]) -> None:
        """Add or replace stored opinions."""
        self._said.update((opinion.memory, opinion) for opinion in opinions)

    def of(self, memory: MemoryId) -> Opinion | None:
        """The opinion of the memory, or None."""
        return self._said.get(memory)

    def doubted(self) -> list[MemoryId]:
        """Memories that were called wrong, in this wording or an earlier one."""
        return [opinion.memory for opinion in self._said.values() if opinion.doubted is not None]

    def scores(self, rows: Int64s) -> NDArray[np.float64]:
        """Feedback of each of these rows, 0..1, float64[rows]; NEUTRAL for rows without an opinion."""
        if not self._said:
            return np.full(rows.size, NEUTRAL)
        told = {self._rows.row(o.memory): o.score for o in self._said.values()}
        scores = (told.get(row, NEUTRAL) for row in rows.tolist())
        return np.fromiter(scores, np.float64, rows.size)

    def kept_out(self, chat: ChatId) -> list[int]:
        """Rows that must never be recalled in the chat."""
        wanted = (
            self._rows.row(opinion.memory)
            for opinion in self._said.values()
            if chat in opinion.not_in
        )
        return [row for row in wanted if row is not None]
