"""How far a recall climbs: small talk ends at the texts, what needs steps walks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from unittest import mock

import pytest

from soulmem.domain.ids import SoulId
from soulmem.domain.situation import Emotion
from soulmem.domain.soul import KnownName, SoulSettings
from soulmem.engine.api.requests import RecallMode
from soulmem.engine.api.results import Recalled, Trace
from soulmem.engine.recall import climb
from soulmem.engine.recall.expansion import VectorExpansion
from soulmem.engine.recall.vector_expansion import Opened
from tests.engine.stage import ME, Stage, line

pytestmark = pytest.mark.timeout(60)  # the first recall reads dictionaries

FACTS = [
    "Anna quietly hid the ledger under the stove.",
    "Boris promised to bring back the stolen flag.",
    "The flag belongs to the harbour of Vellmar.",
]
TALK = ["It rained all morning.", "The soup is good.", "Sit down with me."] * 40


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """A soul with three facts among small talk."""
    stage = Stage()
    await stage.start()
    names = tuple(KnownName(name) for name in ("Anna", "Boris", "Vellmar"))
    settings = SoulSettings(forgetting=0.0)
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", names, settings)
    texts = [*TALK[:60], *FACTS, *TALK[60:]]
    await stage.sync("c1", [line(f"m{i}", text) for i, text in enumerate(texts)])
    await stage.close("c1")
    yield stage
    await stage.stop()


async def trace_of(stage: Stage, answer: Recalled) -> Trace:
    return await stage.engine.recaller.trace(ME, answer.trace)


async def climbed(stage: Stage, query: str, **more: Any) -> list[tuple[str, bool]]:
    trace = await trace_of(stage, await stage.recall(query, **more))
    assert all(grade.why and grade.ms >= 0 for grade in trace.grades)
    return [(grade.name, grade.enough) for grade in trace.grades]


@pytest.mark.parametrize("query", ["Good morning!", "How are you today?", "嗯，好吧。"])
async def test_small_talk_ends_at_the_baseline(stage: Stage, query: str) -> None:
    """Neither walk nor activation is computed."""
    with mock.patch.object(climb, "expand") as expand:
        answer = await stage.recall(query)
    assert not expand.called
    assert answer.took_ms.walk == 0.0
    (grade,) = (await trace_of(stage, answer)).grades
    assert (grade.name, grade.enough) == ("baseline", True)


async def test_what_names_something_walks(stage: Stage) -> None:
    grades = await climbed(stage, "Tell me of Boris.")
    assert [name for name, _ in grades] == ["baseline", "expand", "walk"]
    assert [enough for _, enough in grades[:2]] == [False, False]


async def test_a_question_that_one_text_answers_in_all_words_ends_at_the_baseline(
    stage: Stage,
) -> None:
    query = "Where did Anna hide the ledger?"
    assert await climbed(stage, query) == [("baseline", True)]
    assert "ledger" in (await stage.recall(query)).memories[0].text
    other = await climbed(stage, "Where did Anna sell the ledger?")
    assert other[-1][0] == "walk"


async def test_one_answered_part_of_two_is_not_enough(stage: Stage) -> None:
    query = "Where did Anna hide the ledger, and what did Boris dream of the flag?"
    trace = await trace_of(stage, await stage.recall(query))
    assert len(trace.guidance["parts"]) == 2
    assert trace.grades[-1].name == "walk"


async def test_both_answers_of_a_two_part_question_come(stage: Stage) -> None:
    """The second is asked for in few of many words, and there are two places."""
    query = (
        "Where did Anna hide the ledger, the old ledger under the stove, and what did"
        " Boris promise?"
    )
    answer = await stage.recall(query, max_items=2)
    texts = " ".join(memory.text for memory in answer.memories)
    assert FACTS[0] in texts
    assert FACTS[1] in texts


async def test_the_first_place_is_for_the_part_that_is_answered_best(
    stage: Stage,
) -> None:
    query = (
        "Which old song did they sing at the harbour? Who quietly hid the ledger under the stove?"
    )
    answer = await stage.recall(query, max_items=1)
    assert [FACTS[0] in memory.text for memory in answer.memories] == [True]


@pytest.mark.parametrize(
    ("query", "score", "last"),
    [
        ("Fetch the ledger.", 0.6, "expand"),
        ("Fetch the ledger.", 0.4, "walk"),
        ("Where is the ledger?", 0.6, "walk"),
        ("Anna, fetch the ledger.", 0.6, "walk"),
    ],
)
async def test_what_memory_vectors_surely_open_is_enough_for_a_plain_line(
    stage: Stage, query: str, score: float, last: str
) -> None:
    """A question or a name wants more; so does what they open by a faint likeness."""
    key = await stage.find(f"Al: {FACTS[2]}")
    row = (await stage.mind()).row(key)
    assert row is not None
    opened = VectorExpansion(opened=(Opened(row, score, (row,), ()),))
    with mock.patch.object(climb, "vector_expansion", return_value=opened):
        answer = await stage.recall(query)
    assert (await trace_of(stage, answer)).grades[-1].name == last
    place = [memory.id for memory in answer.memories].index(key)
    assert place < 5


async def test_a_soul_without_restraint_always_walks() -> None:
    stage = Stage()
    await stage.start()
    await stage.soul(restraint=0.0)
    await stage.sync("c1", [line(f"m{i}", text) for i, text in enumerate(FACTS)])
    assert (await climbed(stage, "Good morning!"))[-1][0] == "walk"
    await stage.stop()


async def test_without_a_word_there_is_nothing_to_climb_for(stage: Stage) -> None:
    assert await climbed(stage, "", restraint=0.0) == [("baseline", True)]


@pytest.mark.parametrize("mode", [RecallMode.BASELINE, RecallMode.WALK])
async def test_a_mode_goes_to_its_grade(stage: Stage, mode: RecallMode) -> None:
    answer = await stage.recall("Good morning!", mode=mode)
    grades = (await trace_of(stage, answer)).grades
    assert (grades[-1].name, grades[-1].enough) == (mode.value, True)


async def test_guidance_says_what_was_asked_for(stage: Stage) -> None:
    answer = await stage.recall(
        "When did Anna hide the ledger?", mood=Emotion("anger", 1.0), max_items=8
    )
    guidance = (await trace_of(stage, answer)).guidance
    assert guidance["entities"] == ["Anna"]
    assert guidance["depth"] == "careful"
    assert guidance["mood"] == "anger"
    assert guidance["kinds"]["episode"] > guidance["kinds"]["fact"]
    assert 0 < len(answer.memories) <= 4


async def test_what_proves_too_long_leaves_its_room_to_others(stage: Stage) -> None:
    """The age above a scene makes its line longer than its text."""
    told = [
        "The key is in the hollow elm behind the mill.",
        "The parrot eats dates since the winter.",
        "My brother caught a fever in the marshes.",
        "The willow bark cured the fever.",
    ]
    await stage.engine.souls.put(ME, SoulId("s2"), "Mira", (), SoulSettings(restraint=0.0))
    texts = [*TALK[:40], *told, *TALK[40:80]]
    lines = [line(f"n{i}", text) for i, text in enumerate(texts)]
    await stage.sync("c2", lines, souls=("s2",))
    await stage.close("c2")
    query = "Where is the key? What does the parrot eat? Who caught a fever, and what cured it?"
    free = []
    for budget in range(40, 100, 4):
        answer = await stage.recall(query, soul="s2", max_items=8, budget_tokens=budget)
        free.append(budget - sum(block.tokens for block in answer.blocks))
    shortest = 8  # tokens of a line that is left over
    assert max(free) < shortest, free
