"""Who has a seat in the answer whatever the score?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import EdgeKind

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SeatParams:
    """How many seats are kept free, and for whom."""

    each: int = 2  # episodes, and facts, when there are any; design 4.4
    associated: float = 0.2  # of all seats, for what only association leads to; without them a fact that is
    # two steps away never enters the ten: eight to eleven memories that merely mention the cue come first
    hops: int = 2  # fewer steps from the cue are no association: the cue names it, or its text answers
    crowd: int = 50  # a memory joined to more than so many others leads nowhere in particular


def is_association(
    kinds: Sequence[EdgeKind], degrees: Sequence[int], params: SeatParams | None = None
) -> bool:
    """Whether a chain from a seed to a memory is a way of thoughts, not of crowds or mere sequence.

    kinds    of its edges, first to last
    degrees  how many arcs leave each memory passed between the two ends, len(kinds) - 1
    """
    p = params or SeatParams()
    if len(kinds) < p.hops or EdgeKind.NEXT in kinds:
        return False
    return max(degrees, default=0) <= p.crowd


def reserved(
    score: Floats,
    walked: Floats,
    associated: Bools,
    episode: Bools,
    fact: Bools,
    max_items: int,
    params: SeatParams | None = None,
) -> tuple[list[int], list[int]]:
    """Positions of candidates that get a seat before all others: by association, and by kind.

    score       float32[m]  by which they rank; what is not finite gets no seat
    walked      float32[m]  how often the walk is found at each; ranks the associated
    associated  bool[m]     see `is_association`; a seed is none
    episode     bool[m]     kinds with seats of their own
    fact        bool[m]
    """
    p = params or SeatParams()
    open_to = np.isfinite(score)
    seats = min(max_items, round(p.associated * max_items))
    by_way = _best(walked, associated & open_to & (walked > 0), seats)
    by_kind: list[int] = []
    for kind in (episode, fact):
        have = sum(bool(kind[at]) for at in by_way)
        others = kind & open_to
        others[by_way] = False
        by_kind += _best(score, others, max(0, p.each - have))
    return by_way, by_kind[: max(0, max_items - len(by_way))]


def _best(value: Floats, among: Bools, count: int) -> list[int]:
    rows = np.flatnonzero(among)
    return [int(at) for at in rows[np.lexsort((rows, -value[rows]))][:count]]
