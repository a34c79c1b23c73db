"""Passages for a language model: the episodes of a stretch of chat as numbered lines.

Compute thread only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from soulmem.assembly.token_estimate import estimate_tokens
from soulmem.conversation.episodes import spoken
from soulmem.domain.derivations import Work
from soulmem.domain.dialogue import Message, Role
from soulmem.domain.drafts import Lines, Passage, PassageLine
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryState, Origin
from soulmem.domain.situation import ParticipantKind
from soulmem.engine.consolidation.plan import PlannedCall
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.doubted import doubted_among
from soulmem.engine.world.message_log import ChatLog
from soulmem.language.names import names
from soulmem.prompts.rendering import language_of

_AROUND = 1800  # tokens of the rest: instructions, the summary so far, the answer
_LEAST = 600  # tokens for the lines, however small the model's context is
_LINE = 24  # characters of a line, however many lines there are


@dataclass(frozen=True, slots=True)
class EpisodePassage:
    """A passage, and its episodes: line `n` shows `episodes[n - 1]`."""

    passage: Passage
    episodes: tuple[MemoryId, ...]

    def cited(self, lines: Lines) -> tuple[MemoryId, ...]:
        """The episodes of these lines; numbers without a line are skipped."""
        return tuple(self.episodes[n - 1] for n in lines if 0 < n <= len(self.episodes))


@compute_only
def episode_passage(mind: Mind, log: ChatLog, call: PlannedCall, context: int) -> EpisodePassage:
    """The passage of a planned call, cut to fit into a context of `context` tokens.

    Episodes that the user put into the bin or marked as wrong are left out; their line
    numbers stay unused. Only a summary gets the summary so far: drafts that had read it
    would depend on it.
    """
    lines, visible = _lines(mind, call, context)
    text = "\n".join(line.text for line in lines)
    spotted = (mind.names.concept(key) for key in mind.names.spot(text))
    line_names: dict[str, None] = {}
    for line, memory in zip(lines, visible, strict=True):
        line_names.update(dict.fromkeys(_line_names(line, memory)))
    return EpisodePassage(
        Passage(
            language=language_of([line.text for line in lines]),
            soul=mind.soul.name,
            users=_user_names(log, visible),
            lines=tuple(lines),
            summary=_summary_so_far(mind, call) if call.work is Work.SUMMARY else "",
            known_names=tuple(concept.text for concept in spotted if concept is not None),
            names=tuple(line_names),
        ),
        call.read,
    )


def _line_names(line: PassageLine, memory: Memory) -> Sequence[str]:
    """The names in the line: those that were read in the memory's text, unless it was cut or never read."""
    is_whole = memory.text.endswith(line.text)
    if is_whole and memory.origin is Origin.CHAT and (memory.names or memory.terms):
        return memory.names
    return names(line.text)


def _lines(mind: Mind, call: PlannedCall, context: int) -> tuple[list[PassageLine], list[Memory]]:
    """The lines that fit into the context, and their episodes.

    Each line gets an equal share of the characters; what short lines leave goes to the
    first long ones.
    """
    numbered = []
    doubted = doubted_among(mind, call.read)
    for number, memory in enumerate(mind.memories.many(call.read), 1):
        is_read = memory.state in (MemoryState.ACTIVE, MemoryState.MERGED)
        if is_read and memory.id not in doubted:
            numbered.append((number, memory, spoken(memory)))
    texts = [text for _, _, text in numbered]
    characters = _characters(texts, max(_LEAST, context - _AROUND))
    share = max(_LINE, characters // max(1, len(texts)))
    spare = characters - sum(min(share, len(text)) for text in texts)
    lines = []
    for number, memory, text in numbered:
        line = text
        if len(text) > share:
            extra = max(0, min(spare, len(text) - share))
            spare -= extra
            if len(text) > share + extra:
                line = text[: share + extra] + "…"
        lines.append(PassageLine(number, speaker_of(memory), line))
    return lines, [memory for _, memory, _ in numbered]


def _characters(texts: Sequence[str], tokens: int) -> int:
    """How many characters of such texts make `tokens` tokens, by estimate."""
    whole = "\n".join(texts)
    return tokens * len(whole) // max(1, estimate_tokens(whole))


def _summary_so_far(mind: Mind, call: PlannedCall) -> str:
    before = mind.derivations.get(call.after) if call.after is not None else None
    if before is None or not before.products:
        return ""
    summary = mind.memories.get(MemoryId(before.products[0].id))
    return summary.text if summary is not None else ""


def _user_names(log: ChatLog, memories: Sequence[Memory]) -> tuple[str, ...]:
    """The names under which the user speaks in these episodes."""
    user_names: dict[str, None] = {}
    for memory in memories:
        message = _message(log, memory)
        if message is not None and message.role is Role.USER and message.speaker.strip():
            user_names[message.speaker] = None
    return tuple(user_names)


def _message(log: ChatLog, memory: Memory) -> Message | None:
    """The message of the episode in this chat."""
    if not memory.evidence:
        return None
    index = log.index.get(memory.evidence[0][0].slot)
    return log.messages[index] if index is not None else None


def speaker_of(memory: Memory) -> str:
    """Name of the participant who speaks the episode; empty if no participant does."""
    for participant in memory.situation.participants:
        if participant.kind is not ParticipantKind.UNKNOWN and memory.text.startswith(
            f"{participant.name}: "
        ):
            return participant.name
    return ""
