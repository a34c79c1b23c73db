"""Pairs of consecutive episodes by row number, with the number of chats that have each."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import MemoryId
from soulmem.graph.row_numbers import Rows

Pair = tuple[MemoryId, MemoryId]  # an episode and the one after it

_NONE = -1


class Pairs:
    """Table of pairs and row numbers 0 .. capacity - 1; free rows are used again.

    A pair has a row while some chat has it; both episodes have theirs in `rows` as long. Few
    pairs share an episode (one per branch), so these are chained: 24 bytes a pair.
    """

    def __init__(self, rows: Rows[MemoryId]) -> None:
        self._rows = rows
        # Rows of the episodes; of a free one _NONE
        self._first, self._second = (array("i"), array("i"))
        self._chats = array("i")  # that tell the pair
        self._begun, self._ended = _Chains(), _Chains()
        self._free: list[int] = []

    def __len__(self) -> int:
        """Rows in use."""
        return len(self._first) - len(self._free)

    def __iter__(self) -> Iterator[tuple[Pair, int]]:
        """Pairs with their rows, in order of rows."""
        return ((pair, row) for row in range(self.capacity) if (pair := self.id(row)) is not None)

    @property
    def capacity(self) -> int:
        """Highest row ever used + 1: the length of arrays by row."""
        return len(self._first)

    def row(self, pair: Pair) -> int | None:
        """The row of a pair, or None."""
        first, second = map(self._rows.row, pair)
        if first is None or second is None:
            return None
        rows = self._begun.rows(first)
        return next((row for row in rows if self._second[row] == second), None)

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
        rows = {*self._begun.rows(row), *self._ended.rows(row)}
        pairs = map(self.id, sorted(rows))
        return [pair for pair in pairs if pair is not None]

    def ending_at(self, row: int) -> list[Pair]:
        """Pairs whose second episode has this row."""
        pairs = map(self.id, self._ended.rows(row))
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
        return np.column_stack([np.array(self._first, np.int32), np.array(self._second, np.int32)])

    def restore(self, ends: NDArray[Any], pair_rows: NDArray[Any]) -> None:
        """Replace the content by a snapshot.

        ends       int32[capacity, 2]  as `ends` returned
        pair_rows  int64[..]           row of each pair of each chat, one entry per chat
        """
        first, second = ends[:, 0].astype(np.int32), ends[:, 1].astype(np.int32)
        chats = np.bincount(pair_rows, minlength=first.size).astype(np.int32)
        self._first, self._second = _column(first), _column(second)
        self._begun, self._ended = _Chains.of(first), _Chains.of(second)
        self._chats = _column(chats)
        self._free = np.flatnonzero(first == _NONE).tolist()

    def _add(self, first: int, second: int) -> int:
        if self._free:
            row = self._free.pop()
            self._first[row], self._second[row] = first, second
        else:
            row = len(self._first)
            self._first.append(first)
            self._second.append(second)
            self._chats.append(0)
        self._begun.add(first, row)
        self._ended.add(second, row)
        return row

    def _drop(self, row: int) -> None:
        self._begun.drop(self._first[row], row)
        self._ended.drop(self._second[row], row)
        self._first[row] = self._second[row] = _NONE
        self._free.append(row)


class _Chains:
    """Rows of pairs by the row of an episode; the pairs of one episode are chained."""

    def __init__(self) -> None:
        self._start = array("i")  # by row of an episode: a pair with it
        self._after = array("i")  # by row of a pair: the next one of the same episode

    @staticmethod
    def of(episodes: NDArray[np.int32]) -> _Chains:
        """The chains of pairs by row, given the episode of each; _NONE of a free row."""
        used = np.flatnonzero(episodes != _NONE)
        order = used[np.argsort(episodes[used], kind="stable")]
        sorted_episodes = episodes[order]
        opens = np.append(True, sorted_episodes[1:] != sorted_episodes[:-1])[: order.size]
        start = np.full(int(sorted_episodes.max(initial=-1)) + 1, _NONE, np.int32)
        start[sorted_episodes[opens]] = order[opens]
        after = np.full(episodes.size, _NONE, np.int32)
        after[order[:-1]] = np.where(opens[1:], _NONE, order[1:])
        out = _Chains()
        out._start, out._after = _column(start), _column(after)
        return out

    def rows(self, episode: int) -> Iterator[int]:
        """The rows of the pairs with this episode."""
        row = self._start[episode] if episode < len(self._start) else _NONE
        while row != _NONE:
            yield row
            row = self._after[row]

    def add(self, episode: int, row: int) -> None:
        """Add a pair at `row`, which is free or the first never used."""
        if episode >= len(self._start):
            more = episode + 1 - len(self._start)
            self._start.extend([_NONE] * more)
        if row == len(self._after):
            self._after.append(_NONE)
        self._after[row] = self._start[episode]
        self._start[episode] = row

    def drop(self, episode: int, row: int) -> None:
        """Remove the pair at `row`, which is one of the episode's."""
        before = self._start[episode]
        if before == row:
            self._start[episode] = self._after[row]
            return
        while self._after[before] != row:
            before = self._after[before]
        self._after[before] = self._after[row]


def _column(values: NDArray[Any]) -> array[int]:
    return array("i", values.astype(np.int32).tobytes())
