"""Neighbours: what stands before and after each memory in the chats."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.kernels.arrays import Int64s

RowNumbers = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """By row: the row before and after it, the rows of the pairs with these, and its index in its chat.

    -1 means none. Each has shape (rows,).
    """

    before: RowNumbers
    after: RowNumbers
    pair_in: RowNumbers
    pair_out: RowNumbers
    position: RowNumbers


class NeighbourColumns:
    """The columns of `Neighbours`, with room for rows that are added."""

    def __init__(self, n: int) -> None:
        room = n + n // 8 + 64
        self._columns = tuple(np.full(room, -1, np.int32) for _ in range(5))
        self._first: Neighbours | None = None

    def has_room(self, n: int) -> bool:
        """Whether there are so many rows."""
        return n <= self._columns[0].size

    def first(self, n: int) -> Neighbours:
        """The first `n` rows; another object after each change."""
        if self._first is None or self._first.before.size != n:
            self._first = Neighbours(*(column[:n] for column in self._columns))
        return self._first

    def put(self, rows: Int64s, pairs: Int64s, *, is_alone: bool) -> None:
        """Put a chat; where `is_alone`, what other chats say of its rows is removed."""
        if is_alone:
            for column in self._columns[:4]:
                column[rows] = -1
        self.extend(rows, pairs, 0)

    def extend(self, rows: Int64s, pairs: Int64s, start: int) -> None:
        """Put the end of a chat from position `start` on, where its former last row stands."""
        if not self.has_room(int(rows.max(initial=-1)) + 1):
            self._columns = tuple(
                np.concatenate([old, np.full(old.size // 2 + rows.size, -1, np.int32)])
                for old in self._columns
            )
        before, after, pair_in, pair_out, position = self._columns
        before[rows[1:]] = rows[:-1]
        after[rows[:-1]] = rows[1:]
        pair_in[rows[1:]] = pairs
        pair_out[rows[:-1]] = pairs
        position[rows] = np.arange(start, start + rows.size)
        self._first = None
