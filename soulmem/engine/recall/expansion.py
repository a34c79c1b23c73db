"""Expansion beyond the text of the query: a walk, spreading activation or the steady state, by recall mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import MemoryId
from soulmem.engine.api.requests import RecallMode
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.activation import TermActivation, activate_terms
from soulmem.engine.recall.context import RecallContext, TextScores
from soulmem.engine.recall.decision import Line
from soulmem.engine.recall.vector_expansion import (
    NO_MATCH,
    VectorMatch,
    expand_by_vectors,
    passable_rows,
)
from soulmem.engine.recall.walks import WalkResult, Walks
from soulmem.engine.recall.word_bridges import word_bridges
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.kernels.steady import Steady, SteadyParams
from soulmem.kernels.walk import Walk
from soulmem.retrieval.association import AssociationParams, row_energy
from soulmem.retrieval.seeds import SeedParams, seeds
from soulmem.retrieval.vector_expansion import Opened, VectorParams

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Rows = NDArray[np.uint32]
Bools = NDArray[np.bool_]

_WALK_MODES = (RecallMode.AUTO, RecallMode.WALK)
_ACTIVATION_MODES = (RecallMode.AUTO, RecallMode.SPREAD)


@dataclass(frozen=True, slots=True)
class ExpansionParams:
    """Where an expansion starts, and how far it goes."""

    seeds: SeedParams = field(default_factory=SeedParams)
    spreading: AssociationParams = field(default_factory=AssociationParams)
    steady: SteadyParams = field(default_factory=SteadyParams)
    vectors: VectorParams = field(default_factory=VectorParams)


@dataclass(frozen=True, slots=True)
class Expansion:
    """How much of the expansion arrives at each row, and what produced it.

    share    float32[n]  >= 0
    started  float32[n]  how much of it began at each row; None where it has no such start
    bridged  float32[n]  what arrives from the best texts over ordinary words; None where no walk was taken
    named    float64[k]  how many edges each concept has that the query names
    opened   rows that memory vectors open, then those that what is told brings, the strongest of each first
    by_terms  whether the share is the activation of the terms of each row
    """

    share: Floats
    started: Floats | None
    named: Doubles
    walk: WalkResult | None = None
    activation: TermActivation | None = None
    steady: Steady | None = None
    opened: tuple[Opened, ...] = ()
    bridged: Floats | None = None
    by_terms: bool = False


@dataclass(frozen=True, slots=True)
class _Start:
    """The rows to start at, the share of each, the rows that may be passed, the degrees of named concepts."""

    rows: Rows
    share: Doubles
    passable: Bools
    degrees: Doubles


@dataclass(frozen=True, slots=True)
class VectorExpansion:
    """The edges whose memory vectors match the query, and the rows that these open, the strongest first."""

    match: VectorMatch = NO_MATCH
    opened: tuple[Opened, ...] = ()


@compute_only
def vector_expansion(
    mind: Mind,
    walks: Walks,
    context: RecallContext,
    scores: TextScores,
    match: VectorMatch,
    params: VectorParams,
) -> VectorExpansion:
    """What the memory vectors that match the query open."""
    if not match.edges:
        return VectorExpansion()
    factors = walks.class_factors(context.guidance.kinds)
    opened = expand_by_vectors(mind, context, scores, match, factors, params)
    return VectorExpansion(match, tuple(opened))


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


def no_expansion(mind: Mind) -> Expansion:
    """What an answer by the text alone has."""
    return Expansion(np.zeros(mind.size, np.float32), None, np.zeros(0))


@compute_only
def expand(
    mind: Mind,
    walks: Walks,
    context: RecallContext,
    scores: TextScores,
    params: ExpansionParams,
    vectors: VectorExpansion,
    activation_result: Callable[[], TermActivation | None] | None = None,
    asked_lines: Sequence[Line] = (),
) -> Expansion:
    """The expansion of this recall's mode.

    `auto` walks, and activates terms for the reserved slots of learned associations; `baseline` does not
    expand, `expand` by memory vectors alone. `activation_result` returns what `activation_of` would, where
    that was computed before.
    """
    mode, nothing = context.request.mode, no_expansion(mind)
    if mode is RecallMode.BASELINE or not context.query.embed_parts:
        return nothing
    if mode is RecallMode.EXPAND:
        return replace(nothing, opened=vectors.opened)
    activation = (
        activation_result()
        if activation_result is not None
        else activation_of(mind, context, params)
    )
    if mode is RecallMode.SPREAD:
        if activation is None:
            return nothing
        energy = row_energy(activation.active, mind.terms.incidence, context.accessible)
        share = energy.astype(np.float32)
        return Expansion(share, None, np.zeros(0), activation=activation, by_terms=True)
    start = _start(mind, walks, context, scores, params.seeds, asked_lines)
    bridged = None
    if mode in _WALK_MODES and scores.by_tokens:
        bridged = word_bridges(mind, context, scores.score)
    if start is None:
        return replace(nothing, activation=activation, bridged=bridged)
    if mode in _WALK_MODES:
        edge_factors = vectors.match.factors(params.vectors)
        walk = _walk_from(start, walks, context, scores, edge_factors)
        return Expansion(
            walk.share,
            walk.started,
            start.degrees,
            walk,
            activation,
            opened=vectors.opened,
            bridged=bridged,
        )
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
    match: VectorMatch,
    asked_lines: Sequence[Line] = (),
) -> Walk | None:
    """The walk that `expand` takes, None where there is none."""
    start = _start(mind, walks, context, scores, params.seeds, asked_lines)
    if context.request.mode not in _WALK_MODES or start is None:
        return None
    factors = match.factors(params.vectors)
    return _walk_from(start, walks, context, scores, factors).walk


def _walk_from(
    start: _Start,
    walks: Walks,
    context: RecallContext,
    scores: TextScores,
    edge_factors: Mapping[str, float],
) -> WalkResult:
    return walks.walk(
        start.rows,
        start.share,
        start.passable,
        context.mood,
        scores.dense,
        context.guidance.kinds,
        edge_factors,
    )


def _start(
    mind: Mind,
    walks: Walks,
    context: RecallContext,
    scores: TextScores,
    params: SeedParams,
    asked_lines: Sequence[Line],
) -> _Start | None:
    """The concepts that the query names and the texts nearest to it; None when there is no edge to follow.

    Where it asks for several things, as much of the walk starts for each of them as for the whole.
    """
    if not context.query.embed_parts:
        return None
    passable = passable_rows(mind, context)
    graph = walks.refresh(context.extra_turns).graph
    groups = [(scores.own, context.named_concepts)]
    groups += [(part.scores.own, ((part.concepts, 1.0),)) for part in asked_lines]
    texts = context.visible & passable
    starts, degrees = [], np.zeros(0)
    for text_score, named_concepts in groups:
        named, weights = _named_rows(mind, named_concepts, passable)
        first = named.astype(np.int64)
        degree = (graph.ends[first] - graph.starts[first]).astype(np.float64)
        starts.append(seeds(text_score, texts, named, degree, params, weights))
        degrees = np.append(degrees, degree)
    rows, share = _joined(starts)
    if not rows.size or (mind.residency.whole and not graph.size):
        return None
    return _Start(rows, share, passable, degrees)


def _named_rows(
    mind: Mind,
    named_concepts: Sequence[tuple[Sequence[MemoryId], float]],
    passable: Bools,
) -> tuple[Rows, Doubles]:
    """The passable rows of these concepts and the share of the query that names each."""
    salience: dict[int, float] = {}
    for concepts, share in named_concepts:
        for concept in concepts:
            row = mind.row(concept)
            if row is not None and passable[row]:
                salience[row] = salience.get(row, 0.0) + share
    named = np.fromiter(salience, np.uint32, len(salience))
    return named, np.fromiter(salience.values(), np.float64, len(salience))


def _joined(starts: Sequence[tuple[Rows, Doubles]]) -> tuple[Rows, Doubles]:
    """Start distributions as one, each as large a part of it; those without rows are left out."""
    usable = [start for start in starts if start[0].size]
    if len(usable) < 2:
        return usable[0] if usable else starts[0]
    rows, place = np.unique(
        np.concatenate([rows for rows, _ in usable]), return_inverse=True
    )
    weights = np.concatenate([share for _, share in usable]) / len(usable)
    joined: Doubles = np.bincount(place, weights, rows.size).astype(np.float64)
    return rows, joined


def _with_facts(mind: Mind, potential: Doubles) -> Floats:
    """The potential with that of facts: of each the smaller one of its two ends."""
    facts, subjects, objects = mind.facts.row_arrays()
    out = potential.astype(np.float32)
    out[facts] = np.minimum(out[subjects], out[objects])
    return out
