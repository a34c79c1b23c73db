"""Which rows hold which token? Runs of flat arrays, never changed but merged: six bytes an occurrence."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Hashes = NDArray[np.int64]
RowNumbers = NDArray[np.int32]

_FRESH = 0  # the home of rows whose tokens are not in a run yet
_NOWHERE = -1
_MOST_FRESH = 1 << 17  # occurrences: sorting them takes some 15 ms
_LARGE_RUN = 1 << 20  # occurrences: no run that large is merged again, which would take 100 ms
_MANY_DROPPED = 4096  # rows
_MOST = np.iinfo(np.uint16).max


@dataclass(frozen=True, slots=True)
class _Run:
    """Postings of some rows by token."""

    number: int  # rows whose home is another have left it
    tokens: Hashes  # ascending
    starts: RowNumbers  # into rows and counts; one more than tokens
    rows: RowNumbers
    counts: NDArray[np.uint16]


class Postings:
    """How often each token occurs in each row; a row is put once and dropped before it is put again.

    A token is known by 64 bits of its hash: among a million tokens two are confused once in 30 million souls.
    """

    def __init__(self) -> None:
        self._home = np.full(64, _NOWHERE, np.int32)  # by row: number of its run
        self._runs: list[_Run] = []
        self._fresh_tokens = array("q")
        self._fresh_rows = array("i")
        self._next = _FRESH + 1
        self._dropped = 0  # rows whose postings are still in some run

    def put(self, row: int, tokens: Iterable[str]) -> int:
        """Add a row with its tokens; returns how many these are."""
        if row >= self._home.size:
            more = max(row + 1, 2 * self._home.size) - self._home.size
            self._home = np.concatenate([self._home, np.full(more, _NOWHERE, np.int32)])
        before = len(self._fresh_tokens)
        self._fresh_tokens.extend(map(hash, tokens))
        count = len(self._fresh_tokens) - before
        self._fresh_rows.extend([row] * count)
        self._home[row] = _FRESH
        if len(self._fresh_tokens) > _MOST_FRESH:
            self._settle()
        return count

    def drop(self, row: int) -> None:
        """Forget a row that was put."""
        if self._home[row] == _FRESH:
            self._settle()
        self._home[row] = _NOWHERE
        self._dropped += 1

    def of(self, token: str) -> tuple[RowNumbers, Floats]:
        """The rows that hold the token, in no particular order, and how often each does."""
        self._settle()
        wanted = hash(token)
        rows, counts = [], []
        for run in self._runs:
            at = int(np.searchsorted(run.tokens, wanted))
            if at < run.tokens.size and run.tokens[at] == wanted:
                start, stop = run.starts[at], run.starts[at + 1]
                there = self._home[run.rows[start:stop]] == run.number
                rows.append(run.rows[start:stop][there])
                counts.append(run.counts[start:stop][there])
        if len(rows) == 1:
            return rows[0], counts[0].astype(np.float32)
        if not rows:
            return np.zeros(0, np.int32), np.zeros(0, np.float32)
        return np.concatenate(rows), np.concatenate(counts).astype(np.float32)

    def _settle(self) -> None:
        """Make a run of what is fresh, and merge runs until each is twice as large as the next."""
        if not self._fresh_tokens:
            return
        tokens = np.frombuffer(self._fresh_tokens, np.int64)
        rows = np.frombuffer(self._fresh_rows, np.int32)
        order = np.argsort(tokens, kind="stable")  # so that a row's occurrences of one token stay together
        tokens, rows = tokens[order], rows[order]
        opens = np.append(True, (tokens[1:] != tokens[:-1]) | (rows[1:] != rows[:-1]))
        first = np.flatnonzero(opens)
        counts = np.minimum(np.diff(np.append(first, tokens.size)), _MOST).astype(np.uint16)
        self._runs.append(self._run(tokens[first], rows[first], counts))
        self._home[np.unique(rows)] = self._runs[-1].number
        self._fresh_tokens, self._fresh_rows = array("q"), array("i")
        while len(self._runs) > 1 and 2 * self._runs[-1].rows.size > self._runs[-2].rows.size:
            if self._runs[-2].rows.size > _LARGE_RUN:
                break
            two, one = self._runs.pop(), self._runs.pop()
            self._runs.append(self._merged([one, two]))
        if self._dropped > max(_MANY_DROPPED, np.count_nonzero(self._home != _NOWHERE) // 2):
            self._runs = [self._merged([run]) for run in self._runs]
            self._dropped = 0

    def _merged(self, runs: Sequence[_Run]) -> _Run:
        """One run of what is still at home in these."""
        parts = [self._left(run) for run in runs]
        tokens, rows, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(tokens, kind="stable")
        run = self._run(tokens[order], rows[order], counts[order])
        self._home[rows] = run.number
        return run

    def _left(self, run: _Run) -> tuple[Hashes, RowNumbers, NDArray[np.uint16]]:
        """What is still at home in the run: token, row and count of each posting."""
        tokens = np.repeat(run.tokens, np.diff(run.starts))
        there = self._home[run.rows] == run.number
        return tokens[there], run.rows[there], run.counts[there]

    def _run(self, tokens: Hashes, rows: RowNumbers, counts: NDArray[np.uint16]) -> _Run:
        """A run of these postings, which stand in the order of their tokens."""
        first = np.flatnonzero(np.append(True, tokens[1:] != tokens[:-1])) if tokens.size else tokens
        starts = np.append(first, tokens.size).astype(np.int32)
        self._next += 1
        return _Run(self._next, tokens[first], starts, rows.astype(np.int32), counts)
