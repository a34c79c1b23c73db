"""Fields of a trace about the expansion of a recall: how far it went, where it started, and why no further."""

from __future__ import annotations

from typing import Any

import numpy as np

from soulmem.domain.ids import MemoryId
from soulmem.engine.api.requests import RecallMode
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.activation import TermActivation
from soulmem.engine.recall.ranking import Ranked
from soulmem.engine.recall.walks import WalkResult
from soulmem.kernels.spread import StopReason

_SEEDS = 30
_BEST = 10
_ENDED = {
    StopReason.QUIET: "until nothing was left that could fire",
    StopReason.DELTA: "until hardly anything changed",
    StopReason.ROUNDS: "as many as there may be",
}


def trace_fields(mind: Mind, ranked: Ranked, mode: RecallMode) -> dict[str, Any]:
    """`grade`, `grade_why` and `seeds` of the trace."""
    expansion = ranked.expansion
    if expansion.walk is not None:
        walk = expansion.walk.walk
        why = f"text, meaning and a walk of {walk.visits} edges, exact to {walk.error:.2g}"
        seeds = _walk_seeds(mind, expansion.walk)
        return _fields("walk", why + _learned_in_words(ranked), seeds)
    if mode is RecallMode.SPREAD and expansion.activation is not None:
        activation = expansion.activation
        why = f"text, meaning and {_activation_in_words(activation)}"
        return _fields("spread", why, activation.seeds())
    if expansion.steady is not None:
        state = expansion.steady
        why = f"text, meaning and the state that settled in {state.rounds} rounds, exact to {state.error:.2g}"
        return _fields("steady", why, _best(mind, ranked))
    if mode is RecallMode.BASELINE:
        why = "text and meaning alone, as asked for"
    elif mode is RecallMode.SPREAD:
        why = "text and meaning: no memory is about any word of the cue, so there was nothing to spread from"
    else:
        why = "text and meaning, with the moments beside them; there was no walk"
    return _fields("baseline", why + _learned_in_words(ranked), _best(mind, ranked))


def _fields(
    grade: str, why: str, seeds: list[tuple[MemoryId, float]]
) -> dict[str, Any]:
    return {"grade": grade, "grade_why": why, "seeds": tuple(seeds)}


def _walk_seeds(mind: Mind, walk: WalkResult) -> list[tuple[MemoryId, float]]:
    """Where the walk began, the largest share first."""
    best = np.argsort(-walk.seed_share)[:_SEEDS]
    keys = mind.ids_at(walk.seeds[best].tolist())
    return list(zip(keys, walk.seed_share[best].tolist(), strict=True))


def _best(mind: Mind, ranked: Ranked) -> list[tuple[MemoryId, float]]:
    keys = mind.ids_at(ranked.rows[:_BEST].tolist())
    return list(zip(keys, ranked.score[:_BEST].tolist(), strict=True))


def _learned_in_words(ranked: Ranked) -> str:
    """How many rows learned associations brought, with the path to the first of them."""
    if not ranked.learned or ranked.expansion.activation is None:
        return ""
    path = ranked.learned_path(next(iter(ranked.learned)))
    steps = path.steps if path is not None else ()
    names = " -> ".join(f'"{step.label}"' for step in steps)
    return f"; {len(ranked.learned)} more by what is often said together: {names}"


def _activation_in_words(activation: TermActivation) -> str:
    active = activation.active
    return (
        f"energy that spread from {active.seeds} terms to {active.terms.size - active.seeds} others in "
        f"{active.activation.rounds} rounds, {_ENDED[active.activation.stopped]}"
    )
