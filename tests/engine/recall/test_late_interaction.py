"""Late interaction in a recall: which texts are compared, and what becomes of the others."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import numpy as np
import pytest
from numpy.testing import assert_allclose

from soulmem.domain.ids import ChatId, SoulId
from soulmem.engine.api.requests import RecallRequest
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall import late_interaction
from soulmem.engine.recall.context import (
    RecallContext,
    RecallParams,
    TextScores,
    build_context,
    build_query,
    score_texts,
    start_cosines,
)
from soulmem.engine.recall.late_interaction import QueryTokens, interact, standardise
from soulmem.engine.recall.line_matches import TokenMatches, token_matches
from soulmem.retrieval.fusion import FusionParams, standardised
from tests.engine.stage import Stage, line
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.token_store import FakeTokenStore

pytestmark = pytest.mark.timeout(60)  # the first recall reads dictionaries

FEW = ["The silver key lies under the bridge.", "I bake bread.", "Whales sing."]
QUERY = "Where is the silver key?"


@dataclass(frozen=True, slots=True)
class Asked:
    """A query on its way."""

    mind: Mind
    context: RecallContext
    scores: TextScores
    tokens: QueryTokens

    @property
    def base(self) -> np.ndarray[Any, Any]:
        """The scores of vectors and words, standardised."""
        rows = np.arange(self.mind.size)
        return standardised(self.scores.score, self.context.visible, rows)

    def result(self) -> TextScores:
        """With late interaction."""
        result = interact(self.mind, self.context, self.scores, self.tokens)
        assert result is not None
        return result


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """A soul without chats, whose texts get token states."""
    new_stage = Stage(model=FakeEmbedder().source(), tokens=FakeTokenStore())
    await new_stage.start()
    await new_stage.soul()
    yield new_stage
    await new_stage.stop()


async def asked(stage: Stage, texts: list[str], query: str = QUERY) -> Asked:
    """The query to a soul with a chat of these texts, the last of which is still open."""
    await stage.sync("c1", [line(f"m{i}", text) for i, text in enumerate(texts)])
    await stage.close("c1")
    embedding = stage.engine.embedding
    await embedding.wait_pending()
    world, mind = await stage.world(), await stage.mind()
    request = RecallRequest(SoulId("s1"), ChatId("c1"), query=query)
    parts = build_query(world, request)
    now = stage.clock.now()
    context = build_context(world, mind, request, parts, RecallParams(), 0, now)
    vectors = await embedding.embed_query([query])
    states = await embedding.query_states([query])
    assert states is not None
    scores = score_texts(mind, context, start_cosines(mind, parts, vectors), FusionParams())
    return Asked(mind, context, scores, QueryTokens(((states[0], 1.0),)))


def without_states(*rows: int) -> Any:
    """Token states of these rows are not made yet."""

    def matches(mind: Mind, chat: Any, states: Any, compared: Any) -> TokenMatches:
        made = token_matches(mind, chat, states, compared)
        for place in np.flatnonzero(np.isin(compared, rows)):
            made.best[:, place] = np.nan
            made.covered[place] = np.nan
            made.length[place] = 0
        return made

    return mock.patch.object(late_interaction, "token_matches", matches)


async def test_the_text_with_the_words_of_the_query_is_best(stage: Stage) -> None:
    query = await asked(stage, FEW)
    best = query.mind.memory_at(int(query.result().score.argmax()))
    assert FEW[0] in best.text


async def test_without_any_token_states_the_scores_stay_those_of_vectors_and_words(
    stage: Stage,
) -> None:
    query = await asked(stage, FEW)
    rows = np.flatnonzero(query.context.visible)
    with without_states(*rows.tolist()):
        result = query.result()
    expected = standardise(query.base[rows], np.ones(rows.size))
    assert_allclose(result.score[rows], expected, atol=1e-4)


async def test_a_text_without_token_states_stands_where_vectors_and_words_put_it(
    stage: Stage,
) -> None:
    query = await asked(stage, FEW)
    best = int(np.where(query.context.visible, query.base, -np.inf).argmax())
    with without_states(best):
        result = query.result()
    assert np.isfinite(result.score[query.context.visible]).all()
    assert int(result.score.argmax()) == best


async def test_what_is_not_compared_stands_at_the_mean_at_best(stage: Stage) -> None:
    texts = [*FEW, *(f"Bread number{n} and soup number{n}." for n in range(240))]
    query = await asked(stage, texts)
    compared: list[int] = []

    def matches(mind: Mind, chat: Any, states: Any, rows: Any) -> TokenMatches:
        compared.extend(rows.tolist())
        return token_matches(mind, chat, states, rows)

    with mock.patch.object(late_interaction, "token_matches", matches):
        score = query.result().score
    visible = np.flatnonzero(query.context.visible)
    others = np.setdiff1d(visible, compared)
    assert 120 <= len(compared) < visible.size
    assert others.size
    assert score[others].max() <= 0.0
    assert FEW[0] in query.mind.memory_at(int(score.argmax())).text


async def test_what_is_not_visible_has_no_score(stage: Stage) -> None:
    query = await asked(stage, FEW)
    visible = query.context.visible.copy()
    hidden = int(query.scores.score.argmax())
    visible[hidden] = False
    score = query.scores.score.copy()
    score[hidden] = -np.inf
    query = replace(
        query,
        context=replace(query.context, visible=visible),
        scores=replace(query.scores, score=score),
    )
    result = query.result()
    assert result.score[hidden] == -np.inf
    assert result.own[hidden] == 0.0
    assert np.isfinite(result.score[visible]).all()


async def test_where_nothing_is_visible_nothing_is_compared(stage: Stage) -> None:
    query = await asked(stage, FEW)
    context = replace(query.context, visible=np.zeros_like(query.context.visible))
    nothing = np.full_like(query.scores.score, -np.inf)
    scores = replace(query.scores, score=nothing)
    assert interact(query.mind, context, scores, query.tokens) is None


async def test_each_part_counts_by_its_share(stage: Stage) -> None:
    query = await asked(stage, FEW)
    bread = await stage.engine.embedding.query_states(["Where is bread?"])
    assert bread is not None
    states, _ = query.tokens.parts[0]
    best = []
    for share in (0.1, 0.9):
        parts = ((bread[0], 1 - share), (states, share))
        result = replace(query, tokens=QueryTokens(parts)).result()
        best.append(query.mind.memory_at(int(result.score.argmax())).text)
    assert FEW[1] in best[0]
    assert FEW[0] in best[1]
