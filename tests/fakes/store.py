"""A store in dictionaries, with the promises of the real one."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone

from soulmem.domain.audit import Actor, AuditEntry, AuditQuery
from soulmem.domain.deletions import Deletion
from soulmem.domain.derivations import Derivation
from soulmem.domain.dialogue import Chat
from soulmem.domain.edge_vectors import EdgeVector
from soulmem.domain.edges import Edge, EdgeKind, EdgePage
from soulmem.domain.errors import Protected, StoreError
from soulmem.domain.fading_records import FadingRecord
from soulmem.domain.ids import ChatId, MemoryId, Owner, SlotId, SoulId, StreamId
from soulmem.domain.llm_usage import SoulLlmUsage
from soulmem.domain.memories import BINNED, Memory, MemoryState
from soulmem.domain.opinions import Opinion
from soulmem.domain.soul import Soul
from soulmem.domain.streams import StreamEvent
from soulmem.domain.usage import RecallRecord, Usage
from soulmem.ports.store import (
    Change,
    Damage,
    Mark,
    RankedMessage,
    SoulGraph,
    SoulRecalls,
    StoreHealth,
)

_PAGE = 50  # rows
_LISTED = 20_000  # ids since a mark
_LONG_AGO = datetime.min.replace(tzinfo=timezone.utc)


@dataclass
class _World:
    """Everything of one owner."""

    souls: dict[SoulId, Soul] = field(default_factory=dict)
    chats: dict[ChatId, Chat] = field(default_factory=dict)
    messages: dict[ChatId, dict[SlotId, RankedMessage]] = field(default_factory=dict)
    memories: dict[MemoryId, Memory] = field(default_factory=dict)
    edges: dict[str, Edge] = field(default_factory=dict)
    usages: dict[MemoryId, Usage] = field(default_factory=dict)
    recalls: dict[str, RecallRecord] = field(default_factory=dict)
    marks: dict[SoulId, Mark] = field(default_factory=dict)
    audit: dict[str, AuditEntry] = field(default_factory=dict)
    deletions: dict[str, Deletion] = field(default_factory=dict)
    opinions: dict[MemoryId, Opinion] = field(default_factory=dict)
    derivations: dict[str, Derivation] = field(default_factory=dict)
    books: dict[SoulId, SoulLlmUsage] = field(default_factory=dict)
    edge_vectors: dict[str, EdgeVector] = field(default_factory=dict)
    fading: dict[MemoryId, FadingRecord] = field(default_factory=dict)
    events: dict[SoulId, dict[tuple[StreamId, str], StreamEvent]] = field(default_factory=dict)

    def copy(self) -> _World:
        """Another world of the same values, which never change themselves."""
        messages = {chat: dict(ranked) for chat, ranked in self.messages.items()}
        return _World(
            dict(self.souls),
            dict(self.chats),
            messages,
            dict(self.memories),
            dict(self.edges),
            dict(self.usages),
            dict(self.recalls),
            dict(self.marks),
            dict(self.audit),
            dict(self.deletions),
            dict(self.opinions),
            dict(self.derivations),
            dict(self.books),
            dict(self.edge_vectors),
            dict(self.fading),
            {soul: dict(events) for soul, events in self.events.items()},
        )


class FakeStore:
    """A `Store` that forgets everything with the process, but not with close().

    `refuses`: when set, every commit raises it and stores nothing, as on a full disk.
    """

    def __init__(self) -> None:
        self.refuses: StoreError | None = None
        self._open = False
        self._worlds: dict[Owner, _World] = {}
        self._vectors: dict[tuple[str, str], bytes] = {}

    async def open(self) -> None:
        self._open = True

    async def close(self) -> None:
        self._open = False

    def health(self) -> StoreHealth:
        return (
            StoreHealth(writable=False, detail=self.refuses.message)
            if self.refuses
            else StoreHealth()
        )

    async def commit(self, change: Change) -> None:
        self._check_open()
        if not change:
            return
        if self.refuses:
            raise self.refuses
        world = self._world(change.owner).copy()
        if change.by is not Actor.USER:
            _check_protected(world, change)
        _apply(world, change)
        self._worlds[change.owner] = world

    async def damages(self, owner: Owner) -> list[Damage]:
        self._check_open()
        return []

    async def owners(self) -> list[Owner]:
        self._check_open()
        return sorted(owner for owner, world in self._worlds.items() if world.souls or world.chats)

    async def souls(self, owner: Owner) -> list[Soul]:
        self._check_open()
        return sorted(self._world(owner).souls.values(), key=_age)

    async def chats(self, owner: Owner) -> list[Chat]:
        self._check_open()
        return sorted(self._world(owner).chats.values(), key=_age)

    async def messages(self, owner: Owner, chat: ChatId) -> list[RankedMessage]:
        self._check_open()
        stored = self._world(owner).messages.get(chat, {})
        return sorted(stored.values(), key=lambda ranked: ranked.rank)

    async def message_count(self, owner: Owner, chat: ChatId) -> int:
        return len(await self.messages(owner, chat))

    async def graph(self, owner: Owner, soul: SoulId) -> SoulGraph:
        self._check_open()
        world = self._world(owner)
        memories = [one for one in world.memories.values() if one.soul == soul]
        edges = [edge for edge in world.edges.values() if edge.soul == soul]
        return SoulGraph(memories, edges)

    async def memories(self, owner: Owner, soul: SoulId) -> list[Memory]:
        self._check_open()
        return [memory for memory in self._world(owner).memories.values() if memory.soul == soul]

    async def memory_pages(self, owner: Owner, soul: SoulId) -> AsyncIterator[Sequence[Memory]]:
        found = await self.memories(owner, soul)
        for start in range(0, len(found), _PAGE):
            yield found[start : start + _PAGE]

    async def edge_pages(self, owner: Owner, soul: SoulId) -> AsyncIterator[EdgePage]:
        found = (await self.graph(owner, soul)).edges
        for start in range(0, len(found), _PAGE):
            yield page_of(found[start : start + _PAGE])

    async def shelve(self, owner: Owner, soul: SoulId, memories: Sequence[MemoryId]) -> None:
        """Here nothing takes less room."""

    async def memory_count(self, owner: Owner) -> int:
        return len(self._world(owner).memories)

    async def edge_count(self, owner: Owner, soul: SoulId | None = None) -> int:
        self._check_open()
        edges = self._world(owner).edges.values()
        return sum(soul in (None, edge.soul) for edge in edges)

    async def edges_around(
        self,
        owner: Owner,
        soul: SoulId,
        memories: Sequence[MemoryId],
        *,
        leaving: bool = False,
    ) -> EdgePage:
        self._check_open()
        ends = set(memories)
        found = [
            edge
            for edge in self._world(owner).edges.values()
            if edge.soul == soul and (edge.source in ends or (edge.target in ends and not leaving))
        ]
        return page_of(found)

    async def edges_leaving(
        self, owner: Owner, soul: SoulId, memories: Sequence[MemoryId], kind: EdgeKind
    ) -> Mapping[MemoryId, int]:
        self._check_open()
        asked, every = set(memories), self._world(owner).edges.values()
        return Counter(
            e.source for e in every if e.soul == soul and e.kind is kind and e.source in asked
        )

    async def edges_known(self, owner: Owner, edges: Sequence[str]) -> set[str]:
        self._check_open()
        return set(edges) & self._world(owner).edges.keys()

    async def recalls(self, owner: Owner, soul: SoulId) -> SoulRecalls:
        self._check_open()
        world = self._world(owner)
        records = [record for record in world.recalls.values() if record.soul == soul]
        return SoulRecalls(
            [usage for usage in world.usages.values() if usage.soul == soul],
            sorted(records, key=lambda record: (record.stamp.moment, record.trace)),
        )

    async def edge_vectors(self, owner: Owner, soul: SoulId) -> list[EdgeVector]:
        self._check_open()
        every = sorted(self._world(owner).edge_vectors.items())
        return [vector for _, vector in every if vector.soul == soul]

    async def audit(self, owner: Owner, wanted: AuditQuery) -> list[AuditEntry]:
        self._check_open()
        found = [
            entry
            for entry in self._world(owner).audit.values()
            if wanted.soul in (None, entry.soul)
            and wanted.target in (None, entry.target)
            and wanted.source in (None, entry.source)
            and wanted.id in (None, entry.id)
            and wanted.action in (None, entry.action)
            and (wanted.since is None or entry.moment >= wanted.since)
            and (wanted.before is None or entry.id < wanted.before)
        ]
        return sorted(found, key=lambda entry: entry.id, reverse=True)[: wanted.limit]

    async def deletions(self, owner: Owner) -> list[Deletion]:
        self._check_open()
        return sorted(
            self._world(owner).deletions.values(),
            key=lambda one: (one.requested, one.id),
        )

    async def opinions(self, owner: Owner, soul: SoulId) -> list[Opinion]:
        self._check_open()
        return [one for one in self._world(owner).opinions.values() if one.soul == soul]

    async def fading(self, owner: Owner, soul: SoulId) -> list[FadingRecord]:
        self._check_open()
        return [one for one in self._world(owner).fading.values() if one.soul == soul]

    async def derivations(self, owner: Owner, soul: SoulId) -> list[Derivation]:
        self._check_open()
        found = [one for one in self._world(owner).derivations.values() if one.soul == soul]
        return sorted(found, key=lambda one: (one.made, one.id))

    async def llm_usage(self, owner: Owner) -> list[SoulLlmUsage]:
        self._check_open()
        return list(self._world(owner).books.values())

    async def put_llm_usage(self, owner: Owner, books: SoulLlmUsage) -> None:
        self._check_open()
        if self.refuses:
            raise self.refuses
        kept = self._worlds.setdefault(owner, _World()).books
        kept[books.soul] = books
        if not books:
            del kept[books.soul]

    async def put_events(self, owner: Owner, soul: SoulId, events: Sequence[StreamEvent]) -> None:
        self._check_open()
        world = self._worlds.setdefault(owner, _World())
        known = world.events.setdefault(soul, {})
        known.update(((event.stream, event.id), event) for event in events)

    async def event_keys(self, owner: Owner, soul: SoulId) -> list[tuple[StreamId, datetime, str]]:
        self._check_open()
        known = self._world(owner).events.get(soul, {}).values()
        return sorted((event.stream, event.moment, event.id) for event in known)

    async def events(
        self,
        owner: Owner,
        soul: SoulId,
        stream: StreamId,
        start: tuple[datetime, str],
        end: datetime,
        limit: int | None = None,
    ) -> list[StreamEvent]:
        self._check_open()
        known = self._world(owner).events.get(soul, {}).values()
        found = [e for e in known if e.stream == stream and e.position > start]
        inside = [event for event in found if event.moment < end]
        return sorted(inside, key=lambda event: event.position)[:limit]

    async def drop_events(self, owner: Owner, soul: SoulId) -> None:
        self._check_open()
        self._world(owner).events.pop(soul, None)

    async def mark(self, owner: Owner, soul: SoulId, token: str) -> None:
        self._check_open()
        if self.refuses:
            raise self.refuses
        self._worlds.setdefault(owner, _World()).marks[soul] = Mark(token)

    async def marked(self, owner: Owner, soul: SoulId) -> Mark | None:
        self._check_open()
        return self._world(owner).marks.get(soul)

    async def some_memories(
        self, owner: Owner, soul: SoulId, memories: Sequence[MemoryId]
    ) -> list[Memory]:
        known = await self.memories(owner, soul)
        return [memory for memory in known if memory.id in memories]

    async def some_edges(self, owner: Owner, soul: SoulId, edges: Sequence[str]) -> EdgePage:
        graph = await self.graph(owner, soul)
        return page_of([edge for edge in graph.edges if edge.id in edges])

    async def vectors(self, model: str, keys: Sequence[str]) -> Mapping[str, bytes]:
        self._check_open()
        return {key: self._vectors[model, key] for key in keys if (model, key) in self._vectors}

    async def put_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        self._check_open()
        self._vectors.update({(model, key): data for key, data in vectors.items()})

    async def vector_keys(self, model: str) -> AsyncIterator[Sequence[tuple[str, str]]]:
        self._check_open()
        for own in (True, False):
            yield [pair for pair in self._vectors if (pair[0] == model) is own]

    async def drop_vectors(self, pairs: Sequence[tuple[str, str]]) -> None:
        self._check_open()
        for pair in pairs:
            self._vectors.pop(pair, None)

    async def maintain(self) -> None:
        self._check_open()

    async def compact(self) -> None:
        self._check_open()

    def _check_open(self) -> None:
        if not self._open:
            raise StoreError("the store in memory is not open")

    def _world(self, owner: Owner) -> _World:
        return self._worlds.get(owner) or _World()


def _size(mark: Mark) -> int:
    """How many ids it lists."""
    return sum(map(len, (mark.put, mark.dropped, mark.edges, mark.chats)))


def _listed(mark: Mark, soul: SoulId, change: Change) -> Mark:
    """The mark with what the change says of the soul."""
    chats = (changed.chat for changed in change.chats)
    own = (edge.id for edge in change.put_edges if edge.soul == soul)
    return Mark(
        mark.token,
        put=mark.put.union(m.id for m in change.put_memories if m.soul == soul),
        dropped=mark.dropped.union(change.drop_memories),
        edges=mark.edges.union(own, change.drop_edges),
        chats=mark.chats.union(c.id for c in chats if soul in (*c.souls, *c.cast)),
    )


def _apply(world: _World, change: Change) -> None:
    """What goes first, then what comes. Raises StoreError for an edge without its ends."""
    written = {soul.id for soul in change.souls}
    world.marks = {
        soul: listed
        for soul, mark in world.marks.items()
        if soul not in written and _size(listed := _listed(mark, soul, change)) <= _LISTED
    }
    for changed in change.chats:
        messages = world.messages.setdefault(changed.chat.id, {})
        for slot in changed.drop:
            messages.pop(slot, None)
    for edge_id in change.drop_edges:
        world.edges.pop(edge_id, None)
        world.usages.pop(MemoryId(edge_id), None)
    for gone in change.drop_memories:
        world.memories.pop(gone, None)
        world.usages.pop(gone, None)
    world.edges = {
        name: edge
        for name, edge in world.edges.items()
        if edge.source in world.memories and edge.target in world.memories
    }
    for trace in change.drop_recalls:
        world.recalls.pop(trace, None)
    world.usages.update((usage.memory, usage) for usage in change.put_usages)
    world.recalls.update((record.trace, record) for record in change.put_recalls)
    world.souls.update((soul.id, soul) for soul in change.souls)
    for changed in change.chats:
        world.chats[changed.chat.id] = changed.chat
        world.messages[changed.chat.id].update(
            (ranked.message.slot, ranked) for ranked in changed.put
        )
    world.memories.update((memory.id, memory) for memory in change.put_memories)
    for edge in change.put_edges:
        for end in (edge.source, edge.target):
            if end not in world.memories:
                raise StoreError(f"edge {edge.id} ends at memory {end}, which does not exist")
        world.edges[edge.id] = edge

    gone_vectors = {*change.drop_edge_vectors, *change.drop_edges}
    gone_ends = set(change.drop_memories)
    world.edge_vectors = {
        key: one
        for key, one in world.edge_vectors.items()
        if key not in gone_vectors and gone_ends.isdisjoint((one.source, one.target))
    }
    world.edge_vectors.update((one.edge, one) for one in change.put_edge_vectors)
    _govern(world, change)


def _govern(world: _World, change: Change) -> None:
    for key, entry in world.audit.items():
        if entry.target in change.purge_audit:
            world.audit[key] = replace(entry, before=None, after=None, reason="")
    kept = (one for one in world.deletions.values() if one.memory not in change.purge_audit)
    world.deletions = {one.id: one for one in (*kept, *change.put_deletions)}
    for entry in change.audit:
        if world.audit.get(entry.id, entry) != entry:
            raise Protected("an entry of the audit is protected")
        world.audit[entry.id] = entry
    world.opinions.update((one.memory, one) for one in change.put_opinions)
    for memory in change.drop_memories:
        world.fading.pop(memory, None)
    for record in change.put_fading:
        world.fading[record.memory] = record
        if record.is_empty:
            del world.fading[record.memory]
    for key in change.drop_derivations:
        world.derivations.pop(key, None)
    world.derivations.update((one.id, one) for one in change.put_derivations)


def _check_protected(world: _World, change: Change) -> None:
    put = {memory.id: memory for memory in change.put_memories}
    for key in (*change.drop_memories, *put):
        old, new = world.memories.get(key), put.get(key)
        if old is None or not (old.permanent or old.locked):
            continue
        stays = old.state is MemoryState.BIN if new is None else _guarded(new) == _guarded(old)
        if not stays:
            raise Protected(f"memory {key} is protected: only the user may change or delete it")
    if change.by is not Actor.IMPORT:
        for record in change.put_fading:
            _check_fading(world, change, record)


def _check_fading(world: _World, change: Change, record: FadingRecord) -> None:
    put = {memory.id: memory for memory in change.put_memories}
    memory = put.get(record.memory) or world.memories.get(record.memory)
    is_same = record.is_empty or record == world.fading.get(record.memory)
    if memory and (memory.permanent or memory.locked) and not is_same:
        raise Protected(f"memory {memory.id} is protected: it does not fade")


def _guarded(memory: Memory) -> tuple[object, ...]:
    is_binned = memory.state in (*BINNED, MemoryState.MERGED)
    told = (
        memory.soul,
        memory.kind,
        memory.text,
        memory.created,
        memory.tags,
        memory.importance,
    )
    reach = (memory.permanent, memory.locked, memory.timelines, is_binned)
    return (*told, *reach, memory.situation, memory.concept)


def page_of(edges: Sequence[Edge]) -> EdgePage:
    """The edges side by side."""
    epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
    microsecond = timedelta(microseconds=1)
    return EdgePage(
        id=[edge.id for edge in edges],
        source=[edge.source for edge in edges],
        target=[edge.target for edge in edges],
        kind=[edge.kind.value for edge in edges],
        origin=[edge.origin.value for edge in edges],
        touched=[(edge.touched - epoch) // microsecond for edge in edges],
        strength=[edge.strength for edge in edges],
        confidence=[edge.confidence for edge in edges],
        stability=[edge.stability for edge in edges],
        uses=[edge.uses for edge in edges],
        verb=[edge.verb for edge in edges],
        probability=[edge.probability for edge in edges],
        at_turn=[edge.at_turn for edge in edges],
        made=[None if edge.made is None else (edge.made - epoch) // microsecond for edge in edges],
    )


def _age(one: Soul | Chat) -> tuple[datetime, str]:
    return (one.created or _LONG_AGO, one.id)
