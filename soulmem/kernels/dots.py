"""Dot products of a query vector with tables of byte-coded vectors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int8]
Weights = npt.NDArray[np.float32]


def dots(codes: Codes, scale: Weights, query: Weights, out: Weights) -> None:
    """out[row] = scale[row] * (codes[row] @ query).

    codes  int8[n, dim]
    scale  float32[n], NaN where there is no vector
    query  float32[dim]
    out    float32[n], written; NaN where there is no vector
    """
    for row in range(out.size):
        row_scale = scale[row]
        if row_scale == row_scale:
            total = np.float32(0)
            for column in range(query.size):
                total += np.float32(codes[row, column]) * query[column]
            out[row] = total * row_scale
        else:
            out[row] = row_scale


def dots_of_two(
    codes: Codes,
    scale: Weights,
    out: Weights,
    more_codes: Codes,
    more_scale: Weights,
    more_out: Weights,
    query: Weights,
) -> None:
    """`dots` of two tables in one call: between two calls the thread would wait for the GIL."""
    dots(codes, scale, query, out)
    dots(more_codes, more_scale, query, more_out)
