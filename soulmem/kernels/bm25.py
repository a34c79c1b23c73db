"""BM25 contributions of the query's tokens to texts and to pairs of texts; compiled by `compiled.py`."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from soulmem.kernels.arrays import Float32s, Int64s
from soulmem.kernels.push import prefetch

RowNumbers = npt.NDArray[np.int32]
Counts = npt.NDArray[np.uint8]

AHEAD = 12  # occurrences: so far ahead memory is asked for, as the rows of a word lie anywhere


def inverse_frequency(df: int, n: int) -> float:
    """log(1 + (n - df + 0.5) / (df + 0.5)): weight of a token that df of n texts hold."""
    return math.log(1 + (n - df + 0.5) / (df + 0.5))


def add_words(
    starts: Int64s,
    rows: RowNumbers,
    counts: Counts,
    weight: Float32s,
    n: int,
    lengths: Float32s,
    base: float,
    per_token: float,
    out: Float32s,
) -> None:
    """out[row] += weight * idf * tf / (tf + discount), for every token and row that holds it.

    The discount of a row is base + per_token * its length, in float32.

    starts    int64[k + 1]   occurrences of token t are at starts[t]:starts[t + 1]
    rows      int32[..]      row of each occurrence
    counts    uint8[..]      tf: how often the row holds the token
    weight    float32[k]     of each token
    n         number of texts
    lengths   float32[rows]  tokens of each row
    out       float32[rows]  added to
    """
    for t in range(weight.size):
        most = np.float32(weight[t] * inverse_frequency(starts[t + 1] - starts[t], n))
        for i in range(starts[t], starts[t + 1]):
            if i + AHEAD < starts[t + 1]:
                prefetch(lengths, rows[i + AHEAD])
                prefetch(out, rows[i + AHEAD])
            row, tf = rows[i], np.float32(counts[i])
            out[row] += most * (tf / (tf + (base + per_token * lengths[row])))


def link_rows(before: RowNumbers, heads: RowNumbers, siblings: RowNumbers) -> None:
    """Lists of the rows that follow each row.

    before    int32[n]     the row before each, -1 for none
    heads     int32[..], -1 before; written: a row that follows each, -1 for none
    siblings  int32[..], -1 before; written: another row with the same row before it, -1 after the last
    """
    for row in range(before.size):
        first = before[row]
        if first >= 0:
            siblings[row] = heads[first]
            heads[first] = np.int32(row)


def open_pairs(lengths: Float32s, before: RowNumbers, out: Float32s) -> tuple[int, float]:
    """Rows with a row before them, both of them texts with tokens; returns their number and all their tokens.

    lengths  float32[..]  tokens of each row; 0 beyond
    before   int32[n]     the row before each, -1 for none
    out      float32[>= n], written: 0 at those rows, NaN elsewhere
    """
    count, total = 0, 0.0
    for row in range(out.size):
        out[row] = np.float32(np.nan)
    for row in range(min(before.size, lengths.size)):
        first = before[row]
        if 0 <= first < lengths.size and lengths[row] > 0 and lengths[first] > 0:
            out[row] = np.float32(0)
            count += 1
            total += np.float64(lengths[row]) + np.float64(lengths[first])
    return count, total


def add_pairs(
    starts: Int64s,
    rows: RowNumbers,
    counts: Counts,
    weight: Float32s,
    n: int,
    lengths: Float32s,
    base: float,
    per_token: float,
    before: RowNumbers,
    heads: RowNumbers,
    siblings: RowNumbers,
    tf: Float32s,
    hits: RowNumbers,
    out: Float32s,
) -> None:
    """`add_words` for pairs of texts: tf, df and length count both texts; a pair is at its second row.

    n         number of pairs
    before    int32[..]  the row before each row of a pair
    heads, siblings  of `link_rows`; heads int32[rows]
    tf        float32[rows], zeros before and after
    hits      int32[rows], overwritten
    out       float32[rows] of `open_pairs`, added to
    """
    for t in range(weight.size):
        df = 0
        for i in range(starts[t], starts[t + 1]):
            if i + AHEAD < starts[t + 1]:
                prefetch(heads, rows[i + AHEAD])
                prefetch(out, rows[i + AHEAD])
                prefetch(tf, rows[i + AHEAD])
            count = np.float32(counts[i])
            # The pair that ends with the row, and those that it begins
            pair, following = rows[i], heads[rows[i]]
            while pair >= 0:
                if out[pair] == out[pair]:
                    if tf[pair] == 0:
                        hits[df] = pair
                        df += 1
                    tf[pair] += count
                pair = following
                if following >= 0:
                    following = siblings[following]
        most = np.float32(weight[t] * inverse_frequency(df, n))
        for i in range(df):
            if i + AHEAD < df:
                prefetch(lengths, hits[i + AHEAD])
                prefetch(before, hits[i + AHEAD])
            pair = hits[i]
            length = lengths[before[pair]] + lengths[pair]
            out[pair] += most * (tf[pair] / (tf[pair] + (base + per_token * length)))
            tf[pair] = 0
