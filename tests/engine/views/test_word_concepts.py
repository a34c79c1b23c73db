"""The words of a topic are shown as concepts, joined to it, as long as some message has them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from soulmem.domain.errors import NotFound
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind
from soulmem.engine.api.requests import MemoryPatch
from soulmem.engine.api.results import GraphView, Page
from tests.engine.stage import ME, Stage, line

SEA = ("harbour", "captain", "sail")
TEXTS = [
    f"The {first} and the {second} again."
    for _ in range(4)
    for first, second in (SEA[:2], SEA[1:], SEA[::2])
] + ["Nothing new this morning.", "Good night then.", "It rained.", "So late?"] * 9


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    new_stage = Stage()
    await new_stage.start()
    await new_stage.soul(forgetting=1.0)
    await sync(new_stage, TEXTS)
    await new_stage.close("c1")
    await new_stage.engine.idle.run()
    yield new_stage
    await new_stage.stop()


async def sync(stage: Stage, texts: list[str]) -> None:
    messages = [line(f"m{TEXTS.index(text)}_{n}", text) for n, text in enumerate(texts)]
    await stage.sync("c1", messages, confirm=True)


async def topic_in(stage: Stage) -> Memory:
    (topic,) = [m for m in (await stage.mind()).memories.values() if m.is_found_topic]
    return topic


async def graph(stage: Stage, center: MemoryId | None, limit: int = 60) -> GraphView:
    return await stage.engine.memories.graph(ME, SoulId("s1"), center, 1, limit)


async def test_a_topic_is_joined_with_each_of_its_words(stage: Stage) -> None:
    topic = await topic_in(stage)
    view = await stage.engine.memories.get(ME, topic.id)
    assert {edge.kind.value for edge in view.edges} == {"topic_of"}
    assert {edge.target for edge in view.edges} == {topic.id}
    words = [await stage.engine.memories.get(ME, edge.source) for edge in view.edges]
    assert {word.memory.text for word in words} == set(SEA)
    for word in words:
        assert word.memory.kind is MemoryKind.CONCEPT
        assert word.edges == (next(e for e in view.edges if e.source == word.memory.id),)


async def test_a_word_knows_its_messages_and_how_active_it_is(stage: Stage) -> None:
    topic = await topic_in(stage)
    view = await stage.engine.memories.get(ME, topic.id)
    key = view.edges[0].source
    word = await stage.engine.memories.get(ME, key)
    having = {
        f"m{TEXTS.index(text)}_{n}" for n, text in enumerate(TEXTS) if word.memory.text in text
    }
    assert {place.slot for place in word.sources} == having
    assert word.base_activation is not None
    assert 0.0 < word.base_activation < 1.0
    stage.clock.advance(1, turns=300)
    later = await stage.engine.memories.get(ME, key)
    assert later.base_activation is not None
    assert later.base_activation < word.base_activation


async def test_the_graph_shows_the_words_around_their_topic(stage: Stage) -> None:
    topic = await topic_in(stage)
    view = await graph(stage, topic.id)
    shown = {v.memory.id: v.memory.text for v in view.memories}
    assert set(shown.values()) == {topic.text, *SEA}
    assert {(shown[e.source], shown[e.target]) for e in view.edges} == {
        (word, topic.text) for word in SEA
    }
    (word,) = [key for key, text in shown.items() if text == SEA[0]]
    assert {v.memory.text for v in (await graph(stage, word)).memories} == {
        SEA[0],
        topic.text,
    }
    whole = await graph(stage, None, 1000)
    assert set(shown) <= {v.memory.id for v in whole.memories}
    assert len((await graph(stage, None, 3)).memories) == 3


async def test_a_graph_with_words_tells_how_its_memories_read(stage: Stage) -> None:
    topic = await topic_in(stage)
    page = Page((await graph(stage, topic.id)).memories, None)
    read = await stage.engine.overviews.as_read(ME, SoulId("s1"), page)
    assert [v.memory.text for v in read.memories] == [v.memory.text for v in page.memories]
    told = {v.memory.text for v in read.memories if v.reads_now is not None}
    assert told == {topic.text}


async def test_a_word_goes_with_the_last_message_that_has_it(stage: Stage) -> None:
    topic = await topic_in(stage)
    view = await stage.engine.memories.get(ME, topic.id)
    words = [await stage.engine.memories.get(ME, edge.source) for edge in view.edges]
    (gone,) = [word.memory.id for word in words if word.memory.text == SEA[0]]
    await sync(stage, [text for text in TEXTS if SEA[0] not in text])
    with pytest.raises(NotFound):
        await stage.engine.memories.get(ME, gone)
    shown = (await graph(stage, None, 1000)).memories
    assert not any(SEA[0] in v.memory.text for v in shown)


async def test_a_word_is_not_stored_and_cannot_be_changed(stage: Stage) -> None:
    topic = await topic_in(stage)
    view = await stage.engine.memories.get(ME, topic.id)
    key = view.edges[0].source
    assert (await stage.engine.memories.get(ME, key)).memory.revision == 0
    assert key not in (await stage.mind()).memories
    with pytest.raises(NotFound):
        await stage.engine.memories.patch(ME, key, MemoryPatch(text="harbor"))
    with pytest.raises(NotFound):
        await stage.engine.memories.delete(ME, key, None)
