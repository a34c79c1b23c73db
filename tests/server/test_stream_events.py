"""The routes of streams: events are added once and listed page by page; a malformed one refuses its batch."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from soulmem.config.settings import ServerSettings
from soulmem.server.app import create_app
from tests.engine.stage import Stage
from tests.server.conftest import TOKEN, Client

URL = "/v1/streams/live"


@pytest.fixture
async def whole() -> AsyncIterator[Client]:
    """The routes over a real engine on fakes, with one soul."""
    stage = Stage()
    app = create_app(stage.engine, ServerSettings(token=TOKEN), test_mode=True)
    async with TestClient(TestServer(app)) as client:
        await client.put("/v1/souls/s1", json={"name": "Mira"})
        yield client


def event(number: int, **more: Any) -> dict[str, Any]:
    """An event of May 2026."""
    at = f"2026-05-01T20:{number:02}:00+02:00"
    return {"id": f"e{number}", "at": at, "speaker": "Zed", "text": "hello"} | more


async def add(client: Client, *events: Any, **more: Any) -> tuple[int, Any]:
    """Status and answer of a batch."""
    body = {"soul": "s1", "events": list(events)} | more
    response = await client.post(URL, json=body)
    return response.status, await response.json()


async def listed(client: Client, **more: Any) -> dict[str, Any]:
    response = await client.get(URL, params={"soul": "s1", **more})
    assert response.status == 200
    answer: dict[str, Any] = await response.json()
    return answer


async def test_events_are_added_once_and_listed_by_time(whole: Client) -> None:
    assert await add(whole, event(2), event(1)) == (200, {"added": 2, "known": 0})
    later = await add(whole, event(1, text="changed"), event(3))
    assert later == (200, {"added": 1, "known": 1})
    first = await listed(whole, limit=2)
    assert [e["id"] for e in first["events"]] == ["e1", "e2"]
    assert first["events"][0] == event(1) | {"at": "2026-05-01T18:01:00Z"}
    last = await listed(whole, limit=2, cursor=first["cursor"])
    assert ([e["id"] for e in last["events"]], last["cursor"]) == (["e3"], None)


async def test_a_stream_that_is_not_known_is_empty(whole: Client) -> None:
    assert await listed(whole) == {"events": [], "cursor": None}


@pytest.mark.parametrize(
    "more",
    [
        {"at": "yesterday"},
        {"at": "2026-05-01T20:00:00"},
        {"id": "a b"},
        {"speaker": ""},
        {"speaker": None},
        {"text": 7},
        {"mood": "fine"},
    ],
)
async def test_one_malformed_event_refuses_the_batch(whole: Client, more: dict[str, Any]) -> None:
    status, answer = await add(whole, event(1), event(2, **more))
    assert (status, answer["error"]) == (422, "unprocessable")
    assert answer["field"].startswith("events[1]")
    assert await listed(whole) == {"events": [], "cursor": None}


@pytest.mark.parametrize(("end", "wanted"), [("from", ["e2", "e3"]), ("to", ["e1"])])
async def test_a_span_that_is_open_at_one_end_selects(
    whole: Client, end: str, wanted: list[str]
) -> None:
    await add(whole, event(1), event(2), event(3))
    found = await listed(whole, **{end: "2026-05-01T18:02:00Z"})
    assert [e["id"] for e in found["events"]] == wanted


async def test_another_soul_and_a_wrong_span_are_refused(whole: Client) -> None:
    assert (await add(whole, event(1), soul="nobody"))[0] == 404
    span = {"from": "2026-05-02T00:00:00Z", "to": "2026-05-01T00:00:00Z"}
    response = await whole.get(URL, params={"soul": "s1", **span})
    assert response.status == 422
    response = await whole.get("/v1/streams/a%20b", params={"soul": "s1"})
    assert response.status == 422
