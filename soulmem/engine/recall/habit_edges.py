"""Which of a soul's edges lead to actions, by row?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import EdgeKind
from soulmem.domain.memories import Origin
from soulmem.engine.mind.mind import Mind
from soulmem.engine.mind.visibility import opens_exchange
from soulmem.graph.edge_arrays import EDGE_KINDS, EdgeArrays
from soulmem.retrieval.action_selection import (
    ActionSelectionParams,
    Tendency,
    TriggerPath,
)

Ints = NDArray[np.int64]

_SCENES = 6  # of a situation that are looked at, a millisecond each
_KINDS = (EdgeKind.TRIGGERS, EdgeKind.FIRES, EdgeKind.INSTANCE_OF, EdgeKind.KNOWS_HABIT)


@dataclass(frozen=True, slots=True)
class Reflexes:
    """A soul's edges that lead to actions, by row."""

    revision: int
    ways: tuple[TriggerPath, ...]
    tendencies: dict[int, tuple[Tendency, ...]]  # by trigger
    habits: dict[int, tuple[tuple[int, float], ...]]  # by concept: action and strength
    situations: Ints  # rows that set something off themselves
    scenes: dict[
        int, tuple[int, ...]
    ]  # by situation: lines of a chat that were said when it was there
    instances: (
        Ints  # other rows that do so through their class, or their class through them
    )


def reflexes_of(mind: Mind, params: ActionSelectionParams) -> Reflexes:
    """From the edges as they are now. Computes."""
    edges = mind.edges.arrays(_KINDS)

    def of(kind: EdgeKind) -> list[tuple[int, int, float, float]]:
        return _columns(
            mind, edges, np.flatnonzero(edges.kind == EDGE_KINDS.index(kind))
        )

    tendencies: defaultdict[int, list[tuple[int, float, float]]] = defaultdict(list)
    for trigger, action, strength, probability in of(EdgeKind.FIRES):
        tendencies[trigger].append((action, probability, strength))
    ways: list[TriggerPath] = []
    by_source: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
    for source, trigger, strength, _ in of(EdgeKind.TRIGGERS):
        ways.append(TriggerPath(source, trigger, strength))
        by_source[source].append((trigger, strength))
    situations = np.asarray(sorted(by_source), np.int64)
    inner = np.flatnonzero(
        (edges.kind == EDGE_KINDS.index(EdgeKind.INSTANCE_OF))
        & (np.isin(edges.source, situations) | np.isin(edges.target, situations))
    )
    seeds = set()
    scenes: defaultdict[int, list[int]] = defaultdict(list)
    for instance, whole, _, _ in _columns(mind, edges, inner):
        if (
            whole in by_source
            and instance not in by_source
            and mind.at(instance).origin is Origin.CHAT
        ):
            if opens_exchange(
                mind.at(instance)
            ):  # what the soul said itself is no situation
                scenes[whole].append(instance)
            continue
        for seed, via, passes in (
            (instance, whole, 1.0),
            (whole, instance, params.instance),
        ):
            for trigger, strength in by_source.get(via, ()):
                ways.append(TriggerPath(seed, trigger, strength, passes, via))
                seeds.add(seed)
    habits: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
    for concept, action, strength, _ in of(EdgeKind.KNOWS_HABIT):
        habits[concept].append((action, strength))
    return Reflexes(
        revision=mind.edges.revision,
        ways=tuple(ways),
        tendencies={t: _ordered(mind, choice) for t, choice in tendencies.items()},
        habits={concept: tuple(actions) for concept, actions in habits.items()},
        situations=situations,
        scenes={whole: _newest(mind, rows) for whole, rows in scenes.items()},
        instances=np.asarray(sorted(seeds - by_source.keys()), np.int64),
    )


def _newest(mind: Mind, rows: Sequence[int]) -> tuple[int, ...]:
    """At most `_SCENES` of the rows, those that happened last."""
    found = sorted(
        rows, key=lambda row: (float(mind.columns.happened[row]), mind.at(row).id)
    )
    return tuple(found[-_SCENES:])


def _columns(
    mind: Mind, edges: EdgeArrays, which: Ints
) -> list[tuple[int, int, float, float]]:
    """Source, target, strength times confidence, probability (1 where none is given) of these edges."""
    probability = np.nan_to_num(mind.edges.probabilities(edges.slot[which]), nan=1.0)
    strength = edges.strength[which] * edges.confidence[which]
    columns = (edges.source[which], edges.target[which], strength, probability)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _ordered(
    mind: Mind, choice: Sequence[tuple[int, float, float]]
) -> tuple[Tendency, ...]:
    """By id: a row may be another one after the next start, and the draw must not be."""
    return tuple(
        Tendency(*one) for one in sorted(choice, key=lambda one: mind.at(one[0]).id)
    )
