"""The person whom a line of a message is about: named in it, its speaker, its listener, or named before.

"He" and "she" mean the person whom the lines before named last as the first name of a line. Compute thread only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from soulmem.conversation.episodes import spoken
from soulmem.domain.memories import Memory
from soulmem.engine.mind.mind import Mind
from soulmem.language.kinds.line_kinds import lines_of
from soulmem.language.name_tokens import fold
from soulmem.language.places import after_place_words
from soulmem.language.speech import Speech, language_of, speech_of

_BEFORE = 4  # messages in which a name may stand that "he" or "she" means
_CLAUSE_ENDS = ",;:，；：、"
_QUOTES = frozenset('"\u201c\u201d\u300c\u300d')


@dataclass(frozen=True, slots=True)
class Talk:
    """A message in its chat: the lines of `memory`, who says them, and the two who talk.

    speaker   empty where nobody says it
    soul      the name of the soul
    listener  to whom the soul mostly speaks
    """

    mind: Mind
    memory: Memory
    lines: Sequence[str]
    speaker: str
    soul: str
    listener: str

    def subject_of(self, place: int) -> str:
        """The name of the person whom the line at this place is about; empty where that person was not named."""
        line = self.lines[place]
        speech = speech_of(language_of(line))
        own = _learned(self.mind, line)
        before = line[: own[0][0]] if own else line
        # "His wife Ana died" is of Ana; "he has one deaf ear, since Ana's wedding" is of him.
        clauses = before[: max(map(before.rfind, _CLAUSE_ENDS)) + 1]
        if own and not (
            speech.tells_of_speaker(before) or speech.tells_of_another(clauses)
        ):
            return own[0][1]
        if speech.tells_of_another(line):
            return self._meant(place) or (own[0][1] if own else "")
        return self._of_two(line, speech) or self._named_last(place)

    def _of_two(self, line: str, speech: Speech) -> str:
        """Which of the two who talk the line tells of; empty where it tells of neither."""
        if self.speaker and speech.tells_of_speaker(line):
            return self.speaker
        if self.speaker and speech.tells_of_listener(line):
            is_soul = fold(self.speaker) == fold(self.soul)
            return self.listener if is_soul else self.soul
        return ""

    def _named_last(self, place: int) -> str:
        """Whom the message has named last by the end of a line; who speaks where it names nobody."""
        for line in reversed(self.lines[: place + 1]):
            names = _learned(self.mind, line)
            if names:
                return names[-1][1]
        return self.speaker or self.soul

    def named(self, place: int) -> list[str]:
        """The names of others in the line at this place, of those whom the soul knows, in their order."""
        found = _learned(self.mind, self.lines[place])
        return [name for _, name in found if fold(name) not in self._two()]

    def _two(self) -> set[str]:
        """The folded names of who speaks, and of the two who talk."""
        return {fold(self.speaker), fold(self.soul), fold(self.listener)}

    def _meant(self, place: int) -> str:
        """Whom "he" or "she" means: in what is narrated who speaks, else whom the talk is of by then."""
        topic = _last_topic(self._topics(self.memory, self.lines[:place]))
        if topic or self._is_narrated(place):
            return topic or self.speaker
        before = self.mind.neighbours(None).before
        row = self.mind.row(self.memory.id)
        for _ in range(_BEFORE):
            row = int(before[row]) if row is not None else -1
            if row < 0:
                break
            memory = self.mind.memory_at(row)
            topic = _last_topic(self._topics(memory, lines_of(spoken(memory))))
            if topic:
                break
        return topic

    def _topics(self, memory: Memory, lines: Sequence[str]) -> Iterator[str]:
        """Whom each of the lines of a message brings up: the first name in it, unless the line is of another."""
        for line in lines:
            found = _written(line, memory.names, self._two())
            speech = speech_of(language_of(line))
            if found and not speech.tells_of_another(line[: found[0][0]]):
                yield found[0][1]

    def _is_narrated(self, place: int) -> bool:
        """Whether the line is prose beside what is said: with asterisks, or outside of quotes."""
        line = self.lines[place]
        is_quoted = not _QUOTES.isdisjoint(line)
        has_quotes = any(not _QUOTES.isdisjoint(other) for other in self.lines)
        return "*" in line or (has_quotes and not is_quoted)


def _last_topic(topics: Iterator[str]) -> str:
    return next(reversed(list(topics)), "")


def _written(
    line: str, names: Sequence[str], without: Collection[str]
) -> list[tuple[int, str]]:
    """Where a line has which of the names, in its order; neither places nor those that are left out."""
    found = [(line.find(name), name) for name in names if fold(name) not in without]
    return sorted(
        (at, name)
        for at, name in found
        if at >= 0 and not after_place_words(line, name)[1]
    )


def _learned(mind: Mind, line: str) -> list[tuple[int, str]]:
    """Where a line has which names of single things that the soul knows, in its order."""
    out = []
    for key in mind.names.spot(line):
        memory = mind.memories.get(key)
        if memory is None or memory.is_topic:
            continue
        aliases = memory.concept.aliases if memory.concept else ()
        if after_place_words(line, memory.text)[1]:
            continue
        written = [line.find(name) for name in (memory.text, *aliases)]
        out.append((min((at for at in written if at >= 0), default=0), memory.text))
    return sorted(out)
