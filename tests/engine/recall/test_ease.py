"""What hangs on a memory in mind comes more easily, for some exchanges; so does what came again and again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from math import log2, sqrt

import pytest

from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.engine.api.requests import RecallRequest, RecallType
from soulmem.retrieval.decision_model import fitted
from tests.engine.recall.test_brought import (
    BISHOP,
    CUE,
    UMBRELLA,
    linked,
    soul_of_barrels,
)
from tests.engine.stage import ME, Stage, line

pytestmark = pytest.mark.timeout(60)  # the first recall reads dictionaries

WEAK = "He leaned back, yawned and looked at the ceiling for a long time."
SMALL_TALK = "Good morning to you."


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """A soul with two memories that are joined weakly, and some notes on other things."""
    made = await soul_of_barrels()
    other = (await made.note(UMBRELLA)).memory.id
    await linked(made, BISHOP, other, 0.2)
    await made.engine.idle.run()
    yield made
    await made.stop()


async def exchange(
    stage: Stage, said: list[SentMessage], text: str, restraint: float = 1.0
) -> list[str]:
    """What comes for the next line, whose reply is kept."""
    said.append(line(f"u{len(said)}", text))
    await stage.sync("a", said)
    reply = SlotId(f"c{len(said)}")
    first = said[0].slot  # the whole chat stands in the prompt
    request = RecallRequest(
        SoulId("s1"), ChatId("a"), reply, 0, context_from=first, restraint=restraint
    )
    answer = await stage.engine.recaller.recall(ME, request)
    said.append(line(reply, "Hm.", Role.CHARACTER))
    await stage.sync("a", said)
    await stage.engine.learner.drain()
    return [memory.text for memory in answer.memories]


async def likely(stage: Stage, said: str, text: str) -> float:
    """How likely the line is judged to call for that memory."""
    request = RecallRequest(SoulId("s1"), query=said, type=RecallType.QUIET)
    judged = await stage.engine.recaller.judged(ME, request)
    mind = await stage.mind()
    row = mind.row(await stage.find(text))
    assert row is not None
    return judged.of_row()[row]


async def told(stage: Stage, said: str, between: tuple[float, float]) -> dict[str, str]:
    """What a line brings, with the reasons, where a memory must be likelier than the middle of these two."""
    least = fitted().models["words"].least
    restraint = (sqrt(between[0] * between[1]) / least) ** (1 / log2(10))
    answer = await stage.recall(said, type=RecallType.QUIET, restraint=restraint)
    return {memory.text: memory.why for memory in answer.memories}


async def test_what_hangs_on_a_memory_in_mind_comes_more_easily_for_a_while(
    stage: Stage,
) -> None:
    said: list[SentMessage] = []
    before = await likely(stage, WEAK, UMBRELLA)
    assert BISHOP in await exchange(stage, said, CUE)
    await exchange(stage, said, SMALL_TALK)
    primed = await likely(stage, WEAK, UMBRELLA)
    assert primed > 1.4 * before
    assert UMBRELLA in await told(stage, WEAK, (before, primed))
    for _ in range(14):
        await exchange(stage, said, SMALL_TALK)
    assert await likely(stage, WEAK, UMBRELLA) <= before
    assert UMBRELLA not in await told(stage, WEAK, (before, primed))


async def test_what_came_again_and_again_comes_more_easily(stage: Stage) -> None:
    said: list[SentMessage] = []
    for _ in range(8):
        await exchange(stage, said, SMALL_TALK)
    before = await likely(stage, WEAK, UMBRELLA)
    assert UMBRELLA not in await told(stage, WEAK, (before, 2 * before))
    for _ in range(4):
        # Each time the question itself makes its words less rare in this small soul
        assert UMBRELLA in await exchange(stage, said, "Where is the grey umbrella?", 0.5)
    await exchange(stage, said, SMALL_TALK)
    practised = await likely(stage, WEAK, UMBRELLA)
    assert practised > 1.4 * before
    assert "lately or often" in (await told(stage, WEAK, (before, practised)))[UMBRELLA]
