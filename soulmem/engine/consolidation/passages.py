"""What does a language model get to read of a chat? The episodes of a stretch, as numbered lines.

Computes: worker only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from soulmem.assembly.tokens import estimate_tokens
from soulmem.conversation.episodes import spoken
from soulmem.domain.derivations import Work
from soulmem.domain.dialogue import Message, Role
from soulmem.domain.drafts import Lines, Passage, PassageLine
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryState
from soulmem.domain.situation import ParticipantKind
from soulmem.engine.consolidation.plan import Task
from soulmem.engine.mind.mind import Mind
from soulmem.engine.views.doubted import is_in_doubt
from soulmem.engine.world.message_log import ChatLog
from soulmem.language.names import names
from soulmem.prompts.rendering import language_of

_AROUND = (
    1800  # tokens beside the lines: what is asked for, the summary so far, the answer
)
_LEAST = 600  # tokens for the lines, however small the model's context is
_LINE = 24  # signs of a line, however many there are


@dataclass(frozen=True, slots=True)
class Reading:
    """A passage, and the episodes by the numbers of its lines."""

    passage: Passage
    episodes: tuple[MemoryId, ...]

    def cited(self, lines: Lines) -> tuple[MemoryId, ...]:
        """The episodes of these lines."""
        return tuple(self.episodes[n - 1] for n in lines if 0 < n <= len(self.episodes))


def reading_of(mind: Mind, log: ChatLog, task: Task, context: int) -> Reading:
    """The stretch as a model reads it. What the user put into the bin or called wrong is left out; long
    lines are cut so that it fits in so many tokens of `context`.

    For the summary with what was summed up so far; for drafts without: they would fall with what that read.
    """
    every = [mind.memories[key] for key in task.read]
    told = [
        m
        for m in every
        if m.state is MemoryState.ACTIVE and not is_in_doubt(mind, m.id)
    ]
    read = {memory.id for memory in told}
    signs = _signs([spoken(m) for m in told], max(_LEAST, context - _AROUND))
    most = max(_LINE, signs // max(1, len(told)))
    room = signs - sum(min(most, len(spoken(m))) for m in told)
    lines = []
    for number, memory in enumerate(every, 1):
        if memory.id not in read:
            continue
        text = spoken(memory)
        if len(text) > most:
            more = max(0, min(room, len(text) - most))
            room -= more
            text = text if len(text) <= most + more else text[: most + more] + "…"
        lines.append(PassageLine(number, speaker_of(memory), text))
    said = "\n".join(line.text for line in lines)
    known = (mind.names.concept(key) for key in mind.names.spot(said))
    return Reading(
        Passage(
            language=language_of([line.text for line in lines]),
            soul=mind.soul.name,
            users=_users(log, told),
            lines=tuple(lines),
            summary=_summary(mind, task) if task.work is Work.SUMMARY else "",
            known=tuple(m.text for m in known if m is not None),
            names=tuple(
                dict.fromkeys(name for line in lines for name in names(line.text))
            ),
        ),
        task.read,
    )


def _signs(texts: Sequence[str], tokens: int) -> int:
    """How many signs of such texts cost so many tokens."""
    whole = "\n".join(texts)
    return tokens * len(whole) // max(1, estimate_tokens(whole))


def _summary(mind: Mind, task: Task) -> str:
    before = mind.derived.get(task.after) if task.after is not None else None
    made = before.products[0].id if before is not None and before.products else None
    known = mind.memories.get(MemoryId(made)) if made is not None else None
    return known.text if known is not None else ""


def _users(log: ChatLog, told: Sequence[Memory]) -> tuple[str, ...]:
    """The names under which the user speaks in these lines."""
    names: dict[str, None] = {}
    for memory in told:
        message = _message(log, memory)
        if (
            message is not None
            and message.role is Role.USER
            and message.speaker.strip()
        ):
            names[message.speaker] = None
    return tuple(names)


def _message(log: ChatLog, memory: Memory) -> Message | None:
    at = log.index.get(memory.evidence[0][0].slot) if memory.evidence else None
    return log.messages[at] if at is not None else None


def speaker_of(memory: Memory) -> str:
    """Who says it; empty where nobody in the story does."""
    for one in memory.situation.participants:
        if one.kind is not ParticipantKind.UNKNOWN and memory.text.startswith(
            f"{one.name}: "
        ):
            return one.name
    return ""
