"""A habit of meeting somebody fires when he is here, not when he is only talked about."""

from __future__ import annotations

import pytest

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import MemoryKind
from soulmem.domain.soul import KnownName, SoulSettings
from soulmem.engine.api.requests import NewEdge, NewMemory
from tests.engine.reflexes import PACKAGED
from tests.engine.stage import ME, Stage

pytestmark = pytest.mark.timeout(60)  # the first recall reads dictionaries

HERE = ("Kaldor walks up to you.", "Look, there is Kaldor, right over there!")
ABSENT = (
    "I got a letter from Kaldor yesterday.",
    "What does Kaldor do for a living?",
    "My aunt was once married to Kaldor.",
)


async def test_a_habit_of_meeting_somebody_fires_when_he_is_here() -> None:
    stage = Stage(fallback=PACKAGED, judges_lines=True)
    await stage.start()
    soul = SoulId("s1")
    await stage.engine.souls.put(
        ME, soul, "Mira", (KnownName("Kaldor"),), SoulSettings()
    )

    async def make(kind: MemoryKind, text: str, *edges: NewEdge) -> None:
        new = NewMemory(soul=soul, kind=kind, text=text, edges=edges)
        made.append((await stage.engine.memories.create(ME, new)).memory.id)

    made: list[MemoryId] = []
    await make(MemoryKind.ACTION, "hides both hands in the sleeves")
    await make(MemoryKind.ABSTRACT_EPISODE, "meeting Kaldor")
    await make(
        MemoryKind.TRIGGER,
        "meeting Kaldor!",
        NewEdge(EdgeKind.TRIGGERS, source=made[1]),
        NewEdge(EdgeKind.FIRES, made[0], probability=1.0),
    )
    await stage.engine.embedding.wait_pending()
    await stage.engine.idle.run()

    async def fires(text: str) -> bool:
        return any(m.fired for m in (await stage.recall(text)).memories)

    assert [await fires(text) for text in HERE] == [True, True]
    assert [await fires(text) for text in ABSENT] == [False, False, False]
    await stage.stop()
