"""Recall statistics of a soul: by memory, by row, and the latest recalls with their paths."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import ChatId, MemoryId, SlotId
from soulmem.domain.usage import RecallRecord, Usage
from soulmem.graph.row_numbers import Rows
from soulmem.graph.working_memory import WorkingMemory
from soulmem.kernels.arrays import Int64s

_MOST = np.iinfo(np.int32).max  # no more recalls are counted, and no later turn
KEPT = 1000  # recalls kept with their paths; what is active lies within a few hundred turns

Numbers = NDArray[np.int32]
Reply = tuple[ChatId, SlotId, int]  # the reply a recall was for


class Recalls:
    """Recall records of one soul; every recalled memory must have a row."""

    def __init__(self, rows: Rows[MemoryId]) -> None:
        self.working: WorkingMemory | None = None  # None until the graph library is loaded
        self._rows = rows
        self._usage: dict[MemoryId, Usage] = {}
        self._uses: Numbers = np.zeros(64, np.int32)
        self._turn: Numbers = np.full(64, -1, np.int32)
        self._records: dict[str, RecallRecord] = {}
        self._replies: dict[Reply, str] = {}

    def __iter__(self) -> Iterator[Usage]:
        return iter(self._usage.values())

    def usage(self, memory: MemoryId) -> Usage | None:
        """Recall record of the memory, None if it was never recalled."""
        return self._usage.get(memory)

    def activations(self, memory: MemoryId) -> int:
        """Recent recalls whose paths contained the memory."""
        return 0 if self.working is None else self.working.activations(memory)

    def uses(self, n: int) -> Numbers:
        """Number of recalls of each of the first `n` rows, int32[n]."""
        self._grow(n)
        return self._uses[:n]

    def last_turn(self, n: int) -> Numbers:
        """Turn of the last recall of each of the first `n` rows, int32[n]; -1 for none."""
        self._grow(n)
        return self._turn[:n]

    def since_use(self, rows: Int64s, turn: int) -> NDArray[np.float64]:
        """Exchanges since the last recall of each of these rows, float64; inf for none.

        If the clock was set back, the result is 0.
        """
        last = self.last_turn(int(rows.max(initial=-1)) + 1)[rows].astype(np.int64)
        return np.where(last >= 0, np.maximum(turn - last, 0).astype(np.float64), np.inf)

    def records(self) -> list[RecallRecord]:
        """The latest recalls whose reply was kept, oldest first."""
        return sorted(
            self._records.values(),
            key=lambda record: (record.stamp.moment, record.trace),
        )

    def is_recorded(self, reply: Reply) -> bool:
        """True if a recall for that reply is recorded."""
        return reply in self._replies

    def surplus(self, more: int) -> list[str]:
        """Traces of the oldest records, to be dropped when `more` new ones are added."""
        over = len(self._records) + more - KEPT
        return [record.trace for record in self.records()[:over]] if over > 0 else []

    def hot(self, count: int) -> list[MemoryId]:
        """The `count` most recalled memories; of equal counts the later recalled first."""
        rows = np.flatnonzero(self._uses)
        if rows.size > count:
            least = np.partition(self._uses[rows], -count)[-count]
            rows = rows[self._uses[rows] >= least]
        best = rows[np.lexsort((rows, -self._turn[rows], -self._uses[rows]))][:count]
        return [memory for row in best if (memory := self._rows.id(int(row))) is not None]

    def put(
        self,
        usages: Iterable[Usage] = (),
        records: Iterable[RecallRecord] = (),
        dropped: Collection[str] = (),
    ) -> None:
        """Add stored usages and records; usages of memories without a row are ignored."""
        for usage in usages:
            row = self._rows.row(usage.memory)
            if row is not None:
                self._grow(row + 1)
                self._usage[usage.memory] = usage
                self._uses[row], self._turn[row] = (
                    min(usage.count, _MOST),
                    min(usage.last.turn, _MOST),
                )
        for trace in dropped:
            old = self._records.pop(trace, None)
            if old is not None and self._replies.get(_reply(old)) == trace:
                del self._replies[_reply(old)]
        for record in records:
            self._records[record.trace] = record
            self._replies[_reply(record)] = record.trace

    def drop(self, memory: MemoryId, row: int | None) -> None:
        """Remove everything about a memory that was at `row`."""
        self._usage.pop(memory, None)
        if row is not None and row < self._uses.size:
            self._uses[row], self._turn[row] = 0, -1
        if self.working is not None:
            self.working.drop(memory)

    def _grow(self, n: int) -> None:
        size = self._uses.size
        if n > size:
            more = max(n, size + size // 2) - size
            self._uses = np.concatenate([self._uses, np.zeros(more, np.int32)])
            self._turn = np.concatenate([self._turn, np.full(more, -1, np.int32)])


def _reply(record: RecallRecord) -> Reply:
    return record.chat, record.slot, record.swipe
