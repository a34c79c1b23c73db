"""What a soul knows of people, as quotes: the lines of its messages that tell something lasting.

Worked out from the messages that it may use, so nothing outlives them. Compute thread only.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain

import numpy as np

from soulmem.conversation.episodes import spoken
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind, Place
from soulmem.domain.situation import ParticipantKind
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.doubted import is_in_doubt, is_waiting
from soulmem.engine.views.fact_validity import FactValidities
from soulmem.engine.views.provenance import source_places
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.language.kinds.known_lines import PROMISE, KnownLine, likeness
from soulmem.language.kinds.line_kinds import lines_of
from soulmem.language.name_tokens import fold
from soulmem.language.places import after_place_words
from soulmem.language.segmentation import without_marks
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
        if own and not (speech.tells_of_speaker(before) or speech.tells_of_another(clauses)):
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


def _written(line: str, names: Sequence[str], without: Collection[str]) -> list[tuple[int, str]]:
    """Where a line has which of the names, in its order; neither places nor those that are left out."""
    found = [(line.find(name), name) for name in names if fold(name) not in without]
    return sorted(
        (at, name) for at, name in found if at >= 0 and not after_place_words(line, name)[1]
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


_QUOTED = [MEMORY_KINDS.index(kind) for kind in (MemoryKind.EPISODE, MemoryKind.NOTE)]
# Likeness from which on a later line about the same person says the same, or says it otherwise; of a line that
# corrects less is enough. With both encoders, of pairs as in `tests/engine/views/test_known.py`.
_SAME = 0.93
_ANEW = 0.8
_CORRECTED = 0.4
_QUESTION = re.compile(r"[?？][^\w]*\Z")
KEPT, BROKEN = "kept", "broken"  # tags by which the user says how a promise ended
_BLOCK = 256  # lines that are compared at once
_NEAR = 512  # earlier lines that each is compared with


@dataclass(frozen=True, slots=True)
class KnownThing:
    """A line that tells something lasting of somebody.

    told_as      one of `known_lines.TOLD_AS`
    about        the name of the one it tells of; who speaks where that is unclear
    named        folded names of others whom the line names
    concept      of `about`, where the soul knows it as one
    speaker      who says it; empty where it is told
    location     where the message plays, if it says so beside what is quoted
    until        when a later line said otherwise; `replaced_by` is that line
    sure         how clearly the line tells something lasting, 0..1
    kept         whether a promise was kept, as the user says; None: it is open
    """

    id: str
    told_as: str
    about: str
    concept: MemoryId | None
    speaker: str
    quote: str
    memory: MemoryId
    place: Place | None
    said_at: datetime
    story_at: str | None
    location: str | None
    sure: float = 1.0
    until: datetime | None = None
    replaced_by: str | None = None
    kept: bool | None = None
    permanent: bool = False
    named: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Reading:
    """A line as it was read, with its keys for comparison."""

    thing: KnownThing
    line: KnownLine
    words: frozenset[str]


@compute_only
def quoted_rows(mind: Mind) -> list[int]:
    """The rows of messages with such lines that the soul may use in any chat, the earliest first."""
    rows = np.asarray(sorted(mind.line_kinds.known()), np.int64)
    if not rows.size:
        return []
    accessible = mind.accessible_rows(None, None, lambda _, __: False)
    columns = mind.columns
    rows = rows[accessible[rows] & np.isin(columns.kind[rows], _QUOTED)]
    return [int(row) for row in rows[np.argsort(columns.happened[rows], kind="stable")]]


@compute_only
def unread_count(mind: Mind) -> int:
    """How many memories were not looked through for such lines yet."""
    return int(mind.line_kinds.missing(mind.size).size)


@compute_only
def readings(mind: Mind, rows: Sequence[int], listener: str) -> list[Reading]:
    """The lines of these messages; `listener` is to whom the soul mostly speaks."""
    known = mind.line_kinds.known()
    out: list[Reading] = []
    for row in rows:
        memory = mind.memory_at(row)
        if not (is_in_doubt(mind, memory.id) or is_waiting(mind, memory.id)):
            out += _read(mind, memory, known.get(row, ()), listener)
    return out


@compute_only
def main_listener(mind: Mind, rows: Iterable[int]) -> str:
    """Who speaks most in these messages beside the soul; its own name where nobody does."""
    counts: defaultdict[str, int] = defaultdict(int)
    for row in rows:
        speaker = _speaker(mind.memory_at(row))
        if speaker and fold(speaker) != fold(mind.soul.name):
            counts[speaker] += 1
    return max(counts, key=lambda name: (counts[name], name), default=mind.soul.name)


@compute_only
def settled(lines: Sequence[Reading]) -> list[KnownThing]:
    """The lines, the latest first: what was said again once, what a later line said otherwise with its end."""
    groups: defaultdict[str, list[Reading]] = defaultdict(list)
    for reading in lines:
        groups[fold(reading.thing.about)].append(reading)
    out = chain.from_iterable(map(_settled, groups.values()))
    return sorted(out, key=lambda thing: (thing.said_at, thing.id), reverse=True)


@compute_only
def names_of(mind: Mind, about: str) -> frozenset[str]:
    """The folded names of a concept, with those of concepts that are the same; of anything else itself."""
    key = MemoryId(about)
    if key not in mind.memories:
        return frozenset((fold(about),))
    accessible = mind.accessible_rows(None, None, lambda _, __: False)
    same = FactValidities(mind, accessible, None).alias_concepts(key)
    names: set[str] = set()
    for memory in mind.memories.many(sorted(same)):
        names.add(fold(memory.text))
        names.update(map(fold, memory.concept.aliases if memory.concept else ()))
    return frozenset(names)


def _read(
    mind: Mind, memory: Memory, known: Iterable[KnownLine], listener: str
) -> Iterable[Reading]:
    lines, speaker = lines_of(spoken(memory)), _speaker(memory)
    talk = Talk(mind, memory, lines, speaker, mind.soul.name, listener)
    places = source_places(mind, memory)
    span = memory.situation.time_span
    for line in known:
        if line.place >= len(lines) or _QUESTION.search(lines[line.place]):
            continue
        about = talk.subject_of(line.place)
        if not about:
            continue
        quote = without_marks(lines[line.place])
        yield Reading(
            KnownThing(
                id=f"{memory.id}l{line.place}",
                told_as=line.told_as,
                about=about,
                concept=_concept(mind, about),
                speaker=speaker,
                quote=quote,
                memory=memory.id,
                place=places[0] if places else None,
                said_at=memory.happened,
                story_at=span.story if span else None,
                location=_location(memory, quote),
                sure=line.sure,
                kept=_kept(memory) if line.told_as == PROMISE else None,
                permanent=memory.permanent,
                named=frozenset(map(fold, talk.named(line.place))),
            ),
            line,
            frozenset(mind.tokeniser.tokens(quote)),
        )


def _location(memory: Memory, quote: str) -> str | None:
    """Where the memory plays, if it says so beside the quote: "a dentist in Leeds" was not said there."""
    location = (memory.situation.location or "").casefold()
    is_said = location in memory.text.casefold() and location not in quote.casefold()
    return memory.situation.location if location and is_said else None


def _kept(memory: Memory) -> bool | None:
    if KEPT in memory.tags:
        return True
    return False if BROKEN in memory.tags else None


def _speaker(memory: Memory) -> str:
    """The speaker of a memory in direct speech; empty for narration."""
    for participant in memory.situation.participants[:1]:
        is_speaker = participant.kind in (ParticipantKind.SELF, ParticipantKind.OTHER)
        if is_speaker and memory.text.startswith(f"{participant.name}: "):
            return participant.name
    return ""


def _concept(mind: Mind, name: str) -> MemoryId | None:
    for key in mind.names.spot(name):
        memory = mind.memories.get(key)
        if memory is not None and not memory.is_topic:
            return key
    return None


def _settled(group: Sequence[Reading]) -> list[KnownThing]:
    """The lines about one, in their order."""
    ends: dict[int, int] = {}  # by the place of a line, that of the line that ends it
    again: set[int] = set()
    for start in range(0, len(group), _BLOCK):
        first = max(0, start - _NEAR)
        some = group[first : start + _BLOCK]
        like = likeness([reading.line.vector for reading in some])
        for later in range(start - first, len(some)):
            place = first + later
            row = like[later, :later].copy()
            row[[p - first for p in (*ends, *again) if first <= p < place]] = 0.0
            if not row.size or row.max() < _CORRECTED:
                continue
            old = int(row.argmax())
            if row[old] >= _ANEW and _is_same(some[old], some[later], row[old]):
                again.add(place)
            elif _ends(some[old], some[later], row[old]):
                ends[first + old] = place
    return [
        _ended(reading.thing, group, ends.get(place))
        for place, reading in enumerate(group)
        if place not in again
    ]


def _is_same(old: Reading, new: Reading, value: float) -> bool:
    """Whether the later line only says the earlier anew."""
    return value >= _SAME or old.words <= new.words or new.words <= old.words


def _ends(old: Reading, new: Reading, value: float) -> bool:
    """Whether the later line contradicts the earlier one."""
    is_alike = value >= _ANEW and old.thing.told_as == new.thing.told_as
    return is_alike or new.line.corrects


def _ended(thing: KnownThing, group: Sequence[Reading], by: int | None) -> KnownThing:
    if by is None:
        return thing
    later = group[by].thing
    return replace(thing, until=later.said_at, replaced_by=later.id)


def is_wanted(
    thing: KnownThing,
    told_as: str | None,
    is_past: bool | None,
    about: frozenset[str] | None,
) -> bool:
    """Whether a list that asks for these shows it; None asks for nothing."""
    return (
        (told_as is None or thing.told_as == told_as)
        and (is_past is None or (thing.until is not None) is is_past)
        and (about is None or fold(thing.about) in about or bool(thing.named & about))
    )
