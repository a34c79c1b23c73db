"""With `review` nothing that a language model wants to keep for good is in force before the user says so."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from soulmem.domain.audit import Actor
from soulmem.domain.errors import Forbidden, NotFound
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryState
from soulmem.engine.params import EngineParams
from soulmem.governance.retention import BinParams
from tests.engine.stage import ME, Stage

OATH = "Mira swore an oath by the silver lantern."


@pytest.fixture
async def strict() -> AsyncIterator[Stage]:
    """A stage whose user reviews."""
    stage = Stage(params=EngineParams(rest_by_itself=False, bin=BinParams(review=True)))
    await stage.start()
    await stage.soul()
    yield stage
    await stage.stop()


async def saved(stage: Stage) -> MemoryId:
    """What the lead asks to keep."""
    given = {"content": OATH, "reason": "told so"}
    told = await stage.engine.tools.call(
        ME, "save_permanent_memory", "s1", Actor.LEAD, given
    )
    assert told.get("status") == "awaiting_confirmation"
    return MemoryId(told["memory"])


async def recalled(stage: Stage) -> list[str]:
    return [
        memory.text for memory in (await stage.recall("the silver lantern")).memories
    ]


async def test_it_waits_for_the_user_and_is_permanent_then(strict: Stage) -> None:
    key = await saved(strict)
    assert await recalled(strict) == []
    assert [m.id for m in await strict.listed(MemoryState.BIN)] == [key]
    given = {"memory_id": key, "new_content": "Mira swore nothing."}
    with pytest.raises(Forbidden):
        await strict.engine.tools.call(
            ME, "update_memory_node", "s1", Actor.ARCHIVIST, given
        )

    back = (await strict.engine.memories.restore(ME, key)).memory
    assert (back.state, back.permanent) == (MemoryState.ACTIVE, True)
    assert await recalled(strict) == [OATH]


async def test_without_an_answer_it_goes_after_a_week(strict: Stage) -> None:
    key = await saved(strict)
    strict.clock.advance(8 * 86_400.0, 0)
    await strict.engine.idle.run()
    with pytest.raises(NotFound):
        await strict.engine.memories.get(ME, key)


async def test_without_review_it_is_in_force_at_once(stage: Stage) -> None:
    given = {"content": OATH, "reason": "told so"}
    told = await stage.engine.tools.call(
        ME, "save_permanent_memory", "s1", Actor.LEAD, given
    )
    assert told == {"memory": told["memory"], "permanent": True}
    assert await recalled(stage) == [OATH]
