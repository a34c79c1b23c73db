"""Which messages of a chat a soul remembers, and what the memory of one message is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice

from soulmem.conversation.importance import UNREAD
from soulmem.conversation.text_analysis import TextAnalysis, read
from soulmem.domain.dialogue import Chat, Message, Role, text_hash
from soulmem.domain.ids import ChatId, MemoryId, SoulId, derived_id
from soulmem.domain.memories import Memory, MemoryKind, Origin, Timelines
from soulmem.domain.situation import (
    Emotion,
    Participant,
    ParticipantKind,
    Situation,
    TimeSpan,
)

_COLON = re.compile(": ")
_COLONS = 8  # that a speaker's name may hold
_DICE = re.compile(r"🎲.*|.{0,60}\brolls? (a )?\d{0,4}d\d{1,6}\b.{0,80}", re.IGNORECASE)


def memorable(message: Message) -> bool:
    """Whether a message, with its story as text, may become a memory: no system line, no dice, no blank."""
    text = message.text.strip()
    if message.role is Role.SYSTEM or not text:
        return False
    return not _DICE.fullmatch(text)


def attended(chat: Chat, soul: SoulId, message: Message) -> bool:
    """Whether the soul was there when it was said."""
    return soul in (chat.souls if message.present is None else message.present)


def settled_count(chat: Chat, messages: Sequence[Message]) -> int:
    """How many of the chat's messages may be memories: the last one teaches nothing until it is settled.

    A swipe would undo it.
    """
    if not messages:
        return 0
    return len(messages) if chat.settled_tail == messages[-1].version else len(messages) - 1


def episode_id(soul: SoulId, family: ChatId, message: Message) -> MemoryId:
    """One speaker's words at one place in one family of chats are one memory of the soul.

    What is told, not spoken, in one branch is another memory there: nobody is said to speak in it. So is
    what tells another story of the same text: what is left out depends on the messages around.
    """
    further = ["told"] if message.role is Role.NARRATOR else []
    story = text_hash(message.text)
    if story != message.hash:
        further.append(story)
    return MemoryId(
        derived_id("e", soul, family, message.slot, message.hash, message.speaker, *further)
    )


def episode_of(
    soul: SoulId,
    soul_name: str,
    family: ChatId,
    message: Message,
    current_time: datetime,
    analysis: TextAnalysis | None = None,
) -> Memory:
    """The memory of one message, a neutral record: who said what, and when; `analysis` is what its text tells."""
    analysis = analysis or read(message.text)
    when, participants = message.sent_at, _participants(message, soul_name, analysis)
    return Memory(
        id=episode_id(soul, family, message),
        soul=soul,
        kind=MemoryKind.EPISODE,
        text=narrative(message),
        origin=Origin.CHAT,
        created=current_time,
        importance=UNREAD,
        timelines=Timelines.THIS,
        evidence=((message.version,),),
        situation=Situation(
            time_span=TimeSpan(
                when, when, message.story_at.isoformat() if message.story_at else None
            )
            if when or message.story_at
            else None,
            location=analysis.location,
            participants=with_feelings(participants, soul_name, analysis),
            emotions=own_feelings(
                participants, _speaks_itself(message, soul_name), soul_name, analysis
            ),
        ),
        terms=analysis.terms,
        names=analysis.names,
    )


def narrative(message: Message) -> str:
    """A message as its memory tells it: who said what."""
    return f"{message.speaker}: {message.text}" if message.speaker.strip() else message.text


def spoken(memory: Memory) -> str:
    """What a memory tells, without the name of the one who says or tells it, as its text begins with that."""
    for participant in memory.situation.participants:
        if participant.kind is not ParticipantKind.UNKNOWN and memory.text.startswith(
            f"{participant.name}: "
        ):
            return memory.text[len(participant.name) + 2 :]
    if memory.origin is Origin.CHAT and memory.evidence:  # a narrator takes no part
        version = memory.evidence[0][0]
        starts = (0, *(m.end() for m in islice(_COLON.finditer(memory.text), _COLONS)))
        for words in (memory.text[start:] for start in starts):
            if text_hash(words) == version.hash:
                return words
    return memory.text


def _participants(
    message: Message, soul_name: str, analysis: TextAnalysis
) -> tuple[Participant, ...]:
    """Who speaks first, then whom the text names: of those it is not known what they are."""
    named = [n for n in analysis.names if n not in (analysis.location, message.speaker)]
    others = tuple(Participant(name, ParticipantKind.UNKNOWN) for name in named)
    if not message.speaker.strip() or message.role is Role.NARRATOR:
        return others
    kind = ParticipantKind.SELF if _speaks_itself(message, soul_name) else ParticipantKind.OTHER
    return (Participant(message.speaker, kind), *others)


def _speaks_itself(message: Message, soul_name: str) -> bool:
    return message.role is Role.CHARACTER and message.speaker == soul_name


def own_feelings(
    participants: Sequence[Participant],
    speaks_itself: bool,
    soul_name: str,
    analysis: TextAnalysis,
) -> tuple[Emotion, ...]:
    """The soul's own feelings of what a text tells: what it says that is of nobody else, and what is said of
    it by name.
    """
    others = [participant.name for participant in participants if participant.name != soul_name]
    return analysis.felt_by_speaker(others) if speaks_itself else analysis.felt_by(soul_name)


def with_feelings(
    participants: Sequence[Participant], soul_name: str, analysis: TextAnalysis
) -> tuple[Participant, ...]:
    """The participants of an episode, each with what a text tells of its feelings: who speaks comes first."""
    out = []
    for place, participant in enumerate(participants):
        if place == 0 and participant.kind is ParticipantKind.OTHER:
            others = (soul_name, *(other.name for other in participants[1:]))
            out.append(replace(participant, feels=analysis.felt_by_speaker(others)))
        else:
            out.append(
                replace(
                    participant,
                    feels=()
                    if participant.name == soul_name
                    else analysis.felt_by(participant.name),
                )
            )
    return tuple(out)
