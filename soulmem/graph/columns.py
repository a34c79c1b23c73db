"""Attributes of memories as arrays by row, for masks and scores over all rows at once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.calendar import EPOCH, MICROSECOND
from soulmem.domain.memories import Memory, MemoryState, Origin
from soulmem.domain.situation import story_time
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.graph.packed_arrays import Arrays

ORIGINS = tuple(Origin)
STATES = tuple(MemoryState)
_KIND_CODE = {kind: code for code, kind in enumerate(MEMORY_KINDS)}
_ORIGIN_CODE = {origin: code for code, origin in enumerate(ORIGINS)}
UNKNOWN = -1  # not counted yet: counting the tokens of all texts takes seconds


def microseconds(moment: datetime) -> int:
    """Microseconds since 1970 of an aware moment, as in `Columns.created`."""
    return (moment - EPOCH) // MICROSECOND


def moment_of(created: int) -> datetime:
    """The moment of a value in `Columns.created`; inverse of `microseconds`."""
    return EPOCH + created * MICROSECOND


class Columns:
    """Arrays of one length, at least the number of rows; call `grow` before writing a new row."""

    def __init__(self) -> None:
        self.in_use: NDArray[np.bool_] = np.zeros(64, np.bool_)
        # In use, or a merged telling, and of a kind that may be shown
        self.active: NDArray[np.bool_] = np.zeros(64, np.bool_)
        # Held by a chat and not quarantined, or made by hand
        self.live: NDArray[np.bool_] = np.zeros(64, np.bool_)
        # Known on all timelines
        self.everywhere: NDArray[np.bool_] = np.zeros(64, np.bool_)
        # A line of somebody else than the soul
        self.opens_exchange: NDArray[np.bool_] = np.zeros(64, np.bool_)
        # Code of the tree of chats, -1 for none
        self.family: NDArray[np.int32] = np.full(64, -1, np.int32)
        self.permanent: NDArray[np.bool_] = np.zeros(64, np.bool_)
        self.locked: NDArray[np.bool_] = np.zeros(64, np.bool_)
        # Its text is searched
        self.searched: NDArray[np.bool_] = np.zeros(64, np.bool_)
        # Compared with other episodes that may tell the same event
        self.compared: NDArray[np.bool_] = np.zeros(64, np.bool_)
        self.origin: NDArray[np.uint8] = np.zeros(64, np.uint8)  # place in ORIGINS
        self.kind: NDArray[np.uint8] = np.zeros(64, np.uint8)  # place in MEMORY_KINDS
        self.state: NDArray[np.uint8] = np.zeros(64, np.uint8)  # place in STATES
        # The text is Chinese, Japanese or the like
        self.unspaced: NDArray[np.bool_] = np.zeros(64, np.bool_)
        self.importance: NDArray[np.float32] = np.zeros(64, np.float32)  # 0..1
        # 0..1, of its strongest emotion
        self.feeling: NDArray[np.float32] = np.zeros(64, np.float32)
        # Cost of the text in a prompt, or UNKNOWN
        self.tokens: NDArray[np.int32] = np.zeros(64, np.int32)
        # Microseconds since 1970; 0: no memory
        self.created: NDArray[np.int64] = np.zeros(64, np.int64)
        self.happened: NDArray[np.float64] = np.zeros(64, np.float64)  # POSIX seconds
        # POSIX seconds, not before `happened`
        self.ended: NDArray[np.float64] = np.zeros(64, np.float64)
        # By the story's calendar, 0: none
        self.story: NDArray[np.float64] = np.zeros(64, np.float64)

    def in_state(self, n: int, states: Collection[MemoryState]) -> NDArray[np.bool_]:
        """Which of the first `n` rows hold a memory in one of these states, bool[n]."""
        codes = [STATES.index(state) for state in states]
        is_memory = self.created[:n] != 0
        return np.asarray(np.isin(self.state[:n], codes) & is_memory)

    def packed(self, n: int) -> dict[str, NDArray[Any]]:
        """Copies of the first `n` rows of each column, by column name."""
        self.grow(n)
        return {name: column[:n].copy() for name, column in vars(self).items()}

    def restore(self, arrays: Arrays) -> None:
        """Replace the columns by those of `packed`, all of one length; no copy."""
        for name in list(vars(self)):
            setattr(self, name, arrays[name])

    def grow(self, n: int) -> None:
        """Make room for `n` rows; new ones are empty."""
        size = self.active.size
        if n <= size:
            return
        more = max(n, size + size // 2) - size
        for name, old in vars(self).items():
            empty = -1 if name == "family" else 0
            setattr(self, name, np.concatenate([old, np.full(more, empty, old.dtype)]))

    def put(self, row: int, memory: Memory) -> None:
        """Write what the memory itself says into its row, which is added if it is new."""
        self.put_all([row], [memory])

    def put_all(self, rows: Sequence[int], memories: Sequence[Memory]) -> None:
        """`put` of each memory into its row."""
        self.grow(max(rows, default=-1) + 1)
        at = list(rows)
        self.happened[at] = [memory.happened.timestamp() for memory in memories]
        self.ended[at] = [memory.ended.timestamp() for memory in memories]
        self.story[at] = [story_time(memory.situation) for memory in memories]
        self.created[at] = [microseconds(memory.created) for memory in memories]
        self.kind[at] = [_KIND_CODE[memory.kind] for memory in memories]
        self.origin[at] = [_ORIGIN_CODE[memory.origin] for memory in memories]
        self.importance[at] = [memory.importance for memory in memories]
        self.feeling[at] = [memory.strongest_emotion for memory in memories]
        self.permanent[at] = [memory.permanent for memory in memories]
        self.locked[at] = [memory.locked for memory in memories]
        self.compared[at] = False

    def clear(self, row: int) -> None:
        """Reset the row to its empty values."""
        for name, column in vars(self).items():
            column[row] = -1 if name == "family" else 0
