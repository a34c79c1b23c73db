"""How well do the words of a query match each memory? Exact BM25 that grows and shrinks in place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from soulmem.retrieval.postings import Postings

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Bm25Params:
    """BM25 constants. Lucene's defaults: 14 other settings moved recall by less than 1.5 points."""

    k1: float = 1.2  # > 0, how fast repetition saturates
    b: float = 0.75  # 0..1, how much a long text is discounted


class LexicalIndex:
    """Token bags by row, scored with

        sum over query tokens t:  weight_t * idf_t * tf / (tf + k1 * (1 - b + b * length / mean length))
        idf_t = log(1 + (N - df_t + 0.5) / (df_t + 0.5))

    which is Lucene's form (Kamphuis et al. 2020, https://doi.org/10.1007/978-3-030-45442-5_4).
    Adding or dropping a row costs what its own tokens cost. Not safe for concurrent use.
    """

    def __init__(self, params: Bm25Params | None = None) -> None:
        self._params = params or Bm25Params()
        self._postings = Postings()
        self._lengths = np.zeros(64, np.float32)
        self._held = np.zeros(64, np.bool_)  # which rows are here, those without a token too
        self._count = 0
        self._total = 0
        self._revision = 0  # grows with every change
        self._pairs: _Pairs | None = None

    def __len__(self) -> int:
        return self._count

    def put(self, row: int, tokens: Iterable[str]) -> None:
        """Index `tokens` as row `row` (>= 0); what the row held before is forgotten."""
        if row < 0:
            raise ValueError(f"row {row} is negative")
        self.drop(row)
        if row >= self._held.size:
            more = max(row + 1, 2 * self._held.size) - self._held.size
            self._lengths = np.concatenate([self._lengths, np.zeros(more, np.float32)])
            self._held = np.concatenate([self._held, np.zeros(more, np.bool_)])
        length = self._postings.put(row, tokens)
        self._revision += 1
        self._held[row] = True
        self._lengths[row] = length
        self._count += 1
        self._total += length

    def drop(self, row: int) -> None:
        """Forget a row; one that is not there is ignored."""
        if row >= self._held.size or not self._held[row]:
            return
        self._postings.drop(row)
        self._revision += 1
        self._held[row] = False
        self._count -= 1
        self._total -= int(self._lengths[row])
        self._lengths[row] = 0

    def frequency(self, token: str) -> int:
        """In how many rows the token occurs."""
        return int(self._postings.of(token)[0].size)

    def scores(self, tokens: Mapping[str, float] | Sequence[str], n_rows: int) -> Floats:
        """BM25 of every row below `n_rows`, >= 0, shape (n_rows,); 0 where nothing matches or is stored.

        A mapping gives each token a weight; in a sequence a token weighs as often as it occurs.
        """
        out = np.zeros(max(n_rows, self._lengths.size), np.float32)
        if self._total:
            discount = self._discount(self._lengths, self._total / self._count)
            for weight, rows, tf in self._known(tokens):
                idf = _idf(rows.size, self._count)
                out[rows] += np.float32(weight * idf) * (tf / (tf + discount[rows]))
        return out[:n_rows]

    def pair_scores(self, tokens: Mapping[str, float] | Sequence[str], before: Ints) -> Floats:
        """BM25 of every row taken together with the row before it, as if the two were one text.

        before   int64[n]  the row before each, -1 for none
        Returns float32[n], >= 0; NaN where there is no row before or either of the two is not stored.
        """
        pairs = self._pairs_of(before)
        total = np.zeros(pairs.second.size, np.float32)
        counts = np.zeros(pairs.second.size, np.float32)
        for weight, rows, tf in self._known(tokens):
            hit = pairs.count(rows, tf, counts)
            tf = counts[hit]
            counts[hit] = 0
            idf = _idf(hit.size, total.size)
            total[hit] += np.float32(weight * idf) * (tf / (tf + pairs.discount[hit]))
        out = np.full(before.size, np.nan, np.float32)
        out[pairs.second] = total
        return out

    def _pairs_of(self, before: Ints) -> _Pairs:
        """The pairs along `before`; kept until a row changes or another array is given."""
        known = self._pairs
        if known is None or known.before is not before or known.revision != self._revision:
            n = before.size
            lengths = np.zeros(max(n, self._lengths.size) + 1, np.float32)
            lengths[: self._lengths.size] = self._lengths
            second = np.flatnonzero((before >= 0) & (lengths[:n] > 0) & (lengths[before] > 0))
            both = lengths[second] + lengths[before[second]]
            discount = self._discount(both, float(both.mean()) if both.size else 1.0)
            known = _Pairs(before, self._revision, second, lengths.size, discount)
            self._pairs = known
        return known

    def _known(
        self, tokens: Mapping[str, float] | Sequence[str]
    ) -> Iterator[tuple[float, NDArray[np.int32], Floats]]:
        """Weight, rows and counts of every query token that occurs somewhere."""
        weights = tokens if isinstance(tokens, Mapping) else Counter(tokens)
        for token, weight in weights.items():
            rows, counts = self._postings.of(token)
            if rows.size:
                yield weight, rows, counts

    def _discount(self, lengths: Floats, mean: float) -> Floats:
        k1, b = self._params.k1, self._params.b
        return np.asarray(k1 * (1 - b + b * lengths / np.float32(mean)), np.float32)


class _Pairs:
    """Rows taken together with the row before them; pair i is (before[second[i]], second[i])."""

    def __init__(self, before: Ints, revision: int, second: Ints, rows: int, discount: Floats) -> None:
        self.before = before
        self.revision = revision
        self.second = second
        self.discount = discount
        first = before[second]
        self._as_second = np.full(rows, -1, np.int32)
        self._as_second[second] = np.arange(second.size)
        self._by_first = np.argsort(first, kind="stable")  # where chats branch a row comes before several
        self._many = np.bincount(first, minlength=rows)
        self._start = np.cumsum(self._many) - self._many
        self._seen = np.zeros(second.size, np.bool_)

    def count(self, rows: NDArray[np.int32], tf: Floats, counts: Floats) -> Ints:
        """Add what a token counts in these rows to the zeros of `counts`, by pair; returns the pairs."""
        own = self._as_second[rows]
        inside = own >= 0
        own = own[inside]
        counts[own] = tf[inside]
        many = self._many[rows]
        skip = np.repeat(self._start[rows] - (np.cumsum(many) - many), many)
        next_ = self._by_first[skip + np.arange(skip.size)]
        counts[next_] += np.repeat(tf, many)
        self._seen[own] = True
        hit = np.concatenate([own, next_[~self._seen[next_]]])
        self._seen[own] = False
        return hit


def _idf(df: int, n: int) -> float:
    return log(1 + (n - df + 0.5) / (df + 0.5))
