"""A step over ordinary words, from the best texts to others that share them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import numpy as np
import pytest

from soulmem.domain.ids import ChatId, SoulId
from soulmem.engine.api.requests import RecallRequest
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallParams, build_context, build_query
from soulmem.engine.recall.expansion import word_bridges
from tests.engine.stage import Stage, line

BEST = "The lantern hangs in the granary."
SHARES = "Somebody sold a lantern and a kettle yesterday."
SHARES_NOTHING = "The river froze before the market opened."


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    new_stage = Stage()
    await new_stage.start()
    await new_stage.soul()
    yield new_stage
    await new_stage.stop()


async def arrived(stage: Stage, texts: list[str], best: int = 0) -> dict[str, float]:
    """What arrives at each text where one of them fits the query best by far."""
    await stage.sync("c1", [line(f"m{i}", text) for i, text in enumerate(texts)])
    await stage.close("c1")
    await stage.engine.embedding.wait_pending()
    world, mind = await stage.world(), await stage.mind()
    request = RecallRequest(SoulId("s1"), ChatId("c1"), query="Where does it hang?")
    query = build_query(world, request)
    now = stage.clock.now()
    context = build_context(world, mind, request, query, RecallParams(), 0, now)
    score = np.full(mind.size, -np.inf, np.float32)
    score[context.visible] = -9.0
    rows = rows_of(mind, texts)
    score[rows[best]] = 3.0
    shares = word_bridges(mind, context, score)
    return {text: float(shares[row]) for text, row in zip(texts, rows, strict=True)}


def rows_of(mind: Mind, texts: list[str]) -> list[int]:
    every = mind.texts_at(range(mind.size))
    return [next(i for i, t in enumerate(every) if text in t) for text in texts]


FILLING = [f"We spoke of number {i} on the road home." for i in range(3)]


async def test_a_text_that_shares_a_rare_word_with_the_best_is_reached(
    stage: Stage,
) -> None:
    shares = await arrived(stage, [BEST, *FILLING, SHARES, SHARES_NOTHING])
    assert shares[SHARES] > 0.02 > shares[SHARES_NOTHING]


async def test_the_text_after_the_best_is_reached_more_than_the_one_before(
    stage: Stage,
) -> None:
    texts = [FILLING[0], SHARES_NOTHING, BEST, "Nobody answered her.", *FILLING[1:]]
    shares = await arrived(stage, texts, best=2)
    assert shares["Nobody answered her."] == pytest.approx(2 * shares[SHARES_NOTHING])
    assert shares[SHARES_NOTHING] > 0.0


async def test_no_more_arrives_than_the_walk_carries(stage: Stage) -> None:
    shares = await arrived(stage, [BEST, *FILLING, SHARES, SHARES_NOTHING])
    assert all(share >= 0.0 for share in shares.values())
    assert sum(shares.values()) <= 0.7 + 1e-6


PAIRS = (("lantern", "wick"), ("wick", "paraffin"), ("paraffin", "lantern"))
TOPIC = [
    f"The {first} and the {second} in winter {year}."
    for year, (first, second) in enumerate(PAIRS * 2)
]
FAR = "Grandmother spilled the paraffin at the wedding."


async def test_a_text_with_a_word_of_the_topic_of_the_best_is_reached(
    stage: Stage,
) -> None:
    """Nothing else joins it with the best text; without the topic nothing arrives."""
    quiet = [f"Number {i} of the songs was sung in the evening." for i in range(90)]
    texts = [BEST, *quiet, *TOPIC, *quiet[:3], FAR]
    await stage.soul(forgetting=0.0)
    before = await arrived(stage, texts)
    await stage.engine.idle.run()
    topics = [m for m in (await stage.mind()).memories.values() if m.is_found_topic]
    assert any({"lantern", "paraffin"} <= set(topic.tags) for topic in topics)
    shares = await arrived(stage, texts)
    assert before[FAR] == 0.0 < shares[FAR] < shares[TOPIC[0]]
    assert sum(shares.values()) <= 0.7 + 1e-6
