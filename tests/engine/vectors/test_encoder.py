"""Are the texts of a moment read once, in time, and does its absence harm nothing?"""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from soulmem.engine.vectors.encoder import SituationEncoder
from soulmem.retrieval.calibration import TEXTS
from tests.engine.reflexes import REFLEXES, fired, reflex
from tests.engine.stage import Stage
from tests.fakes.embedder import FakeEmbedder


async def test_a_text_is_read_once_and_the_model_is_loaded_when_it_is_needed() -> None:
    """With the neutral texts before the first; rows come in the order asked for, NaN for what is unknown."""
    model = FakeEmbedder()
    reading = SituationEncoder(model.source())
    assert model.asked == []
    assert await reading.encode(["one", "two", "one"]) is not None
    assert model.asked == [*TEXTS, "one", "two"]
    read = await reading.encode(["two", "three"])
    assert read is not None
    assert model.asked[-1] == "three"
    assert len(model.asked) == len(TEXTS) + 3
    rows = read.rows(["three", "never", "two"])
    assert np.array_equal(rows[[0, 2]], model.embed(["three", "two"]))
    assert np.isnan(rows[1]).all()
    assert read.rows([]).shape == (0, model.dim)
    reading.stop()


async def test_one_that_is_loaded_already_is_used() -> None:
    """The fallback of recall is the same encoder: it is not loaded twice."""
    other, model = FakeEmbedder("other"), FakeEmbedder()
    reading = SituationEncoder(other.source())
    reading.use_model(model)
    assert await reading.encode(["one"]) is not None
    assert other.asked == []
    reading.stop()


async def test_without_an_encoder_or_with_a_broken_one_there_is_nothing_read(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """And the log says so where something is wrong."""
    assert await SituationEncoder(None).encode(["one"]) is None
    assert not caplog.records
    broken = FakeEmbedder()
    broken.fails = True
    reading = SituationEncoder(broken.source())
    assert await reading.encode(["one"]) is None
    assert "words alone" in caplog.text
    broken.fails = False
    assert await reading.encode(["one"]) is not None
    reading.stop()


@pytest.mark.alone
@pytest.mark.parametrize("trouble", ["slow", "broken"])
async def test_a_reflex_does_not_wait_for_an_encoder_in_trouble(trouble: str) -> None:
    """Shared words set it off within the time there is; once the encoder has come, meaning does."""
    model = FakeEmbedder()
    stage = Stage(fallback=model.source())
    await stage.start()
    await stage.soul()
    situation, action, _, _ = REFLEXES["en"]
    await reflex(stage, situation, [(action, 1.0)])
    await stage.engine.idle.run()
    model.fails = trouble == "broken"
    if trouble == "slow":
        model.answers.clear()
    asked = stage.recall(situation, time_budget_ms=300)
    answer = await asyncio.wait_for(asked, 3)
    assert fired(answer) == [action]
    model.fails = False
    model.answers.set()
    for _ in range(100):
        if fired(await stage.recall(situation)) == [action]:
            break
    else:
        raise AssertionError("meaning never set it off")
    await stage.stop()
