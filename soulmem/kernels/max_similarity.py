"""MaxSim: how well the tokens of a query and those of stored texts find each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from soulmem.kernels.token_codes import PackedStates
from soulmem.kernels.warm import kernels

Floats = npt.NDArray[np.float32]

_BLOCK = (
    256  # tokens unpacked at once: 400 kB of 384 dimensions, which stay in the cache
)


@dataclass(frozen=True, slots=True)
class Matches:
    """The matches of q query tokens with m texts; NaN for a text without tokens.

    best     float32[q, m]  cosine of each query token with its best token of each text
    covered  float32[m]     weighted mean over a text's tokens of the cosine with their best query token
    """

    best: Floats
    covered: Floats


def max_similarity(query: Floats, texts: PackedStates, weights: Floats) -> Matches:
    """Match unit rows of a query with packed texts.

    query    float32[q, width]
    weights  float32[t], of the texts' tokens, above 0
    """
    count, total = query.shape[0], texts.codes.shape[0]
    width = 2 * texts.codes.shape[1]
    rows = np.zeros((width, count), np.float32)
    rows[: query.shape[1]] = query.T
    shared = (
        texts.center.astype(np.float32) @ query.T
    )  # in each product of a query token
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
    best = np.empty((len(texts), count), np.float32)
    covered = np.empty(len(texts), np.float32)
    work.best_matches(products, texts.starts, weights, best, covered)
    return Matches(best.T, covered)
