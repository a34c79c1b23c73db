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
from soulmem.domain.soul import Soul
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.world.message_log import ChatLog
from soulmem.engine.world.world import World
from soulmem.transfer.lore import EvidenceRef


@dataclass(frozen=True, slots=True)
class FoundEvidence:
    """The episodes that a statement was written about, in the order of their messages.

    None of them where the messages are not in memory: not any more, not yet, or the user had them forgotten.
    """

    chat: ChatId
    episodes: tuple[MemoryId, ...] = ()


# What is missing is of a chat that the soul does not know.
EvidenceByRef = Mapping[EvidenceRef, FoundEvidence]


@dataclass(frozen=True, slots=True)
class KnownChat:
    """A chat of the soul with its messages, and the root of its tree of branches."""

    log: ChatLog
    family: ChatId


KnownChats = Mapping[EvidenceRef, KnownChat]


async def known_chats(
    world: World, soul: SoulId, asked: Iterable[EvidenceRef]
) -> dict[EvidenceRef, KnownChat]:
    """The chats that are meant, without those that the soul does not know.

    Where a file records no id, the chat is meant that has the title; several of one title are none.
    """
    by_title: defaultdict[str, list[ChatId]] = defaultdict(list)
    own: set[ChatId] = set()
    for head in world.heads.values():
        if soul in (*head.souls, *head.cast) and head.state is ChatState.ACTIVE:
            own.add(head.id)
            by_title[head.title].append(head.id)
    chats: dict[EvidenceRef, KnownChat] = {}
    for evidence in asked:
        named = by_title[evidence.title]
        chat = evidence.chat if evidence.chat in own else None
        if chat is None and len(named) == 1:
            (chat,) = named
        log = await world.log(chat) if chat is not None else None
        if chat is not None and log is not None:
            chats[evidence] = KnownChat(log, world.family(chat))
    return chats


@compute_only
def find_evidence(
    mind: Mind, chats: KnownChats, asked: Iterable[EvidenceRef]
) -> dict[EvidenceRef, FoundEvidence]:
    """The episodes of the messages that are meant, where their chat is known."""
    soul = mind.soul.id
    found: dict[EvidenceRef, FoundEvidence] = {}
    for evidence in asked:
        chat = chats.get(evidence)
        if chat is None:
            continue
        messages = _messages(chat.log, mind.soul, evidence)
        keys = [episode_id(soul, chat.family, message) for message in messages]
        held = tuple(key for key in keys if mind.branches.holders(key))
        found[evidence] = FoundEvidence(chat.log.head.id, held)
    return found


def _messages(log: ChatLog, soul: Soul, evidence: EvidenceRef) -> Sequence[Message]:
    """The messages that are meant; none if the version, or a part of the range, is not in the chat."""
    messages, version = log.remembered(soul), evidence.version
    if version is not None:
        place = log.index.get(version.slot)
        if place is None or messages[place].version != version:
            return ()
        return (messages[place],)
    stop = evidence.last + 1
    return messages[evidence.first : stop] if stop <= len(messages) else ()


@compute_only
def time_span(mind: Mind, episodes: Iterable[MemoryId]) -> TimeSpan:
    """From the first of these episodes to the last."""
    memories = [mind.memories[key] for key in episodes]
    return TimeSpan(min(m.happened for m in memories), max(m.ended for m in memories))


@compute_only
def derivation_of(
    mind: Mind, key: MemoryId, found: FoundEvidence, job: str, made: datetime
) -> Derivation | None:
    """By which the memory goes with these messages; None if it is stored."""
    name = derived_id("v", mind.soul.id, "import", key, *found.episodes)
    if mind.derivations.get(name) is not None:
        return None
    return Derivation(
        id=name,
        soul=mind.soul.id,
        work=Work.IMPORT,
        chat=found.chat,
        read=found.episodes,
        made=made,
        products=(Product(key),),
        source=job,
    )
