"""Texts that differ only in words that are not asked for: the weights decide which comes first."""

from __future__ import annotations

import numpy as np
import pytest

from soulmem.engine.recall.even_texts import alike, may_be_alike
from tests.engine.stage import Stage, lines

BELL = frozenset(["copper", "bell", "tower", "crack", "says"])


def test_texts_are_alike_but_for_a_word_that_is_not_asked_for() -> None:
    ada, bo = BELL | {"ada"}, BELL | {"bo"}
    assert alike([ada, frozenset({"rain"}), bo], frozenset({"bell"})) == [0, 1, 0]
    assert alike([ada, bo], frozenset({"bell", "ada"})) == [0, 1]
    cats = [frozenset({"three", "cats"}), frozenset({"four", "cats"})]
    assert alike(cats, frozenset({"cats"})) == [0, 1]
    assert alike([], frozenset()) == []


def test_only_texts_near_in_length_and_words_of_the_query_are_compared() -> None:
    lexical = np.array([3.0, 2.9, 3.0, 0.0, 0.0, 1.0], np.float32)
    lengths = [100, 90, 20, 50, 50, 60]
    flags = may_be_alike(lexical, lengths)
    assert flags.tolist() == [True, True, False, False, False, False]
    assert may_be_alike(np.zeros(0, np.float32), []).tolist() == []


@pytest.mark.parametrize("important", [0, 1])
async def test_the_more_important_of_two_like_texts_comes_first(
    stage: Stage, important: int
) -> None:
    await stage.soul()
    for place in ("barn", "mill", "harbour", "garden"):
        await stage.note(f"It rained on the {place} all day")
    notes = []
    for position, name in enumerate(("Ada", "Bo")):
        text = f"The copper bell of the tower has a crack in it, says {name}."
        importance = 0.9 if position == important else 0.1
        notes.append((await stage.note(text, importance=importance)).memory.id)
    answer = await stage.recall("What about the copper bell of the tower?")
    assert answer.memories[0].id == notes[important]


@pytest.mark.parametrize(("lived", "age"), [(2, 60), (60, 0)])
async def test_a_note_ages_by_what_a_lived_chat_catches_up_with_and_by_no_import(
    stage: Stage, lived: int, age: int
) -> None:
    """A chat that began in small steps was played; one that came in bulk is old."""
    await stage.soul()
    messages = lines(2 * lived + 120)
    await stage.sync("c1", messages[: 2 * lived])
    stage.clock.advance(60, 0)
    await stage.note("the brass key lies under the bridge")
    stage.clock.advance(60, 0)
    await stage.sync("c1", messages)
    (found,) = [
        memory
        for memory in (await stage.recall("brass key under the bridge")).memories
        if "brass" in memory.text
    ]
    assert found.age_turns == pytest.approx(age, abs=1)
