"""The kernels as the interpreter runs them: for small inputs, until machine code is ready.

The functions are those that `compiled.py` compiles, so there is one source of each. Some
are NumPy expressions instead, because their loops take long even for a small soul: a
product for each dimension of each vector, and tables of 65,536 counts for each sort.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import numpy.typing as npt

from soulmem.kernels import (
    bm25,
    chains,
    hops,
    lookups,
    ordering,
    passing,
    pull,
    push,
    texts,
)
from soulmem.kernels.arrays import Float32s, Int64s
from soulmem.kernels.compiled import Kernels
from soulmem.kernels.csr import order_by_argsort
from soulmem.kernels.dots import Codes, Weights
from soulmem.kernels.token_codes import Bytes, States

_BLOCK = 4096  # rows made float32 at once: 6 MB of 384 dimensions, which fit the cache


def _open_pairs(lengths: Float32s, before: bm25.RowNumbers, out: Float32s) -> tuple[int, float]:
    size = max(lengths.size, before.size)
    tokens = np.zeros(size + 1, np.float32)  # the last is of no row
    tokens[: lengths.size] = lengths
    out.fill(np.nan)
    pairs = np.flatnonzero((tokens[: before.size] > 0) & (tokens[before] > 0))
    out[pairs] = 0
    total = tokens[pairs].sum(dtype=np.float64)
    return pairs.size, float(total + tokens[before[pairs]].sum(dtype=np.float64))


def _dots(codes: Codes, scale: Weights, query: Weights, out: Weights) -> None:
    for start in range(0, out.size, _BLOCK):
        rows = slice(start, start + _BLOCK)
        np.multiply(codes[rows].astype(np.float32) @ query, scale[rows], out=out[rows])


def _dots_of_two(
    codes: Codes,
    scale: Weights,
    out: Weights,
    more_codes: Codes,
    more_scale: Weights,
    more_out: Weights,
    query: Weights,
) -> None:
    """See `dots.dots_of_two`."""
    _dots(codes, scale, query, out)
    _dots(more_codes, more_scale, query, more_out)


def _mark_accessible_facts(table: npt.NDArray[np.int32], accessible: npt.NDArray[np.bool_]) -> None:
    """See `lookups.mark_accessible_facts`."""
    accessible[table[:, 0]] = accessible[table[:, 1]] & accessible[table[:, 2]]


def _mark_rows(
    begin: Int64s,
    end: Int64s,
    rows: npt.NDArray[np.int32],
    wanted: Int64s,
    out: npt.NDArray[np.bool_],
) -> None:
    """See `lookups.mark_rows`."""
    for i in range(begin.size):
        out[i] = np.isin(wanted, rows[begin[i] : end[i]])


def _take_pairs(
    pairs: Float32s,
    first: texts.RowNumbers,
    second: texts.RowNumbers,
    of_first: Float32s,
    of_second: Float32s,
) -> None:
    """See `texts.take_pairs`."""
    with_none = np.append(pairs, np.float32(np.nan))  # -1 is the last
    of_first[:], of_second[:] = with_none[first], with_none[second]


def _unpack_states(codes: Bytes, scale: Weights, out: States) -> None:
    """See `token_codes.unpack`."""
    half = codes.shape[1]
    np.multiply((codes & 15) - np.float32(8), scale[:, None], out=out[:, :half])
    np.multiply((codes >> 4) - np.float32(8), scale[:, None], out=out[:, half:])


def _best_matches(
    products: States, starts: npt.NDArray[np.int64], best: States, highest: Weights
) -> None:
    """See `token_codes.best_matches`."""
    highest[:] = products.max(axis=1, initial=-2)
    if starts.size > 1:
        best[:] = np.maximum.reduceat(products, starts[:-1], axis=0)


def _quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function without NumPy's warnings: as compiled, 0 / 0 is NaN."""

    @wraps(function)
    def call(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return call


INTERPRETED = Kernels(
    lay_out=_quiet(push.lay_out),
    mark_own=_quiet(push.mark_own),
    push=_quiet(push.push),
    transpose=_quiet(pull.transpose),
    pull=_quiet(pull.pull),
    best_chains=_quiet(chains.best_chains),
    dots_of_two=_dots_of_two,
    order_edges=order_by_argsort,
    bound_classes=_quiet(ordering.bound_classes),
    add_passed=_quiet(passing.add_passed),
    follow_hops=hops.follow_hops,
    add_words=_quiet(bm25.add_words),
    add_pairs=_quiet(bm25.add_pairs),
    link_rows=bm25.link_rows,
    open_pairs=_open_pairs,
    take_pairs=_take_pairs,
    fuse_texts=_quiet(texts.fuse_texts),
    add_walk=_quiet(texts.add_walk),
    measure=_quiet(texts.measure),
    follow=_quiet(lookups.follow),
    add_worth=_quiet(lookups.add_worth),
    find_tokens=_quiet(lookups.find_tokens),
    count_home=_quiet(lookups.count_home),
    take_home=_quiet(lookups.take_home),
    count_windows=_quiet(lookups.count_windows),
    mark_rows=_mark_rows,
    mark_accessible_facts=_mark_accessible_facts,
    unpack_states=_unpack_states,
    best_matches=_best_matches,
)


def interpreted(elements: int = 0) -> Kernels:
    """The interpreted kernels, whatever the size of the call: in the place of `warm.kernels`."""
    return INTERPRETED
