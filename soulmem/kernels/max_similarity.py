"""MaxSim: how well the tokens of a query and those of stored texts find each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from soulmem.kernels.arrays import Float32s
from soulmem.kernels.token_codes import PackedStates
from soulmem.kernels.warm import kernels

_BLOCK = 256  # tokens unpacked at once: 400 kB of 384 dimensions, which stay in the cache


# Passages in a row that make a score together: some 240 tokens. A cue speaks of several things that a message
# tells: single passages cost 4 points on long messages of role-play chats.
WINDOW = 4


@dataclass(frozen=True, slots=True)
class Matches:
    """The matches of q query tokens with the p passages of m texts.

    best     float32[q, p]  cosine of each query token with its best token of each passage
    first    int64[m + 1]   passages of text i: first[i] .. first[i + 1] - 1; a text without tokens has none
    covered  float32[m]     weighted mean over a text's tokens of the cosine with their best query token; NaN
                            for a text without tokens
    """

    best: Float32s
    first: npt.NDArray[np.int64]
    covered: Float32s

    def of_best_windows(self, asked: Float32s) -> Float32s:
        """The matches of each text's best passages in a row, `WINDOW` at most, float32[q, m]; NaN for a text
        without tokens.

        asked  float32[q], weights of the query tokens: the best window has the greatest weighted sum
        """
        out = np.full((self.best.shape[0], self.first.size - 1), np.nan, np.float32)
        count = np.diff(self.first)
        has = np.flatnonzero(count)
        text = np.repeat(np.arange(count.size), count)
        windows = self.best
        if count.max(initial=0) > 1:
            windows = windows.copy()
            for step in range(1, WINDOW):
                alike = np.flatnonzero(text[step:] == text[:-step])
                later = self.best[:, alike + step]
                windows[:, alike] = np.maximum(windows[:, alike], later)
        order = np.lexsort((asked @ windows, text))  # of each text the best is the last
        out[:, has] = windows[:, order[self.first[has + 1] - 1]]
        return out


def max_similarity(query: Float32s, texts: PackedStates, weights: Float32s) -> Matches:
    """Match unit rows of a query with packed texts.

    query    float32[q, width]
    weights  float32[t], of the texts' tokens, above 0
    """
    count, total = query.shape[0], texts.codes.shape[0]
    width = 2 * texts.codes.shape[1]
    rows = np.zeros((width, count), np.float32)
    rows[: query.shape[1]] = query.T
    shared = texts.center.astype(np.float32) @ query.T  # in each product of a query token
    scale = texts.scale.astype(np.float32)
    products = np.empty((total, count), np.float32)
    states = np.empty((min(_BLOCK, total), width), np.float32)
    work = kernels(total)
    for start in range(0, total, _BLOCK):
        block = slice(start, min(start + _BLOCK, total))
        out = states[: block.stop - start]
        work.unpack_states(texts.codes[block], scale[block], out)
        np.matmul(out, rows, out=products[block])
        products[block] += shared
    passages = texts.passages()
    best = np.empty((passages.size - 1, count), np.float32)
    highest = np.empty(total, np.float32)
    work.best_matches(products, passages, best, highest)
    return Matches(
        best.T,
        np.searchsorted(passages, texts.starts),
        _means(highest, weights, texts.starts),
    )


def _means(values: Float32s, weights: Float32s, starts: npt.NDArray[np.int64]) -> Float32s:
    """The weighted mean of each text's values, float32[m]; NaN for a text without any."""
    out = np.full(starts.size - 1, np.nan, np.float32)
    has = np.flatnonzero(np.diff(starts))
    if has.size:
        total = np.add.reduceat(values * weights, starts[has])
        out[has] = total / np.add.reduceat(weights, starts[has])
    return out
