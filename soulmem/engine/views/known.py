"""What a soul knows of people, as quotes: the lines of its messages that tell something lasting.

Worked out from the messages that it may use, so nothing outlives them. Compute thread only.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from soulmem.conversation.episodes import spoken
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind, Place
from soulmem.domain.situation import ParticipantKind
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.views.doubted import is_in_doubt, is_waiting
from soulmem.engine.views.fact_validity import FactValidities
from soulmem.engine.views.line_subjects import Talk
from soulmem.engine.views.provenance import source_places
from soulmem.graph.association import MEMORY_KINDS
from soulmem.language.kinds.known_lines import PROMISE, KnownLine, likeness
from soulmem.language.kinds.line_kinds import lines_of
from soulmem.language.name_tokens import fold
from soulmem.language.segmentation import without_marks

Ints = NDArray[np.int64]

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
    """A line as it was read, with what it is compared by."""

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
    """Who says what the memory tells word for word; empty where it is told."""
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
    """Whether the later line says otherwise what the earlier said."""
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
