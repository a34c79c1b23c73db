"""Which passages become active when energy spreads from the terms of a cue to what these are met with?"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from soulmem.graph.cooccurrence import Associates, CooccurrenceParams, associates
from soulmem.graph.incidence import Incidence
from soulmem.kernels.spread import Activation, Links, SpreadParams, spread

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SpreadingParams:
    """How far energy goes, and over what."""

    spread: SpreadParams = field(default_factory=SpreadParams)
    cooccurrence: CooccurrenceParams = field(default_factory=CooccurrenceParams)
    fired: int = 64  # terms that pass energy on, at most: what fires later is far from the cue


@dataclass(frozen=True, slots=True)
class Active:
    """The active terms, and the passages they lead to.

    terms     int64[k]    the seeds first
    energy    float64[k]  > 0
    strength  float64[k]  of the link that first brought the energy, 0..1; 1 for a seed
    met       int64[k]    windows that hold both it and what first brought it energy; 0 for a seed
    parent    int64[k]    place in `terms` of what brought it; -1 for a seed
    windows   int64[k]    known rows that hold each
    rows      int64[m]    rows that hold an active term, with ..
    place     int64[m]    .. the place of that term in `terms`, ascending
    total     known rows that hold any term
    """

    terms: Ints
    energy: Floats
    strength: Floats
    met: Ints
    parent: Ints
    windows: Ints
    rows: Ints
    place: Ints
    total: int
    seeds: int  # how many there are
    activation: Activation

    @property
    def specificity(self) -> Floats:
        """How much a term picks out, float64[k], 0..1: 1 in one window, near 0 in all of them."""
        return np.asarray(np.log1p(self.total / np.maximum(self.windows, 1)) / np.log1p(max(self.total, 1)))

    @property
    def direct(self) -> Ints:
        """The known rows that hold a term of the cue."""
        return np.unique(self.rows[self.place < self.seeds])

    def chain(self, place: int) -> list[int]:
        """The terms that led to the one at `place`, as places in `terms`, the seed first."""
        way = [place]
        while self.parent[way[-1]] >= 0:
            way.append(int(self.parent[way[-1]]))
        return way[::-1]


def spread_from(
    incidence: Incidence, seeds: Ints, share: Floats, known: Bools, params: SpreadingParams | None = None
) -> Active:
    """Let energy spread from these terms over what terms are met with in the known rows.

    seeds  int64[k]        distinct terms
    share  float64[k], 0..1, > 0  of the starting energy that each gets

    What a term is met with is counted when it fires, so the graph is only as large as the energy comes far.
    """
    p = params or SpreadingParams()
    local: dict[int, int] = {int(term): at for at, term in enumerate(seeds)}
    met: dict[int, Associates] = {}
    while True:
        links = _links(local, met)
        active = spread(links, np.arange(seeds.size), p.spread, share)
        due = active.energy > p.spread.threshold
        fresh = [term for term, at in local.items() if due[at] and term not in met]
        fresh.sort(key=lambda term: (-active.energy[local[term]], incidence.key(term)))
        fresh = fresh[: max(0, p.fired - len(met))]
        if not fresh:
            break
        for term in fresh:
            met[term] = associates(incidence, term, known, p.cooccurrence)
            for other in met[term].terms.tolist():
                local.setdefault(other, len(local))
    return _told(incidence, local, met, active, known, seeds.size)


def _links(local: dict[int, int], met: dict[int, Associates]) -> Links:
    none = np.zeros(0, np.int64)
    source = [none, *(np.full(m.terms.size, local[term]) for term, m in met.items())]
    target = [none, *(np.asarray([local[t] for t in m.terms.tolist()], np.int64) for m in met.values())]
    weight = np.concatenate([np.zeros(0), *(m.strength for m in met.values())])
    return Links.of(len(local), np.concatenate(source), np.concatenate(target), weight)


def _told(
    incidence: Incidence,
    local: dict[int, int],
    met: dict[int, Associates],
    active: Activation,
    known: Bools,
    seeds: int,
) -> Active:
    """The result in terms of the incidence, without what got no energy."""
    terms = np.fromiter(local, np.int64, len(local))
    kept = np.flatnonzero(active.energy > 0)
    at = np.full(terms.size, -1, np.int64)
    at[kept] = np.arange(kept.size)
    parent = active.parent[kept]
    strength, together = np.ones(kept.size), np.zeros(kept.size, np.int64)
    for reached in np.flatnonzero(parent >= 0).tolist():
        of = met[int(terms[parent[reached]])]
        which = np.flatnonzero(of.terms == terms[kept[reached]])[0]
        strength[reached], together[reached] = of.strength[which], of.pair[which]
    place, rows = incidence.rows_of(terms[kept], known)
    return Active(
        terms=terms[kept],
        energy=active.energy[kept],
        strength=strength,
        met=together,
        parent=np.where(parent >= 0, at[parent], -1),
        windows=np.bincount(place, minlength=kept.size),
        rows=rows,
        place=place,
        total=incidence.windows(known),
        seeds=seeds,
        activation=active,
    )


@dataclass(frozen=True, slots=True)
class Called:
    """Rows that only a learned association leads to, best first, each by its strongest term.

    rows   int64[m]
    place  int64[m]    that term, as a place in `Active.terms`
    pull   float64[m]  > 0, its energy times its specificity, falling
    """

    rows: Ints
    place: Ints
    pull: Floats


def called(active: Active, may: Bools, met: int = 1) -> Called:
    """Rows that hold no term of the cue, by the strongest term that the cue's terms led to.

    may  bool[n]  rows that may be named
    met  windows in which a term must have been met with what led to it
    """
    pull = active.energy * active.specificity
    direct = np.zeros(may.size, np.bool_)
    direct[active.rows[active.place < active.seeds]] = True
    learned = (active.place >= active.seeds) & (active.met[active.place] >= met)
    which = np.flatnonzero(learned & ~direct[active.rows])
    rows, place = active.rows[which], active.place[which]
    order = np.lexsort((rows, -pull[place]))
    rows, place = rows[order], place[order]
    _, first = np.unique(rows, return_index=True)
    first.sort()
    first = first[may[rows[first]]]
    return Called(rows[first], place[first], pull[place[first]])
