"""The text of a highlight: which events of a stream are quoted, each thing once. Compute thread only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import log

from soulmem.assembly.compose import language_of
from soulmem.assembly.dates import period_text
from soulmem.consolidation.digests import DigestParams, Sentence, choose_sentences
from soulmem.conversation.importance import importance_by_words
from soulmem.domain.calendar import local
from soulmem.domain.digests import Period, last_instant
from soulmem.domain.ids import MemoryId, SoulId, StreamId, derived_id
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin, Timelines
from soulmem.domain.situation import Participant, Situation, TimeSpan
from soulmem.domain.streams import StreamEvent
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only

_LINES = 8
_COMPARED = 800  # different texts at most: those that were said least often, and of these the longest
_LONGEST = 200  # characters of a quotation


@dataclass(frozen=True, slots=True, order=True)
class Quarter:
    """The part of a stream that one highlight tells."""

    start: datetime
    stream: StreamId


def highlight_id(soul: SoulId, quarter: Quarter) -> MemoryId:
    """The id of a quarter's highlight."""
    start = str(int(quarter.start.timestamp()))
    return MemoryId(derived_id("d", soul, "highlight", quarter.stream, start))


@compute_only
def highlight_quotations(
    mind: Mind, events: Sequence[StreamEvent]
) -> list[StreamEvent]:
    """The events that are quoted, in their order: what few said, and what was felt or promised."""
    often = Counter(event.text.casefold() for event in events)
    firsts: dict[str, StreamEvent] = {}
    for event in events:
        firsts.setdefault(event.text.casefold(), event)
    listed = sorted(
        firsts.values(), key=lambda e: (often[e.text.casefold()], -len(e.text))
    )
    candidates = sorted(listed[:_COMPARED], key=lambda event: event.position)
    told = [
        Sentence(
            _line(event),
            importance_by_words(event.text),
            mind.tokeniser.telling(event.text),
        )
        for event in candidates
    ]
    said: Counter[str] = Counter()
    for event, sentence in zip(candidates, told, strict=True):
        for token in sentence.tokens:
            said[token] += often[event.text.casefold()]
    whole = log(len(events) + 1) or 1.0
    rarity = {token: max(0.0, 1 - log(n) / whole) for token, n in said.items()}
    chosen = choose_sentences(told, rarity, DigestParams(lines=_LINES))
    return [candidates[index] for index in chosen]


@compute_only
def highlight_change(
    quarter: Quarter,
    end: datetime,
    quoted: Sequence[StreamEvent],
    now: datetime,
    mind: Mind,
) -> MindChange | None:
    """Stores the highlight; nothing where it is as it was, or the user took it over or threw it away."""
    key = highlight_id(mind.soul.id, quarter)
    old = mind.memories.get(key)
    if old is not None and _is_of_user(old):
        return None
    language = language_of([event.text for event in quoted])
    name = period_text(local(quarter.start), local(end), Period.HIGHLIGHT, language)
    head = (
        f"{name}, {quarter.stream}:"
        if language == "en"
        else f"{name}，{quarter.stream}："
    )
    text = "\n".join([head, *map(_line, quoted)])
    speakers = dict.fromkeys(event.speaker for event in quoted)
    memory = old or Memory(
        id=key,
        soul=mind.soul.id,
        kind=MemoryKind.DIGEST,
        text=text,
        origin=Origin.MODEL,
        created=now,
        tags=(quarter.stream,),
        timelines=Timelines.ALL,
    )
    made = replace(
        memory,
        text=text,
        situation=Situation(
            time_span=TimeSpan(quarter.start, last_instant(end)),
            participants=tuple(map(Participant, speakers)),
            period=Period.HIGHLIGHT.value,
        ),
    )
    if made == old:
        return None
    if old is not None:
        made = replace(made, revision=old.revision + 1)
    return MindChange(put_memories=(made,))


def _is_of_user(memory: Memory) -> bool:
    is_free = not (memory.permanent or memory.locked)
    is_derived = memory.origin is Origin.MODEL and memory.state is MemoryState.ACTIVE
    return not (is_free and is_derived)


def _line(event: StreamEvent) -> str:
    text = " ".join(event.text.split())
    shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return f"{event.speaker}: {shown}"
