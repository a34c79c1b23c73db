"""What the tests of the engine share: a stage with one soul, on fakes or on the real store in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from soulmem.adapters.surreal import SurrealStore
from tests.engine.stage import Stage


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """An engine over the fake store, without a model, and one soul: s1, Mira."""
    one = Stage()
    await one.start()
    await one.soul()
    yield one
    await one.stop()


@pytest.fixture(params=["fake", "surreal"])
async def either_stage(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    """The same, once on the fake store and once on SurrealDB in memory."""
    one = Stage(SurrealStore("mem://") if request.param == "surreal" else None)
    await one.start()
    await one.soul()
    yield one
    await one.stop()
