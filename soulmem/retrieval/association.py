"""Spreading activation over terms that occur together: from the terms of a query to associated memories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from soulmem.graph.cooccurrence import Associates, CooccurrenceParams, all_associates
from soulmem.graph.incidence import Incidence
from soulmem.graph.windows import Windows
from soulmem.kernels.arrays import Bools, Float64s, Int64s
from soulmem.kernels.spread import Activation, Links, SpreadParams, spread
from soulmem.retrieval.term_groups import TermGroups

_NONE = np.zeros(0, np.int64)
# Associates of a term whose own activation is looked at, the strongest: all of them would take ten times as long
# in 100,000 texts, and a quarter more of next to nothing changes nothing.
_RAISED = 16

# How active each of these terms is by itself, float64, 0..1: often met lately, or not.
BaseActivation = Callable[[Int64s], Float64s]
# For each of these terms the terms that a relation joins it with, and the weight of that, 0..1.
Related = Callable[[Sequence[int]], Sequence[Mapping[int, float]]]


@dataclass(frozen=True, slots=True)
class AssociationParams:
    """How far activation spreads, and which co-occurrences count."""

    spread: SpreadParams = field(default_factory=SpreadParams)
    cooccurrence: CooccurrenceParams = field(default_factory=CooccurrenceParams)
    # terms that pass energy on, at most; later ones are far from the query
    most_sources: int = 64
    # 0..1, how much more a term receives that is fully active by itself. Up to .5 the learned associations
    # and the role-play chats of the page on recall score the same.
    base: float = 0.25


@dataclass(frozen=True, slots=True)
class ActiveTerms:
    """The active terms and groups of terms; arrays of one length, the terms of the query first.

    terms     int64[k]    numbers; from `first_group` on they are of groups
    energy    float64[k]  > 0
    joint_windows  int64[k]  windows that contain it and its parent; 0 for a term of the query
    parent    int64[k]    position of the term that first gave it energy; -1 for a term of the query
    windows   int64[k]    windows that contain it
    seeds     how many of them are terms of the query
    total     windows that contain any term
    """

    terms: Int64s
    energy: Float64s
    joint_windows: Int64s
    parent: Int64s
    windows: Int64s
    seeds: int
    total: int
    first_group: int
    activation: Activation

    @property
    def pull(self) -> Float64s:
        """Score that each term gives to the rows that contain it: energy times rarity, float64[k], > 0;
        0 of a group.
        """
        rarity = np.log1p(self.total / self.windows) / np.log1p(self.total)
        return np.where(self.terms < self.first_group, self.energy * rarity, 0.0)

    def chain(self, position: int) -> list[int]:
        """Positions of the terms from one of the query to the one at `position`."""
        path = [position]
        while self.parent[path[-1]] >= 0:
            path.append(int(self.parent[path[-1]]))
        return path[::-1]


@dataclass(frozen=True, slots=True)
class AssociatedRows:
    """Rows reached only over a learned association, best first, each by its strongest term.

    rows           int64[m]
    term_position  int64[m]    that term, as a position in `ActiveTerms.terms`
    pull           float64[m]  of that term, falling
    direct_rows    int64[d]    visible rows that contain a term of the query
    """

    rows: Int64s
    term_position: Int64s
    pull: Float64s
    direct_rows: Int64s


def spread_energy(
    incidence: Incidence,
    seeds: Int64s,
    share: Float64s,
    visible: Bools,
    params: AssociationParams | None = None,
    related: Related | None = None,
    base: BaseActivation | None = None,
    groups: Sequence[Int64s] = (),
    windows: Windows | None = None,
) -> ActiveTerms | None:
    """Spread energy from these terms to the terms that occur with them in windows of visible rows.

    seeds    int64[k], distinct
    share    float64[k], 0..1, > 0  share of the starting energy
    related  relations pass energy on, too; a term that is joined both ways by the stronger of them
    base     raises what leads from a term to one that is active by itself, by the share `params.base` at most
    groups   pass energy on between their terms; numbers of terms, int64[m] each, distinct
    windows  rows that count as one; None: each by itself

    None when no visible row contains any of them. Co-occurrences of a term are counted only when its energy
    passes the threshold.
    """
    p = params or AssociationParams()
    if windows is None:
        windows = Windows.single(visible.size)
    counts, total = incidence.window_counts(visible, windows)
    met_in = counts[seeds].astype(np.int64)
    occurring = met_in > 0
    if not occurring.any():
        return None
    seeds, share, met_in = seeds[occurring], share[occurring], met_in[occurring]
    term_groups = TermGroups(incidence, groups, visible, windows)
    sources = _Sources(incidence, visible, windows, p, related, base, term_groups)
    # of a term among those that energy may come to
    place = np.full(term_groups.first + term_groups.size, -1, np.int64)
    place[seeds] = np.arange(seeds.size)
    terms, met = seeds, dict[int, Associates]()
    while True:
        active = spread(_links(terms.size, place, met), np.arange(seeds.size), p.spread, share)
        fresh = [
            term
            for term in np.flatnonzero(active.energy > p.spread.threshold).tolist()
            if term not in met
        ]
        fresh.sort(key=lambda term: (-active.energy[term], sources.key(int(terms[term]))))
        fresh = fresh[: max(0, p.most_sources - len(met))]
        if not fresh:
            first_group = term_groups.first
            return _active_terms(terms, place, met, active, met_in, total, first_group)
        associates = sources.associates(terms[fresh].tolist())
        met.update(zip(fresh, associates, strict=True))
        for associate in associates:
            new = associate.terms[place[associate.terms] < 0]
            place[new] = np.arange(terms.size, terms.size + new.size)
            terms = np.concatenate([terms, new])


@dataclass(eq=False)
class _Sources:
    """What terms and groups that fire pass their energy on to."""

    incidence: Incidence
    visible: Bools
    windows: Windows
    params: AssociationParams
    related: Related | None
    base: BaseActivation | None
    groups: TermGroups

    def key(self, number: int) -> str:
        """What orders terms of equal energy; groups come first."""
        is_group = number >= self.groups.first
        return "" if is_group else self.incidence.key(number)

    def associates(self, numbers: Sequence[int]) -> list[Associates]:
        """For each of these numbers what its energy goes to."""
        terms = [number for number in numbers if number < self.groups.first]
        of_terms = dict(zip(terms, self._of_terms(terms), strict=True))
        return [
            self.groups.with_groups(number, of_terms[number])
            if number in of_terms
            else self.groups.members(number)
            for number in numbers
        ]

    def _of_terms(self, terms: Sequence[int]) -> list[Associates]:
        """The terms that each occurs with or is related to, stronger where these are active by themselves."""
        if not terms:
            return []
        seen = self.visible, self.params.cooccurrence, self.windows
        found = all_associates(self.incidence, terms, *seen)
        if self.related is not None:
            counts, _ = self.incidence.window_counts(self.visible, self.windows)
            found = [
                _with_related(met, weights, counts)
                for met, weights in zip(found, self.related(terms), strict=True)
            ]
        if self.base is not None and self.params.base > 0:
            found = _by_activation(found, self.base, self.params.base)
        return found


def _with_related(
    met: Associates, weights: Mapping[int, float], counts: NDArray[np.int32]
) -> Associates:
    """The terms met with, and the related ones that some visible row has."""
    strength = met.strength.copy()
    new: dict[int, float] = {}
    for term, weight in weights.items():
        places = np.flatnonzero(met.terms == term)
        if places.size:
            strength[places] = np.maximum(strength[places], weight)
        elif counts[term] > 0:
            new[term] = weight
    terms = np.fromiter(new, np.int64, len(new))
    return Associates(
        terms=np.concatenate([met.terms, terms]),
        strength=np.concatenate([strength, np.fromiter(new.values(), float, len(new))]),
        pair=np.concatenate([met.pair, np.zeros_like(terms)]),
        windows=np.concatenate([met.windows, counts[terms].astype(np.int64)]),
    )


def _by_activation(
    associates: Sequence[Associates], base: BaseActivation, share: float
) -> list[Associates]:
    """The associates, stronger where a term is active by itself."""
    raised = [np.argsort(-met.strength, kind="stable")[:_RAISED] for met in associates]
    terms = [met.terms[own] for met, own in zip(associates, raised, strict=True)]
    distinct, place = np.unique(np.concatenate([_NONE, *terms]), return_inverse=True)
    factor = (1.0 + share * base(distinct))[place]
    out, start = [], 0
    for met, own in zip(associates, raised, strict=True):
        strength = met.strength.copy()
        strength[own] *= factor[start : start + own.size]
        start += own.size
        out.append(replace(met, strength=np.minimum(strength, 1.0)))
    return out


def associated_rows(
    active: ActiveTerms,
    incidence: Incidence,
    visible: Bools,
    joint_windows: int,
    least_pull: float,
    pull_share: float,
) -> AssociatedRows:
    """Rows without a term of the query, each by the strongest associated term that it contains.

    joint_windows  least windows that a term shares with its parent
    least_pull     least pull of the best term; every other term needs the share `pull_share` of it
    """
    pull = active.pull
    pull[: active.seeds] = 0.0
    pull[active.joint_windows < joint_windows] = 0.0
    best = float(pull.max(initial=0.0))
    if best < least_pull or best <= 0:
        return AssociatedRows(_NONE, _NONE, np.zeros(0), _NONE)
    strong = np.flatnonzero((pull > 0) & (pull >= pull_share * best))
    candidates = np.append(np.arange(active.seeds), strong)
    term, rows = incidence.rows_of(active.terms[candidates], visible)
    direct = np.unique(rows[term < active.seeds])
    led = (term >= active.seeds) & ~np.isin(rows, direct)
    rows, place = rows[led], candidates[term[led]]
    order = np.lexsort((rows, -pull[place]))
    _, first = np.unique(rows[order], return_index=True)
    order = order[np.sort(first)]
    return AssociatedRows(rows[order], place[order], pull[place[order]], direct)


def row_energy(active: ActiveTerms, incidence: Incidence, visible: Bools) -> Float64s:
    """Activation of each row: the sum of the pulls of its terms, float64[n], >= 0."""
    term, rows = incidence.rows_of(active.terms, visible)
    return np.bincount(rows, weights=active.pull[term], minlength=visible.size).astype(np.float64)


def _links(count: int, place: Int64s, met: Mapping[int, Associates]) -> Links:
    source = [
        _NONE,
        *(np.full(associates.terms.size, term) for term, associates in met.items()),
    ]
    target = [_NONE, *(place[associates.terms] for associates in met.values())]
    weight = np.concatenate([np.zeros(0), *(associates.strength for associates in met.values())])
    return Links.of(count, np.concatenate(source), np.concatenate(target), weight)


def _active_terms(
    terms: Int64s,
    place: Int64s,
    met: Mapping[int, Associates],
    active: Activation,
    windows: Int64s,
    total: int,
    first_group: int,
) -> ActiveTerms:
    """The result, without terms that got no energy."""
    term_windows, joint_windows = (
        np.append(windows, np.zeros(terms.size - windows.size, np.int64)),
        np.zeros_like(terms),
    )
    for own, associates in met.items():
        positions = place[associates.terms]
        term_windows[positions] = associates.windows
        first = active.parent[positions] == own
        joint_windows[positions[first]] = associates.pair[first]
    kept = np.flatnonzero(active.energy > 0)
    among = np.full(terms.size + 1, -1, np.int64)  # the last stands for none
    among[kept] = np.arange(kept.size)
    return ActiveTerms(
        terms=terms[kept],
        energy=active.energy[kept],
        joint_windows=joint_windows[kept],
        parent=among[active.parent[kept]],
        windows=term_windows[kept],
        seeds=windows.size,
        total=total,
        first_group=first_group,
        activation=active,
    )
