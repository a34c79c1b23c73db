"""Exact BM25 of rows and of pairs of neighbouring rows; rows can be added and dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.kernels.arrays import Float32s, Int64s
from soulmem.kernels.warm import kernels
from soulmem.retrieval.postings import Counts, Occurrences, Postings, RowNumbers

_FEW_CHANGED = 256  # rows that follow others than before, up to which each is looked at by itself


# BM25 constants, k1 as in Lucene; b from .3 to .5 and sharpness from .5 to 1 score alike.
K1 = 1.2  # > 0, saturation of repeated words
# 0..1, discount of long texts. Lucene has .75; but a long message of a chat has more content than a short
# one, and at .75 short ones displaced it.
B = 0.4
# >= 0, extra weight of rare words beyond idf: in a chat of some hundred messages everyday words are rare
# enough that three of them would outweigh a name.
SHARPNESS = 0.5


class LexicalIndex:
    """Token counts by row, scored with

        sum over query tokens t:  w_t * idf_t * tf / (tf + k1 * (1 - b + b * length / mean length))
        idf_t = log(1 + (N - df_t + 0.5) / (df_t + 0.5))
        w_t = weight_t * (idf_t / log(1 + N))^sharpness

    which with sharpness 0 is Lucene's form (Kamphuis et al. 2020,
    https://doi.org/10.1007/978-3-030-45442-5_4).
    Adding or dropping a row costs what its own tokens cost. Not safe for concurrent use.
    """

    def __init__(self) -> None:
        self._postings = Postings()
        self._lengths = np.zeros(64, np.float32)
        # whether each row is stored, with or without tokens
        self._held = np.zeros(64, np.bool_)
        self._count = 0
        self._total = 0
        self._revision = 0  # increases with every change
        self._followers = _Followers()
        self._query: _TokenQuery | None = None
        self._frequencies: tuple[int, dict[str, int]] = 0, {}

    def __len__(self) -> int:
        return self._count

    def put(self, row: int, tokens: Iterable[str]) -> None:
        """Index `tokens` as row `row` (>= 0), in place of what it had before."""
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
        """Remove a row; one that is not stored is ignored."""
        if row >= self._held.size or not self._held[row]:
            return
        self._postings.drop(row)
        self._revision += 1
        self._held[row] = False
        self._count -= 1
        self._total -= int(self._lengths[row])
        self._lengths[row] = 0

    def rows(self, token: str) -> RowNumbers:
        """The rows that contain the token."""
        return self._postings.of([token]).rows

    def frequency(self, token: str) -> int:
        """Number of rows that contain the token."""
        return self.frequencies([token])[0]

    def frequencies(self, tokens: Sequence[str]) -> list[int]:
        """The same of each token; kept until a row changes."""
        if self._frequencies[0] != self._revision:
            self._frequencies = self._revision, {}
        kept = self._frequencies[1]
        missing = [token for token in dict.fromkeys(tokens) if token not in kept]
        if missing:
            kept.update(zip(missing, self._postings.frequencies(missing), strict=True))
        return [kept[token] for token in tokens]

    def contain(self, tokens: Sequence[str], rows: Int64s) -> NDArray[np.bool_]:
        """Which of these rows, >= 0, contain each of the tokens, bool[len(tokens), len(rows)]."""
        distinct, back = np.unique(rows, return_inverse=True)
        begin, end, occurrences = self._places_of(tokens)
        out = np.zeros((len(tokens), distinct.size), np.bool_)
        mark_rows = kernels(occurrences.rows.size).mark_rows
        mark_rows(begin, end, occurrences.rows, distinct, out)
        return out[:, back]

    def _places_of(self, tokens: Sequence[str]) -> tuple[Int64s, Int64s, Occurrences]:
        """Begin and end of each token in the occurrences, which are those of the last query where it had all."""
        asked = self._query
        if asked is not None and asked.revision == self._revision:
            place = {token: i for i, token in enumerate(asked.tokens)}
            if place.keys() >= set(tokens):
                which = np.asarray([place[token] for token in tokens], np.int64)
                starts = asked.occurrences.starts
                return starts[which], starts[which + 1], asked.occurrences
        occurrences = self._postings.of(tokens)
        return occurrences.starts[:-1].copy(), occurrences.starts[1:], occurrences

    def scores(self, tokens: Mapping[str, float] | Sequence[str], n_rows: int) -> Float32s:
        """BM25 of every row below `n_rows`, >= 0, shape (n_rows,); 0 where nothing matches or is stored.

        A mapping gives each token a weight; in a sequence a token weighs as often as it occurs.
        """
        out = np.zeros(max(n_rows, self._lengths.size), np.float32)
        if self._total:
            asked = self._query_of(tokens)
            discount = self._discount(self._total / self._count)
            add_words = kernels(asked.occurrences.rows.size).add_words
            add_words(*asked.arguments, self._count, self._lengths, *discount, out)
        return out[:n_rows]

    def pair_scores(
        self, tokens: Mapping[str, float] | Sequence[str], before: RowNumbers
    ) -> Float32s:
        """BM25 of every row taken together with the row before it, as if the two were one text.

        before   int32[n]  the row before each, -1 for none; not changed in place between two calls
        Returns float32[n], >= 0; NaN where there is no row before or either of the two is not stored.
        """
        asked = self._query_of(tokens)
        compiled = kernels(max(before.size, asked.occurrences.rows.size))
        out = np.empty(max(before.size, self._lengths.size), np.float32)
        count, length = compiled.open_pairs(self._lengths, before, out)
        if count:
            discount = self._discount(length / count)
            followers = self._followers.of(before, out.size)
            compiled.add_pairs(
                *asked.arguments,
                count,
                self._lengths,
                *discount,
                before,
                *followers,
                out,
            )
        return out[: before.size]

    def gather(self) -> Iterator[None]:
        """Compact the postings, in steps between which nothing may change."""
        yield from self._postings.gather()

    def packed(self) -> dict[str, NDArray[Any]]:
        """Everything but the parameters, as `unpacked` takes it; views, to be read before the next put or
        drop.

        lengths  float32[rows], held bool[rows], and those of `Postings.packed`
        """
        return {"lengths": self._lengths, "held": self._held, **self._postings.packed()}

    @classmethod
    def unpacked(cls, arrays: Mapping[str, NDArray[Any]]) -> LexicalIndex:
        """The index that was packed. It keeps the arrays; those it writes to are copied if they are read-only."""
        out = cls()
        out._postings = Postings.unpacked(arrays)
        out._lengths, out._held = (
            array if array.flags.writeable else array.copy()
            for array in (arrays["lengths"], arrays["held"])
        )
        out._count = int(np.count_nonzero(out._held))
        out._total = int(out._lengths.sum(dtype=np.float64))
        return out

    def _query_of(self, tokens: Mapping[str, float] | Sequence[str]) -> _TokenQuery:
        """Occurrences of the tokens; cached until other tokens are requested or a row changes."""
        weights = tokens if isinstance(tokens, Mapping) else Counter(tokens)
        asked = self._query
        if asked is None or asked.revision != self._revision or asked.tokens != tuple(weights):
            asked = _TokenQuery(self._revision, tuple(weights), self._postings.of(tuple(weights)))
            self._query = asked
        asked.weight = np.fromiter(weights.values(), np.float32, len(weights)) * self._sharpened(
            asked.occurrences
        )
        return asked

    def _sharpened(self, occurrences: Occurrences) -> Float32s:
        """Factor of each token by `sharpness`, 0..1; 1 for one that a single row contains."""
        n, frequency = max(self._count, 1), np.diff(occurrences.starts)
        rarity = np.log1p((n - frequency + 0.5) / (frequency + 0.5)) / np.log1p(n)
        return np.asarray(np.maximum(rarity, 0.0) ** SHARPNESS, np.float32)

    def _discount(self, mean: float) -> tuple[np.float32, np.float32]:
        """What the discount of a text is without length, and more for each token; `mean` length of the texts."""
        k1, b = K1, B
        return np.float32(k1 * (1 - b)), np.float32(k1 * b / mean)


class _TokenQuery:
    """The tokens of a query, their weights and occurrences."""

    def __init__(self, revision: int, tokens: tuple[str, ...], occurrences: Occurrences) -> None:
        self.revision = revision
        self.tokens = tokens
        self.occurrences = occurrences
        self.weight = np.zeros(0, np.float32)

    @property
    def arguments(self) -> tuple[Int64s, RowNumbers, Counts, Float32s]:
        """In the order of the kernels' parameters."""
        return (
            self.occurrences.starts,
            self.occurrences.rows,
            self.occurrences.counts,
            self.weight,
        )


class _Followers:
    """The rows that follow each row, as lists, and workspace for pairs."""

    def __init__(self) -> None:
        self._asked = self._before = np.zeros(0, np.int32)
        self._heads = self._siblings = self._hits = np.zeros(0, np.int32)
        self._tf = np.zeros(0, np.float32)

    def of(
        self, before: RowNumbers, size: int
    ) -> tuple[RowNumbers, RowNumbers, Float32s, RowNumbers]:
        """The lists of `link_rows` and what else `add_pairs` takes, each for at least `size` rows."""
        if self._asked is not before or self._heads.size < size:
            self._update(before, size)
        return self._heads, self._siblings, self._tf, self._hits

    def _update(self, before: RowNumbers, size: int) -> None:
        """Change the lists where `before` differs from the last one; link all rows where it differs much."""
        kept = self._before
        if self._heads.size >= size and before.size >= kept.size:
            changed = np.flatnonzero(before[: kept.size] != kept)
            if changed.size + before.size - kept.size <= _FEW_CHANGED:
                for row in changed.tolist():
                    self._unlink(row, int(kept[row]))
                for row in (*changed.tolist(), *range(kept.size, before.size)):
                    self._link(row, int(before[row]))
                self._asked, self._before = before, before.copy()
                return
        room = size + size // 8
        self._heads, self._siblings = np.full((2, room), -1, np.int32)
        self._tf, self._hits = np.zeros(room, np.float32), np.empty(room, np.int32)
        kernels(size).link_rows(before, self._heads, self._siblings)
        self._asked, self._before = before, before.copy()

    def _link(self, row: int, first: int) -> None:
        if first >= 0:
            self._siblings[row] = self._heads[first]
            self._heads[first] = row

    def _unlink(self, row: int, first: int) -> None:
        if first < 0:
            return
        after = self._siblings[row]
        self._siblings[row] = -1
        if self._heads[first] == row:
            self._heads[first] = after
            return
        place = int(self._heads[first])
        while self._siblings[place] != row:
            place = int(self._siblings[place])
        self._siblings[place] = after
