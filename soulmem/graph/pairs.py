"""Pairs of consecutive episodes by row number, with the number of chats that have each."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import MemoryId
from soulmem.graph.rows import Rows

Pair = tuple[MemoryId, MemoryId]  # an episode and the one after it

_NONE = -1


class Pairs:
    """Table of pairs and row numbers 0 .. capacity - 1; free rows are used again.

    A pair has a row while some chat has it; both episodes have theirs in `rows` as long. Few
    pairs share their first episode (one per branch), so these are chained: 16 bytes a pair.
    """

    def __init__(self, rows: Rows[MemoryId]) -> None:
        self._rows = rows
        # Rows of the episodes; of a free one _NONE
        self._first, self._second = (array("i"), array("i"))
        self._chats = array("i")  # that tell the pair
        self._beside = array("i")  # the next pair that begins with the same episode
        self._begun = array("i")  # by row of an episode: a pair that begins with it
        self._free: list[int] = []

    def __len__(self) -> int:
        """Rows in use."""
        return len(self._first) - len(self._free)

    def __iter__(self) -> Iterator[tuple[Pair, int]]:
        """Pairs with their rows, in order of rows."""
        return (
            (pair, row)
            for row in range(self.capacity)
            if (pair := self.id(row)) is not None
        )

    @property
    def capacity(self) -> int:
        """Highest row ever used + 1: the length of arrays by row."""
        return len(self._first)

    def row(self, pair: Pair) -> int | None:
        """The row of a pair, or None."""
        first, second = map(self._rows.row, pair)
        if first is None or second is None or first >= len(self._begun):
            return None
        candidate = self._begun[first]
        while candidate != _NONE and self._second[candidate] != second:
            candidate = self._beside[candidate]
        return candidate if candidate != _NONE else None

    def id(self, row: int) -> Pair | None:
        """The pair at `row`, or None when the row is free."""
        if not 0 <= row < self.capacity or self._first[row] == _NONE:
            return None
        first, second = (
            self._rows.id(self._first[row]),
            self._rows.id(self._second[row]),
        )
        return None if first is None or second is None else (first, second)

    def beside(self, memory: MemoryId) -> list[Pair]:
        """Pairs that contain the episode, in order of rows."""
        row = self._rows.row(memory)
        if row is None:
            return []
        rows = np.flatnonzero((self.ends() == row).any(axis=1))
        pairs = map(self.id, rows.tolist())
        return [pair for pair in pairs if pair is not None]

    def chats(self, pair: Pair) -> int:
        """Number of chats in which the second episode follows the first."""
        row = self.row(pair)
        return 0 if row is None else self._chats[row]

    def add(self, pair: Pair) -> bool:
        """Count one more chat with the pair; True if it is the first."""
        row = self.row(pair)
        if row is None:
            row = self._add(*(self._rows.add(end) for end in pair))
        self._chats[row] += 1
        return self._chats[row] == 1

    def remove(self, pair: Pair) -> None:
        """Count one chat less with the pair. Raises KeyError when there was none."""
        row = self.row(pair)
        if row is None:
            raise KeyError(pair)
        self._chats[row] -= 1
        if not self._chats[row]:
            self._drop(row)

    def ends(self) -> NDArray[np.int32]:
        """Rows of both episodes of each pair, -1 for free rows: int32[capacity, 2]."""
        return np.column_stack(
            [np.array(self._first, np.int32), np.array(self._second, np.int32)]
        )

    def restore(self, ends: NDArray[Any], pair_rows: NDArray[Any]) -> None:
        """Replace the content by a snapshot.

        ends       int32[capacity, 2]  as `ends` returned
        pair_rows  int64[..]           row of each pair of each chat, one entry per chat
        """
        first = ends[:, 0].astype(np.int32)
        used = np.flatnonzero(first != _NONE)
        order = used[np.argsort(first[used], kind="stable")]
        begins = first[order]
        opens = np.append(True, begins[1:] != begins[:-1])[: order.size]
        begun = np.full(int(begins.max(initial=-1)) + 1, _NONE, np.int32)
        begun[begins[opens]] = order[opens]
        beside = np.full(first.size, _NONE, np.int32)
        beside[order[:-1]] = np.where(opens[1:], _NONE, order[1:])
        chats = np.bincount(pair_rows, minlength=first.size).astype(np.int32)
        self._first, self._second = _column(first), _column(ends[:, 1])
        self._begun, self._beside, self._chats = (
            _column(begun),
            _column(beside),
            _column(chats),
        )
        self._free = np.flatnonzero(first == _NONE).tolist()

    def _add(self, first: int, second: int) -> int:
        if first >= len(self._begun):
            self._begun.extend([_NONE] * (first + 1 - len(self._begun)))
        if self._free:
            row = self._free.pop()
            self._first[row], self._second[row], self._beside[row] = (
                first,
                second,
                self._begun[first],
            )
        else:
            row = len(self._first)
            self._first.append(first)
            self._second.append(second)
            self._beside.append(self._begun[first])
            self._chats.append(0)
        self._begun[first] = row
        return row

    def _drop(self, row: int) -> None:
        first, after = self._first[row], self._beside[row]
        before = self._begun[first]
        if before == row:
            self._begun[first] = after
        else:
            while self._beside[before] != row:
                before = self._beside[before]
            self._beside[before] = after
        self._first[row] = self._second[row] = _NONE
        self._free.append(row)


def _column(values: NDArray[Any]) -> array[int]:
    return array("i", values.astype(np.int32).tobytes())
