"""The edges of a soul that lead to actions, by row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from soulmem.domain.edges import EdgeKind
from soulmem.domain.memories import Origin
from soulmem.engine.mind.mind import Mind
from soulmem.engine.mind.visibility import opens_exchange
from soulmem.engine.runtime.worker import compute_only
from soulmem.graph.edge_arrays import EDGE_KINDS, EdgeArrays
from soulmem.kernels.arrays import Int64s
from soulmem.retrieval.action_selection import (
    ActionSelectionParams,
    Tendency,
    TriggerPath,
)

Edge = tuple[int, int, float, float]  # source, target, strength, probability
Triggers = Mapping[int, Sequence[tuple[int, float]]]  # by source: trigger and strength

_SCENES = 6  # of a situation that are compared, a millisecond each
_KINDS = (EdgeKind.TRIGGERS, EdgeKind.FIRES, EdgeKind.INSTANCE_OF, EdgeKind.KNOWS_HABIT)


@dataclass(frozen=True, slots=True)
class HabitEdges:
    """A soul's edges that lead to actions, by row.

    revision    revision of the edges that this was read from
    rewordings  of the mind, the same
    tendencies  by trigger
    habits      by concept: action and strength
    situations  rows with a trigger of their own
    scenes      by situation: lines of a chat that were said when it occurred
    instances   rows with a trigger through their class, or through an instance of theirs
    """

    revision: int
    rewordings: int
    paths: tuple[TriggerPath, ...]
    tendencies: dict[int, tuple[Tendency, ...]]
    habits: dict[int, tuple[tuple[int, float], ...]]
    situations: Int64s
    scenes: dict[int, tuple[int, ...]]
    instances: Int64s


@compute_only
def collect_habit_edges(mind: Mind, params: ActionSelectionParams) -> HabitEdges:
    """From the edges as they are now."""
    edges = mind.edges.arrays(_KINDS)
    tendencies: defaultdict[int, list[tuple[int, float, float]]] = defaultdict(list)
    for trigger, action, strength, probability in _edges(mind, edges, EdgeKind.FIRES):
        tendencies[trigger].append((action, probability, strength))
    paths: list[TriggerPath] = []
    triggers: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
    for source, trigger, strength, _ in _edges(mind, edges, EdgeKind.TRIGGERS):
        paths.append(TriggerPath(source, trigger, strength))
        triggers[source].append((trigger, strength))
    scenes: defaultdict[int, list[int]] = defaultdict(list)
    for instance, whole in _instances(mind, edges, triggers):
        if not _is_scene(mind, instance, whole, triggers):
            paths += _paths_over(instance, whole, 1.0, triggers)
            paths += _paths_over(whole, instance, params.instance, triggers)
        elif opens_exchange(mind.memory_at(instance)):  # not the soul's own words
            scenes[whole].append(instance)
    habits: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
    for concept, action, strength, _ in _edges(mind, edges, EdgeKind.KNOWS_HABIT):
        habits[concept].append((action, strength))
    seeds = {path.seed for path in paths} - triggers.keys()
    return HabitEdges(
        revision=mind.edges.revision,
        rewordings=mind.rewordings,
        paths=tuple(paths),
        tendencies={t: _by_id(mind, choice) for t, choice in tendencies.items()},
        habits={concept: tuple(actions) for concept, actions in habits.items()},
        situations=np.asarray(sorted(triggers), np.int64),
        scenes={whole: _newest(mind, rows) for whole, rows in scenes.items()},
        instances=np.asarray(sorted(seeds), np.int64),
    )


@compute_only
def are_current(mind: Mind, habits: HabitEdges) -> bool:
    """Whether no edge that leads to actions was put or dropped since, and no memory was reworded or went."""
    changes = mind.edges.changed(habits.revision)
    if changes is None or habits.rewordings != mind.rewordings:
        return False
    return not any(change.kind in _KINDS for change in changes)


def _edges(mind: Mind, edges: EdgeArrays, kind: EdgeKind) -> list[Edge]:
    """The edges of a kind: strength times confidence, probability 1 where none is given."""
    which = np.flatnonzero(edges.kind == EDGE_KINDS.index(kind))
    probability = np.nan_to_num(mind.edges.probabilities(edges.slot[which]), nan=1.0)
    strength = edges.strength[which] * edges.confidence[which]
    columns = (edges.source[which], edges.target[which], strength, probability)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _instances(mind: Mind, edges: EdgeArrays, triggers: Triggers) -> Iterator[tuple[int, int]]:
    """Instance and class of each `instance_of` edge with a trigger at one end."""
    situations = np.asarray(list(triggers), np.int64)
    which = np.flatnonzero(
        (edges.kind == EDGE_KINDS.index(EdgeKind.INSTANCE_OF))
        & (np.isin(edges.source, situations) | np.isin(edges.target, situations))
    )
    sources, targets = edges.source[which].tolist(), edges.target[which].tolist()
    return zip(sources, targets, strict=True)


def _is_scene(mind: Mind, instance: int, whole: int, triggers: Triggers) -> bool:
    """Whether the instance is a line of a chat in which the situation `whole` occurred."""
    if whole not in triggers or instance in triggers:
        return False
    return mind.memory_at(instance).origin is Origin.CHAT


def _paths_over(seed: int, via: int, passes: float, triggers: Triggers) -> Iterator[TriggerPath]:
    """The paths from a row over another one to the triggers of that."""
    for trigger, strength in triggers.get(via, ()):
        yield TriggerPath(seed, trigger, strength, passes, via)


def _newest(mind: Mind, rows: Sequence[int]) -> tuple[int, ...]:
    """At most `_SCENES` of the rows, those that happened last."""
    pairs = zip(rows, mind.ids_at(rows), strict=True)
    ordered = sorted(pairs, key=lambda pair: (float(mind.columns.happened[pair[0]]), pair[1]))
    return tuple(row for row, _ in ordered[-_SCENES:])


def _by_id(mind: Mind, choice: Sequence[tuple[int, float, float]]) -> tuple[Tendency, ...]:
    """Ordered by id: rows may change with the next start, and the draw must not."""
    ordered = sorted(choice, key=lambda fires: mind.id_at(fires[0]))
    return tuple(Tendency(*fires) for fires in ordered)
