"""Overviews of a soul that change nothing: the people it knows, what fades next, and the places of a graph."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from weakref import WeakKeyDictionary

import numpy as np

from soulmem.domain.digests import Period
from soulmem.domain.errors import Unprocessable, no_memory
from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.domain.phrases import phrase
from soulmem.engine.api.requests import MemoryFilter
from soulmem.engine.api.results import GraphView, HabitPage, Page, Person
from soulmem.engine.editing import memory_views as listing
from soulmem.engine.editing.cursors import cursor_of, ordered_cursor, start_after
from soulmem.engine.editing.habit_views import habit_page
from soulmem.engine.mind.mind import Mind
from soulmem.engine.upkeep.prunable import due_texts, still_due
from soulmem.engine.views.fading_ahead import (
    MOST,
    FadingMemory,
    FadingPage,
    Horizon,
    fading_memories,
    may_fade,
)
from soulmem.engine.views.feelings_over_time import FeltStretch, feelings_over_time
from soulmem.engine.views.heart import (
    Bond,
    Heart,
    bonds_of,
    heart_lines,
    mapped,
    read_now,
    spot_bonds,
    told_people,
)
from soulmem.engine.views.known import (
    KnownThing,
    Reading,
    is_wanted,
    main_listener,
    names_of,
    quoted_rows,
    readings,
    settled,
    unread_count,
)
from soulmem.engine.views.listed_rows import Density, listed_density
from soulmem.engine.views.overview import Overview, overview_of
from soulmem.engine.views.people import (
    KnownVerdicts,
    joined_people,
    named_concepts,
    people_among,
)
from soulmem.engine.views.read_texts import ReadText
from soulmem.engine.views.spots import MOST_SPOTS, spots_of
from soulmem.engine.world.services import Services
from soulmem.graph.layout import RINGS, Point, layout_of
from soulmem.language.name_tokens import fold

# At a time on the compute thread: some 20 ms.
_TEXTS = 20
_CONCEPTS = 40
_LISTENED = 200  # messages that show to whom the soul speaks
_HORIZONS = 8  # orders that are kept: 30 kB each
_DIGITS = 9  # of a loss of visibility, in the order and in cursors
_CURSOR = re.compile(r"([01]\.\d{9})_([A-Za-z0-9_-]{1,64})\Z")

# By how much a memory fades, negative, and its id: its place in the order
_Place = tuple[float, MemoryId]


@dataclass(frozen=True, slots=True)
class _Order:
    """What fades within a horizon, in order."""

    places: Sequence[_Place]
    leaving: frozenset[MemoryId]


@dataclass(frozen=True, slots=True)
class _Orders:
    """Orders by horizon, as of one state of a mind."""

    state: tuple[object, ...]
    of: dict[Horizon, _Order] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KnownFilter:
    """Which known things a list shows: of what kind, whether past; `about` whom.

    `about` is a name or the id of a concept: lines about that person, and lines with the name.
    """

    told_as: str | None = None
    about: str | None = None
    is_past: bool | None = None


@dataclass(frozen=True, slots=True)
class KnownPage:
    """Known things, the latest first; `cursor` is None on the last page, `unread` counts memories that were not
    looked through yet.
    """

    things: Sequence[KnownThing]
    cursor: str | None
    unread: int = 0


@dataclass(frozen=True, slots=True)
class _Quotes:
    """All known things of a mind, as of one state of it."""

    state: tuple[object, ...]
    things: list[KnownThing]


@dataclass(frozen=True, slots=True)
class _Known:
    """The people of a mind, as of one state of it."""

    state: tuple[object, ...]
    people: list[Person]


@dataclass(frozen=True, slots=True)
class _Heart:
    """The map of a soul's heart, as of one state of its mind and for one name of the player."""

    state: tuple[object, ...]
    heart: Heart


class Overviews:
    """Answers the pages that show a whole soul."""

    def __init__(self, services: Services) -> None:
        self._world_of = services.world_of
        self._compute = services.compute
        self._clock = services.clock
        self._loader = services.loader
        self._orders: WeakKeyDictionary[Mind, _Orders] = WeakKeyDictionary()
        self._known: WeakKeyDictionary[Mind, _Known] = WeakKeyDictionary()
        self._verdicts: WeakKeyDictionary[Mind, KnownVerdicts] = WeakKeyDictionary()
        self._quotes: WeakKeyDictionary[Mind, _Quotes] = WeakKeyDictionary()
        self._hearts: WeakKeyDictionary[Mind, _Heart] = WeakKeyDictionary()

    async def overview(self, owner: Owner, soul: SoulId) -> Overview:
        """How much the soul remembers, and what it felt last. Raises NotFound."""
        mind = await self._mind(owner, soul)
        moment = self._clock.now().timestamp()
        return await self._compute.run(overview_of, mind, moment)

    async def feelings(
        self, owner: Owner, soul: SoulId, about: MemoryId | None, stretches: int
    ) -> list[FeltStretch]:
        """What the soul felt over time, in all scenes or in those about a concept. Raises NotFound."""
        mind = await self._mind(owner, soul)
        if about is not None:
            if about not in mind.memories:
                raise no_memory(about, field="about")
            await self._loader.complete(owner, mind, [about])
        return await self._compute.run(feelings_over_time, mind, about, stretches)

    async def density(
        self, owner: Owner, wanted: MemoryFilter, bins: int, period: Period | None
    ) -> Density:
        """How the selected memories lie along time, in equal shares and by periods. Raises NotFound."""
        mind = await self._mind(owner, wanted.soul)
        if wanted.part.about is not None:
            await self._loader.complete(owner, mind, [wanted.part.about])
        return await self._compute.run(listed_density, mind, wanted, bins, period)

    async def people(self, owner: Owner, soul: SoulId) -> list[Person]:
        """The people that the soul knows, whom it met most often first. Raises NotFound."""
        mind = await self._mind(owner, soul)
        extra = self._clock.extra_turns
        state = (mind.revision, mind.soul, extra)
        known = self._known.get(mind)
        if known is None or known.state != state:
            people = await self._met(owner, mind, extra)
            known = self._known[mind] = _Known(state, people)
        return known.people

    async def _met(self, owner: Owner, mind: Mind, extra: int) -> list[Person]:
        concepts = await self._compute.run(named_concepts, mind)
        await self._loader.complete(owner, mind, concepts)
        verdicts = self._verdicts.get(mind)
        if verdicts is None or verdicts.rewordings != mind.rewordings:
            verdicts = self._verdicts[mind] = KnownVerdicts(mind.rewordings)
        people: dict[MemoryId, Person] = {}
        for start in range(0, len(concepts), _CONCEPTS):
            some = concepts[start : start + _CONCEPTS]
            for person in await self._compute.run(people_among, mind, some, extra, verdicts):
                people[person.concept] = person
        joined = await self._compute.run(
            joined_people, mind, list(people.values()), extra, verdicts
        )
        return sorted(joined, key=lambda person: (-person.episodes, person.name))

    async def heart(
        self, owner: Owner, soul: SoulId, you: str, *, with_spots: bool = False
    ) -> Heart:
        """The map of the soul's heart, also with places and scenes; `you` is the player's name, or empty.

        Raises NotFound.
        """
        mind = await self._mind(owner, soul)
        extra = self._clock.extra_turns
        changes = (mind.fading.revision, mind.line_kinds.known_changes)
        state = (mind.revision, mind.soul, extra, changes, you, with_spots)
        kept = self._hearts.get(mind)
        if kept is None or kept.state != state:
            heart = await self._mapped(owner, mind, you, with_spots=with_spots)
            kept = self._hearts[mind] = _Heart(state, heart)
        return kept.heart

    async def _mapped(self, owner: Owner, mind: Mind, you: str, *, with_spots: bool) -> Heart:
        run, soul = self._compute.run, mind.soul.id
        most = RINGS - MOST_SPOTS if with_spots else RINGS
        people = (await self.people(owner, soul))[:most]
        await self._loader.complete(owner, mind, [person.concept for person in people])
        bonds: list[Bond] = await run(bonds_of, mind, people)
        texts = await self._read_of(mind, bonds)
        lines = await run(heart_lines, mind, bonds, texts)
        if not with_spots:
            return await run(mapped, soul, people, lines, you)
        known = told_people(people, lines)
        taken = set(map(fold, chain.from_iterable((p.name, *p.aliases) for p in known)))
        spots = await run(spots_of, mind, taken)
        bonds = await run(spot_bonds, mind, known, spots)
        texts = await self._read_of(mind, bonds)
        lines = [*lines, *await run(heart_lines, mind, bonds, texts, lines)]
        return await run(mapped, soul, known, lines, you, spots)

    async def _read_of(self, mind: Mind, bonds: Sequence[Bond]) -> dict[MemoryId, ReadText]:
        """How the memories of these bonds read now."""
        keys = list(dict.fromkeys(chain.from_iterable(b.memories for b in bonds)))
        texts: dict[MemoryId, ReadText] = {}
        extra = self._clock.extra_turns
        for start in range(0, len(keys), _TEXTS):
            some = keys[start : start + _TEXTS]
            texts |= await self._compute.run(read_now, mind, some, extra)
        return texts

    async def known(
        self,
        owner: Owner,
        soul: SoulId,
        wanted: KnownFilter,
        limit: int,
        cursor: str | None,
    ) -> KnownPage:
        """What the soul knows of people, as quotes, the latest first. Raises NotFound, Unprocessable (cursor)."""
        after = None if cursor is None else cursor_of(cursor)
        mind = await self._mind(owner, soul)
        unread = await self._compute.run(unread_count, mind)
        things = await self._all_known(mind)
        about = None
        if wanted.about is not None:
            about = await self._compute.run(names_of, mind, wanted.about)
        shown = [
            thing for thing in things if is_wanted(thing, wanted.told_as, wanted.is_past, about)
        ]
        places = {thing.id: place for place, thing in enumerate(shown)}
        last = None if after is None else places.get(after[2])
        start = start_after(after, np.arange(len(shown)), last)
        some = shown[start : start + limit]
        end = start + len(some)
        is_last = end >= len(shown)
        following = None if is_last else ordered_cursor(end, some[-1].id)
        return KnownPage(some, following, unread)

    async def _all_known(self, mind: Mind) -> list[KnownThing]:
        state = (mind.revision, mind.soul, mind.line_kinds.known_changes)
        told = self._quotes.get(mind)
        if told is None or told.state != state:
            rows = await self._compute.run(quoted_rows, mind)
            listener = await self._compute.run(main_listener, mind, rows[-_LISTENED:])
            lines: list[Reading] = []
            for start in range(0, len(rows), _TEXTS):
                some = rows[start : start + _TEXTS]
                lines += await self._compute.run(readings, mind, some, listener)
            things = await self._compute.run(settled, lines)
            told = self._quotes[mind] = _Quotes(state, things)
        return told.things

    async def habits(self, owner: Owner, soul: SoulId, limit: int, cursor: str | None) -> HabitPage:
        """The soul's habits, the newest first, page by page. Raises NotFound, Unprocessable (cursor)."""
        after = None if cursor is None else cursor_of(cursor)
        mind = await self._mind(owner, soul)
        extra = self._clock.extra_turns
        return await self._compute.run(habit_page, mind, limit, after, extra)

    async def laid_out(self, view: GraphView) -> GraphView:
        """The graph with a place for each memory, the same for the same graph."""
        ids = [memory_view.memory.id for memory_view in view.memories]
        # On a thread of its own: a recall need not wait for a picture.
        places = await asyncio.to_thread(_places, ids, view)
        return replace(view, places=places)

    async def as_read(self, owner: Owner, soul: SoulId, page: Page) -> Page:
        """The page with what each memory reads now. Raises NotFound."""
        mind, extra = await self._mind(owner, soul), self._clock.extra_turns
        views = []
        for start in range(0, len(page.memories), _TEXTS):
            some = page.memories[start : start + _TEXTS]
            views += await self._compute.run(listing.as_read, mind, some, extra)
        return Page(views, page.cursor)

    async def fading_of(
        self, owner: Owner, soul: SoulId, memory: MemoryId, horizon: Horizon
    ) -> FadingPage:
        """One memory now and then, whether it changes or not. Raises NotFound."""
        mind = await self._mind(owner, soul)
        if memory not in mind.memories:
            raise no_memory(memory, field="memory")
        leaving = await self._leaving(mind, horizon, memory)
        return FadingPage(await self._read(mind, [memory], leaving, horizon))

    async def fading(
        self,
        owner: Owner,
        soul: SoulId,
        horizon: Horizon,
        limit: int,
        cursor: str | None,
    ) -> FadingPage:
        """What changes within the horizon, what loses most first. Raises NotFound, Unprocessable (cursor)."""
        after = None if cursor is None else _place_of(cursor)
        mind = await self._mind(owner, soul)
        order = await self._order(mind, horizon)
        rest = [place for place in order.places if after is None or place > after]
        keys = [key for _, key in rest[:limit]]
        memories = await self._read(mind, keys, order.leaving, horizon)
        end = None
        if len(rest) > limit:
            loss, key = rest[limit - 1]
            end = f"{-loss:.{_DIGITS}f}_{key}"
        return FadingPage(memories, end)

    async def _order(self, mind: Mind, horizon: Horizon) -> _Order:
        """What changes within the horizon; kept for the next page, as the overview asks for two horizons."""
        extra = self._clock.extra_turns
        state = (mind.revision, mind.soul, mind.fading.revision, extra)
        kept = self._orders.get(mind)
        if kept is None or kept.state != state:
            kept = self._orders[mind] = _Orders(state)
        order = kept.of.get(horizon)
        if order is None:
            if len(kept.of) >= _HORIZONS:
                kept.of.clear()
            leaving = await self._leaving(mind, horizon)
            keys = await self._compute.run(may_fade, mind, extra, horizon)
            keys = list(dict.fromkeys((*keys, *leaving)))
            places = [
                (-round(fading.loss, _DIGITS), fading.memory.id)
                for fading in await self._read(mind, keys, leaving, horizon)
                if fading.changes
            ]
            order = kept.of[horizon] = _Order(sorted(places), leaving)
        return order

    async def _read(
        self,
        mind: Mind,
        keys: Sequence[MemoryId],
        leaving: frozenset[MemoryId],
        horizon: Horizon,
    ) -> list[FadingMemory]:
        extra = self._clock.extra_turns
        out: list[FadingMemory] = []
        for start in range(0, len(keys), _TEXTS):
            some = keys[start : start + _TEXTS]
            out += await self._compute.run(fading_memories, mind, some, leaving, extra, horizon)
        return out

    async def _leaving(
        self, mind: Mind, horizon: Horizon, memory: MemoryId | None = None
    ) -> frozenset[MemoryId]:
        """The texts that will be forgotten by then, as Idle forgets them: at most MOST, or `memory` alone."""
        dial = mind.soul.settings.forgetting if horizon.dial is None else horizon.dial
        if dial <= 0.0 or not mind.residency.whole:
            return frozenset()
        extra, run = self._clock.extra_turns, self._compute.run
        due = await run(due_texts, mind, extra, horizon.turns)
        some = due[:MOST] if memory is None else [key for key in due if key == memory]
        leaving = await run(still_due, mind, some, extra)
        return frozenset(memory.id for memory in leaving)

    async def _mind(self, owner: Owner, soul: SoulId) -> Mind:
        world = await self._world_of(owner)
        return await world.mind(world.soul(soul).id)


def _place_of(cursor: str) -> _Place:
    """Where the page before ended. Raises Unprocessable."""
    match = _CURSOR.match(cursor)
    if match is None:
        raise Unprocessable(
            phrase(
                "bad_cursor",
                "'{cursor}' is no cursor: pass on the one of the page before",
                cursor=cursor[:80],
            ),
            field="cursor",
        )
    return -float(match[1]), MemoryId(match[2])


def _places(ids: Sequence[MemoryId], view: GraphView) -> dict[MemoryId, Point]:
    shown_as = view.shown_as
    ends = ((edge.source, edge.target) for edge in view.edges)
    links = ((shown_as.get(a, a), shown_as.get(b, b)) for a, b in ends)
    return {MemoryId(key): place for key, place in layout_of(ids, links).items()}
