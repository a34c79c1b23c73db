"""Old chats are consolidated on request only; chats that are being played are consolidated in idle rounds."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from soulmem.domain.ids import SoulId
from soulmem.engine.consolidation.backlog import BacklogParams
from tests.engine.model_stage import ModelStage, talk
from tests.engine.stage import ME, ended

DAY = 86_400.0


@pytest.fixture
async def stage() -> AsyncIterator[ModelStage]:
    fresh_stage = ModelStage(backlog=BacklogParams())
    await fresh_stage.start()
    await fresh_stage.soul()
    yield fresh_stage
    await fresh_stage.stop()


async def live(stage: ModelStage, upto: int, start: int = 2, step: int = 2) -> None:
    """Say the messages up to that one, exchange by exchange."""
    for count in range(start, upto + 1, step):
        stage.clock.advance(20.0)
        await stage.sync("c1", talk(count))


async def test_what_is_lived_is_consolidated_by_itself(stage: ModelStage) -> None:
    await live(stage, 60)
    await stage.rest()
    assert stage.calls


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param((1000,), marks=pytest.mark.nightly),
        (20, 120, 160, 240),
        pytest.param((100, 200, 300, 340), marks=pytest.mark.nightly),
    ],
)
async def test_an_old_chat_waits_until_it_is_asked_for(
    stage: ModelStage, pieces: tuple[int, ...]
) -> None:
    """However many pieces it comes in."""
    for count in pieces:
        stage.clock.advance(2.0)
        await stage.sync("c1", talk(count))
    for _ in range(3):
        await stage.rest()
        stage.clock.advance(DAY)
    assert stage.calls == []
    due = (await stage.engine.consolidator.usage_report(ME, SoulId("s1"))).due_calls
    assert due > 0

    job = await stage.engine.jobs.ask(ME, "consolidate", SoulId("s1"), {})
    assert (await ended(stage, job)).state.value == "done"
    assert len(stage.calls) == pytest.approx(
        due, abs=2
    )  # the last stretch may be too short, or be ended


async def test_an_old_chat_that_goes_on_is_consolidated_from_there(
    stage: ModelStage,
) -> None:
    await stage.sync("c1", talk(300))
    stage.clock.advance(DAY)
    await live(stage, 360, start=302)
    await stage.rest()
    assert set(stage.calls) == {"extraction"}  # the summary goes on from what nobody asked for
    assert len(stage.calls) <= 4


async def test_what_lay_there_for_a_week_waits(stage: ModelStage) -> None:
    await live(stage, 60)
    stage.clock.advance(8 * DAY)
    await stage.rest()
    assert stage.calls == []
