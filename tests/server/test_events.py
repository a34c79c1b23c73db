"""Who listens hears what happens: its own owner's alone, at once, and is let go at the end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import ClientResponse
from aiohttp.test_utils import TestClient, TestServer

from soulmem.config.settings import ServerSettings
from soulmem.domain.errors import Busy
from soulmem.domain.ids import DEFAULT_OWNER, Owner
from soulmem.engine.runtime.events import _LISTENERS, _WAITING, MISSED, Event, Events
from soulmem.server.app import PUBLIC_ROUTES, create_app
from soulmem.server.routes import ENGINE
from tests.engine.stage import Stage
from tests.server.conftest import TOKEN, Client

OTHER = {"Authorization": f"Bearer {TOKEN}", "X-SoulMem-User": "bob"}


@pytest.fixture
async def whole() -> AsyncIterator[Client]:
    """The routes over a real engine on fakes."""
    app = create_app(Stage().engine, ServerSettings(token=TOKEN), test_mode=True)
    async with TestClient(TestServer(app)) as client:
        await client.put("/v1/souls/s1", json={"name": "Mira"})
        yield client


async def heard(answer: ClientResponse) -> tuple[str, Any]:
    """The next event."""
    kind, data, end = [await asyncio.wait_for(answer.content.readline(), 5) for _ in range(3)]
    assert end == b"\n"
    return kind.decode().removeprefix("event: ").strip(), json.loads(data.removeprefix(b"data: "))


async def test_memories_and_deletions_are_told(whole: Client) -> None:
    async with whole.get("/v1/events") as answer:
        assert answer.content_type == "text/event-stream"
        assert await heard(answer) == ("phase", {"phase": "working"})
        note = {"soul": "s1", "kind": "note", "text": "a red kite"}
        made = (await (await whole.post("/v1/memories", json=note)).json())["id"]
        assert await heard(answer) == (
            "memory",
            {"soul": "s1", "memories": [made], "actor": "user"},
        )

        call = {
            "soul": "s1",
            "actor": "archivist",
            "arguments": {"memory_id": made, "reason": "old"},
        }
        await whole.post("/v1/tools/delete_memory", json=call)
        kind, asked = await heard(answer)
        assert (kind, asked["state"], asked["memory"]) == (
            "deletion",
            "awaiting_confirmation",
            made,
        )
        await whole.post(f"/v1/deletions/{asked['request']}", json={"decision": "confirm"})
        assert (await heard(answer))[1]["memories"] == [made]
        assert (await heard(answer))[1]["state"] == "confirmed"


async def test_the_states_of_a_job_are_told(whole: Client) -> None:
    note = {"soul": "s1", "kind": "note", "text": "a red kite"}
    async with whole.get("/v1/events") as answer:
        await heard(answer)
        await whole.post("/v1/memories", json=note)
        await heard(answer)
        await whole.post("/v1/jobs", json={"kind": "topics", "soul": "s1"})
        events = [await heard(answer) for _ in range(3)]
        assert [kind for kind, _ in events] == ["job"] * 3
        assert [data["state"] for _, data in events] == ["queued", "running", "done"]
        assert "kite" not in str(events)


async def test_nobody_hears_of_another_user(whole: Client) -> None:
    async with whole.get("/v1/events", headers=OTHER) as answer:
        await heard(answer)
        await whole.post("/v1/memories", json={"soul": "s1", "kind": "note", "text": "mine"})
        await whole.put("/v1/souls/s1", json={"name": "Bel"}, headers=OTHER)
        mine = {"soul": "s1", "kind": "note", "text": "of bob"}
        made = (await (await whole.post("/v1/memories", json=mine, headers=OTHER)).json())["id"]
        assert (await heard(answer))[1]["memories"] == [made]


@pytest.mark.alone
async def test_the_line_ends_when_the_sidecar_does(whole: Client) -> None:
    answer = await whole.get("/v1/events")
    await heard(answer)
    began = asyncio.get_running_loop().time()
    await whole.server.close()
    assert asyncio.get_running_loop().time() - began < 2
    assert await answer.content.read() == b""


def test_who_is_far_behind_is_told_so_once() -> None:
    events = Events()
    with events.listen(DEFAULT_OWNER) as listener:
        for number in range(_WAITING + 50):
            events.publish("job", DEFAULT_OWNER, number=number)
        received = [listener.get_nowait() for _ in range(listener.qsize())]
    assert received == [*(Event("job", {"number": n}) for n in range(_WAITING)), MISSED]


def test_only_so_many_listen_and_who_goes_makes_room() -> None:
    events = Events()
    lines = [events.listen(Owner(f"o{n}")) for n in range(_LISTENERS)]
    for line in lines:
        line.__enter__()
    with pytest.raises(Busy), events.listen(DEFAULT_OWNER):
        pass
    lines[0].__exit__(None, None, None)
    with events.listen(DEFAULT_OWNER):
        pass


@pytest.mark.parametrize("is_told", [True, False])
async def test_a_page_that_goes_away_is_no_failure_and_makes_room(
    whole: Client,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    is_told: bool,
) -> None:
    """Whether something happens meanwhile or not."""
    if not is_told:
        monkeypatch.setattr("soulmem.server.resources.events._LOOK_SECONDS", 0.01)
    answer = await whole.get("/v1/events")
    await heard(answer)
    events = whole.server.app[ENGINE].events  # type: ignore[attr-defined]
    assert len(events._listeners) == 1
    answer.close()
    for _ in range(500):
        if is_told:
            events.publish("phase", phase="idle")
        await asyncio.sleep(0.01)
        if not events._listeners:
            break
    assert not events._listeners
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


def test_only_what_a_page_asks_by_itself_does_not_postpone_idle_work() -> None:
    """Whatever a user or a reply asks for is use, and a new route is, too."""
    unnoticed = {f"{route.method} {route.path}" for route in PUBLIC_ROUTES if not route.is_use}
    assert unnoticed == {
        "GET /v1/health",
        "GET /v1/events",
        "GET /v1/jobs",
        "GET /v1/jobs/{job}",
        "GET /v1/ledger",
        "GET /v1/model",
        "GET /v1/embedder",
        "GET /v1/llm/next",
        "POST /v1/llm/next",
        "POST /v1/llm/{request}",
        "DELETE /v1/llm/{request}",
    }
