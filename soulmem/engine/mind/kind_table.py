"""KindTable: what kinds of lines each memory has, and how much it matters by them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from soulmem.conversation.importance import importances
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.graph.columns import ORIGINS, Columns
from soulmem.graph.memory_table import MemoryTable
from soulmem.graph.row_numbers import Rows
from soulmem.kernels.arrays import Bools, Float32s, Int64s
from soulmem.language.kinds.known_lines import KnownLine
from soulmem.language.kinds.line_kinds import KINDS

SURE = 0.5  # score from which on a line is of a kind
_CHAT = ORIGINS.index(Origin.CHAT)
_FILLER = KINDS.index("filler")
_JUDGED = [
    MEMORY_KINDS.index(kind)
    for kind in (MemoryKind.EPISODE, MemoryKind.ABSTRACT_EPISODE, MemoryKind.NOTE)
]


@dataclass(frozen=True, slots=True)
class Judged:
    """What kinds of lines a text has, float32[kinds], and its lines that tell something lasting."""

    scores: Float32s
    known: tuple[KnownLine, ...] = ()


class KindTable:
    """Scores of 0..1 by row, in the order of `KINDS`, by one model at a time; NaN where a row has none.

    They are stored beside the vectors, not with the memories: they follow from model and text alone.
    """

    def __init__(self, rows: Rows[MemoryId], memories: MemoryTable, columns: Columns) -> None:
        self.model: str | None = None
        self._rows = rows
        self._memories = memories
        self._columns = columns
        self._scores = np.full((64, len(KINDS)), np.nan, np.float32)
        self._known: dict[int, tuple[KnownLine, ...]] = {}  # by row
        self.known_changes = 0  # how often these changed

    def use_model(self, model: str) -> None:
        """Forget the scores of any other model."""
        if model != self.model:
            self.model = model
            self._scores.fill(np.nan)
            self._known.clear()
            self.known_changes += 1

    def scores(self, rows: Int64s | Sequence[int]) -> Float32s:
        """Scores of these rows, float32[len(rows), kinds]; NaN where there are none."""
        at = np.asarray(rows, np.int64)
        self._grow(int(at.max(initial=-1)) + 1)
        return np.asarray(self._scores[at])

    def of_kind(self, kind: str, n: int) -> Float32s:
        """How surely each of the first `n` rows is of a kind, float32[n]; 0 where nothing is known."""
        self._grow(n)
        return np.nan_to_num(self._scores[:n, KINDS.index(kind)])

    def filler(self, n: int) -> Bools:
        """Which of the first `n` rows hold a message that says nothing by itself ("Hm."), bool[n]."""
        self._grow(n)
        by_hand = self._columns.permanent[:n] | (self._columns.origin[:n] != _CHAT)
        return np.asarray((self._scores[:n, _FILLER] >= SURE) & ~by_hand)

    def missing(self, n: int) -> Int64s:
        """Those of the first `n` rows, ascending, that hold a searched text whose kinds are not known."""
        self._grow(n)
        columns = self._columns
        wanted = columns.searched[:n] & np.isin(columns.kind[:n], _JUDGED)
        wanted &= columns.created[:n] != 0  # facts have no memory of their own
        return np.flatnonzero(wanted & np.isnan(self._scores[:n, 0]))

    def known(self) -> Mapping[int, tuple[KnownLine, ...]]:
        """The lines of texts that tell something lasting, by row."""
        return self._known

    def take(self, judged: Iterable[tuple[MemoryId, str, Judged]]) -> None:
        """Keep what these memories are, as far as their text is still this one; what they matter follows."""
        rows = []
        for key, text, found in judged:
            row = self._rows.row(key)
            if row is not None and self._memories.text(key) == text:
                self._grow(row + 1)
                self._scores[row] = found.scores
                rows.append(row)
                if found.known:
                    self._known[row] = found.known
                    self.known_changes += 1
        self._weigh({row: self._memories[key] for row, key in self._keys(rows)})

    def follow(self, row: int, old: Memory | None, new: Memory) -> None:
        """A memory was put: another text has other kinds, the same still matters as they say."""
        if old is None or old.text != new.text:
            self.drop(row)
        elif self._is_judged(row):
            self._weigh({row: new})

    def drop(self, row: int) -> None:
        """Forget the scores of a row."""
        if row < len(self._scores):
            self._scores[row] = np.nan
        if self._known.pop(row, None) is not None:
            self.known_changes += 1

    def importance_of(self, memory: Memory) -> float:
        """How much a memory matters, 0..1: the figure that it was given, or what the kinds of its lines say."""
        judged = None if memory.importance_stays else self.judged_importance(memory)
        return memory.importance if judged is None else judged

    def judged_importance(self, memory: Memory) -> float | None:
        """How much its lines make a memory matter, 0..1; None while they are not judged."""
        row = self._rows.row(memory.id)
        if row is None or not self._is_judged(row):
            return None
        return float(self._columns.importance[row])

    def judges(self, memory: Memory) -> bool:
        """Whether the lines of memories of this kind say how much they matter."""
        return MEMORY_KINDS.index(memory.kind) in _JUDGED

    def weighed(self, memory: Memory) -> Memory:
        """The memory with the importance that it has by now."""
        importance = round(self.importance_of(memory), 4)
        if importance == memory.importance:
            return memory
        return replace(memory, importance=importance)

    def _keys(self, rows: Sequence[int]) -> Iterable[tuple[int, MemoryId]]:
        return zip(rows, self._rows.ids(rows), strict=True)

    def _is_judged(self, row: int) -> bool:
        return row < len(self._scores) and not np.isnan(self._scores[row, 0])

    def _weigh(self, memories: dict[int, Memory]) -> None:
        rows = [row for row, memory in memories.items() if not memory.importance_stays]
        if rows:
            self._columns.importance[rows] = importances(self._scores[rows])

    def _grow(self, n: int) -> None:
        size = len(self._scores)
        if n > size:
            more = np.full((max(n, size + size // 2) - size, len(KINDS)), np.nan)
            self._scores = np.concatenate([self._scores, more.astype(np.float32)])
