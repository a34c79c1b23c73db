"""How well does a vector fit each row of a table of bytes?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int8]
Weights = npt.NDArray[np.float32]

_BLOCK = 4096  # rows made float32 at a time: 6 MB of 384 dimensions, which stay in the processor's cache


def dots(codes: Codes, scale: Weights, query: Weights, out: Weights) -> None:
    """scale * (codes @ query) row by row; a plain function, compiled as a part of `dots_of_two`.

    codes  int8[n, dim], scale float32[n], NaN where there is no row
    query  float32[dim]
    out    float32[n], written; NaN where there is no row
    """
    for row in range(out.size):
        one = scale[row]
        if one == one:
            total = np.float32(0)
            for at in range(query.size):
                total += np.float32(codes[row, at]) * query[at]
            out[row] = total * one
        else:
            out[row] = one


def dots_of_two(
    codes: Codes,
    scale: Weights,
    out: Weights,
    more_codes: Codes,
    more_scale: Weights,
    more_out: Weights,
    query: Weights,
) -> None:
    """`dots` of two tables; compiled, in one go: between two calls a thread waits for its turn."""
    dots(codes, scale, query, out)
    dots(more_codes, more_scale, query, more_out)


def plain_dots(codes: Codes, scale: Weights, query: Weights, out: Weights) -> None:
    """The same without compiled code, in a third of the time that float32 rows would take to be read."""
    for start in range(0, out.size, _BLOCK):
        rows = slice(start, start + _BLOCK)
        np.multiply(codes[rows].astype(np.float32) @ query, scale[rows], out=out[rows])
