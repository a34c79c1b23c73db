"""What a recall of a soul that is not loaded whole computes before it loads edges is used for the answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from unittest import mock

import pytest

from soulmem.engine.params import EngineParams
from soulmem.engine.recall import context, recaller
from soulmem.engine.world.edge_loader import LoadingParams
from tests.engine.stage import ME, Stage
from tests.engine.web import near_store

QUERY = "note 17"


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """A soul with more edges than may be in memory."""
    store, _ = await near_store(400, seed=1)
    params = EngineParams(rest_by_itself=False, loading=LoadingParams(resident_edges=200))
    stage = Stage(store, params=params)
    await stage.start()
    yield stage
    await stage.stop()


async def preparations(stage: Stage, **more: Any) -> int:
    """How often texts are scored for one recall."""
    scored = context.score_texts
    with mock.patch.object(recaller, "score_texts", side_effect=scored) as score:
        await stage.recall(QUERY, time_budget_ms=60_000, **more)
    return score.call_count


async def test_texts_are_scored_once_where_all_edges_are_there(stage: Stage) -> None:
    mind = await stage.mind()
    assert not mind.residency.whole
    loader = stage.engine.services.loader
    assert await preparations(stage) == 2, "edges came in: facts may be new"
    await loader.drain()
    async with loader.everything(ME, mind):
        assert await preparations(stage) == 1
