"""Mentions: the automatic `mentions` edges from texts to concepts, which follow texts and names.

A text mentions the concepts it names, except its speaker. Episodes of low importance that
an abstract episode covers leave their mentions to it. The edges are a function of the present
texts and names, so the order of changes does not matter. Compute thread only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime

from soulmem.conversation.episodes import spoken
from soulmem.domain.edges import TEXTS, Edge, EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import (
    NAMEABLE,
    Memory,
    MemoryKind,
    MemoryState,
    Origin,
    Timelines,
)
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.known_names import KnownNames
from soulmem.engine.mind.mind import Mind
from soulmem.engine.mind.visibility import opens_exchange
from soulmem.engine.runtime.worker import compute_only

# Importance below which an abstract episode takes over the mentions (design 2).
DIRECT_FROM = 0.6
_KINDS = (EdgeKind.MENTIONS, EdgeKind.INSTANCE_OF)
_NOT_AUTOMATIC = (Origin.USER, Origin.MODEL)


class MindAfter:
    """A mind as it will be after a change, as far as mentions depend on it."""

    def __init__(self, mind: Mind, change: MindChange) -> None:
        self._mind = mind
        self._put = {memory.id: memory for memory in change.put_memories}
        self._dropped = frozenset(change.drop_memories)
        self._dropped_edges = frozenset(change.drop_edges)
        self._fresh: defaultdict[MemoryId, list[Edge]] = defaultdict(list)
        for edge in change.put_edges:
            if edge.kind in _KINDS:
                for end in {edge.source, edge.target}:
                    self._fresh[end].append(edge)
        self.turn = mind.lived_turns(0) + sum(map(opens_exchange, change.put_memories))

    def memory(self, key: MemoryId) -> Memory | None:
        """The memory after the change; None if it does not exist then."""
        if key in self._dropped:
            return None
        return self._put.get(key) or self._mind.memories.get(key)

    def edges(self, key: MemoryId, kind: EdgeKind) -> list[Edge]:
        """Edges of one kind at the memory after the change."""
        out = [edge for edge in self._fresh.get(key, ()) if edge.kind is kind]
        replaced = {(edge.source, edge.target) for edge in out}
        for edge in self._mind.edges.of(key):
            ends = (edge.source, edge.target)
            if edge.kind is not kind or ends in replaced:
                continue
            is_dropped = bool(self._dropped_edges) and edge.id in self._dropped_edges
            if not is_dropped and self._dropped.isdisjoint(ends):
                out.append(edge)
        return out

    def classes(self, episode: MemoryId) -> Iterator[MemoryId]:
        """The abstract episodes in use that cover the episode in all timelines."""
        for edge in self.edges(episode, EdgeKind.INSTANCE_OF):
            abstract = self.memory(edge.target)
            if abstract is None or not _is_linked(abstract):
                continue
            if abstract.timelines is Timelines.ALL:
                yield abstract.id

    def instances(self, abstract: MemoryId) -> Iterator[Memory]:
        """The episodes in use that the abstract episode covers."""
        for edge in self.edges(abstract, EdgeKind.INSTANCE_OF):
            instance = self.memory(edge.source)
            if instance is not None and instance.state in NAMEABLE:
                yield instance

    def near(self, memory: Memory) -> Iterator[MemoryId]:
        """Texts whose mentions depend on the memory: its abstract episodes, or its instances."""
        if memory.kind is MemoryKind.EPISODE:
            yield from (e.target for e in self.edges(memory.id, EdgeKind.INSTANCE_OF))
        elif memory.kind is MemoryKind.ABSTRACT_EPISODE:
            yield from (e.source for e in self.edges(memory.id, EdgeKind.INSTANCE_OF))


@compute_only
def texts_to_relink(mind: Mind, change: MindChange, after: MindAfter) -> list[MemoryId]:
    """The texts whose mentions the change may alter while names stay the same."""
    out: dict[MemoryId, None] = {}
    for memory in change.put_memories:
        if memory.kind in TEXTS:
            out[memory.id] = None
            out.update(dict.fromkeys(after.near(memory)))
    for key in change.drop_memories:
        for edge in mind.edges.of(key):
            if edge.kind is EdgeKind.INSTANCE_OF:
                out.update(dict.fromkeys((edge.source, edge.target)))
    dropped = map(mind.edges.get, change.drop_edges)
    for changed in (*change.put_edges, *dropped):
        if changed is not None and changed.kind is EdgeKind.INSTANCE_OF:
            out.update(dict.fromkeys((changed.source, changed.target)))
    return [key for key in out if after.memory(key) is not None]


def mentioned_concepts(after: MindAfter, names: KnownNames, memory: Memory) -> set[MemoryId]:
    """The concepts that the text is to be linked to."""
    if memory.kind not in TEXTS or not _is_linked(memory):
        return set()
    if _leaves_mentions(memory) and any(after.classes(memory.id)):
        return set()
    concepts = set(names.spot(spoken(memory)))
    if memory.kind is MemoryKind.ABSTRACT_EPISODE and memory.timelines is Timelines.ALL:
        for instance in after.instances(memory.id):
            if _leaves_mentions(instance):
                concepts.update(names.spot(spoken(instance)))
    return concepts


def mention_changes(
    after: MindAfter,
    names: KnownNames,
    keys: Iterable[MemoryId],
    touched: datetime,
    extra_turns: int,
) -> tuple[list[Edge], list[str]]:
    """Mentions to write and ids of those to drop, for these texts; edges by the user or a model stay."""
    put: list[Edge] = []
    drop: list[str] = []
    for key in keys:
        memory = after.memory(key)
        if memory is None:
            continue
        wanted = mentioned_concepts(after, names, memory)
        for edge in after.edges(key, EdgeKind.MENTIONS):
            if (
                edge.source == key
                and edge.target not in wanted
                and edge.origin not in _NOT_AUTOMATIC
            ):
                drop.append(edge.id)
            wanted.discard(edge.target)
        for concept in sorted(wanted):
            put.append(
                Edge(
                    soul=memory.soul,
                    source=key,
                    target=concept,
                    kind=EdgeKind.MENTIONS,
                    origin=Origin.CHAT if memory.origin is Origin.CHAT else Origin.CARD,
                    touched=touched,
                    strength=0.3 + 0.7 * memory.importance,
                    at_turn=after.turn + extra_turns,
                )
            )
    return put, drop


def _is_linked(text: Memory) -> bool:
    """Whether the text has its mentions: a forgotten one gets them back when it returns."""
    return text.state in NAMEABLE and text.state is not MemoryState.FORGOTTEN


def _leaves_mentions(memory: Memory) -> bool:
    """Whether its abstract episodes take over its mentions."""
    return memory.kind is MemoryKind.EPISODE and memory.importance < DIRECT_FROM
