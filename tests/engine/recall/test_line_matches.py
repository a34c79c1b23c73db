"""How far the words of a line are found in memories and in the plain lines of the world."""

from __future__ import annotations

from collections.abc import AsyncIterator

import numpy as np
import pytest

from soulmem.domain.ids import ChatId
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.line_matches import (
    background_language,
    language_shares,
    matches_by_words,
    world_words,
)
from soulmem.language.tokens import Tokeniser
from soulmem.language.world_lines import world_scenes
from soulmem.retrieval.rarity import rarity
from tests.engine.stage import Stage, line

world_words("en")  # read here: no step of the loop may read a file
TEXTS = ("The mandolin is sold.", "Good evening.", "The ferry sank.")


@pytest.fixture
async def mind() -> AsyncIterator[Mind]:
    """A soul of three messages, without a model."""
    stage = Stage()
    await stage.start()
    await stage.soul()
    await stage.sync("c1", [line(f"m{i}", text) for i, text in enumerate(TEXTS)])
    await stage.close("c1")
    yield await stage.mind()
    await stage.stop()


def rows_of(mind: Mind) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The rows of the three messages, in their order."""
    texts = mind.texts_at(list(range(mind.size)))
    rows = [at for at, text in enumerate(texts) if any(t in text for t in TEXTS)]
    return np.asarray(rows, np.int64)


async def test_a_word_is_found_in_a_memory_and_by_its_neighbour(mind: Mind) -> None:
    rows = rows_of(mind)
    found = matches_by_words(mind, ChatId("c1"), "A mandolin and a ferry!", rows)
    tokens = list(dict.fromkeys(mind.tokeniser.tokens("A mandolin and a ferry!")))
    own = found.own[tokens.index("mandolin")]
    assert own.tolist() == [1.0, 0.0, 0.0]
    assert found.wide[tokens.index("mandolin")].tolist() == [1.0, 1.0, 0.0]
    assert 0.0 < found.known <= 1.0


async def test_a_line_of_which_nothing_is_known_is_known_by_nothing(mind: Mind) -> None:
    found = matches_by_words(mind, ChatId("c1"), "Zzyzx!", rows_of(mind))
    assert found.known == 0.0


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_the_words_of_the_world_are_counted_as_by_a_plain_loop(language: str) -> None:
    world, tokeniser = world_words(language), Tokeniser()
    lines = [
        set(tokeniser.tokens(said.partition(":")[2]))
        for scene in world_scenes(language)
        for said in scene
    ]
    asked = [*sorted(lines[0] | lines[1])[:6], "zzyzx"]
    counts = [sum(token in said for said in lines) for token in asked]
    expected = rarity(np.asarray(counts), len(lines))
    assert world.weights(asked).tolist() == expected.tolist()
    assert [world.holds(token) for token in asked] == [count > 0 for count in counts]


async def test_a_line_is_compared_with_the_world_in_the_language_of_the_memories(
    mind: Mind,
) -> None:
    """Its own, where at least a fifth of the memories are in it."""
    shares = language_shares(mind)
    assert shares == {"en": 1.0}
    assert background_language("你好", shares) == "en"
    assert background_language("你好", {"en": 0.7, "zh": 0.3}) == "zh"
    assert background_language("Hello", {}) == "en"


async def test_words_far_from_each_other_in_a_long_memory_are_not_found_together() -> None:
    filling = "The wind pulls at the shutters, and nobody came today. " * 30
    stage = Stage()
    await stage.start()
    await stage.soul()
    texts = [
        f"A mandolin. {filling} A ferry.",
        f"{filling} A mandolin and a ferry. {filling}",
        "Good evening.",
    ]
    await stage.sync("c1", [line(f"m{i}", text) for i, text in enumerate(texts)])
    await stage.close("c1")
    mind = await stage.mind()
    every = mind.texts_at(list(range(mind.size)))
    rows = [next(i for i, t in enumerate(every) if text in t) for text in texts]
    found = matches_by_words(mind, ChatId("c1"), "mandolin ferry", np.asarray(rows, np.int64))
    assert found.own.sum(axis=0).tolist() == [1.0, 2.0, 0.0]
    await stage.stop()
