"""Graph, timeline and the test routes."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from tests.server.conftest import Client, Opener, refused
from tests.server.fake_engine import FakeEngine

SPAN = {"from": "2024-03-01T00:00:00Z", "to": "2024-03-02T00:00:00Z"}


async def test_graph(client: Client, engine: FakeEngine) -> None:
    await client.post("/v1/memories", json={"soul": "s1", "kind": "note", "text": "t"})
    got = await (await client.get("/v1/graph?soul=s1&limit=1000")).json()
    assert [m["text"] for m in got["memories"]] == ["t"]
    assert got["edges"] == []
    assert engine.asked("graph") == ("s1", None, 2, 1000)
    await client.get("/v1/graph?soul=s1&center=m1&hops=0&limit=5")
    assert engine.asked("graph") == ("s1", "m1", 0, 5)


async def test_timeline(client: Client, engine: FakeEngine) -> None:
    fields = {"time_span": {"from": SPAN["from"], "to": "2024-03-01T06:00:00Z"}}
    await client.post(
        "/v1/memories",
        json={"soul": "s1", "kind": "episode", "text": "t", "fields": fields},
    )
    await client.post(
        "/v1/memories", json={"soul": "s1", "kind": "episode", "text": "u"}
    )
    got = await (await client.get("/v1/timeline", params={"soul": "s1", **SPAN})).json()
    places = [{"chat": "c1", "slot": "k1"}]
    assert got == {
        "memories": [
            {
                "id": "m1",
                "kind": "episode",
                "text": "t",
                **fields["time_span"],
                "sources": places,
            },
            {
                "id": "m2",
                "kind": "episode",
                "text": "u",
                "from": "2024-03-01T12:00:00Z",
                "to": "2024-03-01T12:00:00Z",
                "sources": places,
            },
        ],
        "cursor": None,
    }
    start, end = (
        datetime(2024, 3, 1, tzinfo=timezone.utc),
        datetime(2024, 3, 2, tzinfo=timezone.utc),
    )
    assert engine.asked("timeline") == ("s1", start, end, 100, None)


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/v1/graph", "soul"),
        ("/v1/graph?soul=s1&hops=-1", "hops"),
        ("/v1/graph?soul=s1&hops=11", "hops"),
        ("/v1/graph?soul=s1&center=a/b", "center"),
        ("/v1/timeline", "soul"),
        ("/v1/timeline?soul=s1&from=now", "from"),
        ("/v1/timeline?soul=s1&from=1700000000", "from"),
        ("/v1/timeline?soul=s1&to=2024-03-01T00:00:00", "to"),
        (
            "/v1/timeline?soul=s1&from=2024-03-01T00:00:00Z&to=2024-03-01T00:00:00Z",
            "to",
        ),
        ("/v1/timeline?soul=s1&start=2024-03-01T00:00:00Z", "start"),
    ],
)
async def test_bad_views_are_refused(client: Client, path: str, field: str) -> None:
    await refused(await client.get(path), 422, field)


async def test_the_clock_moves(client: Client, engine: FakeEngine) -> None:
    assert (
        await client.post("/v1/test/clock", json={"advance_seconds": 1.5})
    ).status == 200
    assert (
        await client.post("/v1/test/clock", json={"advance_turns": 7})
    ).status == 200
    assert engine.clock == (1.5, 7)
    await refused(
        await client.post("/v1/test/clock", json={"advance_turns": -1}),
        422,
        "advance_turns",
    )
    await refused(
        await client.post("/v1/test/clock", json={"advance_seconds": 1e300}),
        422,
        "advance_seconds",
    )


async def test_idle_runs(client: Client, engine: FakeEngine) -> None:
    assert (await client.post("/v1/test/idle")).status == 200
    assert (await client.post("/v1/test/idle", json={})).status == 200
    assert [name for name, _ in engine.calls] == ["run_idle", "run_idle"]


async def test_test_doors_exist_in_test_mode_only(
    opened: Opener, engine: FakeEngine
) -> None:
    client = await opened(test_mode=False)
    await refused(await client.post("/v1/test/idle", json={}), 404)
    await refused(await client.post("/v1/test/clock", json={"advance_turns": 1}), 404)
    assert (
        "/v1/test/idle"
        not in (await (await client.get("/openapi.json")).json())["paths"]
    )
    assert engine.calls == []
