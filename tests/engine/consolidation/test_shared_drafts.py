"""A memory drafted by several answers keeps what the others said of it when one of them is retracted."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from soulmem.domain.ids import SoulId
from soulmem.domain.llm import Prompt
from soulmem.domain.memories import Memory, MemoryKind, MemoryState
from tests.engine.model_stage import ModelStage, obliging, read_of, talk
from tests.engine.stage import ME


def lantern(prompt: Prompt) -> str:
    """A model that sees a lantern in every stretch, each time with another description."""
    if prompt.name == "summary":
        return obliging(prompt)
    number, who, text = read_of(prompt)[0]
    thing = text.split()[-1].strip(".")
    concepts = [
        {
            "lines": [number],
            "name": "Al",
            "type": "entity",
            "about": f"spoke of {thing}",
            "aliases": [thing],
        }
    ]
    facts = [
        {
            "lines": [number],
            "subject": who,
            "verb": "spoke at",
            "object": "length",
            "sure": 0.9,
        }
    ]
    kinds = [{"lines": [number], "text": "they spoke at length"}]
    drafts = {
        "episodes": [],
        "facts": facts,
        "concepts": concepts,
        "habits": [],
        "kinds": kinds,
    }
    return json.dumps(drafts)


@pytest.fixture
async def stage() -> AsyncIterator[ModelStage]:
    """A soul whose chat of two stretches was consolidated so."""
    fresh_stage = ModelStage(lantern)
    await fresh_stage.start()
    await fresh_stage.soul()
    for count in (30, 54):
        await fresh_stage.sync("c", talk(count))
        await fresh_stage.rest()
        fresh_stage.clock.advance(60, 0)
    assert fresh_stage.calls == ["summary", "extraction"] * 2
    yield fresh_stage
    await fresh_stage.stop()


async def al(stage: ModelStage) -> Memory:
    """The concept that both stretches drafted."""
    (concept,) = [
        m for m in await stage.drafted() if m.kind is MemoryKind.CONCEPT and m.text == "Al"
    ]
    return concept


async def test_one_memory_has_the_evidence_of_both(stage: ModelStage) -> None:
    concept = await al(stage)
    assert concept.concept is not None
    assert concept.concept.aliases == ("word1", "word25")
    assert concept.concept.description == "spoke of word25"
    assert await stage.sources_of(concept.id) == ["m1", "m25"]
    kinds = await stage.drafted_of(MemoryKind.ABSTRACT_EPISODE)
    assert [m.text for m in kinds] == ["they spoke at length"]
    facts = [m for m in await stage.visible("c") if m.text == "Al spoke at length"]
    assert len(facts) == 1


@pytest.mark.parametrize(("changed", "remaining"), [(1, 25), (25, 1)])
async def test_what_one_answer_said_of_it_goes_with_that_answer(
    stage: ModelStage, changed: int, remaining: int
) -> None:
    messages = talk(54)
    messages[changed - 1] = talk(1, changed, "other")[0]
    await stage.sync("c", messages)

    concept = await al(stage)
    assert concept.concept is not None
    assert concept.concept.aliases == (f"word{remaining}",)
    assert concept.concept.description == f"spoke of word{remaining}"
    words = await stage.words()
    assert f"word{changed}'" not in words
    assert f"word{changed}." not in words
    assert [m.text for m in await stage.visible("c") if m.text == "Al spoke at length"]

    await stage.sync(
        "c",
        [*talk(1, 70, "third"), *messages[1:24], *talk(1, 71, "third"), *messages[25:]],
    )
    assert await stage.drafted() == []
    assert "Al spoke at length" not in await stage.known("c")


async def test_undoing_one_job_leaves_the_evidence_of_the_other(
    stage: ModelStage,
) -> None:
    """What the undone answer said of it is taken back, and its messages speak for it no more."""
    concept = await al(stage)
    mind = await stage.mind()
    made = {d.source: d for d in mind.derivations.of(concept.id)}
    assert len(made) == 2
    older, newer = sorted(made, key=lambda source: made[source].made)
    undo = stage.engine.history.undo
    await undo(ME, SoulId("s1"), since=None, change=None, job=newer)
    concept = await al(stage)
    assert concept.state is MemoryState.ACTIVE
    assert await stage.sources_of(concept.id) == ["m1"]
    (left,) = (await stage.mind()).derivations.of(concept.id)
    assert left.source == older
    await stage.restart()
    assert await stage.sources_of(concept.id) == ["m1"]


async def test_what_the_user_threw_away_is_not_drafted_again(stage: ModelStage) -> None:
    concept = await al(stage)
    await stage.engine.memories.delete(ME, concept.id, None)
    await stage.sync("c", talk(90))
    await stage.rest()
    assert len(stage.calls) > 4
    assert concept.id in {m.id for m in await stage.listed(MemoryState.BIN)}
    assert "Al spoke at length" not in await stage.known("c")
