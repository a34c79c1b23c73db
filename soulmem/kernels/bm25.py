"""BM25 contributions of the query's tokens to texts and to pairs of texts; compiled by `compiled.py`."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from soulmem.kernels.push import prefetch

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
RowNumbers = npt.NDArray[np.int32]
Counts = npt.NDArray[np.uint8]

AHEAD = 12  # occurrences: so far ahead memory is asked for, as the rows of a word lie anywhere


def inverse_frequency(df: int, n: int) -> float:
    """log(1 + (n - df + 0.5) / (df + 0.5)): weight of a token that df of n texts hold."""
    return math.log(1 + (n - df + 0.5) / (df + 0.5))


def add_words(
    starts: Ints,
    rows: RowNumbers,
    counts: Counts,
    weight: Floats,
    n: int,
    discount: Floats,
    out: Floats,
) -> None:
    """out[row] += weight * idf * tf / (tf + discount[row]), for every token and row that holds it.

    starts    int64[k + 1]   occurrences of token t are at starts[t]:starts[t + 1]
    rows      int32[..]      row of each occurrence
    counts    uint8[..]      tf: how often the row holds the token
    weight    float32[k]     of each token
    n         number of texts
    discount  float32[rows]
    out       float32[rows]  added to
    """
    for t in range(weight.size):
        most = np.float32(weight[t] * inverse_frequency(starts[t + 1] - starts[t], n))
        for i in range(starts[t], starts[t + 1]):
            if i + AHEAD < starts[t + 1]:
                prefetch(discount, rows[i + AHEAD])
                prefetch(out, rows[i + AHEAD])
            row, tf = rows[i], np.float32(counts[i])
            out[row] += most * (tf / (tf + discount[row]))


def add_pairs(
    starts: Ints,
    rows: RowNumbers,
    counts: Counts,
    weight: Floats,
    n: int,
    discount: Floats,
    heads: RowNumbers,
    seconds: RowNumbers,
    tf: Floats,
    hits: RowNumbers,
    out: Floats,
) -> None:
    """`add_words` for pairs of texts: tf and df count both texts; a pair is at its second row.

    n         number of pairs
    discount  float32[rows], NaN where a row is the second text of no pair
    heads     int32[rows + 1]  pairs with first text r are seconds[heads[r]:heads[r + 1]]
    tf        float32[rows], zeros before and after
    hits      int32[rows], overwritten
    out       float32[rows], added to
    """
    for t in range(weight.size):
        df = 0
        for i in range(starts[t], starts[t + 1]):
            if i + AHEAD < starts[t + 1]:
                prefetch(heads, rows[i + AHEAD])
                prefetch(discount, rows[i + AHEAD])
                prefetch(tf, rows[i + AHEAD])
            row, count = np.int64(rows[i]), np.float32(counts[i])
            if discount[row] == discount[row]:
                if tf[row] == 0:
                    hits[df] = row
                    df += 1
                tf[row] += count
            for pair_index in range(heads[row], heads[row + 1]):
                pair = seconds[pair_index]
                if tf[pair] == 0:
                    hits[df] = pair
                    df += 1
                tf[pair] += count
        most = np.float32(weight[t] * inverse_frequency(df, n))
        for i in range(df):
            if i + AHEAD < df:
                prefetch(out, hits[i + AHEAD])
            pair = hits[i]
            out[pair] += most * (tf[pair] / (tf[pair] + discount[pair]))
            tf[pair] = 0
