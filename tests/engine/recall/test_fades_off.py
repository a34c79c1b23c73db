"""Without restraint fading changes how memories read and nothing else: with it off what comes is the same."""

from __future__ import annotations

from typing import Any

import pytest

from soulmem.domain.ids import SoulId
from soulmem.domain.soul import Masks
from soulmem.engine.api.results import Recalled
from tests.engine.recall.test_faded_reading import FACTS, LOCKET, said
from tests.engine.stage import ME, Stage
from tests.fakes.embedder import FakeEmbedder

QUERIES = (
    "Who left the crimson umbrella behind the windmill?",
    "Tom and the harbour",
    "the lighthouse, the granary",
    "We drank some tea.",
)


async def answers(turns: int, **settings: Any) -> list[Recalled]:
    """What a soul recalls so many turns after a short life."""
    stage = Stage(model=FakeEmbedder().source())
    await stage.start()
    await stage.soul(**settings)
    messages = [said("m0", LOCKET), *(said(f"m{i}", f) for i, f in enumerate(FACTS, 1))]
    await stage.sync("c1", messages)
    await stage.close("c1")
    await stage.engine.embedding.wait_pending()
    stage.clock.advance(0, turns)
    out = [await stage.recall(query, max_items=40, budget_tokens=9000) for query in QUERIES]
    assert await stage.store.fading(ME, SoulId("s1")) == []  # nothing was written
    await stage.stop()
    return out


def numbers(answer: Recalled) -> list[tuple[object, ...]]:
    """What came, in its order, and how it was judged."""
    return [(m.id, m.score, m.hops, m.age_turns, m.sources) for m in answer.memories]


@pytest.mark.parametrize("turns", [0, 700])
async def test_what_comes_and_its_scores_are_the_same_without_fading(
    turns: int,
) -> None:
    on, off = await answers(turns, fades=True), await answers(turns, fades=False)
    assert [numbers(answer) for answer in on] == [numbers(answer) for answer in off]
    assert all(answer.memories for answer in on)


async def test_after_a_short_life_every_word_is_the_same() -> None:
    on, off = await answers(0, fades=True), await answers(0, fades=False)
    assert [answer.blocks for answer in on] == [answer.blocks for answer in off]


@pytest.mark.parametrize(("masks", "mark"), [("words", "something about"), ("seed", "xxx(")])
async def test_later_only_the_texts_differ(masks: str, mark: str) -> None:
    on = await answers(700, masks=Masks(masks))
    off = await answers(700, masks=Masks.OFF)
    assert any(mark in m.text for answer in on for m in answer.memories)
    assert not any(mark in m.text for answer in off for m in answer.memories)
