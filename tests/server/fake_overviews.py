"""Overviews that answer what was asked for with two people, one fading memory and one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timezone

import numpy as np

from soulmem.domain.digests import Period
from soulmem.domain.ids import ChatId, MemoryId, Owner, SlotId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin, Place
from soulmem.domain.micro_units import MicroUnit, Retention, UnitSpan
from soulmem.domain.situation import Emotion
from soulmem.engine.api.requests import MemoryFilter
from soulmem.engine.api.results import (
    GraphView,
    HabitAction,
    HabitPage,
    HabitView,
    MemoryView,
    Page,
    Person,
)
from soulmem.engine.editing.overviews import KnownFilter, KnownPage
from soulmem.engine.views.faded_texts import FadedText
from soulmem.engine.views.fading_ahead import FadingMemory, FadingPage, Horizon
from soulmem.engine.views.feelings_over_time import FeltStretch
from soulmem.engine.views.heart import Heart, HeartLine
from soulmem.engine.views.known import KnownThing
from soulmem.engine.views.listed_rows import Density, Share
from soulmem.engine.views.overview import Overview
from soulmem.engine.views.read_texts import ReadText
from soulmem.engine.views.spots import Spot

MET = datetime(2024, 3, 1, tzinfo=timezone.utc)
_MEMORY = Memory(MemoryId("m1"), SoulId("s1"), MemoryKind.EPISODE, "It rained.", Origin.CHAT, MET)


def _seen(text: str, visibility: float) -> ReadText:
    """The memory's only unit is as visible as that."""
    state = Retention(visibility, 600.0, MET)
    unit = MicroUnit(UnitSpan(0, len(_MEMORY.text)), state)
    return ReadText(text, FadedText(_MEMORY.text, (unit,)))


_HUMS = replace(_MEMORY, id=MemoryId("m8"), kind=MemoryKind.ACTION, text="hums")
FELT = replace(_MEMORY, id=MemoryId("m9"), text="Yes!")
FADING = FadingMemory(_MEMORY, _seen("It rained.", 0.75), _seen("…", 0.5), "xxx", True)


class FakeOverviews:
    """Reports each call to `called`."""

    def __init__(self, called: Callable[[str, object], object]) -> None:
        self._called = called

    async def overview(self, owner: Owner, soul: SoulId) -> Overview:
        self._called("overview", (soul,))
        return Overview(12, 3, 2, 1, FELT, Emotion("joy", 0.5))

    async def feelings(
        self, owner: Owner, soul: SoulId, about: MemoryId | None, stretches: int
    ) -> list[FeltStretch]:
        self._called("feelings", (soul, about, stretches))
        end = MET.replace(day=2)
        return [
            FeltStretch(MET, MET, -0.25, Emotion("fear", 0.25), FELT.id),
            FeltStretch(MET, end, 0.0, None, None),
        ]

    async def density(
        self, owner: Owner, wanted: MemoryFilter, bins: int, period: Period | None
    ) -> Density:
        self._called("density", (wanted, bins, period))
        if wanted.soul == "empty":
            return Density(None, None, (0,) * bins)
        day = Share(MET, MET.replace(day=2), 3)
        return Density(MET, MET.replace(day=2), (3, *(0,) * (bins - 1)), (day,))

    async def people(self, owner: Owner, soul: SoulId) -> list[Person]:
        self._called("people", (soul,))
        feeling = Emotion("joy", 0.5)
        return [
            Person(MemoryId("c1"), "Jo", ("Joni",), ("f1",), 1, 2, MET, feeling),
            Person(MemoryId("c2"), "Rad", (), ("f2",), 1, 0, None, None),
        ]

    async def heart(
        self, owner: Owner, soul: SoulId, you: str, *, with_spots: bool = False
    ) -> Heart:
        self._called("heart", (soul, you, with_spots))
        (jo, _) = await self.people(owner, soul)
        line = HeartLine(None, jo.concept, "Jo sings.", MemoryId("m1"), 1.0, 0.5)
        pier = Spot(MemoryId("place pier"), "Pier", None, np.asarray([1, 2]))
        places = {jo.concept: (0.62, 0.5), pier.id: (0.1, 0.2)}
        return Heart([jo], places, [line], jo.concept, [pier][: int(with_spots)])

    async def known(
        self,
        owner: Owner,
        soul: SoulId,
        wanted: KnownFilter,
        limit: int,
        cursor: str | None,
    ) -> KnownPage:
        self._called("known", (soul, wanted, limit, cursor))
        thing = KnownThing(
            id="m1l0",
            told_as="fact",
            about="Jo",
            concept=MemoryId("c1"),
            speaker="Jo",
            quote="I sing.",
            memory=MemoryId("m1"),
            place=Place(ChatId("ch1"), SlotId("t1")),
            said_at=MET,
            story_at=None,
            location="the pier",
            kept=True,
        )
        return KnownPage([thing], "5_1_m1l0", 2)

    async def habits(self, owner: Owner, soul: SoulId, limit: int, cursor: str | None) -> HabitPage:
        self._called("habits", (soul, limit, cursor))
        situation, action = MemoryView(_MEMORY, ()), MemoryView(_HUMS, ())
        habit = HabitView(MemoryId("t1"), [situation], [HabitAction(action, 0.5)])
        return HabitPage([habit], "5_1_t1")

    async def fading(
        self,
        owner: Owner,
        soul: SoulId,
        horizon: Horizon,
        limit: int,
        cursor: str | None,
    ) -> FadingPage:
        self._called("fading", (soul, horizon, limit, cursor))
        return FadingPage([FADING], "0.250000000_m1")

    async def fading_of(
        self, owner: Owner, soul: SoulId, memory: MemoryId, horizon: Horizon
    ) -> FadingPage:
        self._called("fading_of", (soul, memory, horizon))
        return FadingPage([FADING])

    async def as_read(self, owner: Owner, soul: SoulId, page: Page) -> Page:
        views = [
            replace(view, reads_now=f"{view.memory.text} xxx", visibility=0.5)
            for view in page.memories
        ]
        return Page(views, page.cursor)

    async def laid_out(self, view: GraphView) -> GraphView:
        places = {v.memory.id: (0.25, 1.0) for v in view.memories}
        return replace(view, places=places)
