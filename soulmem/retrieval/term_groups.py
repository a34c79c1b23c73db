"""Groups of terms, such as topics, as steps between their terms when activation spreads.

A group occurs in each window with two of its terms at least. So what joins it with a term is counted over the
visible rows, as between two terms: a group that a branch has not learned joins nothing there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from soulmem.graph.cooccurrence import Associates, npmi
from soulmem.graph.incidence import Incidence
from soulmem.graph.windows import Windows
from soulmem.kernels.arrays import Bools, Int64s

_JOINT = 2  # terms of a group that make a window one of the group's


class TermGroups:
    """How strongly groups and their terms are joined in visible rows. Group i has the number `first` + i."""

    def __init__(
        self,
        incidence: Incidence,
        groups: Sequence[Int64s],
        visible: Bools,
        windows: Windows | None = None,
    ) -> None:
        """`groups`: for each group the numbers of its terms, int64[k], distinct. Without windows each row is
        one.
        """
        if windows is None:
            windows = Windows.single(visible.size)
        self.first = incidence.terms
        self._members: list[Associates] = []
        self._groups_of: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        self._met_in: list[int] = []  # windows that each has
        for group, terms in enumerate(groups):
            members, met_in = _counted(incidence, terms, visible, windows)
            self._members.append(members)
            self._met_in.append(met_in)
            for place, term in enumerate(members.terms.tolist()):
                self._groups_of[term].append((group, place))

    @property
    def size(self) -> int:
        """How many groups there are."""
        return len(self._members)

    def members(self, number: int) -> Associates:
        """The terms that are joined with the group of this number."""
        return self._members[number - self.first]

    def with_groups(self, term: int, met: Associates) -> Associates:
        """The associates of a term with the groups that it is joined with."""
        of = self._groups_of.get(term)
        if not of:
            return met
        strength = [float(self._members[g].strength[place]) for g, place in of]
        pair = [int(self._members[g].pair[place]) for g, place in of]
        windows = [self._met_in[group] for group, _ in of]
        numbers = [self.first + group for group, _ in of]
        return Associates(
            terms=np.append(met.terms, numbers),
            strength=np.append(met.strength, strength),
            pair=np.append(met.pair, pair),
            windows=np.append(met.windows, windows),
        )


def _counted(
    incidence: Incidence, terms: Int64s, visible: Bools, windows: Windows
) -> tuple[Associates, int]:
    """The terms that occur in windows of their group, and how many windows it has."""
    place, rows = incidence.rows_of(terms, visible)
    n = windows.of.size
    met = place * n + windows.of[rows]
    met.sort(kind="stable")  # fast, as rows mostly ascend
    met = met[np.flatnonzero(np.diff(met, prepend=-1))]
    place, window = np.divmod(met, n) if n else (met, met)
    of_group = np.bincount(window, minlength=n) >= _JOINT
    pair = np.bincount(place[of_group[window]], minlength=terms.size)
    alone = np.bincount(place, minlength=terms.size)
    many = int(np.count_nonzero(of_group))
    _, total = incidence.window_counts(visible, windows)
    strength = npmi(pair, alone, np.full(terms.size, many), total)
    joined = strength > 0
    members = Associates(terms[joined], strength[joined], pair[joined], alone[joined])
    return members, many
