"""Which world backgrounds are made, when, and what happens where they cannot be."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from soulmem.domain.errors import StoreFull
from soulmem.domain.ids import Owner, SoulId
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.vectors.world_keeper import WorldKeeper
from soulmem.language.world_lines import world_scenes
from soulmem.ports.embedder import EmbedderError, TextInContext
from soulmem.ports.token_store import TokenFile
from tests.engine.stage import Stage, line
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.token_store import FakeTokenStore

LINES = sum(map(len, world_scenes("en")))
HELLO = FakeEmbedder().embed_tokens([TextInContext("hello")])[0]


class FullDisk(FakeTokenStore):
    """Opens nothing; counts how often it was asked to."""

    asked = 0

    def open(self, owner: Owner, soul: SoulId, model: str, width: int) -> TokenFile:
        self.asked += 1
        raise StoreFull("the disk has no room")


@pytest.fixture
async def models() -> AsyncIterator[Worker]:
    """The thread of the models."""
    worker = Worker("models")
    yield worker
    worker.stop()


async def test_a_language_is_needed_once(models: Worker) -> None:
    keeper = WorldKeeper(store=FakeTokenStore(), models=models)
    assert keeper.need("en")
    assert not keeper.need("en")
    assert keeper.need("zh")


async def test_only_the_languages_of_texts_are_made(models: Worker) -> None:
    keeper, embedder = (
        WorldKeeper(store=FakeTokenStore(), models=models),
        FakeEmbedder(),
    )
    assert not await keeper.make(embedder, 16)
    assert embedder.asked == []
    keeper.need("en")
    calls = 1
    while await keeper.make(embedder, 120):
        calls += 1
    assert calls == LINES // 120 + 1
    assert len(embedder.asked) == LINES
    assert await keeper.usual(embedder, HELLO, "en") is not None
    assert await keeper.usual(embedder, HELLO, "zh") is None


async def test_without_a_store_nothing_is_made(models: Worker) -> None:
    keeper, embedder = WorldKeeper(store=None, models=models), FakeEmbedder()
    assert keeper.need("en")
    assert not await keeper.make(embedder, LINES)
    assert await keeper.usual(embedder, HELLO, "en") is None
    await keeper.close()


@pytest.mark.parametrize("first", ["make", "usual"])
async def test_a_broken_disk_is_asked_once(models: Worker, first: str) -> None:
    """Recall does with vectors until the next start."""
    store, embedder = FullDisk(), FakeEmbedder()
    keeper = WorldKeeper(store=store, models=models)
    keeper.need("en")
    for _ in range(2):
        if first == "make":
            await keeper.make(embedder, 16)
        assert await keeper.usual(embedder, HELLO, "en") is None
    assert store.asked == 1


async def test_a_model_that_fails_is_asked_again(models: Worker) -> None:
    keeper, embedder = (
        WorldKeeper(store=FakeTokenStore(), models=models),
        FakeEmbedder(),
    )
    keeper.need("en")
    embedder.fails = True
    with pytest.raises(EmbedderError):
        await keeper.make(embedder, LINES)
    embedder.fails = False
    assert await keeper.make(embedder, LINES)
    assert not await keeper.make(embedder, LINES)


async def test_the_language_of_a_chat_is_made_after_its_texts() -> None:
    """And that of a query when it comes."""
    stage = Stage(model=FakeEmbedder().source(), tokens=FakeTokenStore())
    await stage.start()
    await stage.soul()
    embedding = stage.engine.embedding
    await stage.sync("c1", [line("m1", "The silver key lies under the bridge.")])
    await stage.close("c1")
    await embedding.wait_pending()
    assert await embedding.usual(HELLO, "en") is not None
    assert await embedding.usual(HELLO, "zh") is None
    await embedding.wait_pending()
    assert await embedding.usual(HELLO, "zh") is not None
    await stage.stop()
