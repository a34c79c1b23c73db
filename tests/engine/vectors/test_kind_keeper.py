"""Messages are judged by the kinds of their lines, whatever model embeds them, and matter as these say."""

from __future__ import annotations

import numpy as np
import pytest

from soulmem.engine.api.requests import MemoryPatch
from soulmem.language.kinds.line_kinds import KINDS
from tests.engine.stage import ME, Stage, line, lines
from tests.fakes.embedder import FakeEmbedder

MOMENTOUS = "Will you marry me?"
FILLER = "Okay."
PLAIN = "The kitchen towel hung crooked on its hook."


async def told(stage: Stage, *texts: str) -> None:
    """A chat that tells these, judged."""
    await stage.soul()
    said = [line(f"t{i}", text) for i, text in enumerate(texts)]
    await stage.sync("c1", [*said, *lines(2)])
    await stage.engine.embedding.wait_pending()


async def importance(stage: Stage, text: str) -> float:
    """What the memory of a text matters, as the panel shows it."""
    view = await stage.engine.memories.get(ME, await stage.find(f"Al: {text}"))
    return view.memory.importance


async def test_a_message_matters_as_its_kind_without_any_model() -> None:
    stage = Stage(judges_lines=True)
    await stage.start()
    await told(stage, MOMENTOUS, FILLER, PLAIN)
    momentous, filler, plain = [
        await importance(stage, text) for text in (MOMENTOUS, FILLER, PLAIN)
    ]
    await stage.stop()
    assert momentous >= 0.6
    assert filler < plain < 0.2


async def test_the_scores_of_each_message_are_at_hand_in_its_mind() -> None:
    stage = Stage(judges_lines=True)
    await stage.start()
    await told(stage, MOMENTOUS, FILLER)
    mind = await stage.mind()
    rows = [mind.row(await stage.find(f"Al: {t}")) for t in (MOMENTOUS, FILLER)]
    scores = mind.line_kinds.scores([row for row in rows if row is not None])
    query = await stage.engine.embedding.kinds([MOMENTOUS])
    await stage.stop()
    assert scores.shape == (2, len(KINDS))
    assert scores[0, KINDS.index("momentous")] >= 0.5
    # Words alone are never sure that a line says nothing; a sentence encoder is (tests/language).
    assert 0.3 < scores[1, KINDS.index("filler")] < 0.5
    assert query is not None
    np.testing.assert_allclose(query[0], scores[0], atol=1e-6)


async def test_an_importance_that_the_user_gave_stays() -> None:
    stage = Stage(judges_lines=True)
    await stage.start()
    await told(stage, FILLER)
    key = await stage.find(f"Al: {FILLER}")
    await stage.engine.memories.patch(ME, key, MemoryPatch(importance=0.8))
    await stage.restart()
    await stage.start()
    await stage.mind()
    await stage.engine.embedding.wait_pending()
    after = await importance(stage, FILLER)
    await stage.stop()
    assert after == pytest.approx(0.8)


async def test_a_text_that_is_changed_is_judged_anew() -> None:
    stage = Stage(judges_lines=True)
    await stage.start()
    await told(stage, FILLER)
    key = await stage.find(f"Al: {FILLER}")
    await stage.engine.memories.patch(ME, key, MemoryPatch(text=MOMENTOUS))
    await stage.engine.embedding.wait_pending()
    view = await stage.engine.memories.get(ME, key)
    await stage.stop()
    assert view.memory.importance >= 0.6


async def test_what_was_judged_is_read_from_the_store_after_a_restart() -> None:
    stage = Stage(model=FakeEmbedder().source(), judges_lines=True)
    await stage.start()
    await told(stage, MOMENTOUS, PLAIN)
    before = await importance(stage, MOMENTOUS)
    await stage.restart()
    await stage.start()
    await stage.mind()
    await stage.engine.embedding.wait_pending()
    after = await importance(stage, MOMENTOUS)
    await stage.stop()
    assert after == pytest.approx(before)
