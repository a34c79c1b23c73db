"""Terms by row and rows by term, with counts over the visible rows only.

Counts are made on request, so a dropped row leaves nothing behind.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.graph.row_numbers import Rows, packed_ids
from soulmem.graph.windows import WindowCounts, Windows
from soulmem.kernels.arrays import Bools, Int64s
from soulmem.kernels.warm import kernels

Numbers = NDArray[np.int32]

WIDTH = 24  # terms of a row that are kept: 16 words and some names
_NONE = -1
# Homes of rows that hold nothing, and of those that are in no run yet
_NOWHERE, _FRESH = (-1, 0)
_SALIENCE = 255  # steps of what a term matters
_SPARE = 8  # one row more is made room for of so many that are loaded
_MOST_FRESH = 1 << 14  # occurrences: sorting them takes some 1 ms
# Occurrences: no run that large is merged again, which would take 20 ms
_LARGE_RUN = 1 << 17


@dataclass(frozen=True, slots=True)
class _Run:
    """Occurrences sorted by term; never changed, but merged with others."""

    number: int  # rows whose home is another have left it
    terms: Numbers  # ascending
    starts: Numbers  # into rows; one more than terms
    rows: Numbers


@dataclass(frozen=True, slots=True)
class PackedIncidence:
    """Flat arrays for a snapshot: row i of `rows` holds the next `counts[i]` of `terms`."""

    keys: NDArray[np.uint8]  # packed `Rows`
    rows: Numbers
    counts: NDArray[np.uint8]
    terms: Numbers
    salience: NDArray[np.uint8]  # as of 255

    @staticmethod
    def of(
        keys: Sequence[str],
        rows: array[int],
        counts: array[int],
        terms: array[int],
        salience: array[int],
    ) -> PackedIncidence:
        """From arrays whose `terms` are places in `keys`; keys that no row holds are left out."""
        used, numbers = np.unique(np.asarray(terms, np.int32), return_inverse=True)
        return PackedIncidence(
            keys=packed_ids(keys[place] for place in used.tolist()),
            rows=np.asarray(rows, np.int32),
            counts=np.asarray(counts, np.uint8),
            terms=numbers.astype(np.int32),
            salience=np.asarray(salience, np.uint8),
        )


def steps_of(salience: float) -> int:
    """The salience of a term, 0..1, as a whole number 0..255."""
    return round(_SALIENCE * min(max(salience, 0.0), 1.0))


class Incidence:
    """Which row holds which terms. A term is a text, numbered while some row holds it.

    Putting and dropping a row cost time proportional to its terms. For one thread at a time.
    """

    def __init__(self) -> None:
        self.revision = 0  # grows with every change
        self._cells: Numbers = np.full((64, WIDTH), _NONE, np.int32)
        self._salience = np.zeros((64, WIDTH), np.uint8)
        self._keys: Rows[str] = Rows()
        self._uses = array("i")  # rows that hold each term, visible or not
        # By row: number of its run
        self._home: Numbers = np.full(64, _NOWHERE, np.int32)
        self._runs: list[_Run] = []
        self._next = _FRESH + 1
        self._fresh_terms = array("i")
        self._fresh_rows = array("i")
        self._counted: Bools = np.zeros(0, np.bool_)  # rows that `_counts` counts
        self._counts: Numbers = np.zeros(64, np.int32)  # by term
        # By term and by window, for counting; zeros
        self._tally: Numbers = np.zeros((64, 2), np.int32)
        self._passed: Bools = np.zeros(64, np.bool_)
        self._in_windows = WindowCounts()

    @property
    def terms(self) -> int:
        """Length of arrays indexed by term number."""
        return self._keys.capacity

    def put(self, row: int, terms: Iterable[tuple[str, float]]) -> None:
        """Set the terms of the row: at most `WIDTH`, each with its salience, 0..1."""
        self.drop(row)
        salience_of = dict(terms)
        if not salience_of:
            return
        self._grow(row + 1)
        self.revision += 1
        kept = list(salience_of.items())[:WIDTH]
        numbers = [self._take(key) for key, _ in kept]
        self._cells[row, : len(kept)] = numbers
        self._salience[row, : len(kept)] = [steps_of(salience) for _, salience in kept]
        self._fresh_terms.extend(numbers)
        self._fresh_rows.extend([row] * len(kept))
        self._home[row] = _FRESH
        self._count_row(row, 1)
        if len(self._fresh_terms) > _MOST_FRESH:
            self._settle()

    def drop(self, row: int) -> None:
        """Remove the terms of the row; an unknown row is ignored."""
        self._in_windows.leave(self.terms_in, row)  # also of one that gets its first
        if row >= len(self._cells) or self._cells[row, 0] == _NONE:
            return
        self.revision += 1
        if self._home[row] == _FRESH:
            self._settle()
        self._home[row] = _NOWHERE
        self._count_row(row, -1)
        for term in self._cells[row].tolist():
            if term == _NONE:
                break
            self._uses[term] -= 1
            if not self._uses[term]:
                self._keys.drop(self.key(term))
        self._cells[row] = _NONE

    def number(self, key: str) -> int | None:
        """Number of a term, None when no row holds it."""
        return self._keys.row(key)

    def key(self, term: int) -> str:
        """The term of a number. Raises KeyError."""
        key = self._keys.id(term)
        if key is None:
            raise KeyError(term)
        return key

    def terms_of(self, row: int) -> list[tuple[str, float]]:
        """Terms of a row in the order they were put, each with its salience, 0..1."""
        if row >= len(self._cells):
            return []
        cells = self._cells[row]
        kept = cells[cells != _NONE].tolist()
        return [
            (self.key(t), int(s) / _SALIENCE)
            for t, s in zip(kept, self._salience[row], strict=False)
        ]

    def cells(self, rows: Int64s) -> Numbers:
        """Term numbers of each row in the order they were put, int32[m, WIDTH]; -1 where there is none."""
        out = np.full((rows.size, WIDTH), _NONE, np.int32)
        inside = rows < len(self._cells)
        out[inside] = self._cells[rows[inside]]
        return out

    def sizes(self, rows: Int64s) -> Int64s:
        """How many terms each of these rows holds, int64[rows]."""
        return np.asarray((self.cells(rows) != _NONE).sum(axis=1), np.int64)

    def rows_of(self, terms: Int64s, visible: Bools) -> tuple[Int64s, Int64s]:
        """Visible rows that hold the terms: index into `terms`, ascending, and row of each occurrence.

        terms    int64[k], distinct
        visible  bool[n]
        """
        self._settle()
        none = np.zeros(0, np.int64)
        places: list[Int64s] = [none]
        rows: list[Int64s] = [none]
        for run in self._runs:
            position = np.searchsorted(run.terms, terms)
            hit = np.flatnonzero(position < run.terms.size)
            hit = hit[run.terms[position[hit]] == terms[hit]]
            start, stop = (run.starts[position[hit] + end].astype(np.int64) for end in (0, 1))
            count = stop - start
            skip = np.repeat(start - (np.cumsum(count) - count), count)
            candidates = run.rows[skip + np.arange(skip.size)]
            there = self._home[candidates] == run.number
            places.append(np.repeat(hit, count)[there])
            rows.append(candidates[there].astype(np.int64))
        place, row = np.concatenate(places), np.concatenate(rows)
        may = row < visible.size
        may[may] = visible[row[may]]
        order = np.argsort(place[may], kind="stable")
        return place[may][order], row[may][order]

    def counts_in(self, rows: Int64s) -> Int64s:
        """How many of these rows hold each term; int64[terms], by term number."""
        cells = self._cells[rows[rows < len(self._cells)]]
        return np.bincount(cells.ravel() + 1, minlength=self.terms + 1)[1:]

    def terms_in(
        self, asked: Int64s, visible: Bools, windows: Windows
    ) -> tuple[Int64s, Int64s, int]:
        """Numbers of the terms that visible rows of these windows hold, ascending; how many of the windows hold
        each; and how many hold any. A window that is asked for twice counts once.

        visible  bool[n]; `windows` are of at least n rows
        """
        if self.terms > len(self._tally):
            self._tally = np.zeros((self.terms + self.terms // 4, 2), np.int32)
        n = windows.of.size
        if n > self._passed.size:
            self._passed = np.zeros(n + n // 4, np.bool_)
        if n > visible.size:
            visible = np.concatenate([visible, np.zeros(n - visible.size, np.bool_)])
        seen = np.empty(self.terms, np.int32)
        distinct, total = kernels(asked.size).count_windows(
            self._cells,
            asked,
            windows.starts,
            windows.members,
            visible,
            self._passed,
            self._tally,
            seen,
        )
        seen = np.sort(seen[:distinct])
        counts = self._tally[seen, 0].astype(np.int64)
        self._tally[seen] = 0
        return seen.astype(np.int64), counts, total

    def window_counts(self, visible: Bools, windows: Windows | None = None) -> tuple[Numbers, int]:
        """How many windows of visible rows hold each term, by number, read only and valid until the next call;
        and how many hold any. Without windows each row is one.
        """
        if windows is None:
            windows = Windows.single(visible.size)
        return self._in_windows.counts(self.terms_in, visible, windows, self.terms)

    def counts(self, visible: Bools) -> Numbers:
        """How many visible rows hold each term, by number; read only, valid until the next call.

        Counts are updated from those of the last mask: only rows that differ are read.
        """
        self._make_room()  # also for terms that no known row holds
        if visible.size == self._counted.size and not np.any(visible != self._counted):
            return self._counts
        n = max(visible.size, self._counted.size)
        before, after = (
            np.concatenate([m, np.zeros(n - m.size, np.bool_)]) for m in (self._counted, visible)
        )
        self._count(np.flatnonzero(before & ~after), -1)
        self._counted = after
        self._count(np.flatnonzero(after & ~before), 1)
        return self._counts

    def windows(self, visible: Bools) -> int:
        """How many visible rows hold any term."""
        n = min(visible.size, self._home.size)
        return int(np.count_nonzero(visible[:n] & (self._home[:n] != _NOWHERE)))

    def packed(self) -> PackedIncidence:
        """Copies as flat arrays for a snapshot."""
        used = np.flatnonzero(self._cells[:, 0] != _NONE)
        there = self._cells[used] != _NONE
        return PackedIncidence(
            keys=self._keys.packed(),
            rows=used.astype(np.int32),
            counts=there.sum(axis=1).astype(np.uint8),
            terms=self._cells[used][there],
            salience=self._salience[used][there],
        )

    @staticmethod
    def unpacked(packed: PackedIncidence, rows: int = 0) -> Incidence:
        """The incidence of `packed`, with room for the next of so many rows, which need not have terms."""
        out = Incidence()
        out._keys.restore(packed.keys)
        uses = np.bincount(packed.terms, minlength=out.terms).astype(np.int32)
        out._uses = array("i", uses.tobytes())
        # In a large soul growing takes 70 ms: that is not for the next text, but after many.
        used = max(rows, int(packed.rows.max(initial=-1)) + 1)
        out._grow(used + used // _SPARE)
        if packed.rows.size:
            count = packed.counts.astype(np.int64)
            row = np.repeat(packed.rows, count)
            column = np.arange(row.size) - np.repeat(np.cumsum(count) - count, count)
            out._cells[row, column] = packed.terms
            out._salience[row, column] = packed.salience
            out._runs = [out._run(packed.terms, row)]
        return out

    def _count(self, rows: Int64s, sign: int) -> None:
        """Add `sign` (1 or -1) to the counts of the terms in these rows."""
        if rows.size:
            self._make_room()
            self._counts[: self.terms] += sign * self.counts_in(rows)

    def _count_row(self, row: int, sign: int) -> None:
        """`_count` of one row, if it is among the rows counted now."""
        if row < self._counted.size and self._counted[row]:
            self._make_room()
            cells = self._cells[row]
            self._counts[cells[cells != _NONE]] += sign

    def _make_room(self) -> None:
        if self.terms > self._counts.size:
            more = self.terms + self.terms // 4 - self._counts.size
            self._counts = np.concatenate([self._counts, np.zeros(more, np.int32)])

    def _grow(self, n: int) -> None:
        size = len(self._cells)
        if n > size:
            more = max(n, size + size // 2) - size
            self._cells = np.concatenate([self._cells, np.full((more, WIDTH), _NONE, np.int32)])
            self._salience = np.concatenate([self._salience, np.zeros((more, WIDTH), np.uint8)])
            self._home = np.concatenate([self._home, np.full(more, _NOWHERE, np.int32)])

    def _take(self, key: str) -> int:
        """Number of the term, whose number of uses grows by one."""
        term = self._keys.add(key)
        if term == len(self._uses):
            self._uses.append(0)
        self._uses[term] += 1
        return term

    def _settle(self) -> None:
        """Make a run of the fresh occurrences; merge runs until each is twice as large as the next."""
        if not self._fresh_terms:
            return
        fresh = (
            np.array(self._fresh_terms, np.int32),
            np.array(self._fresh_rows, np.int32),
        )
        self._fresh_terms, self._fresh_rows = array("i"), array("i")
        self._runs.append(self._run(*fresh))
        while len(self._runs) > 1 and 2 * self._runs[-1].rows.size > self._runs[-2].rows.size:
            if self._runs[-2].rows.size > _LARGE_RUN:
                break
            last, before_last = self._runs.pop(), self._runs.pop()
            last_terms, last_rows = self._left(last)
            terms, rows = self._left(before_last)
            terms = np.concatenate([terms, last_terms])
            self._runs.append(self._run(terms, np.concatenate([rows, last_rows])))

    def _left(self, run: _Run) -> tuple[Numbers, Numbers]:
        """Terms and rows of the run's occurrences whose rows have not moved to another run."""
        terms = np.repeat(run.terms, np.diff(run.starts))
        there = self._home[run.rows] == run.number
        return terms[there], run.rows[there]

    def _run(self, terms: Numbers, rows: Numbers) -> _Run:
        """A run of these occurrences; it becomes the home of their rows."""
        order = np.argsort(terms, kind="stable")
        terms, rows = terms[order], rows[order]
        first = np.flatnonzero(np.append(True, terms[1:] != terms[:-1])) if terms.size else terms
        self._next += 1
        self._home[rows] = self._next
        return _Run(
            self._next,
            terms[first],
            np.append(first, terms.size).astype(np.int32),
            rows,
        )
