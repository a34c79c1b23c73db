"""Which rows of a large soul have all their edges in memory, and when each was last needed.

A row is complete when every edge that touches it is loaded; otherwise it is a boundary
node. Of link edges (LINKS) one complete end is enough to keep an edge loaded. Edges of
other kinds are always loaded. A small soul is whole: all rows are complete for good.

The weight of a mention depends on how many names its text holds. So a concept is a
boundary node, too, until the mentions of its incomplete texts have been counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import EdgeKind
from soulmem.graph.edge_arrays import EDGE_KINDS
from soulmem.graph.edge_table import EdgeTable
from soulmem.kernels.arrays import Bools, Int64s

Counts = NDArray[np.int32]
Rows = Sequence[int] | NDArray[np.integer]

# What is loaded when it is needed
LINKS = (EdgeKind.NEXT, EdgeKind.MENTIONS, EdgeKind.ASSOCIATES)

_IS_LINK = np.isin(np.arange(256), [EDGE_KINDS.index(kind) for kind in LINKS])
_MENTIONS = EDGE_KINDS.index(EdgeKind.MENTIONS)
_UNKNOWN = -1
_NEW = -1  # the turn of a row that was never used
_NEVER = np.iinfo(np.int64).max


class Residency:
    """Residency by row; a row never marked counts as complete, as that of a new memory."""

    def __init__(self) -> None:
        self.whole = True
        self.revision = 0  # grows with each count
        self._missing: Bools = np.zeros(64, np.bool_)
        # Some text that mentions it has not been counted
        self._unweighed: Bools = np.zeros(64, np.bool_)
        # Mentions that start at a row that is missing
        self._names: Counts = np.full(64, _UNKNOWN, np.int32)
        self._used: Int64s = np.full(64, _NEW, np.int64)  # turn of the last use
        self._gone: set[str] | None = None  # ids that went while edges are being read

    def boundary(self, n: int) -> Bools | None:
        """Mask of boundary nodes among the first `n` rows, bool[n]; None for a whole soul."""
        if self.whole:
            return None
        self._grow(n)
        return self._missing[:n] | self._unweighed[:n]

    def mentions(self, n: int, source: Rows) -> Int64s:
        """Number of mentions that start at each of the first `n` rows, int64[n].

        source  rows at which the loaded mentions start
        """
        loaded = np.bincount(source, minlength=n)[:n]
        if self.whole:
            return loaded
        self._grow(n)
        return np.where(self._missing[:n], np.maximum(loaded, self._names[:n]), loaded)

    def texts_to_count(self, edges: EdgeTable, rows: Rows) -> Int64s:
        """Texts whose mentions must be counted before a walk may pass these complete rows."""
        mentions = edges.arrays([EdgeKind.MENTIONS])
        self._grow(int(mentions.source.max(initial=0)) + 1)
        source = mentions.source[np.isin(mentions.target, rows)]
        return np.unique(source[self._missing[source] & (self._names[source] < 0)]).astype(np.int64)

    def set_mention_counts(self, texts: Rows, names: Rows) -> None:
        """Set the number of mentions that start at each of these texts."""
        self.revision += 1
        self._names[texts] = names

    def mark_weighed(self, rows: Rows) -> None:
        """All texts that mention these rows are complete or counted."""
        self._unweighed[rows] = False

    def is_complete(self, row: int) -> bool:
        """True if all edges of the row are in memory."""
        return self.whole or row >= self._missing.size or not self._missing[row]

    def mark_partial(self, n: int) -> None:
        """The soul is not whole: no edge of its first `n` rows is loaded."""
        self.whole = False
        self._grow(n)
        self._missing[:n] = self._unweighed[:n] = True

    def start_loading(self) -> None:
        """Edges are about to be read from the store: collect removed ids until `mark_loaded`."""
        self._gone = set()

    def removed(self, ids: Iterable[str]) -> None:
        """Edges or memories were removed: pages read before must not bring them back."""
        if self._gone is not None:
            self._gone.update(ids)

    def was_removed(self, *ids: str) -> bool:
        """True if any of these ids was removed since `start_loading`."""
        return self._gone is not None and not self._gone.isdisjoint(ids)

    def mark_loaded(self, rows: Rows, turn: int) -> None:
        """All edges of these rows are in memory."""
        self._gone = None
        self._mark(rows, turn)
        self._missing[rows] = False

    def mark_used(self, rows: Rows, turn: int) -> None:
        """These rows were needed at that turn of the soul's clock."""
        if not self.whole:
            self._mark(rows, turn)

    def reset_row(self, row: int) -> None:
        """The memory of the row was removed; the next one there is new."""
        if row < self._missing.size:
            self._missing[row] = self._unweighed[row] = False
            self._names[row] = _UNKNOWN
            self._used[row] = _NEW

    def release(
        self,
        edges: EdgeTable,
        n: int,
        turn: int,
        *,
        unused: int,
        most: int,
        hot: Collection[int],
    ) -> int:
        """Drop loaded link edges that are not needed any more; returns how many.

        First those whose rows were not needed for `unused` turns, then, while more than `most`
        edges remain, those least recently needed. Rows needed at `turn` and rows in `hot` stay.

        n  number of rows of the soul, above all rows of `edges` and `hot`
        """
        if self.whole:
            return 0
        self._grow(n)
        self._used[self._used == _NEW] = turn
        until = np.where(self._missing, _NEW, self._used)
        kept_rows = np.fromiter(hot, np.int64, len(hot))
        until[kept_rows] = np.where(self._missing[kept_rows], _NEW, _NEVER)
        arrays = edges.arrays()
        needed = np.maximum(until[arrays.source], until[arrays.target])
        needed[~_IS_LINK[arrays.kind]] = _NEVER
        limit = turn - unused + 1  # what was last needed before this goes
        if needed.size > most:
            # The last use of the first one too many
            surplus = int(np.partition(needed, -most - 1)[-most - 1])
            limit = max(limit, min(turn, surplus + 1))
        leaving = ~self._missing & (until < limit)
        mentions = arrays.source[arrays.kind == _MENTIONS]
        self._names[leaving] = np.bincount(mentions, minlength=leaving.size)[leaving]
        self._missing |= leaving
        self._unweighed |= self._missing
        kept = needed >= limit
        released = int(kept.size - np.count_nonzero(kept))
        if released:
            edges.keep(arrays.slot[kept])
        return released

    def _mark(self, rows: Rows, turn: int) -> None:
        if len(rows):
            self._grow(int(max(rows)) + 1)
            self._used[rows] = turn

    def _grow(self, n: int) -> None:
        size = self._missing.size
        if n > size:
            more = max(n, size + size // 2) - size
            self._missing = np.concatenate([self._missing, np.zeros(more, np.bool_)])
            self._unweighed = np.concatenate([self._unweighed, np.zeros(more, np.bool_)])
            self._names = np.concatenate([self._names, np.full(more, _UNKNOWN, np.int32)])
            self._used = np.concatenate([self._used, np.full(more, _NEW, np.int64)])
