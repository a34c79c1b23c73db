"""Which messages of a chat have left short-term memory, by the plan of its consolidation."""

from __future__ import annotations

import pytest

from soulmem.consolidation.short_term import MarkParams
from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.ids import ChatId
from soulmem.engine.consolidation.plan import chat_plan
from tests.engine.stage import Stage, line
from tests.fakes.embedder import FakeEmbedder

SAIL = ("The boat sails the sea.", "A boat on the sea, with one sail.")
BAKE = ("Knead dough for bread.", "Dough for bread, in the oven.")


def chat(*topics: tuple[str, str], each: int = 5) -> list[SentMessage]:
    """So many exchanges of each topic, one after the other."""
    texts = [text for topic in topics for text in topic * each]
    roles = (Role.USER, Role.CHARACTER)
    return [line(f"m{i}", text, roles[i % 2]) for i, text in enumerate(texts)]


@pytest.mark.parametrize(("topics", "slid"), [((SAIL, BAKE), 10), ((SAIL, SAIL), 8)])
async def test_what_stands_before_a_change_of_topic_has_left(
    topics: tuple[tuple[str, str], ...], slid: int
) -> None:
    stage = Stage(model=FakeEmbedder().source())
    await stage.start()
    await stage.soul()
    # Ten exchanges: of four that are held the mark before stands at the eighth message.
    messages = chat(*topics)
    await stage.sync("c", messages)
    await stage.engine.idle.run()
    world, mind = await stage.world(), await stage.mind()
    log = await world.log(ChatId("c"))
    assert log is not None
    plan = chat_plan(mind, log, MarkParams(turns=4, least=40))
    await stage.stop()
    assert plan.slid == slid


async def test_what_lies_too_far_ahead_is_counted_by_its_length() -> None:
    """Two calls for every stretch of a long chat, also for those that are not cut yet."""
    stage = Stage()
    await stage.start()
    await stage.soul()
    await stage.sync("c", [line(f"m{i}") for i in range(500)])
    world, mind = await stage.world(), await stage.mind()
    log = await world.log(ChatId("c"))
    assert log is not None
    plan = chat_plan(mind, log, MarkParams(turns=4, least=40))
    await stage.stop()
    assert plan.slid < 400
    assert plan.calls == 2 * (500 // 40)
