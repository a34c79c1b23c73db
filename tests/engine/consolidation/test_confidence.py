"""A draft that its lines hardly carry waits, recalled by nothing, until the user or another telling confirms."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from soulmem.adapters.surreal import SurrealStore
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.llm import Prompt
from soulmem.domain.memories import MemoryKind, MemoryState
from soulmem.engine.api.requests import MemoryPatch, RecallMode
from tests.engine.model_stage import ModelStage, read_of, talk
from tests.engine.stage import ME

CUE = "Who spoke at length of word1?"


def drafting(prompt: Prompt) -> str:
    """Drafts of the first line: one episode in its words, one in words of which it has few."""
    if prompt.name == "summary":
        return json.dumps({"summary": "They spoke at length."})
    (number, who, text), *_ = read_of(prompt)
    copied = f"{who} told Mira: {text}"
    things = "silver lanterns, hammocks, teapots, violins, parrots and camels"
    doubtful = f"{who} spoke of word1 while glowing {things} danced."
    fact = {"subject": "Mira", "verb": "spoke at", "object": "length", "over": False}
    return json.dumps(
        {
            "episodes": [{"lines": [number], "text": told} for told in (copied, doubtful)],
            "facts": [{"lines": [number], **fact}],
            "concepts": [{"lines": [number], "name": "word1", "about": text}],
        }
    )


@pytest.fixture(params=["fake", pytest.param("surreal", marks=pytest.mark.nightly)])
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[ModelStage]:
    fresh_stage = ModelStage(
        drafting, store=SurrealStore("mem://") if request.param == "surreal" else None
    )
    await fresh_stage.start()
    await fresh_stage.soul()
    yield fresh_stage
    await fresh_stage.stop()


async def recalled(stage: ModelStage, mode: RecallMode) -> set[str]:
    answer = await stage.recall(CUE, mode=mode, budget_tokens=4000)
    return {memory.id for memory in answer.memories}


async def test_what_waits_is_recalled_by_nothing_until_it_is_confirmed(
    stage: ModelStage,
) -> None:
    await stage.sync("c", talk(30))
    await stage.rest()
    (waiting,) = await stage.drafted(MemoryState.WAITING)
    assert "parrots" in waiting.text
    assert waiting.id not in {memory.id for memory in await stage.drafted()}
    view = await stage.engine.memories.get(ME, waiting.id)
    assert view.is_waiting
    assert view.in_doubt
    assert 0.0 < view.confidence < 0.3
    for mode in RecallMode:
        assert waiting.id not in await recalled(stage, mode)

    await stage.engine.memories.patch(ME, waiting.id, MemoryPatch(in_doubt=False))
    assert waiting.id in {memory.id for memory in await stage.drafted()}
    assert await stage.drafted(MemoryState.WAITING) == []
    assert waiting.id in await recalled(stage, RecallMode.WALK)
    view = await stage.engine.memories.get(ME, waiting.id)
    assert not view.is_waiting
    assert view.confidence < 0.3  # what its lines carry is as it was


async def test_what_its_lines_carry_is_recalled_and_says_so(stage: ModelStage) -> None:
    await stage.sync("c", talk(30))
    await stage.rest()
    (episode,) = await stage.drafted_of(MemoryKind.EPISODE)
    view = await stage.engine.memories.get(ME, episode.id)
    assert view.confidence == 1.0
    assert not view.in_doubt
    assert episode.id in await recalled(stage, RecallMode.WALK)


async def test_its_links_are_as_weak_as_it_is(stage: ModelStage) -> None:
    await stage.sync("c", talk(30))
    await stage.rest()
    (waiting,) = await stage.drafted(MemoryState.WAITING)
    confidence = (await stage.engine.memories.get(ME, waiting.id)).confidence
    mind = await stage.mind()
    mentions = [edge for edge in mind.edges.of(waiting.id) if edge.kind is EdgeKind.MENTIONS]
    drafted = [edge for edge in mentions if edge.id in mind.derivations.edges()]
    assert drafted
    assert [edge.confidence for edge in drafted] == pytest.approx([confidence] * len(drafted))


async def test_a_second_telling_lifts_a_fact(stage: ModelStage) -> None:
    """The same is said again in other messages: what is left of the doubt is doubted again."""

    async def fact_confidence() -> tuple[float, float]:
        mind = await stage.mind()
        (edge,) = (
            edge
            for edge in map(mind.edges.get, mind.edges)
            if edge is not None and edge.kind is EdgeKind.RELATES and edge.verb == "spoke at"
        )
        return edge.confidence, mind.derivations.confidence(edge.id)

    await stage.sync("c", talk(30))
    await stage.rest()
    first = await fact_confidence()
    await stage.sync("c", talk(54))
    await stage.rest()
    second = await fact_confidence()
    assert first == pytest.approx((first[0], first[0]))
    assert 0.0 < first[0] < 1.0
    lifted = 1.0 - (1.0 - first[0]) ** 2
    assert second == pytest.approx((lifted, lifted))


async def test_what_waits_stands_in_no_graph(stage: ModelStage) -> None:
    await stage.sync("c", talk(30))
    await stage.rest()
    (waiting,) = await stage.drafted(MemoryState.WAITING)
    graph = await stage.engine.memories.graph(ME, SoulId("s1"), None, 2, 1000)
    assert waiting.id not in {view.memory.id for view in graph.memories}
    alone = await stage.engine.memories.graph(ME, SoulId("s1"), MemoryId(waiting.id), 1, 10)
    assert waiting.id in {view.memory.id for view in alone.memories}


async def test_a_drafted_episode_has_tags_by_which_it_is_found(
    stage: ModelStage,
) -> None:
    await stage.sync("c", talk(30))
    await stage.rest()
    (waiting,) = await stage.drafted(MemoryState.WAITING)
    assert {"lantern", "hammock"} & {word for tag in waiting.tags for word in tag.split()}
    assert 0 < len(waiting.tags) <= 5
