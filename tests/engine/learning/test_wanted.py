"""`stronger` on a memory, told or withheld, makes it come at that line and at those like it, nowhere else."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.opinions import Verdict
from soulmem.engine.params import EngineParams
from soulmem.language.world_lines import world_scenes
from tests.engine.reflexes import PACKAGED, PATIENT
from tests.engine.stage import ME, Stage

pytestmark = pytest.mark.timeout(60)  # the first recall reads dictionaries

DENTIST = "The dentist pulled two of my molars without a jab."
SORE = "My gums are sore, I can barely chew."
LIKE = "It hurts when I bite on something hard."
UNLIKE = (
    "Shall we sit down for a bit?",
    "I was awake half of the night, such a racket.",
    "You look lovely today.",
    "This storm does not stop pouring.",
)
OTHERS = [line.partition(": ")[2] for scene in world_scenes("en") for line in scene][:90]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """A soul of the usual restraint with notes of other things, read by the packaged encoder."""
    made = Stage(fallback=PACKAGED, params=EngineParams(recall=PATIENT))
    await made.start()
    await made.soul(restraint=1.0, forgetting=0.0)
    for text in OTHERS:
        await made.note(text)
    await made.engine.embedding.wait_pending()
    yield made
    await made.stop()


async def told(stage: Stage, query: str) -> list[str]:
    """The texts that a query brings."""
    return [memory.text for memory in (await stage.recall(query)).memories]


async def judged(stage: Stage, query: str, memory: MemoryId, verdict: Verdict) -> str:
    """The change of a verdict on a memory, whether the query brought it or not."""
    trace = (await stage.recall(query)).trace
    given = await stage.engine.feedback.give(ME, trace, memory, verdict)
    return given.change


async def test_what_was_withheld_comes_once_it_was_asked_for(stage: Stage) -> None:
    memory = (await stage.note(DENTIST)).memory.id
    await stage.engine.embedding.wait_pending()
    assert DENTIST not in [*await told(stage, SORE), *await told(stage, LIKE)]

    change = await judged(stage, SORE, memory, Verdict.STRONGER)
    assert DENTIST in await told(stage, SORE)
    assert DENTIST in await told(stage, LIKE)
    for line in UNLIKE:
        assert DENTIST not in await told(stage, line), line

    await stage.restart()
    await stage.engine.embedding.wait_pending()
    assert DENTIST in await told(stage, SORE)

    await stage.engine.history.undo(ME, SoulId("s1"), since=None, change=change, job=None)
    assert DENTIST not in await told(stage, SORE)


async def test_not_now_takes_it_back(stage: Stage) -> None:
    memory = (await stage.note(DENTIST)).memory.id
    await stage.engine.embedding.wait_pending()
    await judged(stage, SORE, memory, Verdict.STRONGER)
    await judged(stage, SORE, memory, Verdict.NOT_NOW)
    assert DENTIST not in await told(stage, SORE)
