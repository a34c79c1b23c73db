"""Windows: which rows occur together, and how many windows of visible rows hold each term."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.kernels.arrays import Bools, Int64s

Numbers = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """A partition of rows into windows, such as a line and the reply to it. A window has the number of a row.

    of       int32[n]      the window of each row
    starts   int32[n + 1]  where the rows of each window begin
    members  int32[n]      the rows of window w are members[starts[w]:starts[w + 1]], ascending
    """

    of: Numbers
    starts: Numbers
    members: Numbers

    @staticmethod
    def by(of: Numbers) -> Windows:
        """The windows of rows 0..n-1, given the window of each, 0..n-1."""
        starts = np.zeros(of.size + 1, np.int32)
        np.cumsum(np.bincount(of, minlength=of.size), out=starts[1:])
        return Windows(of, starts, np.argsort(of, kind="stable").astype(np.int32))

    @staticmethod
    def single(n: int) -> Windows:
        """Each of n rows by itself."""
        rows = np.arange(n + 1, dtype=np.int32)
        return Windows(rows[:n], rows, rows[:n])

    def continued(self, of: Numbers) -> Windows:
        """The same with further rows behind these, given the window of each: of an old row, or of a new one.

        Windows before the first of these are copied as they are.
        """
        if not of.size:
            return self
        count, first = self.of.size, int(of.min())
        rows = np.argsort(of, kind="stable")
        starts = np.append(self.starts, np.full(of.size, count, np.int32))
        begin = starts[first]
        places = starts[of[rows] + 1] - begin  # behind what is there of each
        added = np.bincount(of - first, minlength=count + of.size - first)
        starts[first + 1 :] += np.cumsum(added, dtype=np.int32)
        later = np.insert(self.members[begin:], places, rows.astype(np.int32) + count)
        members = np.append(self.members[:begin], later)
        return Windows(np.append(self.of, of), starts, members)

    def grown(self, n: int) -> Windows:
        """The same with rows up to n, which are by themselves."""
        more = np.arange(self.of.size, n, dtype=np.int32)
        if not more.size:
            return self
        return Windows(
            np.concatenate([self.of, more]),
            np.concatenate([self.starts, more + 1]),
            np.concatenate([self.members, more]),
        )


# The terms that visible rows of these windows hold, in how many of them each, and how many hold any.
CountTerms = Callable[[Int64s, Bools, Windows], tuple[Int64s, Int64s, int]]


class WindowCounts:
    """How many windows of visible rows hold each term, updated from the counts for the last mask and windows:
    only windows that differ are read.
    """

    def __init__(self) -> None:
        self._visible: Bools = np.zeros(0, np.bool_)
        self._windows = Windows.single(0)
        self._counts: Numbers = np.zeros(64, np.int32)
        self._total = 0

    def counts(
        self, count_terms: CountTerms, visible: Bools, windows: Windows, terms: int
    ) -> tuple[Numbers, int]:
        """The counts by term number, int32[>= terms], read only and valid until the next call; and how many
        windows hold any term.
        """
        if terms > self._counts.size:
            more = np.zeros(terms + terms // 4 - self._counts.size, np.int32)
            self._counts = np.concatenate([self._counts, more])
        is_same = windows is self._windows and visible.size == self._visible.size
        if is_same and not np.any(visible != self._visible):
            return self._counts, self._total
        n = max(visible.size, self._visible.size, windows.of.size)
        before, now = _padded(self._visible, n), _padded(visible, n)
        old, new = self._windows.grown(n), windows.grown(n)
        differs = before != now
        if old.of is not new.of:
            differs |= (old.of != new.of) & now
        rows = np.flatnonzero(differs)
        left, come = old.of[rows[before[rows]]], new.of[rows[now[rows]]]
        changed = np.unique(np.concatenate([left, come])).astype(np.int64)
        self._add(count_terms(changed, before, old), -1)
        self._add(count_terms(changed, now, new), 1)
        self._visible, self._windows = now.copy(), new
        return self._counts, self._total

    def leave(self, count_terms: CountTerms, row: int) -> None:
        """Count without this row, whose terms will change; call it before they do."""
        if row >= self._visible.size or not self._visible[row]:
            return
        window = self._windows.of[row : row + 1].astype(np.int64)
        self._add(count_terms(window, self._visible, self._windows), -1)
        self._visible[row] = False
        self._add(count_terms(window, self._visible, self._windows), 1)

    def _add(self, found: tuple[Int64s, Int64s, int], sign: int) -> None:
        """Add `sign` (1 or -1) times what windows hold."""
        terms, often, total = found
        self._counts[terms] += (sign * often).astype(np.int32)
        self._total += sign * total


def _padded(mask: Bools, n: int) -> Bools:
    return np.concatenate([mask, np.zeros(n - mask.size, np.bool_)])
