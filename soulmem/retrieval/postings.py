"""Which rows hold which token? Runs of flat arrays, never changed but merged: six bytes an occurrence."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.uint16]
Hashes = NDArray[np.int64]
RowNumbers = NDArray[np.int32]

_FRESH = 0  # the home of rows whose tokens are not in a run yet
_NOWHERE = -1
_MOST_FRESH = 1 << 17  # occurrences: sorting them takes some 15 ms
_LARGE_RUN = 1 << 20  # occurrences: no run that large is merged again, which would take 100 ms
_MANY_DROPPED = 4096  # rows
_MOST = np.iinfo(np.uint16).max
_REMEMBERED = 1 << 15  # hashes, some 5 MB


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Where each of k tokens occurs: token t in rows[starts[t]:starts[t + 1]], in no particular order."""

    starts: NDArray[np.int64]
    rows: RowNumbers
    counts: Counts  # how often each row holds it, > 0

    def of(self, token: int) -> tuple[RowNumbers, Counts]:
        """Rows and counts of the token at that place."""
        where = slice(self.starts[token], self.starts[token + 1])
        return self.rows[where], self.counts[where]


@dataclass(frozen=True, slots=True)
class _Run:
    """Postings of some rows by token."""

    number: int  # rows whose home is another have left it
    tokens: Hashes  # ascending
    starts: RowNumbers  # into rows and counts; one more than tokens
    rows: RowNumbers
    counts: Counts


class Postings:
    """How often each token occurs in each row; a row is put once and dropped before it is put again.

    A token is known by 64 bits of its hash, the same in every process: among a million tokens two are
    confused once in 30 million souls.
    """

    def __init__(self) -> None:
        self._home = np.full(64, _NOWHERE, np.int32)  # by row: number of its run
        self._runs: list[_Run] = []
        self._left: dict[int, int] = {}  # by number of a run: rows that have left it
        self._fresh_tokens = array("q")
        self._fresh_rows = array("i")
        self._next = _FRESH + 1
        self._hash = _Hashes()

    def put(self, row: int, tokens: Iterable[str]) -> int:
        """Add a row with its tokens; returns how many these are."""
        if row >= self._home.size:
            more = max(row + 1, 2 * self._home.size) - self._home.size
            self._home = np.concatenate([self._home, np.full(more, _NOWHERE, np.int32)])
        before = len(self._fresh_tokens)
        self._fresh_tokens.extend(map(self._hash.__getitem__, tokens))
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
        home = int(self._home[row])
        self._home[row] = _NOWHERE
        self._left[home] = self._left.get(home, 0) + 1

    def of(self, tokens: Sequence[str]) -> Occurrences:
        """Where each of the tokens occurs, in one look at each run."""
        self._settle()
        wanted = np.fromiter(map(self._hash.__getitem__, tokens), np.int64, len(tokens))
        parts = [(np.zeros(0, np.uint8), np.zeros(0, np.int32), np.zeros(0, np.uint16))]
        for run in self._runs:
            start, stop = _places(run, wanted)
            size = stop - start
            token = np.repeat(np.arange(wanted.size, dtype=np.min_scalar_type(wanted.size)), size)
            where = np.repeat(start - (np.cumsum(size) - size), size) + np.arange(token.size)
            held, often = run.rows[where], run.counts[where]
            if self._left.get(run.number):
                there = self._home[held] == run.number
                token, held, often = token[there], held[there], often[there]
            parts.append((token, held, often))
        of, rows, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
        if len(self._runs) > 1:
            order = np.argsort(of, kind="stable")
            rows, counts = rows[order], counts[order]
        starts = np.append(0, np.cumsum(np.bincount(of, minlength=wanted.size))).astype(np.int64)
        return Occurrences(starts, rows, counts)

    def packed(self) -> dict[str, NDArray[Any]]:
        """Everything, as `unpacked` takes it; views, to be read before the next put or drop.

        home    int32[rows]   number of the run that holds a row; -1 for none, 0 for a row without tokens
        runs    int64[r, 4]   number, tokens, postings and rows that have left, of each run
        tokens  int64[..], starts int32[..], rows int32[..], counts uint16[..]: those of all runs in turn;
                of starts there is one more in each run than of tokens
        """
        self._settle()
        runs = self._runs or [self._run(*(np.zeros(0, np.int64),) * 3)]
        shape = [[r.number, r.tokens.size, r.rows.size, self._left.get(r.number, 0)] for r in runs]
        joined = {name: [getattr(r, name) for r in runs] for name in ("tokens", "starts", "rows", "counts")}
        columns = {
            name: np.concatenate(parts) if len(parts) > 1 else parts[0] for name, parts in joined.items()
        }
        return {"home": self._home, "runs": np.asarray(shape, np.int64), **columns}

    @classmethod
    def unpacked(cls, arrays: Mapping[str, NDArray[Any]]) -> Postings:
        """The postings that were packed. They keep the arrays, of which only `home` is written, and copied if
        it cannot be.
        """
        out = cls()
        home = arrays["home"]
        out._home = home if home.flags.writeable else home.copy()
        token = posting = 0
        for i, (number, tokens, postings, left) in enumerate(arrays["runs"].tolist()):
            run = _Run(
                number,
                arrays["tokens"][token : token + tokens],
                arrays["starts"][token + i : token + i + tokens + 1],
                arrays["rows"][posting : posting + postings],
                arrays["counts"][posting : posting + postings],
            )
            out._runs.append(run)
            out._left[number] = left
            out._next = max(out._next, number)
            token, posting = token + tokens, posting + postings
        return out

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
        left = sum(self._left.get(run.number, 0) for run in self._runs)
        if left > max(_MANY_DROPPED, np.count_nonzero(self._home != _NOWHERE) // 2):
            self._runs = [self._merged([run]) for run in self._runs]

    def _merged(self, runs: Sequence[_Run]) -> _Run:
        """One run of what is still at home in these."""
        parts = [self._at_home(run) for run in runs]
        tokens, rows, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(tokens, kind="stable")
        merged = self._run(tokens[order], rows[order], counts[order])
        self._home[rows] = merged.number
        for run in runs:
            self._left.pop(run.number, None)
        return merged

    def _at_home(self, run: _Run) -> tuple[Hashes, RowNumbers, Counts]:
        """What is still at home in the run: token, row and count of each posting."""
        tokens = np.repeat(run.tokens, np.diff(run.starts))
        there = self._home[run.rows] == run.number
        return tokens[there], run.rows[there], run.counts[there]

    def _run(self, tokens: Hashes, rows: NDArray[np.integer], counts: NDArray[np.integer]) -> _Run:
        """A run of these postings, which stand in the order of their tokens."""
        first = np.flatnonzero(np.append(True, tokens[1:] != tokens[:-1])) if tokens.size else tokens
        starts = np.append(first, tokens.size).astype(np.int32)
        self._next += 1
        return _Run(self._next, tokens[first], starts, rows.astype(np.int32), counts.astype(np.uint16))


class _Hashes(dict[str, int]):
    """64 bits of each token; what was asked for last is remembered."""

    def __missing__(self, token: str) -> int:
        if len(self) >= _REMEMBERED:
            self.clear()
        made = int.from_bytes(
            blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little", signed=True
        )
        self[token] = made
        return made


def _places(run: _Run, wanted: Hashes) -> tuple[Hashes, Hashes]:
    """Where the postings of each wanted token start and stop in the run."""
    if not run.tokens.size:
        return np.zeros_like(wanted), np.zeros_like(wanted)
    at = np.minimum(np.searchsorted(run.tokens, wanted), run.tokens.size - 1)
    start = run.starts[at].astype(np.int64)
    return start, np.where(run.tokens[at] == wanted, run.starts[at + 1], start).astype(np.int64)
