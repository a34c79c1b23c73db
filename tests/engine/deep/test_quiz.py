"""The job `quiz`: does it ask of the soul's own memories, rank them as a recall does, and teach nothing?"""

from __future__ import annotations

from typing import Any

import pytest

from soulmem.domain.dialogue import Role
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import ChatId, MemoryId, SoulId
from soulmem.domain.memories import MemoryKind
from soulmem.domain.soul import Scope
from soulmem.engine.api.requests import RecallType
from soulmem.engine.runtime.jobs import JobState
from tests.engine.reflexes import PACKAGED
from tests.engine.stage import ME, Stage, ended, line, lines

_TEXTS = (
    "Jonas rents the boathouse behind the brewery.",
    "Helene taught me to gut trout with a spoon.",
    "I sold the brown mare to Radek at the market.",
    "The chimney caught fire at supper in November.",
    "Radek owes the dentist forty crowns and a goose.",
)


async def quiz(stage: Stage, **arguments: Any) -> dict[str, Any]:
    """The result of the job."""
    job = await stage.engine.jobs.ask(ME, "quiz", SoulId("s1"), arguments)
    view = await ended(stage, job)
    assert view.state is JobState.DONE, view.error
    result: dict[str, Any] = view.result
    return result


async def fill(stage: Stage) -> list[MemoryId]:
    """Memories that the user writes."""
    await stage.soul()
    made = [await stage.note(text, kind=MemoryKind.EPISODE) for text in _TEXTS]
    return [view.memory.id for view in made]


async def test_each_memory_is_asked_for_once_and_its_answer_is_hidden(
    stage: Stage,
) -> None:
    ids = await fill(stage)
    result = await quiz(stage)
    asked = result["asked"]
    assert sorted(question["memory"] for question in asked) == sorted(ids)
    for question in asked:
        for word in question["answer"].split(" … "):
            assert word.casefold() not in question["question"].casefold()
    assert result["score"] == 1.0


async def test_the_rank_is_that_of_a_recall_and_the_score_the_share_within_the_limit(
    stage: Stage,
) -> None:
    await fill(stage)
    await stage.soul(max_items=1)
    result = await quiz(stage, count=3)
    assert len(result["asked"]) == 3
    right = 0
    for question in result["asked"]:
        answer = await stage.recall(question["question"], type=RecallType.QUIET)
        ids = [memory.id for memory in answer.memories]
        place = ids.index(question["memory"]) + 1 if question["memory"] in ids else None
        assert question["rank"] == place
        right += place == 1
    assert result["score"] == right / 3


async def test_a_quiz_leaves_no_trace_and_teaches_nothing(stage: Stage) -> None:
    ids = await fill(stage)
    before = await stage.fingerprint()
    await quiz(stage)
    assert await stage.fingerprint() == before
    assert not stage.traces.kept
    for memory in ids:
        assert (await stage.engine.memories.get(ME, memory)).usage is None


async def test_a_chat_is_asked_only_of_what_it_may_know(stage: Stage) -> None:
    await stage.soul(scope=Scope.CHAT)
    for chat, text in zip(("a", "b"), _TEXTS, strict=False):
        await stage.sync(chat, [line(f"{chat}1", text), line(f"{chat}2", "Hm.")])
    result = await quiz(stage, chat="a")
    (question,) = result["asked"]
    mind = await stage.mind()
    assert mind.memories[question["memory"]].text == f"Al: {_TEXTS[0]}"


async def test_a_soul_without_memories_is_asked_nothing(stage: Stage) -> None:
    await stage.soul()
    assert await quiz(stage) == {"asked": [], "score": 0.0, "never": []}


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"count": 0}, "arguments.count"),
        ({"count": 51}, "arguments.count"),
        ({"count": True}, "arguments.count"),
        ({"count": "10"}, "arguments.count"),
        ({"chat": 1}, "arguments.chat"),
    ],
)
async def test_what_cannot_be_asked_is_refused(
    stage: Stage, arguments: dict[str, Any], field: str
) -> None:
    await stage.soul()
    with pytest.raises(Unprocessable) as refusal:
        await stage.engine.jobs.ask(ME, "quiz", SoulId("s1"), arguments)
    assert refusal.value.field == field


async def test_an_unknown_chat_ends_the_quiz(stage: Stage) -> None:
    await fill(stage)
    job = await stage.engine.jobs.ask(ME, "quiz", SoulId("s1"), {"chat": str(ChatId("nowhere"))})
    view = await ended(stage, job)
    assert view.state is JobState.FAILED
    assert "nowhere" in str(view.error)


@pytest.mark.slow("a whole chat is read, then asked of")
async def test_what_is_known_of_people_is_asked_for_as_a_player_would() -> None:
    told = (
        line("a1", "I'm allergic to peanuts, one bite and my throat closes."),
        line("a2", "The kettle is on. Mind the step.", Role.CHARACTER),
        line("a3", "I will bring you your father's sword before winter, I promise."),
        line("a4", "Jonas rents the boathouse behind the brewery."),
    )
    stage = Stage(fallback=PACKAGED, judges_lines=True)
    await stage.start()
    await stage.soul(restraint=1.0)
    await stage.sync("c1", [*told, *lines(2, 90)])
    await stage.engine.embedding.wait_pending()
    result = await quiz(stage)
    await stage.stop()
    asked = {question["question"]: question for question in result["asked"]}
    (promise,) = [text for text in asked if text.startswith("What did I promise you")]
    assert asked[promise]["answer"].startswith("I will bring you your father's sword")
    assert all(question["told"] >= (question["rank"] or 0) for question in asked.values())
    (never,) = result["never"]
    assert never["question"] == "What did Osgood Tarrant give me for my birthday?"
    assert never["told"] == 0
