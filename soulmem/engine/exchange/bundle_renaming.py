"""Makes a bundle of one soul a bundle of another: ids derived from the soul's id are derived again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from soulmem.conversation.episodes import episode_id
from soulmem.domain.dialogue import Chat, Fork, Message
from soulmem.domain.edges import Edge
from soulmem.domain.fading_records import FadingRecord
from soulmem.domain.ids import ChatId, MemoryId, SoulId, derived_id
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.domain.opinions import Opinion
from soulmem.domain.usage import RecallRecord, Trail, Usage
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.world.message_log import stories_of
from soulmem.transfer.bundle import Bundle, Head


def branch_root(
    chat: ChatId, chats: Mapping[ChatId, Chat], stored: Mapping[ChatId, Chat]
) -> ChatId:
    """The root of a chat's branches, by `chats` and for others by the `stored` ones; of a circle the least id."""
    path = [chat]
    while True:
        head = chats.get(chat) or stored.get(chat)
        if head is None or head.parent is None:
            return chat
        chat = head.parent.chat
        if chat in path:
            return min(path[path.index(chat) :])
        path.append(chat)


@compute_only
def bundle_for(bundle: Bundle, target: SoulId, stored: Mapping[ChatId, Chat]) -> Bundle:
    """The bundle as one of the soul `target`; unchanged if it is that.

    A chat keeps its id, unless a chat of that id is `stored` in which the target takes
    no part.
    """
    if bundle.owner_soul == target:
        return bundle
    return _Renaming(bundle, target, stored).bundle()


class _Renaming:
    """Rewrites one bundle for another soul. What refers to memories that get no new id is left out."""

    def __init__(self, source: Bundle, target: SoulId, stored: Mapping[ChatId, Chat]) -> None:
        self._source = source
        self._target = target
        self._stored = stored
        self._chats = {self._chat_id(key): self._chat(chat) for key, chat in source.chats.items()}
        self._memory_ids = self._new_memory_ids()
        self._ids: dict[str, str] = {}  # of memories and edges
        for old_id, new_id in self._memory_ids.items():
            self._ids[old_id] = new_id
        for edge in source.edges.values():
            if self._has_ends(edge):
                self._ids[edge.id] = self._edge(edge).id

    def bundle(self) -> Bundle:
        """The rewritten bundle."""
        source = self._source
        assert source.head is not None
        return Bundle(
            head=Head(source.head.version, self._target, source.head.made, source.head.soulmem),
            soul=replace(source.soul, id=self._target) if source.soul else None,
            chats=self._chats,
            messages=self._messages(),
            memories={
                self._memory_ids[key]: self._memory(memory, self._memory_ids[key])
                for key, memory in source.memories.items()
                if key in self._memory_ids
            },
            edges=self._edges(),
            usages=self._usages(),
            recalls=self._recalls(),
            opinions=self._opinions(),
            fading=self._fading(),
            broken=source.broken,
            whole=source.whole,
        )

    def _chat_id(self, chat: ChatId) -> ChatId:
        head = self._stored.get(chat)
        if head is None or self._target in head.cast or self._target in head.souls:
            return chat
        return ChatId(derived_id("c", self._target, chat))

    def _chat(self, chat: Chat) -> Chat:
        parent = chat.parent
        return replace(
            chat,
            id=self._chat_id(chat.id),
            souls=self._souls(chat.souls),
            cast=self._souls(chat.cast),
            parent=Fork(self._chat_id(parent.chat), parent.slot) if parent else None,
        )

    def _messages(self) -> dict[ChatId, list[Message]]:
        return {
            self._chat_id(chat): list(map(self._message, messages))
            for chat, messages in self._source.messages.items()
        }

    def _message(self, message: Message) -> Message:
        if message.present is None:
            return message
        return replace(message, present=self._souls(message.present))

    def _souls(self, souls: Iterable[SoulId]) -> tuple[SoulId, ...]:
        old = self._source.owner_soul
        return tuple(dict.fromkeys(self._target if soul == old else soul for soul in souls))

    def _new_memory_ids(self) -> dict[MemoryId, MemoryId]:
        """The new id of each memory by the old one. Concepts of the card get none: they are made again."""
        source, target = self._source, self._target
        ids: dict[MemoryId, MemoryId] = {}
        for key, messages in source.messages.items():
            old_root = branch_root(key, source.chats, {})
            new_root = branch_root(self._chat_id(key), self._chats, self._stored)
            for message in stories_of(source.soul, source.chats[key], messages):
                old_id = episode_id(source.owner_soul, old_root, message)
                ids[old_id] = episode_id(target, new_root, message)
        for memory_id, memory in source.memories.items():
            if memory.origin is Origin.USER and memory_id not in ids:
                ids[memory_id] = MemoryId(derived_id("m", target, memory_id))
            elif memory.origin is Origin.CARD and memory.kind is not MemoryKind.CONCEPT:
                ids[memory_id] = MemoryId(derived_id("n", target, memory.kind.value, memory.text))
        return {old: new for old, new in ids.items() if old in source.memories}

    def _memory(self, memory: Memory, new_id: MemoryId) -> Memory:
        place, centre = memory.place, memory.merged_into
        joined_with = self._memory_ids.get(centre) if centre is not None else None
        is_alone = memory.state is MemoryState.MERGED and joined_with is None
        return replace(
            memory,
            id=new_id,
            soul=self._target,
            place=replace(place, chat=self._chat_id(place.chat)) if place else None,
            state=MemoryState.ACTIVE if is_alone else memory.state,
            merged_into=joined_with,
        )

    def _has_ends(self, edge: Edge) -> bool:
        return edge.source in self._memory_ids and edge.target in self._memory_ids

    def _edge(self, edge: Edge) -> Edge:
        return replace(
            edge,
            soul=self._target,
            source=self._memory_ids[edge.source],
            target=self._memory_ids[edge.target],
        )

    def _edges(self) -> dict[str, Edge]:
        edges = {}
        for edge in self._source.edges.values():
            if self._has_ends(edge):
                rewritten = self._edge(edge)
                edges[rewritten.id] = rewritten
        return edges

    def _usages(self) -> dict[MemoryId, Usage]:
        usages = {}
        for old_id, usage in self._source.usages.items():
            if old_id in self._ids:
                new_id = MemoryId(self._ids[old_id])
                usages[new_id] = replace(usage, memory=new_id, soul=self._target)
        return usages

    def _opinions(self) -> dict[MemoryId, Opinion]:
        opinions = {}
        for old_id, opinion in self._source.opinions.items():
            if old_id in self._ids:
                new_id = MemoryId(self._ids[old_id])
                opinions[new_id] = replace(
                    opinion,
                    memory=new_id,
                    soul=self._target,
                    not_in=tuple(self._chat_id(chat) for chat in opinion.not_in),
                )
        return opinions

    def _fading(self) -> dict[MemoryId, FadingRecord]:
        fading = {}
        for old_id, record in self._source.fading.items():
            if old_id in self._memory_ids:
                new_id = self._memory_ids[old_id]
                retold = record.retold
                if retold is not None:
                    retold = replace(retold, chat=self._chat_id(retold.chat))
                fading[new_id] = replace(record, memory=new_id, soul=self._target, retold=retold)
        return fading

    def _recalls(self) -> dict[str, RecallRecord]:
        recalls = {}
        for record in self._source.recalls.values():
            rewritten = replace(
                record,
                trace=derived_id("t", self._target, record.trace),
                soul=self._target,
                chat=self._chat_id(record.chat),
                trails=self._trails(record),
            )
            recalls[rewritten.trace] = rewritten
        return recalls

    def _trails(self, record: RecallRecord) -> tuple[Trail, ...]:
        ids = self._ids
        trails = []
        for trail in record.trails:
            if ids.keys() >= {trail.memory, *trail.via, *trail.edges}:
                via = tuple(MemoryId(ids[key]) for key in trail.via)
                edges = tuple(ids[key] for key in trail.edges)
                trails.append(Trail(MemoryId(ids[trail.memory]), via, edges))
        return tuple(trails)
