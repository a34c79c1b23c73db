"""A name that the chat taught and a language model drafted is one concept to the player."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.llm import Prompt
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.engine.api.requests import MemoryFilter
from tests.engine.mind.test_aliases import chat_with
from tests.engine.model_stage import ModelStage, obliging, read_of
from tests.engine.stage import ME

NAMED = {5: "We met Fenna at the mill.", 9: "Fenna lives in Rome.", 31: "Fenna waved."}


def drafts_of_fenna(prompt: Prompt) -> str:
    """A model that drafts the concept Fenna, and where she lives."""
    if prompt.name == "summary":
        return obliging(prompt)
    told = [number for number, _, text in read_of(prompt) if "Rome" in text]
    fenna = {
        "lines": told,
        "name": "Fenna",
        "type": "entity",
        "about": "who lives in Rome",
    }
    fact = {"lines": told, "subject": "Fenna", "verb": "lives in", "object": "Rome"}
    lists = {"concepts": [fenna], "facts": [fact]} if told else {}
    empty: dict[str, list[object]] = {
        "episodes": [],
        "habits": [],
        "kinds": [],
        "concepts": [],
        "facts": [],
    }
    return json.dumps(empty | lists)


@pytest.fixture
async def stage() -> AsyncIterator[ModelStage]:
    """A soul that read of Fenna in a chat, from which a model drafted as well."""
    model_stage = ModelStage(drafts_of_fenna)
    await model_stage.start()
    await model_stage.soul()
    await model_stage.sync("c", chat_with(NAMED))
    await model_stage.rest()
    yield model_stage
    await model_stage.stop()


async def stored(stage: ModelStage) -> dict[Origin, Memory]:
    mind = await stage.mind()
    every = map(mind.memories.get, mind.ids_at(range(mind.size)))  # facts are none
    return {m.origin: m for m in every if m is not None and m.text == "Fenna"}


async def listed(stage: ModelStage, q: str | None = None) -> list[Memory]:
    filters = MemoryFilter(SoulId("s1"), MemoryKind.CONCEPT, q=q)
    page = await stage.engine.memories.list(ME, filters)
    return [view.memory for view in page.memories if view.memory.text == "Fenna"]


async def test_a_drafted_name_and_a_learned_one_are_one_in_list_search_and_graph(
    stage: ModelStage,
) -> None:
    both = await stored(stage)
    assert both.keys() == {Origin.CHAT, Origin.MODEL}
    fenna = both[Origin.CHAT].id
    (in_list,) = await listed(stage)
    assert in_list.id == fenna
    assert in_list.concept is not None
    assert in_list.concept.description == "who lives in Rome"
    searched = await listed(stage, "Fenna")
    assert [memory.id for memory in searched] == [fenna]

    view = await stage.engine.memories.get(ME, fenna)
    lives = [edge for edge in view.edges if edge.verb == "lives in"]
    assert [view.shown_as[edge.source] for edge in lives] == [fenna]
    assert any(edge.source == fenna or edge.target == fenna for edge in view.edges)

    drafted = both[Origin.MODEL].id
    for center in (fenna, drafted):
        graph = await stage.engine.memories.graph(ME, SoulId("s1"), center, 1, 50)
        texts = {node.memory.id: node.memory.text for node in graph.memories}
        assert [key for key, text in texts.items() if text == "Fenna"] == [fenna]
        assert "Rome" in texts.values()
        assert "Mira: We met Fenna at the mill." in texts.values()
        ends = {
            graph.shown_as.get(key, key)
            for edge in graph.edges
            for key in (edge.source, edge.target)
        }
        assert ends <= texts.keys()


async def test_both_go_into_the_bin_and_come_back(stage: ModelStage) -> None:
    both = await stored(stage)
    fenna = both[Origin.CHAT].id
    await stage.engine.memories.delete(ME, fenna, None)
    assert await listed(stage) == []
    binned = await stored(stage)
    assert {memory.state for memory in binned.values()} == {MemoryState.BIN}
    await stage.engine.memories.restore(ME, MemoryId(fenna))
    assert [memory.id for memory in await listed(stage)] == [fenna]
    back = await stored(stage)
    assert {memory.state for memory in back.values()} == {MemoryState.ACTIVE}
