"""Do texts get their vectors, whichever model there is, and what works without one?"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from unittest import mock

import pytest

from soulmem.domain.errors import ModelUnavailable
from soulmem.domain.ids import SoulId
from soulmem.engine.engine import Engine
from soulmem.engine.vectors.embedder import ModelSource
from soulmem.ports.embedder import Embedder
from soulmem.ports.store import Store
from tests.engine.picture import stray_vectors
from tests.engine.stage import ME, Stage, as_told, line, lines, until
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.store import FakeStore
from tests.ports.stores import vector_keys

TALK = [
    line("m1", "The silver key lies under the bridge."),
    line("m2", "I bake bread every morning."),
    line("m3", "Whales sing at night."),
    line("m4", "Good night."),
]


class Theatre:
    """Opens stages and closes them when the test ends."""

    def __init__(self) -> None:
        self.stages: list[Stage] = []

    async def open(self, store: Store | None = None, **more: Any) -> Stage:
        """A started stage with one soul and a short talk."""
        stage = Stage(store, **more)
        self.stages.append(stage)
        await stage.start()
        await stage.soul()
        await stage.sync("c1", TALK)
        return stage


@pytest.fixture
async def theatre() -> AsyncIterator[Theatre]:
    """Where stages are opened."""
    new_theatre = Theatre()
    yield new_theatre
    for stage in new_theatre.stages:
        await stage.stop()


def unavailable(name: str = "wanted") -> ModelSource:
    """A model that cannot be had."""

    def load() -> Embedder:
        raise ModelUnavailable(f"{name} is neither on disk nor reachable")

    return ModelSource(name, lambda: False, load)


async def settled(engine: Engine) -> None:
    """Returns once the first models have been tried."""
    await engine.embedding.ready()


async def test_every_memory_and_pair_gets_its_vector(theatre: Theatre) -> None:
    """Also after edits and deletions; nothing is left pending."""
    fake = FakeEmbedder()
    stage = await theatre.open(model=fake.source())
    await stage.sync("c1", [TALK[0], line("m2", "I burn bread."), *TALK[2:], *lines(3, 5)])
    await stage.sync("c1", [TALK[0], *TALK[2:], *lines(3, 5)])
    await stage.engine.idle.run()
    assert stage.engine.health().pending == 0
    assert await stray_vectors(await stage.mind(), fake) == []


async def test_a_vector_that_comes_after_its_memory_went_to_the_bin_is_not_kept(
    theatre: Theatre,
) -> None:
    fake = FakeEmbedder()
    stage = await theatre.open(model=fake.source())
    await stage.engine.embedding.wait_pending()
    fake.answers.clear()
    note = (await stage.note("heron")).memory
    await until(lambda: "heron" in fake.begun)
    await stage.engine.memories.delete(ME, note.id, None)
    fake.answers.set()
    await stage.engine.embedding.wait_pending()
    assert await stray_vectors(await stage.mind(), fake) == []
    await stage.engine.memories.restore(ME, note.id)
    await stage.engine.embedding.wait_pending()
    assert await stray_vectors(await stage.mind(), fake) == []


async def test_a_memory_is_not_judged_by_the_vector_of_another(
    theatre: Theatre,
) -> None:
    """Where a forgotten one was, a new one has no vector until its own is there."""
    fake = FakeEmbedder()
    stage = await theatre.open(model=fake.source())
    await stage.engine.idle.run()
    fake.answers.clear()
    await stage.sync("c1", TALK[:1])
    await stage.sync("c1", [TALK[0], *lines(4, 5)])
    mind = await stage.mind()
    wanted = [mind.row_of(m) for m in await stage.visible("c1") if m.text not in as_told(TALK)]
    table = mind.vector_queue.text_vectors
    assert table is not None
    assert len(wanted) == 3
    assert not table.has(mind.size)[wanted].any()
    fake.answers.set()


async def test_health_tells_which_model_answers(theatre: Theatre) -> None:
    """Name and dimension of the model; `none` is a choice, not a fault."""
    stage = await theatre.open(model=FakeEmbedder("small", 32).source())
    await settled(stage.engine)
    health = stage.engine.health()
    assert (health.status, health.embedder.state) == ("ok", "ok")
    assert (health.embedder.model, health.embedder.dim, health.embedder.fallback) == (
        "small",
        32,
        False,
    )
    without = await theatre.open()
    await without.soul()
    await without.sync("c", lines(0, 4))
    health = without.engine.health()
    assert (health.status, health.embedder.state) == ("ok", "none")
    assert health.pending == 0
    assert without.engine.health().status == "ok"


async def test_a_restart_embeds_nothing_again(theatre: Theatre) -> None:
    """Vectors are read back from the store, by model."""
    stage = await theatre.open(model=FakeEmbedder().source())
    await stage.engine.idle.run()
    again = FakeEmbedder()
    stage.model = again.source()
    await stage.restart()
    mind = await stage.mind()
    await stage.engine.idle.run()
    assert await stray_vectors(mind, FakeEmbedder()) == []
    assert again.asked == []


async def test_another_model_embeds_everything_anew(theatre: Theatre) -> None:
    """Vectors of two models never mix; those of the old one are cleared out in Idle."""
    store = FakeStore()
    stage = await theatre.open(store, model=FakeEmbedder("old").source())
    await stage.engine.idle.run()
    new = FakeEmbedder("new")
    stage.model = new.source()
    await stage.restart()
    await stage.mind()
    await stage.engine.idle.run()
    assert await stray_vectors(await stage.mind(), new) == []
    assert {model for model, _ in await vector_keys(store)} == {"new/1"}


async def test_vectors_of_forgotten_texts_are_cleared_out(theatre: Theatre) -> None:
    """The store holds exactly the vectors of three memories and two pairs, then of one."""
    stage = await theatre.open(model=FakeEmbedder().source())
    await stage.engine.idle.run()
    assert len(await vector_keys(stage.store)) == 5
    await stage.sync("c1", [TALK[0], TALK[3]])
    await stage.engine.idle.run()
    assert len(await vector_keys(stage.store)) == 1


async def test_vectors_of_a_soul_that_went_for_good_are_cleared_out(
    theatre: Theatre,
) -> None:
    """They wait with its memories while it can still be had back."""
    stage = await theatre.open(model=FakeEmbedder().source())
    await stage.soul("s2", "Tovan")
    await stage.note("an otter dived", soul="s2")
    await stage.engine.idle.run()
    assert len(await vector_keys(stage.store)) == 6
    await stage.engine.souls.delete(ME, SoulId("s1"), "Mira")
    await stage.engine.idle.run()
    assert len(await vector_keys(stage.store)) == 6
    stage.clock.advance(8 * 86_400, 0)
    await stage.engine.idle.run()
    assert len(await vector_keys(stage.store)) == 1


async def test_vectors_are_looked_through_only_when_a_text_went(
    theatre: Theatre, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = await theatre.open(model=FakeEmbedder().source())
    await stage.engine.idle.run()
    listed = mock.Mock(wraps=stage.store.vector_keys)
    monkeypatch.setattr(stage.store, "vector_keys", listed)
    await stage.engine.idle.run()
    listed.assert_not_called()
    await stage.sync("c1", [TALK[0], TALK[3]])
    await stage.engine.idle.run()
    listed.assert_called_once()


async def test_without_the_model_recall_goes_by_words(theatre: Theatre) -> None:
    """A model that cannot be loaded: health says so, the right line still comes up."""
    stage = await theatre.open(model=unavailable())
    await settled(stage.engine)
    await until(lambda: stage.engine.health().embedder.state == "error")
    health = stage.engine.health()
    assert (health.status, health.embedder.state) == ("degraded", "error")
    assert "wanted is neither on disk nor reachable" in health.notes
    recalled = await stage.recall("where is the silver key?", max_items=1)
    assert [m.text for m in recalled.memories] == as_told(TALK[:1])


async def test_while_the_model_loads_recall_goes_by_words(theatre: Theatre) -> None:
    """`starting` until some model answers; nobody waits for it."""
    gate = FakeEmbedder()
    gate.answers.clear()
    stage = await theatre.open(
        model=ModelSource("slow", lambda: True, lambda: (gate.answers.wait(5), gate)[1])
    )
    assert stage.engine.health().status == "starting"
    recalled = await stage.recall("where is the silver key?", max_items=1)
    assert [m.text for m in recalled.memories] == as_told(TALK[:1])
    assert not recalled.timed_out
    gate.answers.set()


async def test_a_model_that_breaks_leaves_recall_by_words(theatre: Theatre) -> None:
    """It loads and then raises: health says it, words still find; when it works again all get vectors."""
    fake = FakeEmbedder()
    fake.fails = True
    stage = await theatre.open(model=fake.source())
    await settled(stage.engine)
    recalled = await stage.recall("where is the silver key?", max_items=1)
    assert [m.text for m in recalled.memories] == as_told(TALK[:1])
    health = stage.engine.health()
    assert (health.status, health.embedder.state) == ("degraded", "error")
    assert "fake has failed" in health.notes
    fake.fails = False
    assert await stage.engine.embedding.embed_query(["hello"]) is not None


@pytest.mark.alone
async def test_a_slow_model_does_not_make_the_reply_late(theatre: Theatre) -> None:
    """Within the time budget, by words, saying that time ran out."""
    fake = FakeEmbedder()
    stage = await theatre.open(model=fake.source())
    await stage.engine.idle.run()
    fake.delay = 2.0
    recalled = await stage.recall("where is the silver key?", max_items=1, time_budget_ms=400)
    assert recalled.timed_out
    assert recalled.took_ms.total < 1000  # long before the model, whatever else the machine does
    assert [m.text for m in recalled.memories] == as_told(TALK[:1])


@pytest.mark.alone
async def test_a_late_answer_is_there_for_the_next_turn(theatre: Theatre) -> None:
    """The same question, asked again once the model has thought of it, is not asked of the model again."""
    fake = FakeEmbedder()
    stage = await theatre.open(model=fake.source())
    await stage.engine.idle.run()
    fake.asked.clear()
    fake.delay = 0.3
    assert (await stage.recall("an odd question", time_budget_ms=100)).timed_out
    await asyncio.gather(*stage.engine.recaller._queries._asking)
    assert not (await stage.recall("an odd question", time_budget_ms=5000)).timed_out
    assert fake.asked == ["an odd question"]


async def test_the_fallback_answers_until_the_model_is_there(theatre: Theatre) -> None:
    """Health says which one answers; Idle embeds everything with the better one and changes over."""
    wanted, small = FakeEmbedder("wanted", 48), FakeEmbedder("small", 16)
    wanted.answers.clear()
    arriving = ModelSource("wanted", lambda: False, lambda: (wanted.answers.wait(5), wanted)[1])
    stage = await theatre.open(model=arriving, fallback=small.source())
    await settled(stage.engine)
    await stage.engine.idle.run()
    health = stage.engine.health()
    assert (health.status, health.embedder.model, health.embedder.fallback) == (
        "ok",
        "small",
        True,
    )
    assert "wanted is not on this computer yet" in str(health.notes[0])
    assert await stray_vectors(await stage.mind(), small) == []
    wanted.answers.set()
    for _ in range(200):
        if stage.engine.embedding._better is not None:
            break
        await asyncio.sleep(0.01)
    await stage.engine.idle.run()
    health = stage.engine.health()
    assert (health.embedder.model, health.embedder.fallback, health.notes) == (
        "wanted",
        False,
        (),
    )
    assert await stray_vectors(await stage.mind(), wanted) == []
    assert {model for model, _ in await vector_keys(stage.store)} == {"wanted/1"}


async def test_a_soul_opened_while_the_model_takes_over_is_not_missed() -> None:
    """The model is ready while one mind is given its vectors: the next one opened gets its own too."""

    class SlowToRead(FakeStore):
        """Reading vectors takes a while."""

        asked = 0

        async def vectors(self, model: str, keys: Any) -> Any:
            self.asked += 1
            await asyncio.sleep(0.1)
            return await super().vectors(model, keys)

    fake = FakeEmbedder()
    fake.answers.clear()
    model = ModelSource("fake", lambda: True, lambda: (fake.answers.wait(5), fake)[1])
    store = SlowToRead()
    stage = Stage(store, model=model)
    await stage.start()
    try:
        await stage.soul()
        await stage.sync("c1", lines(4))
        fake.answers.set()
        await until(lambda: store.asked)  # the first mind is being equipped
        await stage.soul("s2", "Tom")
        await stage.sync("c2", lines(4), souls=["s2"])
        await stage.engine.idle.run()
        for soul in ("s1", "s2"):
            assert await stray_vectors(await stage.mind(soul), fake) == []
    finally:
        await stage.stop()


async def test_a_deleted_soul_is_looked_after_no_more(theatre: Theatre) -> None:
    """Its memory is let go of; created again it has what its chats tell, with vectors."""
    fake = FakeEmbedder()
    stage = await theatre.open(model=fake.source())
    await stage.mind()
    await stage.engine.souls.delete(ME, SoulId("s1"), "Mira")
    assert stage.engine.embedding._minds == []
    await stage.soul()
    assert await stage.known("c1") == as_told(TALK[:3])
    await stage.engine.idle.run()
    assert await stray_vectors(await stage.mind(), fake) == []


@pytest.mark.alone
async def test_stopping_lets_go_of_whoever_waits(theatre: Theatre) -> None:
    """Idle work that waits for a model that never answers ends with the engine, and does not hold it up."""
    fake = FakeEmbedder()
    stage = await theatre.open(model=fake.source())
    await settled(stage.engine)
    await stage.engine.idle.run()
    fake.answers.clear()
    fake.begun.clear()
    await stage.sync("c1", [*TALK, *lines(3, 5)])
    idle = asyncio.create_task(stage.engine.idle.run())
    asking = asyncio.create_task(stage.recall("hm?"))
    await until(lambda: fake.begun)
    await asyncio.wait_for(stage.engine.stop(), 2)
    done, waiting = await asyncio.wait([idle, asking], timeout=3)
    fake.answers.set()
    assert waiting == set()
    await asyncio.gather(*done, return_exceptions=True)  # how they ended is not the question
    theatre.stages.clear()


@pytest.mark.alone
async def test_stopping_while_the_model_loads_does_not_wait_for_it() -> None:
    """A download of minutes ends with the process, not before it."""
    gate = FakeEmbedder()
    gate.answers.clear()
    stage = Stage(model=ModelSource("slow", lambda: True, lambda: (gate.answers.wait(5), gate)[1]))
    await stage.start()
    await stage.soul()
    await asyncio.wait_for(stage.stop(), 1)
    gate.answers.set()


async def test_pending_counts_memories_without_a_vector(theatre: Theatre) -> None:
    """Each memory once, none once all are embedded."""
    fake = FakeEmbedder()
    fake.answers.clear()
    stage = await theatre.open(model=fake.source())
    await settled(stage.engine)
    assert stage.engine.health().pending == 3
    fake.answers.set()
    await stage.engine.idle.run()
    assert stage.engine.health().pending == 0
