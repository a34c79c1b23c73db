"""Reserved slots: rows that a recall includes whatever their score, and their places in its order."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.kernels.arrays import Float32s
from soulmem.retrieval.association_paths import AssociationPaths
from soulmem.retrieval.best import best_rows
from soulmem.retrieval.diversity import RelativeSimilarity

_TEN = 10


@dataclass(frozen=True, slots=True)
class ReservedSlotParams:
    """How many slots are reserved, and for which rows."""

    of_part: int = 2  # for each question of a query that asks several
    # Share of all slots for rows reached only by association. Without them a fact two steps away is never among
    # ten, as eight to eleven memories that only mention the query come first. Three of ten cost HotpotQA 3
    # points of R@10 and no other measured set anything.
    associated: float = 0.3
    hops: int = 2  # least distance from the query in arcs
    # Where the rarest name of the query is in more than `common` memories, at most `front` rows whose path has
    # this `directness` follow right behind the best row.
    common: int = 20
    directness: float = 0.3
    front: int = 4
    # A learned association gets a slot when its term shares at least `joint_windows` windows with its parent
    # and has at least this `pull`. .05 keeps 19 of 20 associations of two shared windows beside four rivals,
    # and reserves nothing for role-play queries: there such a pair pulls .01 to .04, and slots for it cost 8
    # points of R@10.
    joint_windows: int = 2
    pull: float = 0.05
    # 0..1, least pull of another association, as a share of the strongest
    pull_share: float = 0.5
    # weight of the difference among learned associations; .25 to 1 score alike
    novelty: float = 0.5


@dataclass(frozen=True, slots=True)
class ReservedSlots:
    """Rows that are selected before all others."""

    front: tuple[int, ...]  # placed right behind the best by score, in this order
    behind: tuple[int, ...]  # placed by their score, but in this order among themselves


def associated_places(places: int, params: ReservedSlotParams) -> int:
    """How many of so many places are for what only association leads to.

    None of two: one would be half, and the second best text says more.
    """
    return round(params.associated * places) if places > 2 else 0


def association_slots(
    score: Float32s,
    paths: AssociationPaths,
    document_frequency: NDArray[np.int64],
    max_items: int,
    params: ReservedSlotParams | None = None,
) -> ReservedSlots:
    """Slots for rows at least `hops` associations away from the query and not among the first ten by score.

    score               float32[n]  rank score; rows that are not finite get no slot
    document_frequency  int64[k]    memories that mention each name of the query. Without a name nothing is
                                    reserved: associations of the texts alone cost role-play queries 3 to 9
                                    points of R@10
    """
    p = params or ReservedSlotParams()
    named = document_frequency[document_frequency > 0]
    if not named.size or max_items < 1:
        return ReservedSlots((), ())
    rows = paths.reached
    is_far = (paths.hops[rows] >= p.hops) & (paths.flow[rows] > 0)
    eligible = rows[is_far & np.isfinite(score[rows])]
    eligible = eligible[np.lexsort((eligible, -paths.flow[eligible]))]
    front: list[int] = []
    if named.min() > p.common:
        front = [int(row) for row in eligible[paths.directness[eligible] >= p.directness]]
        front = front[: min(p.front, max_items - 1)]
    first = min(max_items, _TEN)
    anyway = {*best_rows(score, first).tolist(), *front}
    reserved = associated_places(first, p)
    free = max(0, reserved - len(anyway.intersection(eligible.tolist())))
    free = min(free + round(p.associated * (max_items - first)), max_items - len(front))
    behind = [int(row) for row in eligible if int(row) not in anyway][:free]
    return ReservedSlots(tuple(front), tuple(behind))


def learned_slots(
    pull: NDArray[np.float64],
    vectors: Float32s,
    selected: int,
    places: int,
    params: ReservedSlotParams | None = None,
) -> list[int]:
    """Slots for rows of learned associations, as positions in `pull`, in order of selection.

    pull     float64[m]            > 0, falling
    vectors  float32[told + m, d]  unit rows of what is selected anyway, then of these; NaN: similarity 0

    Maximal marginal relevance: among similar pulls the row that differs most from the selected ones first.
    """
    p = params or ReservedSlotParams()
    alike = RelativeSimilarity(vectors)
    repeats = np.zeros(pull.size, np.float32)
    for told in range(selected):
        repeats = np.maximum(repeats, alike.to(told)[selected:])
    strength = pull / pull.max(initial=1e-9)
    available = np.ones(pull.size, np.bool_)
    out: list[int] = []
    while len(out) < places and available.any():
        gain = np.where(available, strength - p.novelty * repeats, -np.inf)
        best = int(np.argmax(gain))
        out.append(best)
        available[best] = False
        repeats = np.maximum(repeats, alike.to(selected + best)[selected:])
    return out


def with_learned_slots(slots: ReservedSlots, learned: Sequence[int]) -> ReservedSlots:
    """`slots` with those of learned associations, which stand behind what fits by its own text.

    Two of them in front cost LoCoMo a point of R@5 and brought no more of them among ten.
    """
    behind = dict.fromkeys((*learned, *slots.behind))
    rest = tuple(row for row in behind if row not in slots.front)
    return ReservedSlots(slots.front, rest)


def with_opened_slots(slots: ReservedSlots, opened: Sequence[int]) -> ReservedSlots:
    """`slots` with those of rows that memory vectors open in front of all others."""
    front = tuple(dict.fromkeys((*opened, *slots.front)))
    return ReservedSlots(front, tuple(row for row in slots.behind if row not in front))


def order_with_slots(
    chosen: Sequence[int],
    score: Float32s,
    front: Sequence[int],
    behind: Sequence[int] = (),
    params: ReservedSlotParams | None = None,
) -> list[int]:
    """The chosen rows in order: the best by score, those of `front`, the rest by score.

    Rows of `behind` keep their order, as the score of their texts, which do not match the query, says little.
    Of every ten places the last share `associated` is theirs, unless their scores place them earlier; so the
    ten of a short result are the first ten of a long one.
    """
    p = params or ReservedSlotParams()
    ranked = sorted(chosen, key=lambda row: (-float(score[row]), row))
    best, others = ranked[:1], ranked[1:]
    seated = [row for row in front if row in others]
    late = [row for row in behind if row in others and row not in seated]
    rest = [row for row in others if row not in seated and row not in late]
    early = deque([*best, *seated, *rest])
    return _merged(early, deque(late), score, len(seated), p)


def _merged(
    early: deque[int],
    late: deque[int],
    score: Float32s,
    n_front: int,
    params: ReservedSlotParams,
) -> list[int]:
    """Both queues in their order; of every ten places the last are of `late`, unless its scores come first."""
    out: list[int] = []
    owed = 0
    while early and late:
        place = len(out) % _TEN
        if place == 0:
            owed = min(round(params.associated * _TEN), len(late))
        is_better = len(out) > n_front and score[late[0]] > score[early[0]]
        if _TEN - place <= owed or is_better:
            out.append(late.popleft())
            owed -= 1
        else:
            out.append(early.popleft())
    return [*out, *early, *late]
