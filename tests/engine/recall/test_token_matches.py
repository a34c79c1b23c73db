"""The tokens of a query find those of memories, each as the chat tells it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from soulmem.adapters.token_files import TokenFolder
from soulmem.domain.ids import ChatId
from soulmem.engine.recall.line_matches import TokenMatches, token_matches
from soulmem.ports.token_store import TokenStore
from tests.engine.stage import Stage, line
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.token_store import FakeTokenStore

TALK = [
    line("m1", "The silver key lies under the bridge."),
    line("m2", "I bake bread every morning."),
    line("m3", "Whales sing at night."),
    line("m4", "Good night."),
]


@pytest.fixture(params=["in memory", "files"])
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    """A soul with a short chat, its token states made."""
    in_memory = request.param == "in memory"
    tokens: TokenStore = FakeTokenStore() if in_memory else TokenFolder(tmp_path)
    new_stage = Stage(model=FakeEmbedder().source(), tokens=tokens)
    await new_stage.start()
    await new_stage.soul()
    await new_stage.sync("c1", TALK)
    await new_stage.close("c1")
    await new_stage.engine.embedding.wait_pending()
    yield new_stage
    await new_stage.stop()


async def matched(
    stage: Stage, text: str, chat: str | None = "c1"
) -> tuple[dict[str, np.ndarray[Any, Any]], TokenMatches]:
    """For each memory's text the matches of the query's tokens, and everything."""
    mind = await stage.mind()
    states = await stage.engine.embedding.query_states([text])
    assert states is not None
    rows = np.array([row for _, row in mind.frame().rows], np.int64)
    found = token_matches(mind, ChatId(chat) if chat else None, states[0], rows)
    texts = mind.texts_at(rows.tolist())
    return {t: found.best[:, place] for place, t in enumerate(texts)}, found


async def test_a_word_of_the_query_finds_the_memory_with_that_word(
    stage: Stage,
) -> None:
    by_text, found = await matched(stage, "silver bread")
    key = next(best for text, best in by_text.items() if "silver" in text)
    bread = next(best for text, best in by_text.items() if "bread" in text)
    assert key[0] > 0.9 > 0.7 > key[1]
    assert bread[1] > 0.9 > 0.7 > bread[0]
    assert found.idf.shape == (2,)
