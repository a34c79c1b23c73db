"""With `review` a permanent memory of a language model counts only after the user confirms it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from soulmem.domain.audit import Actor
from soulmem.domain.errors import Forbidden, NotFound
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryState
from soulmem.engine.params import EngineParams
from soulmem.governance.bin_time import BinParams
from tests.engine.stage import ME, Stage

OATH = "Mira swore an oath by the silver lantern."


@pytest.fixture
async def review_stage() -> AsyncIterator[Stage]:
    """A stage with `review` set."""
    stage = Stage(params=EngineParams(rest_by_itself=False, bin=BinParams(review=True)))
    await stage.start()
    await stage.soul()
    yield stage
    await stage.stop()


async def saved_by_lead(stage: Stage) -> MemoryId:
    """The memory that the lead saves for good."""
    arguments = {"content": OATH, "reason": "told so"}
    result = await stage.engine.tools.call(ME, "save_permanent_memory", "s1", Actor.LEAD, arguments)
    assert result.get("status") == "awaiting_confirmation"
    return MemoryId(result["memory"])


async def recalled(stage: Stage) -> list[str]:
    return [memory.text for memory in (await stage.recall("the silver lantern")).memories]


async def test_it_waits_for_the_user_and_is_permanent_then(review_stage: Stage) -> None:
    key = await saved_by_lead(review_stage)
    assert await recalled(review_stage) == []
    assert [m.id for m in await review_stage.listed(MemoryState.BIN)] == [key]
    arguments = {"memory_id": key, "new_content": "Mira swore nothing."}
    with pytest.raises(Forbidden):
        await review_stage.engine.tools.call(
            ME, "update_memory_node", "s1", Actor.ARCHIVIST, arguments
        )

    back = (await review_stage.engine.memories.restore(ME, key)).memory
    assert (back.state, back.permanent) == (MemoryState.ACTIVE, True)
    assert await recalled(review_stage) == [OATH]


async def test_without_an_answer_it_goes_after_a_week(review_stage: Stage) -> None:
    key = await saved_by_lead(review_stage)
    review_stage.clock.advance(8 * 86_400.0, 0)
    await review_stage.engine.idle.run()
    with pytest.raises(NotFound):
        await review_stage.engine.memories.get(ME, key)


async def test_without_review_it_is_in_force_at_once(stage: Stage) -> None:
    arguments = {"content": OATH, "reason": "told so"}
    result = await stage.engine.tools.call(ME, "save_permanent_memory", "s1", Actor.LEAD, arguments)
    assert result == {"memory": result["memory"], "permanent": True}
    assert await recalled(stage) == [OATH]
