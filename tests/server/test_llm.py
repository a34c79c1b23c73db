"""Does a call that waits for a client reach the right one, once at a time, and its answer come back?"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from soulmem.domain.errors import NotFound
from soulmem.domain.ids import DEFAULT_OWNER, Owner
from soulmem.domain.llm import Completion, Failure, LlmFailed, Prompt
from soulmem.engine.runtime.events import Event
from tests.server.conftest import Client, refused
from tests.server.fake_engine import FakeEngine

PROMPT = Prompt("summary", 1, "You write.", "Write this.", {"type": "object"}, 30)


@pytest.fixture
async def call(engine: FakeEngine) -> asyncio.Task[Completion]:
    """A call that waits."""
    llm = engine.llms.archivist(DEFAULT_OWNER)
    assert llm is not None
    task = asyncio.create_task(llm.complete(PROMPT))
    await asyncio.sleep(0)
    return task


async def test_nothing_waits(client: Client) -> None:
    answer = await client.get("/v1/llm/next")
    assert (answer.status, await answer.read()) == (204, b"")


async def test_a_call_goes_out_and_its_answer_comes_back(
    client: Client, engine: FakeEngine, call: asyncio.Task[Completion]
) -> None:
    answer = await client.get("/v1/llm/next")
    request_body = await answer.json()
    request = request_body.pop("request")
    assert (answer.status, request_body) == (
        200,
        {
            "name": "summary",
            "system": "You write.",
            "user": "Write this.",
            "schema": {"type": "object"},
            "max_tokens": 30,
        },
    )
    assert (await client.get("/v1/llm/next")).status == 204  # it is with one client at a time
    answer = await client.post(f"/v1/llm/{request}", json={"text": "written"})
    assert answer.status == 200
    assert (await call).text == "written"
    await refused(await client.post(f"/v1/llm/{request}", json={"text": "again"}), 404)
    assert engine.touches == 0  # a client that looks for work keeps nobody awake


async def test_asking_for_the_head_alone_takes_nothing(
    client: Client, call: asyncio.Task[Completion]
) -> None:
    answer = await client.head("/v1/llm/next")
    assert answer.status == 405
    assert (await client.get("/v1/llm/next")).status == 200
    call.cancel()


async def test_whoever_listens_hears_of_a_call(engine: FakeEngine) -> None:
    llm = engine.llms.archivist(DEFAULT_OWNER)
    assert llm is not None
    with (
        engine.events.listen(DEFAULT_OWNER) as mine,
        engine.events.listen(Owner("bob")) as others,
    ):
        task = asyncio.create_task(llm.complete(PROMPT))
        await asyncio.sleep(0)
        request = engine.llms.take(DEFAULT_OWNER)
        assert request is not None
        engine.llms.answer(DEFAULT_OWNER, request.id, "written", None)
        await task
        heard = [mine.get_nowait() for _ in range(mine.qsize())]
    call = {"request": request.id}
    assert heard == [
        Event("llm", {**call, "state": "waiting"}),
        Event("llm", {**call, "state": "over"}),
    ]
    assert others.empty()


async def test_what_is_given_back_is_the_next_clients(
    client: Client, engine: FakeEngine, call: asyncio.Task[Completion]
) -> None:
    request_body = await (await client.get("/v1/llm/next")).json()
    answer = await client.delete(f"/v1/llm/{request_body['request']}")
    assert (answer.status, await answer.json()) == (200, {"ok": True})
    assert await (await client.get("/v1/llm/next")).json() == request_body
    assert not call.done()
    assert engine.llms.health().state == "ok", "the model did not fail"
    assert engine.touches == 0
    await client.post(f"/v1/llm/{request_body['request']}", json={"text": "written"})
    assert (await call).text == "written"
    await refused(await client.delete(f"/v1/llm/{request_body['request']}"), 404)


async def test_what_nobody_waits_for_cannot_be_given_back(client: Client) -> None:
    await refused(await client.delete("/v1/llm/abc"), 404)


async def test_no_other_user_gives_it_back(
    engine: FakeEngine, call: asyncio.Task[Completion]
) -> None:
    request = engine.llms.take(DEFAULT_OWNER)
    assert request is not None
    with pytest.raises(NotFound):
        engine.llms.give_back(Owner("somebody"), request.id)
    assert engine.llms.take(DEFAULT_OWNER) is None
    call.cancel()


async def test_a_failed_connection_is_told(client: Client, call: asyncio.Task[Completion]) -> None:
    request = (await (await client.get("/v1/llm/next")).json())["request"]
    await client.post(f"/v1/llm/{request}", json={"error": "no\nconnection"})
    with pytest.raises(LlmFailed, match="no connection") as raised:
        await call
    assert raised.value.kind is Failure.SERVER


async def test_no_call_goes_out_while_a_reply_is_written(
    client: Client, engine: FakeEngine, call: asyncio.Task[Completion]
) -> None:
    engine.is_busy = True
    assert (await client.get("/v1/llm/next")).status == 204
    engine.is_busy = False
    assert (await client.get("/v1/llm/next")).status == 200
    call.cancel()


async def test_no_other_users_client_gets_it(
    engine: FakeEngine, call: asyncio.Task[Completion]
) -> None:
    assert engine.llms.take(Owner("somebody")) is None
    assert engine.llms.take(DEFAULT_OWNER) is not None
    call.cancel()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "text"),
        ({"text": "a", "error": "b"}, "text"),
        ({"text": 7}, "text"),
        ({"word": "a"}, "word"),
    ],
)
async def test_one_of_the_two_is_sent(client: Client, body: dict[str, Any], field: str) -> None:
    await refused(await client.post("/v1/llm/abc", json=body), 422, field)
