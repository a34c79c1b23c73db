"""Questions for all of a sort share no words with their answers: the memories of that sort come."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from soulmem.domain.dialogue import Role
from soulmem.domain.ids import SoulId
from soulmem.engine.api.requests import MemoryPatch, RecallRequest
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall import recaller
from soulmem.engine.recall.context import RecallContext
from soulmem.engine.recall.decision import Judged
from soulmem.engine.recall.open_questions import sort_asked_for
from soulmem.language.kinds.line_kinds import KINDS
from tests.bench.kinds import kept_apart, languages
from tests.engine.reflexes import PACKAGED
from tests.engine.stage import ME, Stage, line
from tests.language.test_line_kinds import packaged

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytestmark = pytest.mark.timeout(120)  # the encoder reads the examples once

QUESTIONS = Path(__file__).parents[2] / "language" / "open_questions.toml"
TOLD = (
    (Role.USER, "Good evening, is the room still free? My name is Finn."),
    (Role.CHARACTER, "It is. Mind the third step, it is loose."),
    (Role.USER, "I'm allergic to walnuts, so please keep them out of the cake."),
    (Role.CHARACTER, "Then I shall bake with almonds."),
    (Role.USER, "The fog is thick tonight."),
    (Role.CHARACTER, "I promise I will take you to the lighthouse in May."),
    (Role.USER, "Pass me the butter."),
    (Role.CHARACTER, "Here it is."),
    (Role.USER, "My brother drowned when I was nine, and I have been afraid of water since."),
    (Role.CHARACTER, "*She takes my hand and says nothing for a long time.*"),
    (Role.USER, "The kettle is whistling."),
    (Role.CHARACTER, "So it is."),
)  # fmt: skip


def sorts_of(lines: Sequence[str]) -> list[str | None]:
    """Which sort each line asks for, as the packaged encoder reads it."""
    encoder, judge = packaged()
    scores = judge.of_sentences(encoder.embed(list(lines)))
    return [sort_asked_for(row) for row in scores]


def test_such_questions_are_known_in_every_language() -> None:
    """139 of 175 are; those in English are the most oblique."""
    every = tomllib.loads(QUESTIONS.read_text(encoding="utf-8"))
    shares = []
    for language, asked in every.items():
        right = [s == sort for sort, lines in asked.items() for s in sorts_of(lines)]
        assert np.mean(right) >= 0.6, language
        shares.append(np.mean(right))
        apart = chain.from_iterable(kept_apart(language).values())
        assert set(chain.from_iterable(asked.values())).isdisjoint(apart)
    assert set(every) == set(languages())
    assert np.mean(shares) >= 0.78


@pytest.mark.parametrize("language", languages())
def test_other_lines_are_no_such_question(language: str) -> None:
    """Some of the questions kept apart do ask what was promised, of the night when two met, or of a tunnel."""
    apart = kept_apart(language)
    questions = sorts_of(apart["question"])
    assert sum(sort not in (None, "asks_about") for sort in questions) <= 4  # of 40
    assert questions.count("asks_about") <= 1
    for kind in apart.keys() - {"question", "met", "talked_of"}:
        assert sorts_of(apart[kind]) == [None] * len(apart[kind]), kind


def test_the_score_of_a_question_may_be_lower_than_that_of_another_line() -> None:
    scores = np.zeros(len(KINDS), np.float32)
    scores[KINDS.index("asks_us")] = 0.7
    assert sort_asked_for(scores) is None
    scores[KINDS.index("question")] = 0.9
    assert sort_asked_for(scores) == "asks_us"


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """A soul that has heard where Finn came in, what he told of himself, and one promise."""
    made = Stage(fallback=PACKAGED, judges_lines=True)
    await made.start()
    await made.soul(restraint=1.0)
    messages = [line(f"m{i}", text, role) for i, (role, text) in enumerate(TOLD)]
    await made.sync("c1", messages)
    await made.close("c1")
    await made.engine.idle.run()
    yield made
    await made.stop()


async def brings(stage: Stage, query: str) -> str:
    answer = await stage.recall(query, time_budget_ms=20_000)
    return "\n".join(memory.text for memory in answer.memories)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What do you know about me?", ["walnuts", "drowned"]),
        ("你都知道我些什么？", ["walnuts", "drowned"]),
        ("What did you promise me?", ["lighthouse"]),
        ("Do you remember how we met?", ["My name is Finn"]),
        ("What have we been through together?", ["drowned"]),
    ],
)
async def test_she_answers_with_what_she_knows(
    stage: Stage, query: str, expected: list[str]
) -> None:
    told = await brings(stage, query)
    assert all(words in told for words in expected), told
    assert "kettle" not in told


async def test_small_talk_brings_nothing_of_it(stage: Stage) -> None:
    assert await brings(stage, "What a calm evening.") == ""


async def test_a_question_for_nothing_but_a_time_asks_for_no_sort(
    stage: Stage,
) -> None:
    query = "What happened last time?"
    assert await asyncio.to_thread(sorts_of, [query]) == ["asks_us"]
    request = RecallRequest(SoulId("s1"), None, query=query)
    judged = await stage.engine.recaller.judged(ME, request)
    assert judged.open_rows() == []


CAPTAIN = (
    "The captain wants the deck scrubbed before noon.",
    "I saw the captain at the rail, smoking.",
    "The captain never sleeps when we lie at anchor.",
    "Ask the captain whether there is room for two more barrels.",
    "The captain has sailed this coast since she was nine.",
    "Nobody takes the wheel while the captain is on deck.",
    "The captain laughed when the cook dropped the pot.",
    "Tell the captain that the wind has turned.",
    "The captain lost her left hand at Cape Sorrow.",
    "I think the captain likes you.",
    "The captain keeps a grey parrot in the chart room.",
    "The captain paid us in silver this time.",
)


@pytest.mark.parametrize(
    ("query", "comes"),
    [
        ("What do you know about the captain?", True),
        ("Who is the captain?", True),
        ("What do you know about the dragon?", False),
        ("Who is the landlord?", False),
    ],
)
async def test_of_what_is_often_talked_of_something_comes(
    stage: Stage, query: str, comes: bool
) -> None:
    """No memory stands out among so many of one thing: by itself none is likely enough."""
    said = [line(f"c{i}", text) for i, text in enumerate(CAPTAIN)]
    await stage.sync("c2", said)
    await stage.close("c2")
    await stage.engine.idle.run()
    told = await brings(stage, query)
    assert ("captain" in told) is comes
    assert comes or told == ""


async def test_a_question_brings_what_was_said_to_it(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where nothing but the question, which has the words, is likely by itself."""
    said = [
        line("a1", "Where does your sister live now?"),
        line("a2", "By the salt pans.", Role.CHARACTER),
        line("a3", "Is there more soup?"),
        line("a4", "Hm.", Role.CHARACTER),
        line("a5", "The wind has turned."),
    ]
    await stage.sync("c2", said)
    await stage.close("c2")
    await stage.engine.idle.run()
    mind = await stage.mind()

    async def likely(query: str, asked: str) -> dict[str, float]:
        def nothing_else(_: Mind, __: RecallContext, judged: Judged) -> Judged:
            lines = []
            for each in judged.lines:
                texts = [mind.memory_at(row).text for row in each.rows.tolist()]
                lines.append(replace(each, memory=np.char.equal(texts, asked).astype(np.float64)))
            return replace(judged, lines=tuple(lines))

        monkeypatch.setattr(recaller, "with_open_questions", nothing_else)
        request = RecallRequest(SoulId("s1"), None, query=query)
        found = (await stage.engine.recaller.judged(ME, request)).of_row()
        return {mind.memory_at(row).text: p for row, p in found.items() if p > 0.0}

    asked, answer = "Al: Where does your sister live now?", "Mira: By the salt pans."
    found = await likely("Where does your sister live?", asked)
    assert found.keys() == {asked, answer}
    assert found[answer] == pytest.approx(0.95 * found[asked])
    # An empty answer is none, and neither is what comes behind a statement.
    asked = "Al: Is there more soup?"
    assert (await likely("Is there more soup?", asked)).keys() == {asked}
    asked = "Al: Pass me the butter."
    assert (await likely("Where is the butter?", asked)).keys() == {asked}


async def test_a_promise_that_was_kept_is_open_no_more(stage: Stage) -> None:
    async def asked_for() -> list[str]:
        request = RecallRequest(SoulId("s1"), None, query="What did you promise me?")
        judged = await stage.engine.recaller.judged(ME, request)
        mind = await stage.mind()
        return [mind.memory_at(row).text for row in judged.open_rows()]

    (promise,) = [m for m in await stage.listed() if "lighthouse" in m.text]
    assert await asked_for() == [promise.text]
    await stage.engine.memories.patch(ME, promise.id, MemoryPatch(tags=("kept",)))
    assert await asked_for() == []
