"""Fields of a trace: how far a recall went, where it started, why no further, and what the query asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from soulmem.domain.ids import MemoryId
from soulmem.engine.api.requests import RecallMode
from soulmem.engine.api.results import Grade
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.activation import TermActivation
from soulmem.engine.recall.context import RecallContext
from soulmem.engine.recall.ranking import Ranked
from soulmem.engine.recall.walks import WalkResult
from soulmem.kernels.spread import StopReason
from soulmem.retrieval.mood import strongest

_WITHOUT_WALK = (RecallMode.BASELINE.value, RecallMode.EXPAND.value)
_SEEDS = 30
_ACTIVE = 20  # memories of working memory
_BEST = 10
_ENDED = {
    StopReason.QUIET: "until nothing was left that could fire",
    StopReason.DELTA: "until hardly anything changed",
    StopReason.ROUNDS: "as many as there may be",
}


def trace_fields(
    mind: Mind, ranked: Ranked, mode: RecallMode, last: Grade
) -> dict[str, Any]:
    """`grade`, `grade_why` and `seeds` of the trace; `last`: the grade that the recall reached."""
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
    if last.name in _WITHOUT_WALK:
        return _fields(last.name, f"text and meaning: {last.why}", _best(mind, ranked))
    if mode is RecallMode.SPREAD:
        why = "text and meaning: no memory is about any word of the cue, so there was nothing to spread from"
    else:
        why = "text and meaning, with the moments beside them; there was no walk"
    return _fields("baseline", why + _learned_in_words(ranked), _best(mind, ranked))


def guidance_fields(mind: Mind, context: RecallContext) -> dict[str, Any]:
    """What the query asks for, for the `guidance` of the trace."""
    guidance, asked = context.guidance, context.asked_time
    return {
        "mode": context.request.mode.value,
        "embedded": context.asked is not None,
        "entities": [
            mind.memories[key].text
            for key in dict.fromkeys(context.concepts)
            if key in mind.memories
        ],
        "parts": list(guidance.parts),
        "times": asked.trace_entries() if asked is not None else [],
        "mood": strongest(context.mood),
        "intent": context.request.intent,
        "depth": guidance.depth,
        "kinds": dict(guidance.kinds),
        "active": _active(mind),
    }


def _active(mind: Mind) -> list[MemoryId]:
    """What was in working memory when the recall came, the latest first."""
    working = mind.recalls.working
    if working is None:
        return []
    return [active.memory for active in working.active(_ACTIVE)]


def _fields(
    grade: str, why: str, seeds: list[tuple[MemoryId, float]]
) -> dict[str, Any]:
    return {"grade": grade, "grade_why": why, "seeds": tuple(seeds)}


def _walk_seeds(mind: Mind, walk: WalkResult) -> list[tuple[MemoryId, float]]:
    """Where the walk began, the largest share first."""
    best = np.argsort(-walk.seed_share)[:_SEEDS]
    keys = mind.ids_at(walk.seeds[best].tolist())
    shares = np.round(walk.seed_share[best].astype(np.float64), 6)
    return list(zip(keys, shares.tolist(), strict=True))


def _best(mind: Mind, ranked: Ranked) -> list[tuple[MemoryId, float]]:
    keys = mind.ids_at(ranked.rows[:_BEST].tolist())
    scores = np.round(ranked.score[:_BEST].astype(np.float64), 4)
    return list(zip(keys, scores.tolist(), strict=True))


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
