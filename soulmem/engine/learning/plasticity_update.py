"""What one recall with a settled reply changes in a mind: records and edge strengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from soulmem.consolidation.plasticity import (
    IDLE_LOSS,
    LEAST_SHARE,
    PlasticityParams,
    PlasticityUpdate,
    depressed,
    plasticity_update,
    potentiated,
)
from soulmem.consolidation.verdicts import OUTER, strength_after
from soulmem.domain.edges import DECAYING, Edge
from soulmem.domain.fading_records import FadingRecord
from soulmem.domain.forgetting_curve import stability_after
from soulmem.domain.ids import ChatId, MemoryId, Owner, SlotId, SoulId
from soulmem.domain.opinions import Verdict
from soulmem.domain.usage import RecallRecord, Stamp, Trail, Usage, first_use
from soulmem.engine.learning.fading_update import restored_fading
from soulmem.engine.learning.reply_feedback import Sign
from soulmem.engine.learning.vector_update import (
    NO_UPDATE,
    QueryVector,
    VectorUpdate,
    vector_update,
)
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
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
    query: QueryVector | None = None  # what was asked
    # how much clearer than by its age each memory was read out, >= 1
    slowing: Mapping[MemoryId, float] = field(default_factory=dict)
    # what reply and answer say of the memories
    signs: Mapping[MemoryId, Sign] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lesson:
    """Records and edges to be stored, then applied."""

    record: RecallRecord
    usages: tuple[Usage, ...]
    edges: tuple[Edge, ...]
    surplus: tuple[str, ...]  # traces of old records to delete
    vectors: VectorUpdate = NO_UPDATE
    fading: tuple[FadingRecord, ...] = ()


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
    trails = tuple(trail for trail in noted.trails if mind.row(trail.memory) is not None)
    if not trails or mind.recalls.is_recorded((reply.chat, reply.slot, reply.swipe)):
        return None
    stamp = Stamp(noted.recalled_at, turn)
    paths = _paths(mind, trails, noted)
    taught = _sorted_edges(mind, trails, noted, paths, params)
    outer = _outer(mind, trails, noted)
    kept = [t.memory for t in trails if noted.signs.get(t.memory) is not Sign.CORRECTED]
    return Lesson(
        RecallRecord(noted.trace, reply.soul, reply.chat, reply.slot, reply.swipe, stamp, trails),
        tuple(_usage(mind, trail.memory, stamp) for trail in trails),
        _edges(mind, taught, outer, current_time, turn, params),
        tuple(mind.recalls.surplus(1)),
        _vectors(mind, noted, paths, taught, outer, turn),
        restored_fading(
            mind,
            kept,
            noted.slowing,
            current_time,
            float(turn),
            params,
            (reply.chat, reply.slot),
        ),
    )


def _usage(mind: Mind, memory: MemoryId, stamp: Stamp) -> Usage:
    usage = mind.recalls.usage(memory)
    return first_use(memory, mind.soul.id, stamp) if usage is None else usage.again(stamp)


def _paths(mind: Mind, trails: Sequence[Trail], noted: NotedRecall) -> dict[str, float]:
    """The flow, >= 0, of each edge over which a recalled memory was reached."""
    keys = [key for trail in trails for key in _path(mind, trail)]
    return {key: noted.walked.get(key, 0.0) for key in keys}


def _sorted_edges(
    mind: Mind,
    trails: Sequence[Trail],
    noted: NotedRecall,
    paths: Mapping[str, float],
    params: PlasticityParams,
) -> PlasticityUpdate:
    """The edges that the recall used, and those that it offered in vain."""
    among = mind.edges.between([trail.memory for trail in trails])
    always = {edge.id for edge in among if not noted.core.isdisjoint((edge.source, edge.target))}
    together = [edge.id for edge in among if edge.id not in always]
    walked = {edge: flow for edge, flow in noted.walked.items() if edge not in always}
    return plasticity_update(paths, together, walked, params)


def _outer(mind: Mind, trails: Sequence[Trail], noted: NotedRecall) -> dict[str, Sign]:
    """The edges of paths to memories that the reply used or the answer corrected; use counts before correction."""
    out: dict[str, Sign] = {}
    for sign in (Sign.CORRECTED, Sign.USED):
        for trail in trails:
            if noted.signs.get(trail.memory) is sign:
                out.update(dict.fromkeys(_path(mind, trail), sign))
    return out


def _path(mind: Mind, trail: Trail) -> tuple[str, ...]:
    """The edges over which a memory was reached; a fact is itself an edge."""
    is_fact = trail.memory in mind.facts
    return (*trail.edges, str(trail.memory)) if is_fact else trail.edges


def _edges(
    mind: Mind,
    taught: PlasticityUpdate,
    outer: Mapping[str, Sign],
    current_time: datetime,
    turn: int,
    params: PlasticityParams,
) -> tuple[Edge, ...]:
    """The edges that the lesson changes, with their new values."""
    changed = []
    for key, share in taught.used.items():
        used_edge, sign = mind.edges.get(key), outer.get(key)
        if used_edge is None:
            continue
        if sign is Sign.CORRECTED and used_edge.kind in DECAYING:
            changed.append(_corrected(mind, used_edge, turn, params))
            continue
        eta = params.eta if sign is None else min(1.0, OUTER * params.eta)
        by = replace(params, eta=eta)
        changed.append(_used(mind, used_edge, share, current_time, turn, by))
    for key in taught.idle:
        idle_edge = mind.edges.get(key)
        if idle_edge is not None and idle_edge.kind in DECAYING:
            changed.append(_idle(mind, idle_edge, turn, params))
    return tuple(sorted(changed, key=lambda edge: edge.id))


def _vectors(
    mind: Mind,
    noted: NotedRecall,
    paths: Mapping[str, float],
    taught: PlasticityUpdate,
    outer: Mapping[str, Sign],
    turn: int,
) -> VectorUpdate:
    """What the query teaches the vectors: edges of paths by their share, those offered in vain forget it."""
    gains = {key: share for key, share in taught.used.items() if key in paths}
    gains = {key: share for key, share in gains.items() if share >= LEAST_SHARE}
    losses = dict.fromkeys(sorted(taught.idle), IDLE_LOSS)
    for key, sign in outer.items():
        gains.pop(key, None)
        if sign is Sign.CORRECTED:
            losses[key] = 1.0
        else:
            gains[key] = OUTER
    return vector_update(mind, noted.query, gains, losses, turn)


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
        stability=stability_after(edge.stability, mind.time.edge_age(edge, turn)),
    )


def _corrected(mind: Mind, edge: Edge, turn: int, params: PlasticityParams) -> Edge:
    """The edge after the next message denied what it led to, as after the verdict `not_now`."""
    strength = mind.edge_strength(edge, turn)
    if strength <= 0.0:
        return edge
    lower = strength_after(
        strength,
        Verdict.NOT_NOW,
        keep=edge.uses > 0 or is_protected(mind, edge),
        plasticity=params,
    )
    return replace(edge, strength=edge.strength * (lower / strength))


def _idle(mind: Mind, edge: Edge, turn: int, params: PlasticityParams) -> Edge:
    """The edge after it was offered and not used; `touched` stays, as it is the last use.

    The stored strength falls by the same factor as the present one.
    """
    strength = mind.edge_strength(edge, turn)
    if strength <= 0.0:
        return edge
    lower = depressed(strength, keep=edge.uses > 0 or is_protected(mind, edge), params=params)
    return replace(edge, strength=edge.strength * (lower / strength))
