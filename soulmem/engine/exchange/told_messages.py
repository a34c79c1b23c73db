"""Finds the messages that statements of a file were written about, among those that the soul remembers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from soulmem.conversation.episodes import episode_id
from soulmem.domain.derivations import Derivation, Product, Work
from soulmem.domain.dialogue import ChatState, Message
from soulmem.domain.ids import ChatId, MemoryId, SoulId, derived_id
from soulmem.domain.situation import TimeSpan
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.world.message_log import ChatLog
from soulmem.engine.world.world import World
from soulmem.transfer.lore import ToldIn


@dataclass(frozen=True, slots=True)
class ToldMessages:
    """The episodes that a statement was written about, in the order of their messages.

    None of them where the messages are not in memory: not any more, not yet, or the user had them forgotten.
    """

    chat: ChatId
    episodes: tuple[MemoryId, ...] = ()


# What is missing is of a chat that the soul does not know.
FoundMessages = Mapping[ToldIn, ToldMessages]


@dataclass(frozen=True, slots=True)
class KnownChat:
    """A chat of the soul with its messages, and the root of its tree of branches."""

    log: ChatLog
    family: ChatId


KnownChats = Mapping[ToldIn, KnownChat]


async def known_chats(
    world: World, soul: SoulId, asked: Iterable[ToldIn]
) -> dict[ToldIn, KnownChat]:
    """The chats that are meant, without those that the soul does not know.

    Where a file records no id, the chat is meant that has the title; several of one title are none.
    """
    by_title: defaultdict[str, list[ChatId]] = defaultdict(list)
    own: set[ChatId] = set()
    for head in world.heads.values():
        if soul in (*head.souls, *head.cast) and head.state is ChatState.ACTIVE:
            own.add(head.id)
            by_title[head.title].append(head.id)
    chats: dict[ToldIn, KnownChat] = {}
    for told_in in asked:
        named = by_title[told_in.title]
        chat = told_in.chat if told_in.chat in own else None
        if chat is None and len(named) == 1:
            (chat,) = named
        log = await world.log(chat) if chat is not None else None
        if chat is not None and log is not None:
            chats[told_in] = KnownChat(log, world.family(chat))
    return chats


@compute_only
def told_messages(
    mind: Mind, chats: KnownChats, asked: Iterable[ToldIn]
) -> dict[ToldIn, ToldMessages]:
    """The episodes of the messages that are meant, where their chat is known."""
    soul = mind.soul.id
    found: dict[ToldIn, ToldMessages] = {}
    for told_in in asked:
        chat = chats.get(told_in)
        if chat is None:
            continue
        messages = _messages(chat.log, told_in)
        keys = [episode_id(soul, chat.family, message) for message in messages]
        held = tuple(key for key in keys if mind.branches.holders(key))
        found[told_in] = ToldMessages(chat.log.head.id, held)
    return found


def _messages(log: ChatLog, told_in: ToldIn) -> Sequence[Message]:
    """The messages that are meant; none if the version, or a part of the range, is not in the chat."""
    messages, version = log.messages, told_in.version
    if version is not None:
        place = log.index.get(version.slot)
        if place is None or messages[place].version != version:
            return ()
        return (messages[place],)
    stop = told_in.last + 1
    return messages[told_in.first : stop] if stop <= len(messages) else ()


@compute_only
def time_span(mind: Mind, episodes: Iterable[MemoryId]) -> TimeSpan:
    """From the first of these episodes to the last."""
    memories = [mind.memories[key] for key in episodes]
    return TimeSpan(min(m.happened for m in memories), max(m.ended for m in memories))


@compute_only
def derivation_of(
    mind: Mind, key: MemoryId, told: ToldMessages, job: str, made: datetime
) -> Derivation | None:
    """By which the memory goes with these messages; None if it is stored."""
    name = derived_id("v", mind.soul.id, "import", key, *told.episodes)
    if mind.derivations.get(name) is not None:
        return None
    return Derivation(
        id=name,
        soul=mind.soul.id,
        work=Work.IMPORT,
        chat=told.chat,
        read=told.episodes,
        made=made,
        products=(Product(key),),
        source=job,
    )
