"""Which of a trigger's actions is drawn, and when does any fire?"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator

import pytest

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import SlotId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.engine import EngineParams
from soulmem.engine.requests import NewEdge, RecallType
from soulmem.engine.search import RecallParams
from soulmem.retrieval.firing import draw_number
from tests.engine.reflexes import REFLEXES, SECRET, fired, made, opened, reflex
from tests.engine.stage import Stage

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
async def plain() -> AsyncIterator[Stage]:
    """The same without an encoder: where meaning makes no difference."""
    one = await opened(None)
    yield one
    await one.stop()


@pytest.mark.parametrize("probabilities", [(0.8, 0.2), (0.4, 0.3, 0.3)])
async def test_draws_follow_the_probabilities_and_repeat(
    plain: Stage, probabilities: tuple[float, ...]
) -> None:
    """One action each time; the same slot and swipe draw the same, after a restart too; swipes may differ."""
    actions = [(f"reacts in way {i}", p) for i, p in enumerate(probabilities)]
    situation, _, cue, _ = REFLEXES["en"]
    await reflex(plain, situation, actions)

    async def draw(i: int) -> str:
        kind = RecallType.SWIPE if i % 4 else RecallType.NORMAL
        answer = await plain.recall(cue, "c1", slot=SlotId(f"r{i // 4}"), swipe=i % 4, type=kind)
        (one,) = fired(answer)
        return one

    drawn = [await draw(i) for i in range(400)]
    count = Counter(drawn)
    assert sum(abs(count[text] / 400 - p) for text, p in actions) / 2 <= 0.05
    assert any(len(set(drawn[i : i + 4])) > 1 for i in range(0, 400, 4))
    assert [await draw(i) for i in range(0, 40, 3)] == drawn[:40:3]
    await plain.restart()
    assert [await draw(i) for i in range(0, 40, 3)] == drawn[:40:3]


async def test_a_draw_does_not_hang_on_the_order_of_edges(plain: Stage) -> None:
    """Actions stand in the order of their ids: a store may give edges back in another order."""
    first, second = [await made(plain, text, MemoryKind.ACTION) for text in ("laughs", "blushes")]
    assert first < second
    situation, _, cue, _ = REFLEXES["en"]
    scene = await made(plain, situation, MemoryKind.ABSTRACT_EPISODE)
    fires = [NewEdge(EdgeKind.FIRES, to=i, probability=p) for i, p in ((second, 0.7), (first, 0.3))]
    edges = [*fires, NewEdge(EdgeKind.TRIGGERS, source=scene)]
    trigger = await made(plain, SECRET, MemoryKind.TRIGGER, edges)
    for i in range(20):
        answer = await plain.recall(cue, "c1", slot=SlotId(f"r{i}"), swipe=1)
        expected = "laughs" if draw_number("c1", f"r{i}", "1", trigger) < 0.3 else "blushes"
        assert fired(answer) == [expected]


async def test_without_a_slot_the_words_decide_the_draw(plain: Stage) -> None:
    """The same question has the same answer; other words may have another."""
    await reflex(plain, "a stranger stares at her", [("laughs", 0.5), ("blushes", 0.5)])
    cues = [f"That stranger keeps staring{'!' * n}" for n in range(12)]
    first = [fired(await plain.recall(cue)) for cue in cues]
    assert all(len(one) == 1 for one in first)
    assert len({one[0] for one in first}) == 2
    assert [fired(await plain.recall(cue)) for cue in cues] == first


@pytest.mark.parametrize(("least", "fires"), [(0.0, True), (0.49, True), (0.51, False), (1.0, False)])
async def test_how_sure_it_must_be_is_a_setting(least: float, fires: bool) -> None:
    """A reflex made by default has strength 0.5: no more of the attention arrives."""
    stage = Stage(params=EngineParams(rest_by_itself=False, recall=RecallParams(fires_from=least)))
    await stage.start()
    await stage.soul()
    situation, action, _, _ = REFLEXES["en"]
    await reflex(stage, situation, [(action, 1.0)])
    assert bool(fired(await stage.recall(situation))) is fires
    await stage.stop()
