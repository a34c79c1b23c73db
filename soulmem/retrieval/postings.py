"""Inverted index: the rows of each token, in immutable runs of flat arrays that are merged; 5 bytes a posting."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from soulmem.kernels.warm import kernels

Counts = NDArray[np.uint8]
Hashes = NDArray[np.int64]
RowNumbers = NDArray[np.int32]

_Columns = tuple[Hashes, RowNumbers, Counts]  # of each posting

_FRESH = 0  # home of rows whose tokens are not in a run yet
_NOWHERE = -1
_MOST_FRESH = 1 << 17  # occurrences: sorting them takes some 15 ms
# occurrences: a run this large is not merged again, as it would take 100 ms
_LARGE_RUN = 1 << 20
_SLICES = 32  # steps of `gather`
_MANY_DROPPED = 4096  # rows
_MOST = np.iinfo(np.uint8).max  # larger counts are stored as this; BM25 hardly differs
_REMEMBERED = 1 << 15  # hashes, some 5 MB


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Rows of each of k tokens: those of token t are rows[starts[t]:starts[t + 1]], in no particular order."""

    starts: NDArray[np.int64]
    rows: RowNumbers
    counts: Counts  # occurrences of the token in each row, > 0

    def of(self, token: int) -> tuple[RowNumbers, Counts]:
        """Rows and counts of the token at that position."""
        where = slice(self.starts[token], self.starts[token + 1])
        return self.rows[where], self.counts[where]


@dataclass(frozen=True, slots=True)
class _Run:
    """Postings of some rows by token."""

    number: int  # id of the run; its postings of rows with another home are void
    tokens: Hashes  # ascending
    starts: RowNumbers  # into rows and counts; one more than tokens
    rows: RowNumbers
    counts: Counts


class _Found(NamedTuple):
    """Where tokens stand in the runs: of each run the begin and end by token, and whether no row has left it."""

    size: NDArray[np.int64]  # by token: rows that contain it
    hits: list[tuple[_Run, Hashes, Hashes, bool]]


class Postings:
    """Counts of tokens by row; a row is dropped before it is put again.

    A token is identified by 64 bits of its hash, the same in every process: among a million tokens two
    collide once in 30 million souls.
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
        """Add a row with its tokens; returns the number of tokens."""
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
        """Remove a row that was put."""
        if self._home[row] == _FRESH:
            self._settle()
        home = int(self._home[row])
        self._home[row] = _NOWHERE
        self._left[home] = self._left.get(home, 0) + 1

    def of(self, tokens: Sequence[str]) -> Occurrences:
        """The occurrences of each of the tokens."""
        found = self._found(tokens)
        compiled = kernels(self._home.size)
        starts = np.zeros(found.size.size + 1, np.int64)
        np.cumsum(found.size, out=starts[1:])
        place, total = starts[:-1].copy(), int(starts[-1])
        rows, counts = np.empty(total, np.int32), np.empty(total, np.uint8)
        for run, begin, end, whole in found.hits:
            where = begin, end, self._home, run.number, whole, place
            compiled.take_home(run.rows, run.counts, *where, rows, counts)
        return Occurrences(starts, rows, counts)

    def frequencies(self, tokens: Sequence[str]) -> list[int]:
        """In how many rows each of the tokens occurs, without a look at the rows."""
        sizes: list[int] = self._found(tokens).size.tolist()
        return sizes

    def _found(self, tokens: Sequence[str]) -> _Found:
        self._settle()
        wanted = np.fromiter(map(self._hash.__getitem__, tokens), np.int64, len(tokens))
        compiled = kernels(self._home.size)
        hits: list[tuple[_Run, Hashes, Hashes, bool]] = []
        size = np.zeros(wanted.size, np.int64)
        for run in self._runs:
            begin, end = np.empty_like(wanted), np.empty_like(wanted)
            compiled.find_tokens(run.tokens, run.starts, wanted, begin, end)
            whole = not self._left.get(run.number)
            if whole:
                size += end - begin
            else:
                compiled.count_home(run.rows, begin, end, self._home, run.number, size)
            hits.append((run, begin, end, whole))
        return _Found(size, hits)

    def gather(self) -> Iterator[None]:
        """Merge all runs into one, in steps between which nothing may change; some 30 ms a step for six million
        postings.
        """
        self._settle()
        runs = self._runs
        if len(runs) < 2:
            return
        parts = []
        hashes = np.iinfo(np.int64)
        bounds = np.linspace(hashes.min, hashes.max, _SLICES + 1)[1:-1].astype(np.int64)
        cuts = [[0, *np.searchsorted(run.tokens, bounds).tolist(), run.tokens.size] for run in runs]
        for step in range(_SLICES):
            pieces = [
                self._at_home(run, cut[step], cut[step + 1])
                for run, cut in zip(runs, cuts, strict=True)
            ]
            parts.append(_in_order(pieces))
            yield
        self._runs = [self._joined(runs, parts)]

    def packed(self) -> dict[str, NDArray[Any]]:
        """The arrays that `unpacked` takes; views, to be read before the next put or drop.

        home    int32[rows]   number of the run of each row; -1 for none, 0 for a row without tokens
        runs    int64[r, 4]   number, tokens, postings and rows that have left, of each run
        tokens  int64[..], starts int32[..], rows int32[..], counts uint8[..]: those of all runs in turn;
                each run has one more of starts than of tokens
        """
        self._settle()
        runs = self._runs or [self._run(*(np.zeros(0, np.int64),) * 3)]
        shape = [[r.number, r.tokens.size, r.rows.size, self._left.get(r.number, 0)] for r in runs]
        columns = {}
        for name in ("tokens", "starts", "rows", "counts"):
            parts = [getattr(run, name) for run in runs]
            columns[name] = np.concatenate(parts) if len(parts) > 1 else parts[0]
        return {"home": self._home, "runs": np.asarray(shape, np.int64), **columns}

    @classmethod
    def unpacked(cls, arrays: Mapping[str, NDArray[Any]]) -> Postings:
        """The postings that were packed. They keep the arrays; only `home` is written to, and is copied if it is
        read-only.
        """
        out = cls()
        home = arrays["home"]
        out._home = home if home.flags.writeable else home.copy()
        token = posting = 0
        for i, (number, tokens, postings, departed) in enumerate(arrays["runs"].tolist()):
            run = _Run(
                number,
                arrays["tokens"][token : token + tokens],
                arrays["starts"][token + i : token + i + tokens + 1],
                arrays["rows"][posting : posting + postings],
                arrays["counts"][posting : posting + postings],
            )
            out._runs.append(run)
            out._left[number] = departed
            out._next = max(out._next, number)
            token, posting = token + tokens, posting + postings
        return out

    def _settle(self) -> None:
        """Make a run of the fresh rows, and merge runs until each is at least twice as large as the next."""
        if not self._fresh_tokens:
            return
        tokens = np.frombuffer(self._fresh_tokens, np.int64)
        rows = np.frombuffer(self._fresh_rows, np.int32)
        # so that a row's occurrences of one token stay together
        order = np.argsort(tokens, kind="stable")
        tokens, rows = tokens[order], rows[order]
        opens = np.append(True, (tokens[1:] != tokens[:-1]) | (rows[1:] != rows[:-1]))
        first = np.flatnonzero(opens)
        counts = np.minimum(np.diff(np.append(first, tokens.size)), _MOST).astype(np.uint8)
        self._runs.append(self._run(tokens[first], rows[first], counts))
        self._home[np.unique(rows)] = self._runs[-1].number
        self._fresh_tokens, self._fresh_rows = array("q"), array("i")
        while len(self._runs) > 1 and 2 * self._runs[-1].rows.size > self._runs[-2].rows.size:
            if self._runs[-2].rows.size > _LARGE_RUN:
                break
            later, earlier = self._runs.pop(), self._runs.pop()
            self._runs.append(self._merged([earlier, later]))
        departed = sum(self._left.get(run.number, 0) for run in self._runs)
        if departed > max(_MANY_DROPPED, np.count_nonzero(self._home != _NOWHERE) // 2):
            self._runs = [self._merged([run]) for run in self._runs]

    def _merged(self, runs: Sequence[_Run]) -> _Run:
        """One run of the valid postings of these."""
        return self._joined(runs, [_in_order([self._at_home(run) for run in runs])])

    def _joined(self, runs: Sequence[_Run], parts: Sequence[_Columns]) -> _Run:
        """One run of these postings, which replaces `runs`."""
        tokens, rows, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
        merged = self._run(tokens, rows, counts)
        self._home[rows] = merged.number
        for run in runs:
            self._left.pop(run.number, None)
        return merged

    def _at_home(self, run: _Run, first: int = 0, last: int | None = None) -> _Columns:
        """The valid postings of the run for tokens `first`..`last`."""
        starts = run.starts[first : None if last is None else last + 1]
        tokens = np.repeat(run.tokens[first:last], np.diff(starts))
        rows, counts = (column[starts[0] : starts[-1]] for column in (run.rows, run.counts))
        there = self._home[rows] == run.number
        return tokens[there], rows[there], counts[there]

    def _run(self, tokens: Hashes, rows: NDArray[np.integer], counts: NDArray[np.integer]) -> _Run:
        """A run of these postings, which are in ascending order of tokens."""
        first = (
            np.flatnonzero(np.append(True, tokens[1:] != tokens[:-1])) if tokens.size else tokens
        )
        starts = np.append(first, tokens.size).astype(np.int32)
        self._next += 1
        return _Run(
            self._next,
            tokens[first],
            starts,
            rows.astype(np.int32),
            counts.astype(np.uint8),
        )


def _in_order(parts: Sequence[_Columns]) -> _Columns:
    """These postings in ascending order of tokens."""
    tokens, rows, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(tokens, kind="stable")
    return tokens[order], rows[order], counts[order]


class _Hashes(dict[str, int]):
    """64-bit hash by token; recent ones are cached."""

    def __missing__(self, token: str) -> int:
        if len(self) >= _REMEMBERED:
            self.clear()
        made = int.from_bytes(
            blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8).digest(),
            "little",
            signed=True,
        )
        self[token] = made
        return made
