"""Token states as codes of four bits (half a byte per dimension, one scale per token), and their best matches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from soulmem.kernels.arrays import Bools

States = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]
Scales = npt.NDArray[np.float16]
Center = npt.NDArray[np.float16]
Pieces = npt.NDArray[np.int32]
Starts = npt.NDArray[np.int64]

_LEAST, _GREATEST = -8, 7  # codes; stored as 0 .. 15
ZERO = 8  # the code of 0
# Shares of the greatest component that may get the greatest code; the share with the least error is taken: a
# few cut components cost less than coarse steps for all (errors of cosines of e5 are a quarter less than with 1).
_SHARES = (1.0, 0.85, 0.7, 0.6)


@dataclass(frozen=True, slots=True)
class PackedStates:
    """The token states of m texts, one text after the other.

    codes   uint8[t, (width + 1) // 2]  low half: the first dimensions, high half: the rest
    scale   float16[t]                  state ~ center + scale * (code - 8)
    pieces  int32[t]                    numbers in the model's vocabulary
    starts  int64[m + 1]                tokens of text i: starts[i] .. starts[i + 1] - 1
    begins  bool[t]                     whether a passage of a text begins with the token
    center  float16[width]              about the mean of a model's states
    """

    codes: Bytes
    scale: Scales
    pieces: Pieces
    starts: Starts
    begins: Bools
    center: Center

    def __len__(self) -> int:
        return self.starts.size - 1

    def passages(self) -> Starts:
        """Where the passages of all texts begin, and where the last one ends, int64[p + 1]."""
        return np.append(np.flatnonzero(self.begins), self.begins.size)


def pack(
    states: Sequence[States],
    pieces: Sequence[Pieces],
    center: Center | None = None,
    begins: Sequence[Bools] | None = None,
) -> PackedStates:
    """Pack states of texts, each float32[k, width], with pieces int32[k]; width is the same for all.

    The states of a model share a large part, with a few dimensions that would set the scale of every
    token: codes are of the difference to the center. It need not be exact. The scale is that of least
    squared error.

    center  float16[width]; None: the mean of these states
    begins  bool[k] of each text, see `PackedStates`; None: each is one passage
    Raises ValueError for no texts.
    """
    rows = np.concatenate(states)
    if center is None:
        center = mean_state(states)
    rows = rows - center.astype(np.float32)
    starts = np.cumsum([0, *map(len, states)], dtype=np.int64)
    codes, scale = _coded(rows)
    half = half_width(rows.shape[1])
    whole = np.full((rows.shape[0], 2 * half), ZERO, np.uint8)
    whole[:, : rows.shape[1]] = codes + ZERO
    return PackedStates(
        np.bitwise_or(whole[:, :half], whole[:, half:] << 4, dtype=np.uint8),
        scale.astype(np.float16),
        np.concatenate(pieces).astype(np.int32),
        starts,
        _first_tokens(starts) if begins is None else np.concatenate(begins),
        center,
    )


def _first_tokens(starts: Starts) -> Bools:
    """Whether each token is the first of its text, bool[t]."""
    first = np.zeros(int(starts[-1]), np.bool_)
    first[starts[:-1][np.diff(starts) > 0]] = True
    return first


def mean_state(states: Sequence[States]) -> Center:
    """The mean of the states of some texts, for `pack`; zeros without any token."""
    rows = np.concatenate(states)
    total = rows.sum(axis=0, dtype=np.float64)
    return np.asarray(total / max(rows.shape[0], 1), np.float16)


def unpacked(texts: PackedStates) -> States:
    """The states, float32[t, width], without compiled code."""
    halves = np.concatenate([texts.codes & 15, texts.codes >> 4], axis=1)
    out = halves[:, : texts.center.size].astype(np.float32) - np.float32(ZERO)
    out *= texts.scale.astype(np.float32)[:, None]
    out += texts.center.astype(np.float32)
    return np.ascontiguousarray(out)


def _coded(rows: States) -> tuple[npt.NDArray[np.int8], States]:
    """Codes int8[t, width] and scales float32[t] of least squared error."""
    codes = np.zeros(rows.shape, np.int8)
    scale, best = np.zeros(len(rows), np.float32), np.zeros(len(rows), np.float32)
    greatest = np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-30)
    for share in _SHARES:
        tried = np.rint(rows * (_GREATEST / share / greatest))
        np.clip(tried, _LEAST, _GREATEST, out=tried)
        product = np.einsum("ij,ij->i", rows, tried)
        length = np.maximum(np.einsum("ij,ij->i", tried, tried), 1)
        # The squared error is that of a zero vector less this
        explained = product * product / length
        better = explained > best
        codes[better], best[better] = tried[better], explained[better]
        scale[better] = (product / length)[better]
    return codes, scale


def half_width(width: int) -> int:
    """Bytes of a token's codes."""
    return (width + 1) // 2


def unpack(codes: Bytes, scale: States, out: States) -> None:
    """Write the states, less the center, to `out`.

    codes  uint8[t, half]
    scale  float32[t]
    out    float32[t, 2 * half]
    """
    half = codes.shape[1]
    for token in range(codes.shape[0]):
        factor = scale[token]
        for column in range(half):
            code = codes[token, column]
            out[token, column] = (np.float32(code & 15) - np.float32(8)) * factor
            out[token, half + column] = (np.float32(code >> 4) - np.float32(8)) * factor


def best_matches(products: States, starts: Starts, best: States, highest: States) -> None:
    """Write the best of each passage's tokens for each query token, and the best the other way round.

    products  float32[t, q]  cosines of tokens of texts with tokens of the query
    starts    int64[p + 1]   tokens of passage i: starts[i] .. starts[i + 1] - 1, at least one
    best      float32[p, q]  written
    highest   float32[t]     written; -2 without a query
    """
    count = products.shape[1]
    for passage in range(starts.size - 1):
        for column in range(count):
            best[passage, column] = np.float32(-2)
        for token in range(starts[passage], starts[passage + 1]):
            top = np.float32(-2)
            for column in range(count):
                value = products[token, column]
                top = max(top, value)
                best[passage, column] = max(best[passage, column], value)
            highest[token] = top
