"""How far did a recall go, where did it begin, and why no further? For its trace."""

from __future__ import annotations

from typing import Any

import numpy as np

from soulmem.domain.ids import MemoryId
from soulmem.engine.api.requests import RecallMode
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.activation import Spread
from soulmem.engine.recall.ranking import Ranked
from soulmem.kernels.spread import Stop

_SEEDS = 30
_ENDED = {
    Stop.QUIET: "until nothing was left that could fire",
    Stop.DELTA: "until hardly anything changed",
    Stop.ROUNDS: "as many as there may be",
}


def told_of(mind: Mind, ranked: Ranked, mode: RecallMode) -> dict[str, Any]:
    """The fields of a trace that tell of it: grade, grade_why and seeds."""
    reach = ranked.reach
    if reach.walk is not None:
        walk = reach.walk
        why = f"text, meaning and a walk of {walk.walk.visits} edges, exact to {walk.walk.error:.2g}"
        best = np.argsort(-walk.seed_share)[:_SEEDS]
        seeds = [
            (mind.id_at(int(walk.seeds[at])), float(walk.seed_share[at])) for at in best
        ]
        return _told("walk", why + _thoughts(ranked), seeds)
    if mode is RecallMode.SPREAD and reach.spread is not None:
        return _told(
            "spread",
            f"text, meaning and {_spreading(reach.spread)}",
            reach.spread.seeds(),
        )
    if reach.steady is not None:
        state = reach.steady
        why = f"text, meaning and the state that settled in {state.rounds} rounds, exact to {state.error:.2g}"
        return _told("steady", why, _best(mind, ranked))
    if mode is RecallMode.BASELINE:
        why = "text and meaning alone, as asked for"
    elif mode is RecallMode.SPREAD:
        why = "text and meaning: no memory is about any word of the cue, so there was nothing to spread from"
    else:
        why = "text and meaning, with the moments beside them; there was no walk"
    return _told("baseline", why + _thoughts(ranked), _best(mind, ranked))


def _told(grade: str, why: str, seeds: list[tuple[MemoryId, float]]) -> dict[str, Any]:
    return {"grade": grade, "grade_why": why, "seeds": tuple(seeds)}


def _best(mind: Mind, ranked: Ranked) -> list[tuple[MemoryId, float]]:
    best = zip(ranked.rows[:10], ranked.score[:10], strict=True)
    return [(mind.id_at(int(row)), float(score)) for row, score in best]


def _thoughts(ranked: Ranked) -> str:
    """What else has a seat, in words."""
    if not ranked.learned or ranked.reach.spread is None:
        return ""
    thought = ranked.thought(next(iter(ranked.learned)))
    way = (
        " -> ".join(f'"{step.label}"' for step in thought.steps)
        if thought is not None
        else ""
    )
    return f"; {len(ranked.learned)} more by what is often said together: {way}"


def _spreading(spread: Spread) -> str:
    active = spread.active
    return (
        f"energy that spread from {active.seeds} terms to {active.terms.size - active.seeds} others in "
        f"{active.activation.rounds} rounds, {_ENDED[active.activation.stopped]}"
    )
