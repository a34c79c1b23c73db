"""Messages are judged by the kinds of their lines, whatever model embeds them, and matter as these say."""

from __future__ import annotations

import numpy as np
import pytest

from soulmem.engine.api.requests import MemoryPatch
from soulmem.engine.mind.kind_table import Judged
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


async def test_what_is_the_users_own_matters_the_same_however_it_is_judged_later() -> None:
    stage = Stage(judges_lines=True)
    await stage.start()
    await told(stage, MOMENTOUS, PLAIN)
    edit = stage.engine.memories.patch
    locked = await edit(ME, await stage.find(f"Al: {PLAIN}"), MemoryPatch(locked=True))
    made = await stage.note(MOMENTOUS)
    memories = {made.memory.id: made.memory, locked.memory.id: locked.memory}
    await stage.engine.embedding.wait_pending()

    mind = await stage.mind()
    other = Judged(np.full(len(KINDS), 0.3, np.float32))
    chat_line = await stage.find(f"Al: {MOMENTOUS}")
    texts = {key: mind.memories[key].text for key in (*memories, chat_line)}
    mind.line_kinds.take([(key, text, other) for key, text in texts.items()])

    get = stage.engine.memories.get
    after = {key: (await get(ME, key)).memory.importance for key in texts}
    await stage.stop()
    assert made.memory.importance >= 0.6
    assert locked.memory.importance < 0.2
    assert {key: after[key] for key in memories} == {
        key: memory.importance for key, memory in memories.items()
    }
    assert after[chat_line] < 0.5  # a line of a chat follows


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


async def test_a_line_in_quotes_is_judged_by_its_words_alone() -> None:
    model = FakeEmbedder()
    stage = Stage(model=model.source(), judges_lines=True)
    await stage.start()
    await told(stage, f"*She turns round.* “{MOMENTOUS}”")
    model.asked.clear()
    await stage.engine.embedding.kinds([f'"{MOMENTOUS}"', f"「{MOMENTOUS}」"])
    await stage.stop()
    assert set(model.asked) == {MOMENTOUS}
