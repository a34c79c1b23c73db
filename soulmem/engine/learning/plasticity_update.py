"""What one recall with a settled reply changes in a mind: records and edge strengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from soulmem.consolidation.plasticity import (
    PlasticityParams,
    depressed,
    plasticity_update,
    potentiated,
    stability_after,
)
from soulmem.domain.edges import DECAYING, Edge
from soulmem.domain.ids import ChatId, MemoryId, Owner, SlotId, SoulId
from soulmem.domain.usage import RecallRecord, Stamp, Trail, Usage, first_use
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.views.faded_edges import is_protected


@dataclass(frozen=True, slots=True)
class Reply:
    """The message that a recall was for."""

    owner: Owner
    soul: SoulId
    chat: ChatId
    slot: SlotId
    swipe: int


@dataclass(frozen=True, slots=True)
class NotedRecall:
    """A recall that may teach once its reply is settled."""

    trace: str
    recalled_at: datetime  # aware
    trails: tuple[Trail, ...]  # of the recalled memories
    core: frozenset[MemoryId]  # always recalled: no sign that they belong together
    walked: Mapping[str, float]  # flow >= 0 by edge


@dataclass(frozen=True, slots=True)
class Lesson:
    """Records and edges to be stored, then applied."""

    record: RecallRecord
    usages: tuple[Usage, ...]
    edges: tuple[Edge, ...]
    surplus: tuple[str, ...]  # traces of old records to delete


@compute_only
def learn(
    mind: Mind,
    reply: Reply,
    noted: NotedRecall,
    current_time: datetime,
    turn: int,
    params: PlasticityParams,
) -> Lesson | None:
    """The lesson of a recall at `turn` of the soul's clock.

    None when a recall for that reply has taught already, or none of its memories exists
    any more.
    """
    trails = tuple(
        trail for trail in noted.trails if mind.row(trail.memory) is not None
    )
    if not trails or mind.recalls.is_recorded((reply.chat, reply.slot, reply.swipe)):
        return None
    stamp = Stamp(noted.recalled_at, turn)
    return Lesson(
        RecallRecord(
            noted.trace, reply.soul, reply.chat, reply.slot, reply.swipe, stamp, trails
        ),
        tuple(_usage(mind, trail.memory, stamp) for trail in trails),
        _edges(mind, trails, noted, current_time, turn, params),
        tuple(mind.recalls.surplus(1)),
    )


def _usage(mind: Mind, memory: MemoryId, stamp: Stamp) -> Usage:
    usage = mind.recalls.usage(memory)
    return (
        first_use(memory, mind.soul.id, stamp) if usage is None else usage.again(stamp)
    )


def _edges(
    mind: Mind,
    trails: Sequence[Trail],
    noted: NotedRecall,
    current_time: datetime,
    turn: int,
    params: PlasticityParams,
) -> tuple[Edge, ...]:
    """The edges that the lesson changes, with their new values."""
    paths: dict[str, float] = {}
    for trail in trails:
        for edge_id in trail.edges:
            paths[edge_id] = noted.walked.get(edge_id, 0.0)
    for trail in trails:
        if trail.memory in mind.facts:  # a fact that was recalled is an edge itself
            paths[str(trail.memory)] = noted.walked.get(str(trail.memory), 0.0)
    among = mind.edges.between([trail.memory for trail in trails])
    always = {
        edge.id
        for edge in among
        if not noted.core.isdisjoint((edge.source, edge.target))
    }
    together = [edge.id for edge in among if edge.id not in always]
    walked = {edge: flow for edge, flow in noted.walked.items() if edge not in always}
    taught = plasticity_update(paths, together, walked, params)
    changed = []
    for key, share in taught.used.items():
        used_edge = mind.edges.get(key)
        if used_edge is not None:
            changed.append(_used(mind, used_edge, share, current_time, turn, params))
    for key in taught.idle:
        idle_edge = mind.edges.get(key)
        if idle_edge is not None and idle_edge.kind in DECAYING:
            changed.append(_idle(mind, idle_edge, turn, params))
    return tuple(sorted(changed, key=lambda edge: edge.id))


def _used(
    mind: Mind,
    edge: Edge,
    share: float,
    current_time: datetime,
    turn: int,
    params: PlasticityParams,
) -> Edge:
    """The edge after a use; kinds that do not fade gain no strength."""
    new = replace(edge, uses=edge.uses + 1, touched=current_time, at_turn=float(turn))
    if edge.kind not in DECAYING:
        return new
    strength = mind.edge_strength(edge, turn)
    return replace(
        new,
        strength=potentiated(strength, share, params),
        stability=stability_after(
            edge.stability, mind.time.edge_age(edge, turn), params
        ),
    )


def _idle(mind: Mind, edge: Edge, turn: int, params: PlasticityParams) -> Edge:
    """The edge after it was offered and not used; `touched` stays, as it is the last use.

    The stored strength falls by the same factor as the present one.
    """
    strength = mind.edge_strength(edge, turn)
    if strength <= 0.0:
        return edge
    lower = depressed(
        strength, keep=edge.uses > 0 or is_protected(mind, edge), params=params
    )
    return replace(edge, strength=edge.strength * (lower / strength))
