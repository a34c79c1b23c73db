"""Association strength of two terms from how often they occur in the same window: a text, or an exchange.

Counted on request over the visible rows that hold a term: no counts can become stale, and
no branch sees the counts of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from soulmem.graph.incidence import Incidence
from soulmem.graph.windows import Windows
from soulmem.kernels.arrays import Bools, Float64s, Int64s

_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class CooccurrenceParams:
    """Limit on the co-occurring terms that are scored."""

    most: int = 256  # of a term met with more, those met most often; whole classes of equals, so maybe fewer


@dataclass(frozen=True, slots=True)
class Associates:
    """Terms that co-occur with one term; arrays of one length."""

    terms: Int64s
    strength: Float64s  # 0..1, > 0
    pair: Int64s  # windows that hold both
    windows: Int64s  # windows that hold it


def npmi(pair: Int64s, first: Int64s, second: Int64s, total: int) -> Float64s:
    """Normalised pointwise mutual information of two terms, 0..1, discounted for small counts.

        ln(pair * total / (first * second)) / -ln(pair / total)  *  pair / (pair + 1) * m / (m + 1)

    with m = min(first, second); 0 where it is negative, where pair is 0, and for terms that are
    in every window. Norm: Bouma 2009. Discount: Pantel, Lin 2002,
    https://doi.org/10.1145/775047.775138

    pair    int64[k]  windows that hold both, <= first, second
    first   int64[k]  windows that hold the first term
    second  int64[k]  windows that hold the second term
    total   number of windows
    """
    f, a, b = (np.maximum(count, 1).astype(np.float64) for count in (pair, first, second))
    rare = -np.log(f / max(total, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        norm = np.where(rare > 0, np.log(f * total / (a * b)) / rare, 0.0)
    least = np.minimum(a, b)
    discounted = norm * (f / (f + 1)) * (least / (least + 1))
    return np.where(pair > 0, np.clip(discounted, 0.0, 1.0), 0.0)


def associates(
    incidence: Incidence,
    term: int,
    visible: Bools,
    params: CooccurrenceParams | None = None,
    windows: Windows | None = None,
) -> Associates:
    """Terms that co-occur with `term` in the visible rows. Time: proportional to the rows of its windows."""
    return all_associates(incidence, [term], visible, params, windows)[0]


def all_associates(
    incidence: Incidence,
    terms: Sequence[int],
    visible: Bools,
    params: CooccurrenceParams | None = None,
    windows: Windows | None = None,
) -> list[Associates]:
    """`associates` of several distinct terms, with one pass over the visible rows. Without windows each row is
    a window of its own.
    """
    p = params or CooccurrenceParams()
    if not terms:
        return []
    if windows is None:
        windows = Windows.single(visible.size)
    of = np.asarray(terms, np.int64)
    counts, total = incidence.window_counts(visible, windows)
    place, rows = incidence.rows_of(of, visible)
    asked = windows.of[rows].astype(np.int64)
    ends = np.searchsorted(place, np.arange(of.size + 1))
    others, pairs = [], []
    for index, term in enumerate(of.tolist()):
        of_term = asked[ends[index] : ends[index + 1]]
        met, often, _ = incidence.terms_in(of_term, visible, windows)
        kept = np.flatnonzero(met != term)
        kept = kept[_most(often[kept], p.most)]
        others.append(met[kept])
        pairs.append(often[kept])
    many = [met.size for met in others]
    other, pair = np.concatenate([_NONE, *others]), np.concatenate([_NONE, *pairs])
    own = np.repeat(counts[of].astype(np.int64), many)
    met_in = counts[other].astype(np.int64)
    strength = npmi(pair, own, met_in, total)
    out = []
    for met in np.split(np.arange(other.size), np.cumsum(many)[:-1]):
        there = met[strength[met] > 0]
        out.append(Associates(other[there], strength[there], pair[there], met_in[there]))
    return out


def _most(often: Int64s, most: int) -> Int64s | slice:
    """Indices of the most frequent terms, at most `most`; terms of equal count stay together."""
    if often.size <= most:
        return slice(None)
    floor = np.partition(often, -most)[-most]
    at_least: Bools = often >= floor
    return np.flatnonzero(at_least if np.count_nonzero(at_least) == most else often > floor)
