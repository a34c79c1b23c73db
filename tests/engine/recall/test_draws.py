"""Which of a trigger's actions a reply draws, and from which share of attention on an action fires."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import SlotId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import NewEdge, RecallType
from soulmem.engine.params import EngineParams
from soulmem.engine.recall.context import RecallParams
from soulmem.retrieval.action_selection import draw_action, draw_number
from tests.engine.reflexes import REFLEXES, SECRET, fired, made, opened, reflex
from tests.engine.stage import Stage

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
async def plain() -> AsyncIterator[Stage]:
    """The same without an encoder: where meaning makes no difference."""
    stage = await opened(None)
    yield stage
    await stage.stop()


@pytest.mark.parametrize(
    "probabilities",
    [pytest.param((0.8, 0.2), marks=pytest.mark.nightly), (0.4, 0.3, 0.3)],
)
async def test_a_reply_draws_one_action_and_always_the_same(
    plain: Stage, probabilities: tuple[float, ...]
) -> None:
    """Chat, slot, swipe and trigger decide, by probability, over the actions in the order of their ids.

    A store may give edges back in another order; that such draws are fair is tested where they are made.
    """
    actions = [
        await made(plain, f"reacts in way {i}", MemoryKind.ACTION)
        for i in range(len(probabilities))
    ]
    chances = dict(zip(actions, probabilities, strict=True))
    situation, _, cue, _ = REFLEXES["en"]
    scene = await made(plain, situation, MemoryKind.ABSTRACT_EPISODE)
    fires = [
        NewEdge(EdgeKind.FIRES, to=i, probability=chances[i]) for i in sorted(actions, reverse=True)
    ]
    edges = [*fires, NewEdge(EdgeKind.TRIGGERS, source=scene)]
    trigger = await made(plain, SECRET, MemoryKind.TRIGGER, edges)
    ordered = [(actions.index(i), chances[i]) for i in sorted(actions)]
    expected = [
        draw_action(ordered, draw_number("c1", f"r{i // 4}", str(i % 4), trigger))
        for i in range(120)
    ]
    swipes = [set(expected[i : i + 4]) for i in range(0, 120, 4)]
    assert max(map(len, swipes)) > 1

    async def draw(i: int) -> list[str]:
        kind = RecallType.SWIPE if i % 4 else RecallType.NORMAL
        return fired(
            await plain.recall(cue, "c1", slot=SlotId(f"r{i // 4}"), swipe=i % 4, type=kind)
        )

    for i, number in enumerate(expected):
        assert await draw(i) == [f"reacts in way {number}"]
    await plain.restart()
    for i in range(0, 120, 7):
        assert await draw(i) == [f"reacts in way {expected[i]}"]


async def test_without_a_slot_the_words_decide_the_draw(plain: Stage) -> None:
    """The same question has the same answer; other words may have another."""
    await reflex(plain, "a stranger stares at her", [("laughs", 0.5), ("blushes", 0.5)])
    cues = [f"That stranger keeps staring{'!' * n}" for n in range(12)]
    first = [fired(await plain.recall(cue)) for cue in cues]
    assert all(len(actions) == 1 for actions in first)
    assert len({actions[0] for actions in first}) == 2
    assert [fired(await plain.recall(cue)) for cue in cues] == first


@pytest.mark.parametrize(
    ("least", "fires"), [(0.0, True), (0.49, True), (0.51, False), (1.0, False)]
)
async def test_how_sure_it_must_be_is_a_setting(least: float, fires: bool) -> None:
    """A reflex made by default has strength 0.5: no more of the attention arrives."""
    stage = Stage(params=EngineParams(rest_by_itself=False, recall=RecallParams(fires_from=least)))
    await stage.start()
    await stage.soul()
    situation, action, _, _ = REFLEXES["en"]
    await reflex(stage, situation, [(action, 1.0)])
    assert bool(fired(await stage.recall(situation))) is fires
    await stage.stop()
