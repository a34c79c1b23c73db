"""The job `deep` over the routes: what it answers, its trace, its ledger, and what is refused."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from soulmem.config.settings import ServerSettings
from soulmem.server.app import create_app
from tests.engine.model_stage import ModelStage
from tests.server.conftest import TOKEN, Client, refused

_TEXTS = ("Ada traded her mandolin with Bela.", "Bela gave it to Cid.")


@pytest.fixture
async def stage() -> AsyncIterator[ModelStage]:
    """A real engine on fakes, with a model."""
    stage = ModelStage('{"useful": [1], "questions": [], "step": "enough", "ask": ""}')
    yield stage
    stage.llm.answers.set()


@pytest.fixture
async def whole(stage: ModelStage) -> AsyncIterator[Client]:
    """The routes over it."""
    app = create_app(stage.engine, ServerSettings(token=TOKEN), test_mode=True)
    async with TestClient(TestServer(app)) as client:
        names = [{"name": name} for name in ("Ada", "Bela", "Cid")]
        await client.put("/v1/souls/s1", json={"name": "Mira", "names": names})
        for text in _TEXTS:
            memory = {"soul": "s1", "kind": "episode", "text": text}
            await client.post("/v1/memories", json=memory)
        yield client


async def begun(client: Client, query: object = "Where is the mandolin of Ada?") -> str:
    """The id of a new deep search."""
    body = {"kind": "deep", "soul": "s1", "arguments": {"query": query}}
    answer = await client.post("/v1/jobs", json=body)
    assert answer.status == 202
    return str((await answer.json())["job"])


async def until(client: Client, job: str, *states: str) -> dict[str, Any]:
    """The job once it is in one of the states."""
    for _ in range(400):
        view: dict[str, Any] = await (await client.get(f"/v1/jobs/{job}")).json()
        if view["state"] in states:
            return view
        await asyncio.sleep(0.005)
    raise AssertionError(view)


async def test_it_answers_as_a_recall_with_steps_and_calls(whole: Client) -> None:
    view = await until(whole, await begun(whole), "done", "failed")
    result = view["result"]
    assert view["error"] is None
    assert (result["calls"], result["ended"]) == (1, "enough")
    assert [step["step"] for step in result["steps"]] == ["explore", "plan"]
    assert all(step.keys() == {"step", "ask", "found", "calls"} for step in result["steps"])
    body = {"soul": "s1", "query": "mandolin", "type": "quiet"}
    recalled = await (await whole.post("/v1/recall", json=body)).json()
    assert result["answer"].keys() == recalled.keys()
    assert result["answer"]["memories"][0].keys() == recalled["memories"][0].keys()
    assert result["answer"]["memories"][0]["text"] == _TEXTS[0]
    ledger = await (await whole.get("/v1/ledger?soul=s1")).json()
    assert ledger["totals"]["deep"]["calls"] == 1


async def test_its_trace_can_be_read_and_judged(whole: Client) -> None:
    view = await until(whole, await begun(whole), "done")
    answer = view["result"]["answer"]
    trace = await (await whole.get(f"/v1/traces/{answer['trace']}")).json()
    assert trace["grade"] == "deep"
    assert trace["guidance"]["steps"] == view["result"]["steps"]
    verdict = {
        "trace": answer["trace"],
        "memory": answer["memories"][0]["id"],
        "verdict": "stronger",
    }
    assert (await whole.post("/v1/feedback", json=verdict)).status == 200


async def test_it_is_shown_and_cancelled_while_the_model_hangs(
    whole: Client, stage: ModelStage
) -> None:
    stage.llm.answers.clear()
    job = await begun(whole)
    await stage.thinking()
    view = await until(whole, job, "running")
    assert [step["step"] for step in view["result"]["steps"]] == ["explore"]
    await whole.delete(f"/v1/jobs/{job}")
    view = await until(whole, job, "cancelled")
    assert view["result"]["answer"] is None


@pytest.mark.parametrize("query", ["", None, 7, "x" * 2001])
async def test_a_question_that_is_none_is_refused(whole: Client, query: object) -> None:
    body = {"kind": "deep", "soul": "s1", "arguments": {"query": query}}
    answer = await whole.post("/v1/jobs", data=json.dumps(body), headers=_JSON)
    await refused(answer, 422, "arguments.query")


_JSON = {"Content-Type": "application/json"}
