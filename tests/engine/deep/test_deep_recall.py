"""The job `deep`: with a model it plans, goes back and stops; without one it follows names by walks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
import pytest

from soulmem.assembly.omitted import Omitted, omission_text
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import ChatId, MemoryId, SoulId
from soulmem.domain.llm import Failure, LlmFailed
from soulmem.domain.memories import MemoryKind
from soulmem.domain.soul import KnownName, Scope, SoulSettings
from soulmem.engine.api.requests import Activity, RecallType
from soulmem.engine.deep.deep_recall import DeepParams, DeepRecall
from soulmem.engine.engine import Engine
from soulmem.engine.recall.context import RecallParams
from soulmem.engine.runtime.jobs import JobState
from soulmem.language.scripts import is_unspaced
from soulmem.server.resources.recall import recall_response
from tests.engine.model_stage import ModelStage
from tests.engine.stage import ME, Stage, ended, line

_NAMES = ("Ada", "Bela", "Cid", "Dora")
_CHAIN = (
    "Ada traded her mandolin with Bela.",
    "Bela gave everything he owned to Cid.",
    "Cid keeps it all in the harbour.",
)
_QUESTION = "Where would I find the mandolin of Ada now?"
_DEAD_END = "What does Ada dream of?"
_TO_WHOM = "To whom did Bela give everything?"
_WHERE = "Where does Cid keep it all?"


def plan(*questions: str, useful: Sequence[int] = ()) -> str:
    """A plan as a good model writes it."""
    return json.dumps({"useful": list(useful), "questions": list(questions)})


def reflection(step: str, ask: str = "", useful: Sequence[int] = ()) -> str:
    """A reflection as a good model writes it."""
    return json.dumps({"step": step, "useful": list(useful), "ask": ask})


class DeepStage(ModelStage):
    """A soul with a chain of three memories among others of the same people."""

    async def fill(self) -> None:
        """Make the memories."""
        names = tuple(KnownName(name) for name in _NAMES)
        await self.engine.souls.put(ME, SoulId("s1"), "Mira", names, None)
        self.chain = [await self.episode(text) for text in _CHAIN]
        for day in range(1, 5):
            for name in _NAMES:
                what = "dreams of the moon" if day % 2 else "ate too much pie"
                await self.episode(f"{name} {what}, day {day}.")

    async def episode(self, text: str) -> MemoryId:
        """A memory that the user writes."""
        view = await self.note(text, kind=MemoryKind.EPISODE)
        return view.memory.id

    async def begin(self, query: str = _QUESTION, **arguments: Any) -> str:
        """Start the job; its id."""
        given = {"query": query, **arguments}
        return await self.engine.jobs.ask(ME, "deep", SoulId("s1"), given)

    async def deep(self, query: str = _QUESTION, **arguments: Any) -> dict[str, Any]:
        """The result of the job."""
        view = await ended(self, await self.begin(query, **arguments))
        assert view.state is JobState.DONE, view.error
        result: dict[str, Any] = view.result
        return result

    def last_memories(self) -> list[str]:
        """The memories that the model read last."""
        between = self.llm.asked[-1].user.partition("<memories>\n")[2]
        lines = between.partition("\n</memories>")[0].splitlines()
        return [text.partition("] ")[2] for text in lines]


def kinds(result: dict[str, Any]) -> list[str]:
    """The kinds of the steps."""
    return [step["step"] for step in result["steps"]]


def asks(result: dict[str, Any], kind: str = "explore") -> list[str]:
    """What the steps of a kind asked."""
    return [step["ask"] for step in result["steps"] if step["step"] == kind]


def answered(result: dict[str, Any]) -> list[str]:
    """The ids of the memories in the answer."""
    return [memory["id"] for memory in result["answer"]["memories"]]


@pytest.fixture
async def stage() -> AsyncIterator[DeepStage]:
    """A soul that remembers, and a model that is there."""
    fresh_stage = DeepStage(reflection("enough"))
    await fresh_stage.start()
    await fresh_stage.fill()
    yield fresh_stage
    await fresh_stage.stop()


class PlainStage(DeepStage):
    """The same without a language model."""

    def _new_engine(self) -> Engine:
        return Stage._new_engine(self)


@pytest.fixture
async def plain() -> AsyncIterator[PlainStage]:
    """A soul that remembers, without a model."""
    fresh_stage = PlainStage()
    await fresh_stage.start()
    await fresh_stage.fill()
    yield fresh_stage
    await fresh_stage.stop()


async def test_a_dead_end_goes_back_and_another_question_finds_it(
    stage: DeepStage,
) -> None:
    stage.llm.then(
        [
            plan(_DEAD_END),
            reflection("back", _TO_WHOM),
            reflection("explore", _WHERE, useful=[1]),
            reflection("enough", useful=[1, 2]),
        ]
    )
    result = await stage.deep()
    assert kinds(result) == [
        *("explore", "plan", "explore", "reflect", "back"),
        *("explore", "reflect", "explore", "reflect"),
    ]
    assert asks(result) == [_QUESTION, _DEAD_END, _TO_WHOM, _WHERE]
    assert asks(result, "back") == [_QUESTION]
    assert [step["calls"] for step in result["steps"]] == [0, 1, 0, 1, 0, 0, 1, 0, 1]
    assert (result["calls"], result["ended"], result["failure"]) == (4, "enough", None)
    assert set(stage.chain[1:]) == set(answered(result)[:2])


async def test_the_model_reads_what_helped_and_what_is_new_but_no_dead_ends(
    stage: DeepStage,
) -> None:
    stage.llm.then(
        [
            plan(_DEAD_END, useful=[1]),
            reflection("back", _TO_WHOM),
            reflection("enough"),
        ]
    )
    await stage.deep()
    read = stage.last_memories()
    assert read[0] == _CHAIN[0]
    assert _CHAIN[1] in read
    assert len(read) == 1 + 4
    assert not any("dreams" in text and "Ada" in text for text in read)


async def test_a_later_back_returns_to_the_last_question_that_led_on(
    stage: DeepStage,
) -> None:
    stage.llm.then(
        [
            plan(_TO_WHOM),
            reflection("explore", _DEAD_END),
            reflection("back", _WHERE),
            reflection("enough"),
        ]
    )
    assert asks(await stage.deep(), "back") == [_TO_WHOM]


async def test_a_plan_that_misses_nothing_ends_it(stage: DeepStage) -> None:
    stage.llm.then([plan(useful=[1])])
    result = await stage.deep()
    assert (kinds(result), result["ended"]) == (["explore", "plan"], "enough")
    assert answered(result)[0] == stage.chain[0]


async def test_there_are_at_most_six_calls_and_each_is_in_the_ledger(
    stage: DeepStage,
) -> None:
    counter = iter(range(100))
    stage.llm.then(
        [
            plan(_DEAD_END),
            lambda _: reflection("explore", f"Who is number {next(counter)}?"),
        ]
    )
    result = await stage.deep()
    assert (len(stage.calls), result["calls"], result["ended"]) == (6, 6, "calls")
    report = await stage.engine.consolidator.usage_report(ME, SoulId("s1"))
    assert report.totals["deep"].calls == 6
    assert list(report.totals) == ["deep"]


async def test_unreadable_answers_cost_steps_but_not_the_job(stage: DeepStage) -> None:
    stage.llm.then(["Hm.", "Hm.", "Hm.", reflection("enough", useful=[1])])
    result = await stage.deep()
    first, again, *_ = stage.llm.asked
    assert first == again
    assert [step["calls"] for step in result["steps"] if step["calls"]] == [2, 2]
    assert (result["calls"], result["ended"]) == (4, "enough")
    assert asks(result)[1].startswith("Bela: ")


async def test_a_question_is_not_asked_twice(stage: DeepStage) -> None:
    stage.llm.then(
        [
            plan(_TO_WHOM, _QUESTION.upper()),
            reflection("explore", f" {_TO_WHOM.lower()} "),
            reflection("enough"),
        ]
    )
    explored = asks(await stage.deep())
    assert explored[:2] == [_QUESTION, _TO_WHOM]
    assert explored[2].startswith("Bela: ")


@pytest.mark.parametrize("replies", [[], [plan(_DEAD_END)]])
async def test_when_the_model_stays_away_walks_go_on(stage: DeepStage, replies: list[str]) -> None:
    stage.llm.then([*replies, LlmFailed(Failure.REFUSED, "the key is wrong")])
    result = await stage.deep()
    assert len(stage.calls) == len(replies) + 1
    assert (result["ended"], result["failure"]) == ("exhausted", "the key is wrong")
    assert result["failure_kind"] == "refused"
    assert asks(result)[-1].startswith("Cid: ")
    (about_cid,) = [s for s in result["steps"] if s["ask"] == asks(result)[-1]]
    assert stage.chain[2] in about_cid["found"]


async def test_without_a_model_names_lead_to_a_memory_three_away(
    plain: PlainStage,
) -> None:
    auto = await plain.recall(_QUESTION)
    result = await plain.deep()
    assert (result["calls"], result["ended"]) == (0, "exhausted")
    assert asks(result) == [
        _QUESTION,
        "Bela: Where would I find the mandolin of Bela now?",
        "Cid: Where would I find the mandolin of Cid now?",
    ]
    assert plain.chain[2] not in [memory.id for memory in auto.memories]
    assert answered(result)[:2] == plain.chain[:2]
    assert plain.chain[2] in answered(result)


async def test_without_a_model_each_part_of_a_question_is_explored(
    plain: PlainStage,
) -> None:
    parts = ["What does Dora dream of", "where does Cid keep it all?"]
    result = await plain.deep(f"{parts[0]}, and {parts[1]}")
    assert kinds(result)[:4] == ["explore", "plan", "explore", "explore"]
    explored = [ask.casefold().strip("?") for ask in asks(result)[1:3]]
    assert explored == [part.casefold().strip("?") for part in parts]
    assert plain.chain[2] in answered(result)


async def test_an_exploration_without_anything_new_goes_back(plain: PlainStage) -> None:
    await plain.engine.souls.put(ME, SoulId("s1"), "Mira", None, SoulSettings(max_items=25))
    result = await plain.deep()
    assert asks(result, "back") == [_QUESTION] * kinds(result).count("back")
    assert "back" in kinds(result)


async def test_the_answer_is_as_that_of_a_recall(plain: PlainStage) -> None:
    permanent = await plain.note("Mira fears water.", permanent=True)
    answer = (await plain.deep())["answer"]
    recalled = await plain.recall(_QUESTION)
    response = msgspec.to_builtins(recall_response(recalled))
    assert answer.keys() == response.keys()
    assert answer["memories"][0].keys() == response["memories"][0].keys()
    assert answer["blocks"][0].keys() == response["blocks"][0].keys()
    json.dumps(answer)
    assert answer["memories"][0]["id"] == permanent.memory.id
    scores = [memory["score"] for memory in answer["memories"]]
    assert scores == sorted(scores, reverse=True)
    shown = [item for block in answer["blocks"] for item in block["items"]]
    assert {item["memory"] for item in shown} == {memory["id"] for memory in answer["memories"]}
    assert len(shown) == 1 + 2 * 8
    assert answer["tokens"] == sum(block["tokens"] for block in answer["blocks"])


async def test_the_answer_keeps_to_the_room_of_two_recalls(plain: PlainStage) -> None:
    await plain.engine.souls.put(
        ME, SoulId("s1"), "Mira", None, SoulSettings(max_items=4, budget_tokens=40)
    )
    answer = (await plain.deep())["answer"]
    assert 0 < answer["tokens"] <= 80
    assert len(answer["memories"]) <= 8


async def test_the_trace_tells_the_steps_and_what_was_considered(
    plain: PlainStage,
) -> None:
    result = await plain.deep()
    trace = await plain.engine.recaller.trace(ME, result["answer"]["trace"])
    assert trace.grade == "deep"
    assert trace.guidance["steps"] == result["steps"]
    assert [text for text, _ in trace.query] == asks(result)
    kept = {candidate.id for candidate in trace.considered if candidate.kept}
    assert kept == set(answered(result))
    assert all(candidate.cut for candidate in trace.considered if not candidate.kept)
    assert not any(candidate.cut for candidate in trace.considered if candidate.kept)


async def test_a_soul_that_holds_back_still_thinks_deep(plain: PlainStage) -> None:
    await plain.engine.souls.put(ME, SoulId("s1"), "Mira", None, SoulSettings(restraint=2.0))
    assert len(answered(await plain.deep())) == 2 * 8


async def test_only_what_the_chat_may_know_is_found(plain: PlainStage) -> None:
    await plain.sync("a", [line("m1", "Cid hides a parrot."), line("m2", "Hm.")])
    await plain.sync("b", [line("n1", "Hello there."), line("n2", "Hm.")])
    await plain.engine.souls.put(ME, SoulId("s1"), "Mira", None, SoulSettings(scope=Scope.CHAT))
    found = {}
    for chat in ("a", "b"):
        answer = (await plain.deep("What does Cid hide?", chat=chat))["answer"]
        found[chat] = any("parrot" in memory["text"] for memory in answer["memories"])
    assert found == {"a": True, "b": False}


async def test_nothing_is_learned_from_it(plain: PlainStage) -> None:
    fingerprint = await plain.fingerprint()
    mind = await plain.mind()
    edges = mind.edges.revision
    await plain.deep()
    await plain.engine.idle.run()
    assert await plain.fingerprint() == fingerprint
    assert mind.edges.revision == edges


async def test_a_recall_never_calls_the_model(stage: DeepStage) -> None:
    for kind in RecallType:
        await stage.recall(_QUESTION, type=kind)
    assert stage.calls == []


async def test_the_steps_are_shown_while_the_model_thinks(stage: DeepStage) -> None:
    stage.llm.then([plan(_DEAD_END)])
    stage.llm.answers.clear()
    job = await stage.begin()
    await stage.thinking()
    view = stage.engine.jobs.get(ME, job)
    assert (view.state, kinds(view.result)) == (JobState.RUNNING, ["explore"])
    assert view.result["answer"] is None
    assert (view.progress.done, view.progress.unit) == (1, "questions")
    await stage.engine.jobs.cancel(ME, job)
    view = await ended(stage, job)
    assert view.state is JobState.CANCELLED
    assert stage.llm.waiting == 0


async def test_time_ends_it_with_what_was_found(stage: DeepStage) -> None:
    stage.llm.then([plan(_DEAD_END)])
    stage.llm.answers.clear()
    limited = DeepRecall(
        services=stage.engine.services,
        recaller=stage.engine.recaller,
        llm_calls=stage.engine.consolidator.llm_calls,
        recall=RecallParams(),
        params=DeepParams(seconds=0.05),
    )
    for kind in limited.job_kinds():
        stage.engine.jobs.register(kind)
    result = await stage.deep()
    assert (result["ended"], kinds(result)) == ("time", ["explore"])
    assert stage.chain[0] in answered(result)
    assert stage.llm.waiting == 0


async def test_no_call_starts_while_a_reply_is_written(stage: DeepStage) -> None:
    await stage.sync("c", [line("m1", "Hello.")])
    await stage.engine.chats.activity(ME, ChatId("c"), Activity.GENERATING)
    job = await stage.begin()
    for _ in range(400):
        if stage.engine.jobs.get(ME, job).result is not None:
            break
        await asyncio.sleep(0.002)
    await asyncio.sleep(0.05)
    assert stage.calls == []
    await stage.engine.jobs.cancel(ME, job)
    assert (await ended(stage, job)).state is JobState.CANCELLED


@pytest.mark.parametrize(("language", "is_chinese"), [("zh", True), ("en", False)])
async def test_reasons_are_in_the_language_that_is_asked_for(
    plain: PlainStage, language: str, is_chinese: bool
) -> None:
    settings = SoulSettings(max_items=1)
    await plain.engine.souls.put(ME, SoulId("s1"), "Mira", None, settings)
    answer = (await plain.deep(language=language))["answer"]
    trace = await plain.engine.recaller.trace(ME, answer["trace"])
    cuts = [candidate.cut for candidate in trace.considered if candidate.cut]
    assert omission_text(Omitted.NO_ROOM, language) in cuts
    reasons = [memory["why"] for memory in answer["memories"]] + cuts
    assert {any(map(is_unspaced, reason)) for reason in reasons} == {is_chinese}


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "arguments.query"),
        ({"query": "  "}, "arguments.query"),
        ({"query": 7}, "arguments.query"),
        ({"query": "x" * 2001}, "arguments.query"),
        ({"query": "Who?", "chat": 3}, "arguments.chat"),
        ({"query": "Who?", "language": "fr"}, "arguments.language"),
        ({"query": "Who?", "depth": 3}, "arguments"),
    ],
)
async def test_bad_arguments_are_refused_before_the_job(
    plain: PlainStage, arguments: dict[str, Any], field: str
) -> None:
    with pytest.raises(Unprocessable) as refused:
        await plain.engine.jobs.ask(ME, "deep", SoulId("s1"), arguments)
    assert refused.value.field == field
    assert plain.engine.jobs.of(ME, SoulId("s1")) == []


async def test_an_unknown_chat_fails_the_job_in_words(plain: PlainStage) -> None:
    view = await ended(plain, await plain.begin(chat="nowhere"))
    assert view.state is JobState.FAILED
    assert "nowhere" in str(view.error)


async def test_nothing_of_it_stays_on_disk(plain: PlainStage) -> None:
    await plain.deep()
    assert await plain.spool.records() == []


async def test_the_message_that_asked_is_no_answer(plain: PlainStage) -> None:
    asked = line("m2", _QUESTION)
    await plain.sync("c", [line("m1", "Hm."), asked, line("m3", "Let me think.")])
    recalled = await plain.recall(_QUESTION, chat="c")
    assert any(_QUESTION in memory.text for memory in recalled.memories)
    answer = (await plain.deep(chat="c"))["answer"]
    assert not any(_QUESTION in memory["text"] for memory in answer["memories"])


async def test_an_answer_that_is_enough_has_the_room_of_one_recall(
    stage: DeepStage,
) -> None:
    stage.llm.then([plan(_TO_WHOM), reflection("enough", useful=[1])])
    assert len(answered(await stage.deep())) == 8
    stage.llm.then([LlmFailed(Failure.REFUSED, "the key is wrong")])
    assert len(answered(await stage.deep())) == 16


async def test_enough_without_a_memory_that_holds_it_keeps_the_whole_room(
    stage: DeepStage,
) -> None:
    stage.llm.then([plan(_TO_WHOM), reflection("enough")])
    assert len(answered(await stage.deep())) == 16


async def test_a_text_that_the_model_read_is_no_question(stage: DeepStage) -> None:
    stage.llm.then(
        [
            plan(_CHAIN[0], _TO_WHOM),
            reflection("explore", _CHAIN[1].upper()),
            reflection("enough"),
        ]
    )
    explored = asks(await stage.deep())
    assert explored[:2] == [_QUESTION, _TO_WHOM]
    assert explored[2].startswith("Bela: ")
