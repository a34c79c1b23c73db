"""A permanent memory that finds no room in the prompt is named by health, for as long as that is so."""

from __future__ import annotations

from soulmem.domain.ids import MemoryId
from soulmem.engine.api.requests import MemoryPatch
from tests.engine.stage import ME, Stage


def named(stage: Stage) -> set[str]:
    return {memory for soul, memory in stage.engine.health().core_left_out if soul == "s1"}


async def test_what_does_not_fit_is_named_until_it_does(stage: Stage) -> None:
    await stage.soul()
    text = "She is allergic to nuts, number {}: " + "almonds, hazelnuts, walnuts, " * 5
    keys = [(await stage.note(text.format(n), permanent=True)).memory.id for n in range(6)]
    assert named(stage) == set()
    answer = await stage.recall("dinner", budget_tokens=150)
    recalled = {memory.id for memory in answer.memories}
    assert 0 < len(recalled) < len(keys)
    assert named(stage) == set(keys) - recalled

    dropped = next(key for key in keys if key not in recalled)
    await stage.engine.memories.patch(ME, MemoryId(dropped), MemoryPatch(permanent=False))
    assert named(stage) == set(keys) - recalled - {dropped}
    await stage.recall("dinner", budget_tokens=5000)
    assert named(stage) == set()
