"""Which stores the contract runs on, one after the other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from soulmem.ports.store import Store
from tests.ports.stores import (
    KINDS,
    Factory,
    factory,
)


@pytest.fixture(params=KINDS)
async def make(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Factory]:
    """Gives handles on one store."""
    async with factory(request.param, tmp_path) as made:
        yield made


@pytest.fixture
async def store(make: Factory) -> AsyncIterator[Store]:
    """An open, empty store."""
    opened = make()
    await opened.open()
    yield opened
    await opened.close()
