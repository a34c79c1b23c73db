"""Streams: events are stored as they come, and each quarter of an hour is told by a highlight.

A highlight is a digest that rests on events instead of messages. That of the present is made when a recall asks
for it, so that the soul knows what was just said.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from functools import partial
from math import log
from weakref import WeakKeyDictionary

from soulmem.assembly.compose import language_of
from soulmem.assembly.dates import period_text
from soulmem.conversation.importance import importance_by_words
from soulmem.domain import change_reasons
from soulmem.domain.audit import Actor
from soulmem.domain.calendar import END, START, local, shifted, utc
from soulmem.domain.digests import (
    Period,
    digest_span,
    first_instant_after,
    last_instant,
)
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import MemoryId, Owner, SoulId, StreamId, derived_id
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin, Timelines
from soulmem.domain.phrases import phrase
from soulmem.domain.situation import Participant, Situation, TimeSpan
from soulmem.domain.streams import StreamEvent
from soulmem.engine.digests.digest_plan import digests_of
from soulmem.engine.digests.digest_texts import (
    DigestParams,
    Sentence,
    choose_sentences,
)
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.world.attempts import Piece
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World

_LINES = 8
# different texts at most: those that were said least often, and of these the longest
_COMPARED = 800
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
def highlight_quotations(mind: Mind, events: Sequence[StreamEvent]) -> list[StreamEvent]:
    """The events that are quoted, in their order: what few said, and what was felt or promised."""
    often = Counter(event.text.casefold() for event in events)
    firsts: dict[str, StreamEvent] = {}
    for event in events:
        firsts.setdefault(event.text.casefold(), event)
    listed = sorted(firsts.values(), key=lambda e: (often[e.text.casefold()], -len(e.text)))
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
    head = f"{name}, {quarter.stream}:" if language == "en" else f"{name}，{quarter.stream}："
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


_REASON = str(change_reasons.HIGHLIGHT)


@dataclass(frozen=True, slots=True)
class Added:
    """How many events of a batch were new, and how many were known before."""

    added: int
    known: int


@dataclass(frozen=True, slots=True)
class EventPage:
    """A page of events by time; `cursor` is None on the last page."""

    events: Sequence[StreamEvent]
    cursor: str | None


@dataclass(slots=True)
class _SoulStreams:
    """What is known of the streams of a soul: the ids of all events, quarters whose highlight is to be made, and
    those that were not over when theirs was.
    """

    known: defaultdict[StreamId, set[str]] = field(default_factory=lambda: defaultdict(set))
    due: set[Quarter] = field(default_factory=set)
    going_on: set[Quarter] = field(default_factory=set)


class Streams:
    """The streams of all souls. Callers do not hold `World.writing`."""

    def __init__(self, services: Services, *, minutes: int = 15) -> None:
        """minutes  that a highlight tells"""
        self._world_of = services.world_of
        self._store = services.store
        self._compute = services.compute
        self._attempts = services.attempts
        self._clock = services.clock
        self._auditor = services.auditor
        self._length = timedelta(minutes=minutes)
        self._streams: WeakKeyDictionary[Mind, _SoulStreams] = WeakKeyDictionary()
        self._locks: WeakKeyDictionary[Mind, asyncio.Lock] = WeakKeyDictionary()
        # Highlights that a recall did not wait for.
        self._running: set[asyncio.Task[None]] = set()

    async def add(
        self,
        owner: Owner,
        soul: SoulId,
        stream: StreamId,
        events: Sequence[StreamEvent],
    ) -> Added:
        """Store the events that are not known yet by their ids. Raises NotFound."""
        world = await self._world_of(owner)
        mind = await world.mind(world.soul(soul).id)
        async with self._lock(mind):
            streams = await self._of(owner, mind)
            known = streams.known[stream]
            new = {event.id: event for event in reversed(events) if event.id not in known}
            if new:
                await self._store.put_events(owner, soul, list(new.values())[::-1])
                known.update(new)
                for event in new.values():
                    streams.due.add(self._quarter(event))
        return Added(len(new), len(events) - len(new))

    async def page(
        self,
        owner: Owner,
        soul: SoulId,
        stream: StreamId,
        span: tuple[datetime | None, datetime | None],
        limit: int,
        cursor: str | None,
    ) -> EventPage:
        """A page of the stream's events within the span: from (inclusive), to (exclusive). Raises NotFound."""
        world = await self._world_of(owner)
        world.soul(soul)
        start = (span[0] or START, "")
        if cursor is not None:
            start = max(start, _position(cursor))
        end = span[1] or END
        events = await self._store.events(owner, soul, stream, start, end, limit + 1)
        more = len(events) > limit
        return EventPage(events[:limit], _cursor(events[limit - 1]) if more else None)

    async def run_idle(self, worlds: Iterable[World]) -> None:
        """Make the highlights that are due, for every open soul."""
        await self._attempts.with_minds("highlights", worlds, self._make_due)

    async def catch_up(self, world: World, mind: Mind, seconds: float) -> None:
        """Have the soul know its latest events, unless that takes longer."""
        streams = self._streams.get(mind)
        if streams is not None and not self._due(streams):
            return
        making = asyncio.ensure_future(
            self._attempts.carry_out(
                Piece("highlights", world.owner, mind.soul.id),
                partial(self._make_due, world, mind),
                name=mind.soul.name,
            )
        )
        self._running.add(making)
        making.add_done_callback(self._running.discard)
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.shield(making), max(0.0, seconds))

    async def _make_due(self, world: World, mind: Mind) -> None:
        async with self._lock(mind):
            streams = await self._of(world.owner, mind)
        for quarter in sorted(self._due(streams)):
            # Events that come meanwhile wait for one quarter, not for all.
            async with self._lock(mind):
                now = self._clock.now()
                if not self._is_due(streams, quarter, now):
                    continue  # made meanwhile, for a recall
                await self._make(world, mind, quarter, now)
                streams.due.discard(quarter)
                streams.going_on.discard(quarter)
                if self._end(quarter) > now:
                    streams.going_on.add(quarter)

    def _lock(self, mind: Mind) -> asyncio.Lock:
        """The lock of the soul's streams: held to change them or to make a highlight."""
        return self._locks.setdefault(mind, asyncio.Lock())

    def _due(self, streams: _SoulStreams) -> list[Quarter]:
        """The quarters whose highlight is to be made, with those that have ended since."""
        now = self._clock.now()
        some = streams.due | streams.going_on
        return [quarter for quarter in some if self._is_due(streams, quarter, now)]

    def _is_due(self, streams: _SoulStreams, quarter: Quarter, now: datetime) -> bool:
        return quarter in streams.due or (quarter in streams.going_on and self._end(quarter) <= now)

    async def _make(self, world: World, mind: Mind, quarter: Quarter, now: datetime) -> None:
        """Make the highlight of a quarter anew; that of the present tells what there is."""
        end = self._end(quarter)
        events = await self._store.events(
            world.owner, mind.soul.id, quarter.stream, (quarter.start, ""), end
        )
        if not events:
            return
        if end > now:
            end = first_instant_after(max(events[-1].moment, quarter.start))
        quoted = await self._compute.run(highlight_quotations, mind, events)
        make = partial(highlight_change, quarter, end, quoted, now)
        async with world.writing as token:
            if world.minds.get(mind.soul.id) is mind:
                author = ChangeAuthor(Actor.ENGINE, reason=_REASON)
                await self._auditor.carry_out_made(token, world, mind, make, author)

    async def _of(self, owner: Owner, mind: Mind) -> _SoulStreams:
        """The streams of a soul; read from the store when they are asked for first."""
        streams = self._streams.get(mind)
        if streams is None:
            streams = _SoulStreams()
            quarters: set[Quarter] = set()
            for stream, moment, key in await self._store.event_keys(owner, mind.soul.id):
                streams.known[stream].add(key)
                quarters.add(Quarter(self._start(moment), stream))
            if quarters:
                told = await self._compute.run(_told, mind)
                for quarter in quarters:
                    end = told.get(highlight_id(mind.soul.id, quarter))
                    if end is None or end < self._end(quarter):
                        streams.due.add(quarter)
            self._streams[mind] = streams
        return streams

    def _quarter(self, event: StreamEvent) -> Quarter:
        return Quarter(self._start(event.moment), event.stream)

    def _end(self, quarter: Quarter) -> datetime:
        """The end of a quarter, which is midnight at the latest."""
        midnight = shifted(quarter.start.replace(hour=0, minute=0), timedelta(days=1))
        return min(shifted(quarter.start, self._length), midnight)

    def _start(self, moment: datetime) -> datetime:
        """Start of the quarter of an hour around the moment, counted from midnight UTC."""
        day = utc(moment).replace(hour=0, minute=0, second=0, microsecond=0)
        return day + self._length * ((moment - day) // self._length)


@compute_only
def _told(mind: Mind) -> dict[MemoryId, datetime]:
    """Up to when each highlight tells its quarter; all of it where the user threw it away or took it over."""
    told = {}
    for memory in digests_of(mind):
        if memory.situation.period == Period.HIGHLIGHT:
            _, end = digest_span(memory)
            is_of_user = memory.state is not MemoryState.ACTIVE
            told[memory.id] = END if is_of_user else end
    return told


def _cursor(event: StreamEvent) -> str:
    return f"{utc(event.moment):%Y%m%dT%H%M%S.%f}_{event.id}"


def _position(cursor: str) -> tuple[datetime, str]:
    """The position that a cursor stands for. Raises Unprocessable."""
    moment, _, key = cursor.partition("_")
    try:
        parsed = datetime.strptime(moment, "%Y%m%dT%H%M%S.%f")  # noqa: DTZ007
    except ValueError as error:
        raise Unprocessable(
            phrase(
                "bad_cursor",
                "'{cursor}' is no cursor: pass on the one of the page before",
                cursor=cursor[:80],
            ),
            field="cursor",
        ) from error
    return parsed.replace(tzinfo=timezone.utc), key
