"""Which texts mention which concepts: the automatic `mentions` edges, which follow texts and names.

A text mentions the concepts it names, but for who speaks. For episodes of little importance the abstract
episodes that cover them do it. The edges are a function of what is there, so the way there does not matter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime

from soulmem.conversation.episodes import spoken
from soulmem.domain.edges import TEXTS, Edge, EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import NAMEABLE, Memory, MemoryKind, Origin, Timelines
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.known_names import KnownNames
from soulmem.engine.mind.mind import Mind
from soulmem.engine.mind.visibility import opens_exchange

DIRECT_FROM = (
    0.6  # importance; below it an abstract episode takes the link over (design 2)
)
_OURS = (EdgeKind.MENTIONS, EdgeKind.INSTANCE_OF)
_THEIRS = (Origin.USER, Origin.MODEL)


class MindAfter:
    """A mind as it will be once a change is taken over, as far as mentions depend on it."""

    def __init__(self, mind: Mind, change: MindChange) -> None:
        self._mind = mind
        self._put = {memory.id: memory for memory in change.put_memories}
        self._gone = frozenset(change.drop_memories)
        self._cut = frozenset(change.drop_edges)
        self._fresh: defaultdict[MemoryId, list[Edge]] = defaultdict(list)
        for edge in change.put_edges:
            if edge.kind in _OURS:
                for end in {edge.source, edge.target}:
                    self._fresh[end].append(edge)
        self.turn = mind.lived_turns(0) + sum(map(opens_exchange, change.put_memories))

    def memory(self, key: MemoryId) -> Memory | None:
        """The memory, unless it goes."""
        return (
            None
            if key in self._gone
            else self._put.get(key) or self._mind.memories.get(key)
        )

    def edges(self, key: MemoryId, kind: EdgeKind) -> list[Edge]:
        """Edges of that kind at the memory."""
        fresh = [edge for edge in self._fresh.get(key, ()) if edge.kind is kind]
        known = {(edge.source, edge.target) for edge in fresh}
        out = fresh
        for edge in self._mind.edges.of(key):
            ends = (edge.source, edge.target)
            stays = self._gone.isdisjoint(ends) and not (
                self._cut and edge.id in self._cut
            )
            if edge.kind is kind and ends not in known and stays:
                out.append(edge)
        return out

    def classes(self, episode: MemoryId) -> Iterator[MemoryId]:
        """The abstract episodes that cover it wherever it is known."""
        for edge in self.edges(episode, EdgeKind.INSTANCE_OF):
            found = self.memory(edge.target)
            if (
                found is not None
                and found.state in NAMEABLE
                and found.timelines is Timelines.ALL
            ):
                yield found.id

    def instances(self, abstract: MemoryId) -> Iterator[Memory]:
        """The episodes it covers."""
        for edge in self.edges(abstract, EdgeKind.INSTANCE_OF):
            found = self.memory(edge.source)
            if found is not None and found.state in NAMEABLE:
                yield found

    def near(self, memory: Memory) -> Iterator[MemoryId]:
        """Whose mentions may change with those of the memory: its classes, its instances."""
        if memory.kind is MemoryKind.EPISODE:
            yield from (e.target for e in self.edges(memory.id, EdgeKind.INSTANCE_OF))
        elif memory.kind is MemoryKind.ABSTRACT_EPISODE:
            yield from (e.source for e in self.edges(memory.id, EdgeKind.INSTANCE_OF))


def texts_to_relink(mind: Mind, change: MindChange, after: MindAfter) -> list[MemoryId]:
    """The texts whose mentions the change may alter, names being as they are."""
    out: dict[MemoryId, None] = {}
    for memory in change.put_memories:
        if memory.kind in TEXTS:
            out[memory.id] = None
            out.update(dict.fromkeys(after.near(memory)))
    for key in change.drop_memories:
        for edge in mind.edges.of(key):
            if edge.kind is EdgeKind.INSTANCE_OF:
                out.update(dict.fromkeys((edge.source, edge.target)))
    cut = [
        known for key in change.drop_edges if (known := mind.edges.get(key)) is not None
    ]
    for edge in (*change.put_edges, *cut):
        if edge.kind is EdgeKind.INSTANCE_OF:
            out.update(dict.fromkeys((edge.source, edge.target)))
    return [key for key in out if after.memory(key) is not None]


def mentioned_concepts(
    after: MindAfter, names: KnownNames, memory: Memory
) -> set[MemoryId]:
    """The concepts that the text is to be linked to."""
    if memory.kind not in TEXTS or memory.state not in NAMEABLE:
        return set()
    if _hands_over(memory) and any(after.classes(memory.id)):
        return set()
    found = set(names.spot(spoken(memory)))
    if memory.kind is MemoryKind.ABSTRACT_EPISODE and memory.timelines is Timelines.ALL:
        for instance in after.instances(memory.id):
            if _hands_over(instance):
                found.update(names.spot(spoken(instance)))
    return found


def mention_changes(
    after: MindAfter,
    names: KnownNames,
    keys: Iterable[MemoryId],
    now: datetime,
    extra_turns: int,
) -> tuple[list[Edge], list[str]]:
    """Mentions to be written and ids of those to be dropped, for these texts. Edges of the user's stay."""
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
                and edge.origin not in _THEIRS
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
                    touched=now,
                    strength=0.3 + 0.7 * memory.importance,
                    at_turn=after.turn + extra_turns,
                )
            )
    return put, drop


def _hands_over(memory: Memory) -> bool:
    return memory.kind is MemoryKind.EPISODE and memory.importance < DIRECT_FROM
