"""What a line says of a soul, by words and sentence vectors, where there are no token states."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest

from soulmem.domain.ids import SoulId
from soulmem.domain.soul import KnownName, SoulSettings
from soulmem.engine.recall import line_evidence
from soulmem.language.tokens import Tokeniser
from soulmem.language.world_lines import world_scenes
from soulmem.retrieval.rarity import rarity
from tests.engine.reflexes import PACKAGED
from tests.engine.stage import ME, Stage, line
from tests.engine.two_languages import FACTS, NAMES
from tests.engine.two_languages import chat as two_languages

pytestmark = pytest.mark.timeout(60)  # the first recall reads dictionaries

TEXTS = (
    "The soup is good and the fire is warm.",
    "Father sold his mandolin to pay for the roof.",
    "Then let me tell you about the harbour.",
    "I was seven when the ferry sank, and I swam ashore.",
    "Let us have some tea.",
)
CALLED_FOR = 26  # of 30 facts; most questions share no word with theirs
LONG = (
    "*I lean back, let out a breath, and look at the ceiling for a while.* You know, I could sit here like this"
    " all evening and not say a word, and it would still be a good one."
)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """A soul of five messages, with the packaged encoder, which has no token states."""
    made = Stage(fallback=PACKAGED)
    await made.start()
    await made.soul(restraint=1.0)
    await made.sync("c1", [line(f"m{i}", text) for i, text in enumerate(TEXTS)])
    await made.close("c1")
    await made.engine.idle.run()
    yield made
    await made.stop()


async def brings(stage: Stage, query: str) -> str:
    """What a query brings, as it goes into the prompt."""
    answer = await stage.recall(query, "c1", time_budget_ms=20_000)
    return "\n".join(memory.text for memory in answer.memories)


async def test_a_rare_word_in_a_short_line_brings_its_memory(stage: Stage) -> None:
    assert "mandolin" in await brings(stage, "A mandolin!")


async def test_a_made_up_word_alone_brings_its_memory(stage: Stage) -> None:
    """Though its vector is unlike any text's; among plain words that decides."""
    await stage.note("Zomapadu stands behind the mill.")
    with mock.patch.object(line_evidence, "line_evidence", return_value=-1.0):
        assert "Zomapadu" in await brings(stage, "Zomapadu")
        assert await brings(stage, "Zomapadu, all right.") == ""


async def test_a_made_up_word_is_found_by_words_whatever_its_vector_is_like(
    stage: Stage,
) -> None:
    """The vector of the query is that of another memory."""
    await stage.note("Zomapadu stands behind the mill.")
    await stage.engine.idle.run()
    mind = (await stage.world()).minds[SoulId("s1")]
    query = SimpleNamespace(word_parts=(("Zomapadu", 1.0),))
    vectors = np.ones((1, 4), np.float32)
    assert line_evidence.without_noise(mind, query, vectors) is None  # type: ignore[arg-type]
    empty = SimpleNamespace(word_parts=())
    assert line_evidence.without_noise(mind, empty, vectors) is vectors  # type: ignore[arg-type]
    plain = SimpleNamespace(word_parts=(("Zomapadu", 0.5), ("the fire is warm", 0.5)))
    assert line_evidence.without_noise(mind, plain, vectors) is vectors  # type: ignore[arg-type]


@pytest.mark.parametrize("query", ["Mm, all right.", LONG], ids=["short", "long"])
async def test_small_talk_of_any_length_brings_nothing(
    stage: Stage, query: str
) -> None:
    assert await brings(stage, query) == ""


async def test_a_name_that_the_soul_knows_brings_what_tells_of_it() -> None:
    """Also in small talk."""
    stage = Stage()
    await stage.start()
    await stage.engine.souls.put(
        ME, SoulId("s1"), "Mira", (KnownName("Boris"),), SoulSettings()
    )
    await stage.sync("c1", [line("m1", "Boris cut the hedge."), line("m2", "Good.")])
    await stage.close("c1")
    assert await brings(stage, "How are things?") == ""
    assert "hedge" in await brings(stage, "How is Boris?")
    await stage.stop()


async def test_a_question_in_another_language_than_the_memory_calls_for_it() -> None:
    stage = Stage(fallback=PACKAGED)
    await stage.start()
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", NAMES, SoulSettings())
    await stage.sync("c1", two_languages())
    await stage.engine.idle.run()
    answers = [(fact, await brings(stage, question)) for fact, question in FACTS]
    brought = [fact for fact, texts in answers if fact in texts]
    assert len(brought) >= CALLED_FOR, answers
    await stage.stop()


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_plain_lines_share_words_as_a_plain_loop_finds(language: str) -> None:
    """Of its own words and those of the line before it in its scene."""
    world, tokeniser = line_evidence.world_words(language), Tokeniser()
    scenes = [
        [set(tokeniser.tokens(said.partition(":")[2])) for said in scene]
        for scene in world_scenes(language)
    ]
    lines = [said for scene in scenes for said in scene]
    asked = [*sorted(lines[0] | lines[1])[:6], "zzyzx"]
    held = [
        said | (scene[place - 1] if place else set())
        for scene in scenes
        for place, said in enumerate(scene)
    ]
    weights = np.arange(1, len(asked) + 1, dtype=np.float32)
    plain = [
        sum(w for t, w in zip(asked, weights, strict=True) if t in h) for h in held
    ]
    assert world.shared(asked, weights).tolist() == plain
    counts = [sum(token in said for said in lines) for token in asked]
    expected = rarity(np.asarray(counts), len(lines))
    assert world.weights(asked).tolist() == expected.tolist()
    assert [world.holds(token) for token in asked] == [count > 0 for count in counts]
