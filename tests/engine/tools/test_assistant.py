"""The archivist carries out an instruction with its tools, at most six calls of its model long."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from soulmem.domain.audit import Actor
from soulmem.domain.errors import Busy, Conflict, Unprocessable
from soulmem.domain.ids import SoulId
from soulmem.domain.llm import Completion, Failure, LlmFailed, ToolRequest
from soulmem.engine.api.requests import Activity
from tests.engine.model_stage import ModelStage
from tests.engine.stage import ME, line

SEARCH = ("search_memories", {"query": "brass key"})


@pytest.fixture
async def stage() -> AsyncIterator[ModelStage]:
    played = ModelStage("unused")
    await played.start()
    await played.soul()
    yield played
    await played.stop()


def native(*calls: tuple[str, dict[str, Any]], said: str = "") -> Completion:
    """An answer of a server that takes tools."""
    requests = tuple(
        ToolRequest(f"c{number}", name, json.dumps(arguments))
        for number, (name, arguments) in enumerate(calls)
    )
    return Completion(said, 10, 5, 0.1, requests)


def plain(name: str, arguments: dict[str, Any]) -> str:
    """The same in the text of an answer."""
    return json.dumps({"tool": name, "arguments": arguments})


async def ask(stage: ModelStage, **more: Any) -> dict[str, Any]:
    return await stage.engine.tools.call(
        ME, "call_assistant", "s1", Actor.LEAD, {"instruction": "Tidy up."}, **more
    )


@pytest.mark.parametrize("takes_tools", [True, False])
async def test_results_go_back_to_the_model_until_it_ends(
    stage: ModelStage, takes_tools: bool
) -> None:
    kept = (await stage.note("the brass key lies under the bridge")).memory
    stage.llm.takes_tools = takes_tools
    if takes_tools:
        stage.llm.then([native(SEARCH), native(said="It lies under the bridge.")])
    else:
        end = json.dumps({"said": "It lies under the bridge."})
        stage.llm.then([plain(*SEARCH), end])

    got = await ask(stage)

    assert (got["said"], got["calls"]) == ("It lies under the bridge.", 2)
    (did,) = got["did"]
    assert (did["tool"], did["arguments"]) == SEARCH
    assert [memory["id"] for memory in did["result"]["memories"]] == [kept.id]
    first, second = stage.llm.asked
    assert (first.tools is not None) is takes_tools
    sent = " ".join(second.texts())
    assert kept.text in sent
    assert "Tidy up." in sent
    totals = stage.engine.consolidator.usage.totals(ME, SoulId("s1"))
    assert totals["assistant"].calls == 2


async def test_a_server_that_refuses_tools_is_asked_in_words_and_the_call_counts(
    stage: ModelStage,
) -> None:
    stage.llm.takes_tools = True
    refusal = LlmFailed(Failure.REFUSED, "tools are not supported")
    stage.llm.then([refusal, plain(*SEARCH), '{"said": "Nothing there."}'])

    got = await ask(stage)

    assert (got["said"], got["calls"]) == ("Nothing there.", 3)
    assert [prompt.tools is None for prompt in stage.llm.asked] == [False, True, True]


async def test_wrong_calls_are_answered_in_words_and_change_nothing(
    stage: ModelStage,
) -> None:
    stage.llm.takes_tools = True
    core = (await stage.note("allergic to nuts", permanent=True)).memory
    rewording = {"memory_id": core.id, "new_content": "loves nuts"}
    bad: list[tuple[str, dict[str, Any]]] = [
        ("format_disk", {}),
        ("search_memories", {"depth": 3}),
        ("call_assistant", {"instruction": "again"}),
        ("update_memory_node", rewording),
    ]
    broken = Completion("", 1, 1, 0.1, (ToolRequest("c", "search_memories", "{'"),))
    stage.llm.then([native(*bad), broken, native(said="That was not allowed.")])

    got = await ask(stage)

    errors = [did["result"]["error"] for did in got["did"]]
    kinds = ["not_found", "unprocessable", "forbidden", "forbidden", "unprocessable"]
    assert errors == kinds
    assert (await stage.engine.memories.get(ME, core.id)).memory == core
    assert "permanent" in " ".join(stage.llm.asked[1].texts())


async def test_a_model_that_loops_is_stopped_at_six(stage: ModelStage) -> None:
    stage.llm.takes_tools = True
    stage.llm.then([native(SEARCH)])
    got = await ask(stage)
    assert (got["calls"], len(stage.llm.asked), len(got["did"])) == (6, 6, 5)
    assert "6" in got["said"]
    asked = [prompt.user for prompt in stage.llm.asked]
    assert ["last answer" in user for user in asked] == [False] * 5 + [True]


async def test_all_it_did_is_undone_as_one_job(stage: ModelStage) -> None:
    stage.llm.takes_tools = True
    first, second = [(await stage.note(text)).memory for text in ("rain", "sun")]
    rewording = {"memory_id": first.id, "new_content": "hail"}
    rating = {"ratings": [{"memory_id": second.id, "useful": 0.0}]}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("update_memory_node", rewording),
        ("rate_memories", rating),
    ]
    stage.llm.then([native(*calls), native(said="Done.")])

    got = await ask(stage)

    async def state() -> tuple[str, Any]:
        changed = await stage.engine.memories.get(ME, first.id)
        rated = await stage.engine.memories.get(ME, second.id)
        return changed.memory.text, rated.feedback

    assert await state() == ("hail", pytest.approx(0.35))
    await stage.engine.history.undo(ME, SoulId("s1"), since=None, change=None, job=got["job"])
    assert await state() == ("rain", 0.5)


async def test_a_failing_model_is_an_error_and_later_failures_end_in_words(
    stage: ModelStage,
) -> None:
    stage.llm.takes_tools = True
    down = LlmFailed(Failure.SERVER, "the model fake failed")
    stage.llm.then([down])
    with pytest.raises(Busy, match="the model fake failed"):
        await ask(stage)
    stage.llm.then([native(SEARCH), down])
    got = await ask(stage)
    assert (got["said"], len(got["did"])) == ("the model fake failed", 1)


async def test_a_cancelled_request_stops_before_its_next_piece(
    stage: ModelStage,
) -> None:
    stage.llm.takes_tools = True
    rain = (await stage.note("rain")).memory
    rewording = {"memory_id": rain.id, "new_content": "hail"}
    stage.llm.then([native(("update_memory_node", rewording))])
    stage.llm.answers.clear()
    asking = asyncio.create_task(ask(stage))
    await stage.thinking()
    (job,) = stage.engine.jobs.of(ME, SoulId("s1"))
    await stage.engine.jobs.cancel(ME, job.id)
    with pytest.raises(Conflict, match="cancelled"):
        await asking
    assert (await stage.engine.memories.get(ME, rain.id)).memory == rain


async def test_only_a_request_of_the_reply_itself_is_answered_while_one_is_written(
    stage: ModelStage,
) -> None:
    stage.llm.takes_tools = True
    stage.llm.then([native(said="Done.")])
    await stage.sync("c1", [line("m1")])
    await stage.engine.chats.activity(ME, "c1", Activity.GENERATING)  # type: ignore[arg-type]
    waiting = asyncio.create_task(ask(stage))
    await asyncio.sleep(0.05)
    assert stage.llm.asked == []
    # It does not wait for the one that waits for the end of the reply.
    replying = asyncio.wait_for(ask(stage, for_reply=True), 10)
    assert (await replying)["said"] == "Done."
    assert len(stage.llm.asked) == 1
    await stage.engine.chats.activity(ME, "c1", Activity.IDLE)  # type: ignore[arg-type]
    assert (await waiting)["said"] == "Done."


async def test_results_are_cut_to_the_room_of_the_model(stage: ModelStage) -> None:
    for number in range(30):
        await stage.note(f"brass key {number} " + "long words of no end " * 40)
    stage.llm.takes_tools = True
    stage.llm.then([native(("search_memories", {"query": "brass key", "limit": 30}))])
    await ask(stage)
    limit = 4096 * 4  # letters: a token has four at most here
    assert all(sum(map(len, p.texts())) < limit for p in stage.llm.asked)


async def test_a_job_without_a_model_or_an_instruction_is_refused(
    stage: ModelStage,
) -> None:
    for arguments in ({}, {"instruction": " "}, {"instruction": 3}):
        with pytest.raises(Unprocessable, match="instruction"):
            await stage.engine.jobs.ask(ME, "assistant", SoulId("s1"), arguments)
    assert stage.llm.asked == []


@pytest.mark.parametrize("name", ["search_memories", "no_\\ud83d_tool"])
async def test_half_a_pair_or_an_endless_number_in_a_call_breaks_no_answer(
    stage: ModelStage, name: str
) -> None:
    """Half an emoji, as a model leaves it when its answer is cut."""
    arguments = '{"query": "brass key \\ud83d", "limit": 1e999}'
    request = ToolRequest("c\ud83d", json.loads(f'"{name}"'), arguments)
    answer = Completion("done \ud83d", 10, 5, 0.1, (request,))
    stage.llm.takes_tools = True
    stage.llm.then([answer, native(said="Done \ud83d.")])

    got = await ask(stage)

    assert got["said"] == "Done \ufffd."
    assert got["did"][0]["arguments"]["query"] == "brass key \ufffd"
    jobs = stage.engine.jobs.of(ME, SoulId("s1"))
    assert len(jobs) == 1
    msgspec.json.encode([got, jobs[0].result])


async def test_arguments_that_nest_too_deep_are_told_to_the_model(
    stage: ModelStage,
) -> None:
    deep = '{"query":' * 100_000 + "1" + "}" * 100_000
    answer = Completion("", 1, 1, 0.1, (ToolRequest("c", "remember", deep),))
    stage.llm.takes_tools = True
    stage.llm.then([answer, native(said="Done.")])
    (did,) = (await ask(stage))["did"]
    assert did["result"]["error"] == "unprocessable"
