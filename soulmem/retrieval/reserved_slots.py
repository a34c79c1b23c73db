"""Which rows have a seat in the answer whatever their score, and where do the seated stand?"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.retrieval.association_paths import AssociationPaths
from soulmem.retrieval.best import best_rows
from soulmem.retrieval.diversity import relative_similarity

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]

_TEN = 10


@dataclass(frozen=True, slots=True)
class ReservedSlotParams:
    """How many seats are kept free, and for whom."""

    of_kind: int = 2  # episodes, and facts, when there are any; design 4.4
    # Of all seats, for what only association leads to. Without them a fact two steps away is never among ten,
    # as eight to eleven memories that merely mention the cue come first. Three of ten cost HotpotQA 3 points
    # of R@10 and nothing else that was measured.
    associated: float = 0.3
    hops: int = 2  # fewer steps from the cue are no association: the cue names it, or its text answers
    # A name in more memories than `common` picks none of them; then what one of them leads to, by a way whose
    # steps have this share at least, may stand in front: on so many seats behind the first.
    common: int = 20
    directness: float = 0.3
    front: int = 4
    # What a learned association leads to is seated when its term was met with what led there in `met`
    # windows at least, and has so much of the energy left that all it is met with share. .05 keeps 19 of 20
    # associations that were met twice beside four rivals, and seats nothing for role-play cues: there a pair
    # that was met twice pulls .01 to .04, and seats for it cost 8 points of R@10.
    joint_windows: int = 2
    pull: float = 0.05
    pull_share: float = 0.5  # 0..1, share of the strongest pull that another needs
    ahead: int = 2  # of these stand in front, else what merely stands beside a mention of the cue comes first
    novelty: float = 0.5  # 0..1, how much telling something new counts among those; .25 to 1 score alike


@dataclass(frozen=True, slots=True)
class ReservedSlots:
    """Rows that go in before all others."""

    front: tuple[int, ...]  # right behind the best by score, in this order
    behind: tuple[int, ...]  # wherever their score puts them


def association_slots(
    score: Floats,
    ways: AssociationPaths,
    document_frequency: NDArray[np.int64],
    max_items: int,
    params: ReservedSlotParams | None = None,
) -> ReservedSlots:
    """Seats for what is two or more associations away from the cue and not among the first ten by score.

    score               float32[n]  by which rows rank; only finite ones may be seated
    document_frequency  int64[k]    of the names the cue holds; without a name nothing is seated: there is
                                    nothing to associate with, and the texts' own associations cost role-play
                                    cues 3 to 9 points of R@10
    """
    p = params or ReservedSlotParams()
    named = document_frequency[document_frequency > 0]
    if not named.size or max_items < 1:
        return ReservedSlots((), ())
    eligible = np.flatnonzero(
        (ways.hops >= p.hops) & (ways.flow > 0) & np.isfinite(score)
    )
    eligible = eligible[np.lexsort((eligible, -ways.flow[eligible]))]
    front: list[int] = []
    if named.min() > p.common:
        front = [
            int(row) for row in eligible[ways.directness[eligible] >= p.directness]
        ]
        front = front[: min(p.front, max_items - 1)]
    first = min(max_items, _TEN)
    anyway = {*best_rows(score, first).tolist(), *front}
    free = max(
        0, round(p.associated * first) - len(anyway.intersection(eligible.tolist()))
    )
    free = min(free + round(p.associated * (max_items - first)), max_items - len(front))
    behind = [int(row) for row in eligible if int(row) not in anyway][:free]
    return ReservedSlots(tuple(front), tuple(behind))


def learned_slots(
    pull: NDArray[np.float64],
    vectors: Floats,
    selected: int,
    places: int,
    params: ReservedSlotParams | None = None,
) -> list[int]:
    """Which of what a learned association leads to has a seat, as places in `pull`, in the order to stand in.

    pull     float64[m]            > 0, falling
    vectors  float32[told + m, d]  unit rows of what is told anyway, then of these; NaN resembles nothing

    Maximal marginal relevance: of several that are called alike, first what tells something else.
    """
    p = params or ReservedSlotParams()
    alike = relative_similarity(vectors)
    repeats = (
        alike[selected:, :selected].max(axis=1)
        if selected
        else np.zeros(pull.size, np.float32)
    )
    strength = pull / pull.max(initial=1e-9)
    available = np.ones(pull.size, np.bool_)
    out: list[int] = []
    while len(out) < places and available.any():
        gain = np.where(available, strength - p.novelty * repeats, -np.inf)
        best = int(np.argmax(gain))
        out.append(best)
        available[best] = False
        repeats = np.maximum(repeats, alike[selected:, selected + best])
    return out


def with_learned_slots(
    seats: ReservedSlots,
    learned: Sequence[int],
    params: ReservedSlotParams | None = None,
) -> ReservedSlots:
    """The seats with those for a learned association: its best stand in front of all, the others behind."""
    ahead = (params or ReservedSlotParams()).ahead
    front = tuple(dict.fromkeys((*learned[:ahead], *seats.front)))
    behind = dict.fromkeys((*learned[ahead:], *seats.behind))
    return ReservedSlots(front, tuple(row for row in behind if row not in front))


def kind_slots(
    score: Floats, kinds: Sequence[Bools], params: ReservedSlotParams | None = None
) -> list[int]:
    """The best rows of each kind that has seats of its own.

    score  float32[n]  by which rows rank; only finite ones may be seated
    kinds  bool[n] for each kind
    """
    p = params or ReservedSlotParams()
    none = np.float32(-np.inf)
    rows: list[int] = []
    for kind in kinds:
        rows += best_rows(np.where(kind, score, none), p.of_kind).tolist()
    return rows


def order_with_slots(
    chosen: Sequence[int],
    score: Floats,
    front: Sequence[int],
    behind: Sequence[int] = (),
    params: ReservedSlotParams | None = None,
) -> list[int]:
    """The chosen rows as they stand: the best by score, those with a front seat, the rest by score.

    Those seated `behind` stand in the order given: their text, which does not answer the cue, must not decide
    which comes first. Of every ten the last places are theirs, unless their scores put them before: what is
    among the ten of a short answer is among the first ten of a long one.
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
    score: Floats,
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
