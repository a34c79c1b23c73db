"""ExchangeWindows: which rows are one exchange, for the chats that were looked at last.

Compute thread only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import ChatId
from soulmem.graph.columns import Columns
from soulmem.graph.windows import Windows
from soulmem.kernels.arrays import Int64s

_KEPT = 2  # chats: 12 bytes a row each

Numbers = NDArray[np.int32]


class ExchangeWindows:
    """The exchanges of all rows as a chat sees them, kept until an old row changes, and continued by new ones."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._kept: dict[ChatId | None, Windows] = {}

    def forget(self) -> None:
        """Make all anew at the next look: a chat changed otherwise than by new messages at its end."""
        self._kept.clear()

    def changed(self, rows: Iterable[int]) -> None:
        """Forget what knows any of these rows: they came to a chat or open exchanges now, or do so no more."""
        known = max((kept.of.size for kept in self._kept.values()), default=0)
        if any(row < known for row in rows):
            self.forget()

    def of(self, chat: ChatId | None, chats: Mapping[ChatId, Int64s], count: int) -> Windows:
        """The exchanges of rows 0..count-1: in `chat` for the episodes it holds, in other chats for the rest.

        chats  the rows of each chat's episodes, in its order
        """
        kept = self._kept.pop(chat, None)
        if kept is None:
            out = Windows.by(self._made(chat, chats, count))
        elif kept.of.size < count:
            out = kept.continued(self._further(chats.values(), kept.of.size, count))
        else:
            out = kept
        while len(self._kept) >= _KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[chat] = out
        return out

    def _made(self, chat: ChatId | None, chats: Mapping[ChatId, Int64s], count: int) -> Numbers:
        """The window of each row, int32[count]."""
        of = np.arange(count, dtype=np.int32)
        # By name, not by who came first: then the same chats always have the same exchanges.
        for each in sorted(chats, key=lambda key: (key == chat, key)):
            of[chats[each]] = self._openers(chats[each])
        return of

    def _further(self, chats: Collection[Int64s], known: int, count: int) -> Numbers:
        """The windows of the rows known..count-1, which are at the end of a chat, of one alone, or in none."""
        of = np.arange(known, count, dtype=np.int32)
        opens = self._columns.opens_exchange
        for rows in chats:
            first = rows.size
            while first > 0 and rows[first - 1] >= known:
                first -= 1
            if first == rows.size:
                continue
            opener = first - 1
            while opener >= 0 and not opens[rows[opener]]:
                opener -= 1
            start = opener if opener >= 0 else first
            of[rows[first:] - known] = self._openers(rows[start:])[first - start :]
        return of

    def _openers(self, rows: Int64s) -> Int64s:
        """For each of these rows in the order of a chat the last that opens an exchange, itself before any."""
        opens = self._columns.opens_exchange[rows]
        last = np.maximum.accumulate(np.where(opens, np.arange(rows.size), -1))
        return np.where(last >= 0, rows[last], rows)
