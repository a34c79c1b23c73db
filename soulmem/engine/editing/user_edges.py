"""Checks and builds the edges that a user creates by hand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from soulmem.domain.edges import Edge, EdgeKind, check_join, start_strength
from soulmem.domain.errors import Unprocessable, no_memory
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.domain.phrases import phrase
from soulmem.domain.situation import ConceptType
from soulmem.engine.api.requests import NewEdge
from soulmem.engine.mind.mind import Mind

_SLACK = 1e-6  # rounding error allowed in a sum of probabilities
_VERB = "relates to"  # default verb of a relation


@dataclass(frozen=True, slots=True)
class _RequestedEdge:
    """A requested edge with both its ends, and the edge that exists already."""

    asked: NewEdge
    source: Memory
    target: Memory
    existing: Edge | None
    field: str


def requested_edges(
    mind: Mind,
    memory: Memory,
    wanted: Iterable[NewEdge],
    current_time: datetime,
    extra_turns: int,
) -> tuple[Edge, ...]:
    """The edges of a memory that is about to be stored; of existing ones only given values change.

    `extra_turns` are those of a moved clock. Raises NotFound for an unknown end,
    Unprocessable for kinds that cannot be requested_edges and for actions whose probabilities
    exceed 1.
    """
    requests = [
        _requested_edge(mind, memory, asked, f"edges[{index}]")
        for index, asked in enumerate(wanted)
    ]
    turn = mind.lived_turns(extra_turns) if requests else 0
    causes = {
        w.target.id
        for w in requests
        if w.asked.kind is EdgeKind.TRIGGERS and w.source.kind is MemoryKind.EPISODE
    }
    made: dict[str, tuple[_RequestedEdge, Edge]] = {}
    for request in requests:
        overwhelming = request.asked.kind is EdgeKind.FIRES and (
            request.source.id in causes or _is_overwhelming(mind, request.source)
        )
        edge = _edge(
            memory,
            request,
            current_time,
            turn,
            start_strength(request.asked.kind, is_overwhelming=overwhelming),
        )
        made[edge.id] = request, edge
    return _with_probabilities(mind, list(made.values()))


def check_fires(mind: Mind, memory: Memory) -> None:
    """Raises Unprocessable when restoring the memory gives a trigger's actions more
    than 1 together.
    """
    for edge in mind.edges_of(memory.id):
        if edge.kind is EdgeKind.FIRES:
            shares = _shares(mind, edge.source, {})
            total = sum(shares.values()) + (
                0.0 if edge.target in shares else edge.probability or 0.0
            )
            _check_sum(mind.memories[edge.source], total, "id")


def check_topic(mind: Mind, memory: Memory) -> None:
    """Raises Unprocessable when a concept of this type may not have the user's edges it has."""
    for edge in mind.edges_of(memory.id):
        if edge.origin is Origin.USER:
            source, target = (
                memory if key == memory.id else mind.memories[key]
                for key in (edge.source, edge.target)
            )
            _check_join(edge.kind, source, target, "fields.concept_type")


def _requested_edge(mind: Mind, memory: Memory, asked: NewEdge, field: str) -> _RequestedEdge:
    other_id = asked.source if asked.source is not None else asked.to
    if other_id is None or (asked.source is not None and asked.to is not None):
        raise Unprocessable(
            phrase("edge_ends", "an edge names its other end once: `to` or `from`"),
            field=field,
        )
    other = memory if other_id == memory.id else mind.memories.get(other_id)
    if other is None:
        raise no_memory(other_id, field=f"{field}.to")
    source, target = (other, memory) if asked.source is not None else (memory, other)
    _check_join(asked.kind, source, target, f"{field}.kind")
    if asked.kind is EdgeKind.NEXT:
        raise Unprocessable(
            phrase(
                "next_by_hand",
                "`next` edges follow the chat; they are not made by hand",
            ),
            field=f"{field}.kind",
        )
    if asked.kind is EdgeKind.RELATES and not (asked.verb or "").strip():
        asked = replace(asked, verb=_VERB)
    existing_edge = mind.edges.find(asked.kind, source.id, target.id, asked.verb)
    return _RequestedEdge(asked, source, target, existing_edge, field)


def _check_join(kind: EdgeKind, source: Memory, target: Memory, field: str) -> None:
    check_join(kind, source.kind, target.kind, field)
    if kind is EdgeKind.MENTIONS and _is_topic(target):
        raise Unprocessable(
            phrase(
                "mentions_topic",
                "'mentions' cannot join {kind} -> topic: join a concept, and that by 'topic_of'",
                kind=source.kind.value,
            ),
            field=field,
        )
    if kind is EdgeKind.TOPIC_OF and not _is_topic(target):
        raise Unprocessable(
            phrase(
                "topic_target",
                "'topic_of' runs from a concept to one of concept_type 'topic', which its target is not",
            ),
            field=field,
        )


def _is_topic(memory: Memory) -> bool:
    return memory.concept is not None and memory.concept.concept_type is ConceptType.TOPIC


def _is_overwhelming(mind: Mind, trigger: Memory) -> bool:
    """Whether a concrete episode fires the trigger."""
    return any(
        edge.kind is EdgeKind.TRIGGERS and mind.memories[edge.source].kind is MemoryKind.EPISODE
        for edge in mind.edges_of(trigger.id)
    )


def _edge(
    memory: Memory,
    request: _RequestedEdge,
    current_time: datetime,
    turn: float,
    start: float,
) -> Edge:
    asked = request.asked
    by_hand = (
        request.existing
        if request.existing is not None and request.existing.origin is Origin.USER
        else None
    )
    base = by_hand or Edge(
        soul=memory.soul,
        source=request.source.id,
        target=request.target.id,
        kind=asked.kind,
        origin=Origin.USER,
        touched=current_time,
        strength=start,
        verb=asked.verb,
        at_turn=turn,
        made=current_time,
    )
    if asked.strength is not None:  # the present strength, so it fades from now on
        base = replace(base, strength=asked.strength, touched=current_time, at_turn=turn)
    return replace(
        base,
        confidence=base.confidence if asked.confidence is None else asked.confidence,
        probability=base.probability if asked.probability is None else asked.probability,
    )


def _with_probabilities(
    mind: Mind, made: Sequence[tuple[_RequestedEdge, Edge]]
) -> tuple[Edge, ...]:
    """The edges; actions without a probability get equal parts of what remains."""
    out = {edge.id: edge for _, edge in made}
    of_trigger: defaultdict[MemoryId, list[tuple[_RequestedEdge, Edge]]] = defaultdict(list)
    for request, edge in made:
        if edge.kind is EdgeKind.FIRES:
            of_trigger[edge.source].append((request, edge))
    for trigger, pairs in of_trigger.items():
        explicit = {edge.target: edge.probability for _, edge in pairs}
        total = sum(_shares(mind, trigger, explicit).values())
        open_ones = [(request, edge) for request, edge in pairs if edge.probability is None]
        first = pairs[0][0]
        _check_sum(first.source, total, f"{first.field}.probability")
        for request, edge in open_ones:
            rest = 1.0 - total
            if rest < _SLACK:
                raise Unprocessable(
                    phrase(
                        "probability_taken",
                        "the other actions of trigger '{trigger}' have a probability of 1 together:"
                        " nothing is left for this one; give all of them theirs",
                        trigger=trigger,
                    ),
                    field=f"{request.field}.probability",
                )
            out[edge.id] = replace(edge, probability=rest / len(open_ones))
    return tuple(out.values())


def _shares(
    mind: Mind, trigger: MemoryId, explicit: dict[MemoryId, float | None]
) -> dict[MemoryId, float]:
    """Probabilities of a trigger's actions in use; `explicit` ones replace the stored."""
    out = {
        edge.target: edge.probability or 0.0
        for edge in mind.edges_of(trigger)
        if edge.kind is EdgeKind.FIRES
        and edge.source == trigger
        and mind.memories[edge.target].state is MemoryState.ACTIVE
    }
    out.update((action, probability or 0.0) for action, probability in explicit.items())
    return out


def _check_sum(trigger: Memory, total: float, field: str) -> None:
    if total > 1.0 + _SLACK:
        raise Unprocessable(
            phrase(
                "probability_sum",
                "the probabilities of the actions of trigger '{trigger}' would sum to {total}, above 1",
                trigger=trigger.id,
                total=f"{total:.6g}",
            ),
            field=field,
        )
