"""The routes for language models, and the user's word about deletions."""

from __future__ import annotations

from typing import Any

import pytest

from soulmem.domain.audit import Actor
from soulmem.domain.ids import DEFAULT_OWNER
from tests.server.conftest import Client
from tests.server.fake_engine import FakeEngine

NAMES = {
    *(
        "call_assistant",
        "save_permanent_memory",
        "search_memories",
        "create_daily_summary",
    ),
    *("archive_memories", "update_memory_node", "delete_memory"),
    *("remember", "rate_memories"),
}
CALL = {"soul": "s1", "actor": "lead", "arguments": {"query": "rain"}}
DELETION = {
    "request": "d1",
    "soul": "s1",
    "memory": "m1",
    "actor": "lead",
    "reason": "tidy",
    "quote": "rain",
    "at": "2024-03-01T12:00:00Z",
    "state": "awaiting_confirmation",
    "decided": None,
}


async def test_all_tools_are_told_with_their_schemas(client: Client) -> None:
    tools = (await (await client.get("/v1/tools")).json())["tools"]

    assert {tool["name"] for tool in tools} == NAMES
    assert len(tools) == 10  # both models search, each in its own way
    for tool in tools:
        assert tool["description"]
        assert tool["parameters"]["type"] == "object"
        assert tool["parameters"]["additionalProperties"] is False
        assert "$ref" not in str(tool)
        assert r"\Z" not in str(tool)


async def test_each_actor_searches_with_its_own_parameters(client: Client) -> None:
    tools = (await (await client.get("/v1/tools")).json())["tools"]

    search = {
        t["actor"]: set(t["parameters"]["properties"])
        for t in tools
        if t["name"] == "search_memories"
    }
    assert search == {
        "lead": {"query", "limit", "tags"},
        "archivist": {"query", "limit", "tags", "time_range"},
    }


async def test_a_tool_is_called(client: Client, engine: FakeEngine) -> None:
    got = await client.post("/v1/tools/search_memories", json=CALL)

    assert (got.status, await got.json()) == (
        200,
        {"result": {"said": {"query": "rain"}}},
    )
    assert engine.asked("call_tool") == (
        DEFAULT_OWNER,
        "search_memories",
        "s1",
        Actor.LEAD,
        {"query": "rain"},
    )


async def test_a_tool_may_be_called_on_behalf_of_a_reply(
    client: Client, engine: FakeEngine
) -> None:
    call = CALL | {"arguments": {"instruction": "tidy"}, "for_reply": True}
    assert (await client.post("/v1/tools/call_assistant", json=call)).status == 200
    assert engine.asked("for_reply") == "call_assistant"


@pytest.mark.parametrize(
    "change",
    [
        {"actor": "user"},
        {"soul": "a/b"},
        {"arguments": []},
        {"more": 1},
        {"arguments": None},
    ],
)
async def test_a_bad_call_reaches_no_tool(
    client: Client, engine: FakeEngine, change: dict[str, Any]
) -> None:
    assert (await client.post("/v1/tools/search_memories", json=CALL | change)).status == 422
    assert engine.calls == []


async def test_deletions_are_told_and_decided(client: Client, engine: FakeEngine) -> None:
    got = await (await client.get("/v1/deletions?soul=s1")).json()
    assert got == {"deletions": [DELETION], "cursor": None}
    assert engine.asked("list_deletions") == (DEFAULT_OWNER, "s1")

    for word, confirmed in (("confirm", True), ("reject", False)):
        answer = await client.post("/v1/deletions/d1", json={"decision": word})
        assert (answer.status, (await answer.json())["state"]) == (200, "confirmed")
        assert engine.asked("decide") == (DEFAULT_OWNER, "d1", confirmed)
    assert (await client.post("/v1/deletions/d1", json={"decision": "perhaps"})).status == 422
