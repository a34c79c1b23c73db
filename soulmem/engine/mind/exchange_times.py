"""ExchangeTimes: when the exchanges that a soul lived took place, and when they were stored."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.consolidation.promotion import IMPORTED
from soulmem.graph.columns import Columns
from soulmem.kernels.arrays import Int64s

Times = NDArray[np.float64]


class ExchangeTimes:
    """Sorted times of exchanges, made from the columns on request and continued where one is added behind all.

    An exchange is a row with `opens_exchange` and `live`.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._happened: _Ascending | None = None
        self._created: _Ascending | None = None
        self._last_created = 0  # microseconds, of all exchanges, imported or not
        # Rows of the chat that was asked for last, and how many exchanges follow each
        self._chat: tuple[Int64s, Int64s] | None = None

    def happened(self, n: int) -> Times:
        """When each exchange among the first `n` rows took place: POSIX seconds, ascending; read only."""
        if self._happened is None:
            columns = self._columns
            rows = columns.opens_exchange[:n] & columns.live[:n]
            # Fast, because the times of each chat are sorted already.
            times = np.sort(columns.happened[:n][rows], kind="stable")
            self._happened = _Ascending(times)
        return np.asarray(self._happened.values, np.float64)

    def created(self, n: int) -> Int64s:
        """When each of them was stored, without imports: microseconds, ascending; read only.

        An import is a bulk of messages, in a chat that began with a bulk.
        """
        if self._created is None:
            columns = self._columns
            rows = np.flatnonzero(columns.opens_exchange[:n] & columns.live[:n])
            rows = rows[np.argsort(columns.created[rows], kind="stable")]
            created = columns.created[rows]
            _, place, count = np.unique(created, return_inverse=True, return_counts=True)
            in_bulk = 2 * count[place] > IMPORTED
            _, first, family = np.unique(
                columns.family[rows], return_index=True, return_inverse=True
            )
            imported = in_bulk & in_bulk[first][family]
            self._created = _Ascending(created[~imported])
            self._last_created = int(created.max(initial=0))
        return np.asarray(self._created.values, np.int64)

    def after(self, rows: Int64s) -> Int64s:
        """Of a chat's rows, in its order, how many exchanges follow each; kept for the same array, read only."""
        if self._chat is None or self._chat[0] is not rows:
            opens = self._columns.opens_exchange[rows]
            self._chat = rows, np.cumsum(opens[::-1])[::-1] - opens
        return self._chat[1]

    def add(self, row: int) -> None:
        """Take in a row that was no exchange before."""
        happened, created = self._columns.happened[row], int(self._columns.created[row])
        if self._happened is not None and not self._happened.append(happened):
            self._happened = None
        if self._created is not None:
            # With others of the same moment it may have come in bulk.
            if created > self._last_created and self._created.append(created):
                self._last_created = created
            else:
                self._created = None

    def forget(self) -> None:
        """Read all again: an exchange is gone, or its times changed."""
        self._happened = self._created = self._chat = None

    def forget_chat(self) -> None:
        """Read again which rows of the chat open an exchange."""
        self._chat = None


class _Ascending:
    """Ascending numbers with room for more behind them."""

    def __init__(self, values: NDArray[Any]) -> None:
        self.values = self._room = values

    def append(self, value: float) -> bool:
        """Add a number behind all; False, and nothing is added, where a greater one is there."""
        size = self.values.size
        if size and value < self.values[-1]:
            return False
        if size == self._room.size:
            more = np.zeros(size // 8 + 64, self.values.dtype)
            self._room = np.concatenate([self._room, more])
        self._room[size] = value
        self.values = self._room[: size + 1]
        return True
