"""Expansion beyond the text of the query: a walk, spreading activation or the steady state, by recall mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import RecallMode
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.activation import TermActivation, activate_terms
from soulmem.engine.recall.context import RecallContext, TextScores
from soulmem.engine.recall.walks import WalkResult, Walks
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.graph.association import MEMORY_KINDS
from soulmem.kernels.steady import Steady, SteadyParams
from soulmem.kernels.walk import Walk
from soulmem.retrieval.association import AssociationParams, row_energy
from soulmem.retrieval.seeds import SeedParams, seeds

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Rows = NDArray[np.uint32]
Bools = NDArray[np.bool_]

_TRIGGER = MEMORY_KINDS.index(MemoryKind.TRIGGER)
_WALK_MODES = (RecallMode.AUTO, RecallMode.EXPAND, RecallMode.WALK)
_ACTIVATION_MODES = (RecallMode.AUTO, RecallMode.SPREAD)


@dataclass(frozen=True, slots=True)
class ExpansionParams:
    """Where an expansion starts, and how far it goes."""

    seeds: SeedParams = field(default_factory=SeedParams)
    spreading: AssociationParams = field(default_factory=AssociationParams)
    steady: SteadyParams = field(default_factory=SteadyParams)


@dataclass(frozen=True, slots=True)
class Expansion:
    """How much of the expansion arrives at each row, and what produced it.

    share    float32[n]  >= 0
    started  float32[n]  how much of it began at each row; None where it has no such start
    named    float64[k]  how many edges each concept has that the query names
    """

    share: Floats
    started: Floats | None
    named: Doubles
    walk: WalkResult | None = None
    activation: TermActivation | None = None
    steady: Steady | None = None


@dataclass(frozen=True, slots=True)
class _Start:
    """The rows to start at, the share of each, the rows that may be passed, the degrees of named concepts."""

    rows: Rows
    share: Doubles
    passable: Bools
    degrees: Doubles


@compute_only
def activation_of(
    mind: Mind, context: RecallContext, params: ExpansionParams
) -> TermActivation | None:
    """The activation of this recall; None in a mode without. Needs no text scores."""
    asked = context.asked_time
    if asked is not None and asked.only_time:  # no word of the query to start from
        return None
    mode = context.request.mode
    if mode not in _ACTIVATION_MODES or not context.query.embed_parts:
        return None
    return activate_terms(mind, context, params.spreading)


@compute_only
def expand(
    mind: Mind,
    walks: Walks,
    context: RecallContext,
    scores: TextScores,
    params: ExpansionParams,
    activation_result: Callable[[], TermActivation | None] | None = None,
) -> Expansion:
    """The expansion of this recall's mode.

    `auto` walks, and activates terms for the reserved slots of learned associations; `baseline` does not
    expand. `activation_result` returns what `activation_of` would, where that was computed before.
    """
    mode, nothing = context.request.mode, np.zeros(mind.size, np.float32)
    if mode is RecallMode.BASELINE or not context.query.embed_parts:
        return Expansion(nothing, None, np.zeros(0))
    activation = (
        activation_result()
        if activation_result is not None
        else activation_of(mind, context, params)
    )
    if mode is RecallMode.SPREAD:
        if activation is None:
            return Expansion(nothing, None, np.zeros(0))
        energy = row_energy(activation.active, mind.terms.incidence, context.accessible)
        share = energy.astype(np.float32)
        return Expansion(share, None, np.zeros(0), activation=activation)
    start = _start(mind, walks, context, scores, params.seeds)
    if start is None:
        return Expansion(nothing, None, np.zeros(0), activation=activation)
    if mode in _WALK_MODES:
        walk = _walk_from(start, walks, context, scores)
        return Expansion(walk.share, walk.started, start.degrees, walk, activation)
    steady = walks.steady(start.rows, start.share, start.passable, params.steady)
    share = _with_facts(mind, steady.potential)
    return Expansion(share, None, start.degrees, steady=steady)


@compute_only
def walk_only(
    mind: Mind,
    walks: Walks,
    context: RecallContext,
    scores: TextScores,
    params: ExpansionParams,
) -> Walk | None:
    """The walk that `expand` takes, None where there is none."""
    start = _start(mind, walks, context, scores, params.seeds)
    if context.request.mode not in _WALK_MODES or start is None:
        return None
    return _walk_from(start, walks, context, scores).walk


def _walk_from(
    start: _Start, walks: Walks, context: RecallContext, scores: TextScores
) -> WalkResult:
    return walks.walk(
        start.rows, start.share, start.passable, context.mood, scores.dense
    )


def _start(
    mind: Mind,
    walks: Walks,
    context: RecallContext,
    scores: TextScores,
    params: SeedParams,
) -> _Start | None:
    """The concepts that the query names and the texts nearest to it; None when there is no edge to follow."""
    if not context.query.embed_parts:
        return None
    passable = context.accessible & (mind.columns.kind[: mind.size] != _TRIGGER)
    # A fact is a step between two memories, not a place.
    passable &= ~mind.facts.row_flags(mind.size)
    # A learned name takes more from the moments before and after a text than it gives: walks through them
    # cost LoCoMo 1.6 points of R@10, English role-play queries as much. Activation finds what occurs with them.
    passable[mind.name_scope.rows(mind.size)] = False
    graph = walks.refresh(context.extra_turns).graph
    salience: dict[int, float] = {}
    for concepts, share in context.named_concepts:
        for concept in concepts:
            row = mind.row(concept)
            if row is not None and passable[row]:
                salience[row] = salience.get(row, 0.0) + share
    named = np.fromiter(salience, np.uint32, len(salience))
    first = named.astype(np.int64)
    degrees = (graph.indptr[first + 1] - graph.indptr[first]).astype(np.float64)
    weights = np.fromiter(salience.values(), np.float64, len(salience))
    rows, share_of_rows = seeds(
        scores.own, context.visible & passable, named, degrees, params, weights
    )
    if not rows.size or (mind.residency.whole and not graph.indices.size):
        return None
    return _Start(rows, share_of_rows, passable, degrees)


def _with_facts(mind: Mind, potential: Doubles) -> Floats:
    """The potential with that of facts: of each the smaller one of its two ends."""
    facts, subjects, objects = mind.facts.row_arrays()
    out = potential.astype(np.float32)
    out[facts] = np.minimum(out[subjects], out[objects])
    return out
