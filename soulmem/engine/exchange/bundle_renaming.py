"""What is a bundle when it is taken into another soul? Ids that were made of the soul's are made anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from soulmem.conversation.episodes import episode_id
from soulmem.domain.dialogue import Chat, Fork, Message
from soulmem.domain.ids import ChatId, MemoryId, SoulId, derived_id
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.domain.opinions import Opinion
from soulmem.domain.usage import RecallRecord, Trail
from soulmem.transfer.bundle import Bundle


def family_of(
    chat: ChatId, chats: Mapping[ChatId, Chat], known: Mapping[ChatId, Chat]
) -> ChatId:
    """The root of the chat's branches, going by `chats` and for others by what is `known` here."""
    way = [chat]
    while (
        head := chats.get(chat) or known.get(chat)
    ) is not None and head.parent is not None:
        chat = head.parent.chat
        if chat in way:
            return min(way[way.index(chat) :])
        way.append(chat)
    return chat


def renamed(bundle: Bundle, target: SoulId, known: Mapping[ChatId, Chat]) -> Bundle:
    """The bundle as one of `target`; unchanged when it is that. Computes.

    A chat keeps its id unless a chat of that id is `known` in which the target takes no part.
    """
    if bundle.owner_soul == target:
        return bundle
    return _Renaming(bundle, target, known).bundle()


@dataclass
class _Renaming:
    source: Bundle
    target: SoulId
    known: Mapping[ChatId, Chat]

    def bundle(self) -> Bundle:
        source = self.source
        assert source.head is not None
        chats = {
            self._chat_id(key): self._chat(chat) for key, chat in source.chats.items()
        }
        messages = {
            self._chat_id(key): [*map(self._message, said)]
            for key, said in source.messages.items()
        }
        names = self._memory_ids(chats)
        memories = {
            names[key]: self._memory(memory, names[key])
            for key, memory in source.memories.items()
            if key in names
        }
        edges = [
            replace(
                edge,
                soul=self.target,
                source=names[edge.source],
                target=names[edge.target],
            )
            for edge in source.edges.values()
            if edge.source in names and edge.target in names
        ]
        edge_names = {
            old.id: replace(old, source=names[old.source], target=names[old.target]).id
            for old in source.edges.values()
            if old.source in names and old.target in names
        }
        every: dict[str, str] = {
            str(key): name for key, name in names.items()
        } | edge_names
        usages = {
            MemoryId(every[key]): replace(
                usage, memory=MemoryId(every[key]), soul=self.target
            )
            for key, usage in source.usages.items()
            if key in every
        }
        recalls = [self._recall(record, every) for record in source.recalls.values()]
        opinions = {
            MemoryId(every[key]): self._opinion(opinion, MemoryId(every[key]))
            for key, opinion in source.opinions.items()
            if key in every
        }
        return Bundle(
            head=type(source.head)(
                source.head.version, self.target, source.head.made, source.head.soulmem
            ),
            soul=replace(source.soul, id=self.target) if source.soul else None,
            chats=chats,
            messages=messages,
            memories=memories,
            edges={edge.id: edge for edge in edges},
            usages=usages,
            recalls={record.trace: record for record in recalls},
            opinions=opinions,
            broken=source.broken,
            whole=source.whole,
        )

    def _chat_id(self, chat: ChatId) -> ChatId:
        here = self.known.get(chat)
        if here is None or self.target in here.cast or self.target in here.souls:
            return chat
        return ChatId(derived_id("c", self.target, chat))

    def _chat(self, chat: Chat) -> Chat:
        parent = chat.parent
        return replace(
            chat,
            id=self._chat_id(chat.id),
            souls=self._souls(chat.souls),
            cast=self._souls(chat.cast),
            parent=Fork(self._chat_id(parent.chat), parent.slot) if parent else None,
        )

    def _message(self, message: Message) -> Message:
        return (
            message
            if message.present is None
            else replace(message, present=self._souls(message.present))
        )

    def _souls(self, souls: Iterable[SoulId]) -> tuple[SoulId, ...]:
        old = self.source.owner_soul
        return tuple(
            dict.fromkeys(self.target if soul == old else soul for soul in souls)
        )

    def _memory_ids(self, chats: Mapping[ChatId, Chat]) -> dict[MemoryId, MemoryId]:
        """The new id of each memory by the old one; what the names of the card stand for is made again."""
        source, target = self.source, self.target
        found: dict[MemoryId, MemoryId] = {}
        for key, said in source.messages.items():
            old = family_of(key, source.chats, {})
            new = family_of(self._chat_id(key), chats, self.known)
            for message in said:
                before = episode_id(source.owner_soul, old, message)
                found[before] = episode_id(target, new, message)
        for key_, memory in source.memories.items():
            if memory.origin is Origin.USER and key_ not in found:
                found[key_] = MemoryId(derived_id("m", target, key_))
            elif memory.origin is Origin.CARD and memory.kind is not MemoryKind.CONCEPT:
                found[key_] = MemoryId(
                    derived_id("n", target, memory.kind.value, memory.text)
                )
        return {key: name for key, name in found.items() if key in source.memories}

    def _memory(self, memory: Memory, name: MemoryId) -> Memory:
        place = memory.place
        return replace(
            memory,
            id=name,
            soul=self.target,
            place=replace(place, chat=self._chat_id(place.chat)) if place else None,
        )

    def _opinion(self, opinion: Opinion, name: MemoryId) -> Opinion:
        not_in = tuple(self._chat_id(chat) for chat in opinion.not_in)
        return replace(opinion, memory=name, soul=self.target, not_in=not_in)

    def _recall(self, record: RecallRecord, names: Mapping[str, str]) -> RecallRecord:
        trails = tuple(
            Trail(
                MemoryId(names[trail.memory]),
                tuple(MemoryId(names[key]) for key in trail.via),
                tuple(names[key] for key in trail.edges),
            )
            for trail in record.trails
            if all(key in names for key in (trail.memory, *trail.via, *trail.edges))
        )
        return replace(
            record,
            trace=derived_id("t", self.target, record.trace),
            soul=self.target,
            chat=self._chat_id(record.chat),
            trails=trails,
        )
