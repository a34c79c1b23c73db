"""Which vectors of plain chat lines are made, and for which model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import chain

import pytest
from numpy.testing import assert_array_equal

from soulmem.engine.runtime.worker import Worker
from soulmem.engine.vectors.world_vectors import WorldVectors
from soulmem.language.world_lines import world_scenes
from soulmem.ports.embedder import EmbedderError
from tests.fakes.embedder import FakeEmbedder

LINES = list(chain.from_iterable(world_scenes("en")))


@pytest.fixture
async def vectors() -> AsyncIterator[WorldVectors]:
    """Those of English lines, none of which is made yet."""
    worker = Worker("models")
    made = WorldVectors(worker)
    made.languages.append("en")
    yield made
    worker.stop()


async def test_a_language_is_there_once_all_its_lines_are_embedded(
    vectors: WorldVectors,
) -> None:
    embedder, calls = FakeEmbedder(), 0
    while await vectors.make(embedder, 100):
        calls += 1
        assert bool(vectors.of(embedder)) == (100 * calls >= len(LINES))
    assert calls == -(-len(LINES) // 100)
    assert len(embedder.asked) == len(LINES)
    assert_array_equal(vectors.of(embedder)["en"], FakeEmbedder().embed(LINES))


async def test_vectors_of_another_model_are_not_used_and_go(
    vectors: WorldVectors,
) -> None:
    first, second = FakeEmbedder(), FakeEmbedder("other")
    assert await vectors.make(first, 10)
    assert await vectors.make(second, len(LINES))
    assert vectors.of(first) == {}
    assert vectors.of(second)["en"].shape == (len(LINES), second.dim)


async def test_lines_that_failed_are_embedded_later(vectors: WorldVectors) -> None:
    embedder = FakeEmbedder()
    embedder.fails = True
    with pytest.raises(EmbedderError):
        await vectors.make(embedder, len(LINES))
    embedder.fails = False
    assert await vectors.make(embedder, len(LINES))
    assert not await vectors.make(embedder, len(LINES))
    assert len(vectors.of(embedder)["en"]) == len(LINES)
