"""What leads beyond the text of the cue: a walk, energy that spreads or the steady state, from one start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import RecallMode
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.activation import Spread, spread_in
from soulmem.engine.recall.scene import Scene, Texts
from soulmem.engine.recall.walks import Walked, Walks
from soulmem.graph.association import MEMORY_KINDS
from soulmem.kernels.steady import Steady, SteadyParams
from soulmem.retrieval.association import AssociationParams, row_energy
from soulmem.retrieval.mood import Mood
from soulmem.retrieval.seeds import SeedParams, seeds

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Rows = NDArray[np.uint32]
Bools = NDArray[np.bool_]

_TRIGGER = MEMORY_KINDS.index(MemoryKind.TRIGGER)
_WALKING = (RecallMode.AUTO, RecallMode.EXPAND, RecallMode.WALK)
_SPREADING = (RecallMode.AUTO, RecallMode.SPREAD)


@dataclass(frozen=True, slots=True)
class ReachParams:
    """Where to start, and how far to go."""

    seeds: SeedParams = field(default_factory=SeedParams)
    spreading: AssociationParams = field(default_factory=AssociationParams)
    steady: SteadyParams = field(default_factory=SteadyParams)


@dataclass(frozen=True, slots=True)
class Reach:
    """How far it went.

    share    float32[n]  how much of it is found at each row, >= 0
    started  float32[n]  how much of it began there; None where that says nothing
    named    float64[k]  how many edges each concept has that the cue names
    """

    share: Floats
    started: Floats | None
    named: Doubles
    walk: Walked | None = None
    spread: Spread | None = None
    steady: Steady | None = None


@dataclass(frozen=True, slots=True)
class _Start:
    """Rows to start at, how much starts at each, and which may be passed through."""

    rows: Rows
    share: Doubles
    known: Bools
    named: Doubles


def spread_ahead(mind: Mind, scene: Scene, params: ReachParams) -> Spread | None:
    """What the words of the cue are met with, in a mode that wants it. Computes, but reads no text for it."""
    only_time = (
        scene.asked is not None and scene.asked.only
    )  # then no word leads anywhere
    if scene.request.mode not in _SPREADING or not scene.cue.meant or only_time:
        return None
    return spread_in(mind, scene, params.spreading)


def reach(
    mind: Mind,
    walks: Walks,
    scene: Scene,
    texts: Texts,
    mood: Mood,
    params: ReachParams,
    spread_of: Callable[[], Spread | None] | None = None,
) -> Reach:
    """What this recall's mode asks for. Computes; `spread_of` is `spread_ahead`, where it was begun.

    `auto` walks, and looks what is met with the cue's words, for the seats that this may have; `baseline`
    goes nowhere.
    """
    mode, nothing = scene.request.mode, np.zeros(mind.size, np.float32)
    if mode is RecallMode.BASELINE or not scene.cue.meant:
        return Reach(nothing, None, np.zeros(0))
    spread = spread_of() if spread_of is not None else spread_ahead(mind, scene, params)
    if mode is RecallMode.SPREAD:
        if spread is None:
            return Reach(nothing, None, np.zeros(0))
        energy = row_energy(spread.active, mind.terms.incidence, scene.known)
        return Reach(energy.astype(np.float32), None, np.zeros(0), spread=spread)
    start = _start(mind, walks, scene, texts, params.seeds)
    if start is None:
        return Reach(nothing, None, np.zeros(0), spread=spread)
    if mode in _WALKING:
        walk = walks.walk(start.rows, start.share, start.known, mood, texts.dense)
        return Reach(walk.share, walk.started, start.named, walk, spread)
    steady = walks.steady(start.rows, start.share, start.known, params.steady)
    return Reach(_with_facts(mind, steady.potential), None, start.named, steady=steady)


def walk_alone(
    mind: Mind,
    walks: Walks,
    scene: Scene,
    texts: Texts,
    mood: Mood,
    params: ReachParams,
) -> Walked | None:
    """The walk that `reach` takes, None where there is none. Computes."""
    start = _start(mind, walks, scene, texts, params.seeds)
    if scene.request.mode not in _WALKING or start is None:
        return None
    return walks.walk(start.rows, start.share, start.known, mood, texts.dense)


def _start(
    mind: Mind, walks: Walks, scene: Scene, texts: Texts, params: SeedParams
) -> _Start | None:
    """From what the cue names and what it reads like; None when there is nowhere to go."""
    if not scene.cue.meant:
        return None
    known = scene.known & (mind.columns.kind[: mind.size] != _TRIGGER)
    known &= ~mind.facts.flags(
        mind.size
    )  # a fact is a step between two memories, not a place
    # A learned name takes more from the moments before and after a text than it gives: walks through them
    # cost LoCoMo 1.6 points of R@10, English role-play cues as much. What is met with them, spreading knows.
    known[mind.name_reach.rows(mind.size)] = False
    graph = walks.refresh(scene.extra_turns).graph
    heard: dict[int, float] = {}
    for concepts, share in scene.named:
        for concept in concepts:
            row = mind.row(concept)
            if row is not None and known[row]:
                heard[row] = heard.get(row, 0.0) + share
    named = np.fromiter(heard, np.uint32, len(heard))
    begin = named.astype(np.int64)
    degree = (graph.indptr[begin + 1] - graph.indptr[begin]).astype(np.float64)
    loudness = np.fromiter(heard.values(), np.float64, len(heard))
    rows, start = seeds(
        texts.own, scene.visible & known, named, degree, params, loudness
    )
    if not rows.size or (mind.residency.whole and not graph.indices.size):
        return None
    return _Start(rows, start, known, degree)


def _with_facts(mind: Mind, potential: Doubles) -> Floats:
    """A fact is as active as the less active of the two that it joins."""
    facts, subjects, objects = mind.facts.rows()
    out = potential.astype(np.float32)
    out[facts] = np.minimum(out[subjects], out[objects])
    return out
