"""How strongly do two terms belong together, by how often they are met in one window?

A window is one text: what was said in one breath. Everything is counted when it is asked for, over the rows
that hold the term and may be seen, so that no count is ever stale and no branch sees another's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.graph.incidence import Incidence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class CooccurrenceParams:
    """Which of the terms that a term is met with count."""

    most: int = 256  # of a term met with more, those met most often; whole classes of equals, so maybe fewer


@dataclass(frozen=True, slots=True)
class Associates:
    """What one term is met with, and how strongly it belongs to it; arrays of one length."""

    terms: Ints
    strength: Floats  # 0..1, > 0
    pair: Ints  # windows that hold both
    windows: Ints  # windows that hold it


def npmi(pair: Ints, first: Ints, second: Ints, total: int) -> Floats:
    """Normalised pointwise mutual information of two terms, 0..1, discounted where counts are small.

        ln(pair * total / (first * second)) / -ln(pair / total)  *  pair / (pair + 1) * m / (m + 1)

    with m = min(first, second); 0 where it is negative or nothing was counted. What is in every window tells
    nothing: 0. Bouma 2009 for the norm; the discount is that of Pantel, Lin 2002,
    https://doi.org/10.1145/775047.775138

    pair    int64[k]  windows that hold both, <= first, second
    first   int64[k]  windows that hold the one
    second  int64[k]  windows that hold the other
    total   windows
    """
    f, a, b = (
        np.maximum(count, 1).astype(np.float64) for count in (pair, first, second)
    )
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
) -> Associates:
    """What the term is met with in the known rows. Costs what its own rows cost."""
    return all_associates(incidence, [term], visible, params)[0]


def all_associates(
    incidence: Incidence,
    terms: Sequence[int],
    visible: Bools,
    params: CooccurrenceParams | None = None,
) -> list[Associates]:
    """The same of several distinct terms: the known rows are looked at once."""
    p = params or CooccurrenceParams()
    of = np.asarray(terms, np.int64)
    counts, total = incidence.counts(visible), incidence.windows(visible)
    place, rows = incidence.rows_of(of, visible)
    ends = np.searchsorted(place, np.arange(of.size + 1))
    others, pairs = [], []
    for index, term in enumerate(of.tolist()):
        met, often = incidence.terms_in(rows[ends[index] : ends[index + 1]])
        kept = np.flatnonzero(met != term)
        kept = kept[_most(often[kept], p.most)]
        others.append(met[kept])
        pairs.append(often[kept])
    many = [met.size for met in others]
    other, pair = np.concatenate([_NONE, *others]), np.concatenate([_NONE, *pairs])
    windows = counts[other].astype(np.int64)
    strength = npmi(pair, np.repeat(np.diff(ends), many), windows, total)
    out = []
    for met in np.split(np.arange(other.size), np.cumsum(many)[:-1]):
        there = met[strength[met] > 0]
        out.append(
            Associates(other[there], strength[there], pair[there], windows[there])
        )
    return out


def _most(often: Ints, most: int) -> Ints | slice:
    """Which of the terms that are met count, of very many those met most often; whole classes of equals."""
    if often.size <= most:
        return slice(None)
    floor = np.partition(often, -most)[-most]
    at_least: Bools = often >= floor
    return np.flatnonzero(
        at_least if np.count_nonzero(at_least) == most else often > floor
    )
