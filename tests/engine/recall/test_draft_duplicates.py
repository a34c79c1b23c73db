"""A draft and the messages it cites, in nearly the same words, take one place."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping

import numpy as np
import pytest

from soulmem.domain.ids import ChatId, SoulId
from soulmem.domain.llm import Prompt
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import RecallRequest
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import (
    RecallContext,
    RecallParams,
    build_context,
    build_query,
)
from soulmem.engine.recall.deduplication import Deduplicated, deduplicate
from tests.engine.model_stage import ModelStage, obliging, read_of, talk
from tests.engine.stage import line

KEY = "The brass key hangs behind the old kitchen clock."
BOAT = "Tovan painted his small boat green."
SAIL = "Yesterday Tovan bought a linen sail."
DOG = "Our grey dog chased seven geese."
NEAR_KEY = "The brass key hangs behind the kitchen clock."
BOTH = "Tovan painted his small boat green and bought a linen sail yesterday."
OTHER = "Geese flee from a barking animal in the yard."


def witness(prompt: Prompt) -> str:
    """A model that drafts scenes of the four messages, and cites them."""
    if prompt.name == "summary":
        return obliging(prompt)
    number = {text: n for n, _, text in read_of(prompt)}
    scenes = [(NEAR_KEY, [KEY]), (BOTH, [BOAT, SAIL]), (OTHER, [DOG])]
    episodes = [
        {"lines": [number[text] for text in cited], "text": draft, "importance": 0.7}
        for draft, cited in scenes
        if all(text in number for text in cited)
    ]
    none: list[object] = []
    drafts = {"episodes": episodes, "facts": none, "concepts": none}
    return json.dumps({**drafts, "habits": none, "kinds": none})


class Scene:
    """A mind with four messages and three drafts of them."""

    def __init__(self, mind: Mind, context: RecallContext) -> None:
        self.mind, self.context = mind, context
        self.rows = {
            memory.text.removeprefix("Al: "): mind.row(memory.id) or 0
            for memory in mind.memories.values()
            if memory.kind is MemoryKind.EPISODE
        }

    def without_duplicates(self, scores: Mapping[str, float]) -> Deduplicated:
        """What is left of the memories with these texts."""
        score = np.zeros(self.mind.size, np.float32)
        for text, value in scores.items():
            score[self.rows[text]] = value
        rows = np.array(sorted(self.rows[text] for text in scores), np.int64)
        return deduplicate(self.mind, self.context, rows, score)

    async def kept(self, **scores: float) -> set[str]:
        """The names, such as KEY, of what is left."""
        by_text = {globals()[name]: value for name, value in scores.items()}
        answer = await asyncio.to_thread(self.without_duplicates, by_text)
        rows = set(answer.rows.tolist())
        return {name for name in scores if self.rows[globals()[name]] in rows}


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    stage = ModelStage(witness)
    await stage.start()
    await stage.soul()
    special = [line(f"x{i}", text) for i, text in enumerate((KEY, BOAT, SAIL, DOG))]
    await stage.sync("c", [*special, *talk(40)])
    await stage.rest()
    world, mind = await stage.world(), await stage.mind()
    request = RecallRequest(SoulId("s1"), ChatId("c"), query="the key")
    context = await asyncio.to_thread(
        lambda: build_context(
            world,
            mind,
            request,
            build_query(world, request),
            RecallParams(),
            0,
            stage.clock.now(),
        )
    )
    yield Scene(mind, context)
    await stage.stop()


async def test_of_a_draft_and_its_only_message_in_the_same_words_the_better_stays(
    scene: Scene,
) -> None:
    assert await scene.kept(KEY=0.9, NEAR_KEY=0.5) == {"KEY"}
    assert await scene.kept(KEY=0.5, NEAR_KEY=0.9) == {"NEAR_KEY"}
    assert await scene.kept(KEY=0.5, NEAR_KEY=0.9, DOG=0.1) == {"NEAR_KEY", "DOG"}


async def test_the_one_that_stays_names_the_other_as_its_duplicate(
    scene: Scene,
) -> None:
    scores = {KEY: 0.9, NEAR_KEY: 0.5}
    answer = await asyncio.to_thread(scene.without_duplicates, scores)
    ids = scene.mind.ids_at([scene.rows[NEAR_KEY]])
    assert dict(answer.duplicates) == {scene.rows[KEY]: tuple(ids)}
    scores = {DOG: 0.9, OTHER: 0.5}
    answer = await asyncio.to_thread(scene.without_duplicates, scores)
    assert dict(answer.duplicates) == {}


async def test_a_draft_in_other_words_stays_beside_its_message(scene: Scene) -> None:
    assert await scene.kept(DOG=0.9, OTHER=0.5) == {"DOG", "OTHER"}
    assert await scene.kept(DOG=0.5, OTHER=0.9) == {"DOG", "OTHER"}
    assert await scene.kept(KEY=0.5, OTHER=0.9) == {"KEY", "OTHER"}


async def test_a_draft_of_two_messages_stands_for_both_when_it_is_the_best(
    scene: Scene,
) -> None:
    assert await scene.kept(BOTH=0.9, BOAT=0.8, SAIL=0.7) == {"BOTH"}
    assert await scene.kept(BOTH=0.7, BOAT=0.8, SAIL=0.1) == {"BOAT", "SAIL"}
    assert await scene.kept(BOTH=0.8, BOAT=0.8, SAIL=0.1) == {"BOAT", "SAIL"}


async def test_it_does_not_stand_for_one_of_several_messages_alone(
    scene: Scene,
) -> None:
    assert await scene.kept(BOTH=0.9, BOAT=0.5) == {"BOAT"}
    assert await scene.kept(BOTH=0.9, DOG=0.5) == {"BOTH", "DOG"}


async def test_the_same_message_twice_takes_one_place(scene: Scene) -> None:
    texts = [text for text in scene.rows if "word" in text]
    scores = {text: 0.5 for text in texts}
    answer = await asyncio.to_thread(scene.without_duplicates, scores)
    assert answer.rows.size == len(texts), "messages that differ by a word stay"
    assert dict(answer.duplicates) == {}
