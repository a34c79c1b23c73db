"""What does the user think of which memories, as a search needs it: by row?"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.opinions import NEUTRAL, Opinion
from soulmem.graph.rows import Rows


class Opinions:
    """Opinions by memory; a memory nobody spoke of has none."""

    def __init__(self, rows: Rows[MemoryId]) -> None:
        self._rows = rows
        self._said: dict[MemoryId, Opinion] = {}

    def put(self, opinions: Iterable[Opinion]) -> None:
        """Take over what was stored."""
        self._said.update((opinion.memory, opinion) for opinion in opinions)

    def of(self, memory: MemoryId) -> Opinion | None:
        """What was said of it."""
        return self._said.get(memory)

    def doubted(self) -> list[MemoryId]:
        """Memories of which some wording was called wrong, maybe not the present one."""
        return [
            opinion.memory
            for opinion in self._said.values()
            if opinion.doubted is not None
        ]

    def scores(self, size: int) -> NDArray[np.float64]:
        """The feedback of each row, 0..1, float64[size]; neutral where nothing was said."""
        out = np.full(size, NEUTRAL)
        for opinion in self._said.values():
            row = self._rows.row(opinion.memory)
            if row is not None and row < size:
                out[row] = opinion.score
        return out

    def kept_out(self, chat: ChatId) -> list[int]:
        """Rows that are never to come up in the chat."""
        wanted = (
            self._rows.row(opinion.memory)
            for opinion in self._said.values()
            if chat in opinion.not_in
        )
        return [row for row in wanted if row is not None]
