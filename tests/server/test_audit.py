"""The routes to what was changed."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from soulmem.domain.ids import DEFAULT_OWNER
from soulmem.domain.opinions import Verdict
from tests.server.conftest import Client
from tests.server.fake_engine import FakeEngine

ENTRY = {
    "id": "c1",
    "at": "2024-03-01T12:00:00Z",
    "actor": "archivist",
    "action": "change",
    "target": "m1",
    "before": {"text": "rain"},
    "after": {"text": "sun"},
    "source": "j1",
    "reason": "asked",
    "undone": False,
}
WHEN = datetime(2024, 3, 1, 11, tzinfo=timezone.utc)


async def test_the_audit_is_told_page_by_page(client: Client, engine: FakeEngine) -> None:
    got = await client.get("/v1/audit?soul=s1&since=2024-03-01T12:00:00%2B01:00&limit=7&cursor=c9")

    assert (got.status, await got.json()) == (200, {"audit": [ENTRY], "cursor": "c0"})
    assert engine.asked("audit") == (DEFAULT_OWNER, "s1", WHEN, 7, "c9")


async def test_a_history_is_told(client: Client, engine: FakeEngine) -> None:
    got = await client.get("/v1/memories/m1/history")

    assert (got.status, await got.json()) == (200, {"audit": [ENTRY], "cursor": None})
    assert engine.asked("history") == (DEFAULT_OWNER, "m1", 100, None)


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ({"since": "2024-03-01T11:00:00Z"}, (WHEN, None, None)),
        ({"change": "c1"}, (None, "c1", None)),
        ({"job": "j1"}, (None, None, "j1")),
    ],
)
async def test_undoing_is_told(
    client: Client, engine: FakeEngine, body: dict[str, str], asked: tuple[object, ...]
) -> None:
    got = await client.post("/v1/undo", json={"soul": "s1", **body})

    assert got.status == 200
    assert await got.json() == {
        "changes": ["c1"],
        "memories": ["m1"],
        "edges": 2,
        "skipped": [{"target": "m2", "field": "text"}],
    }
    assert engine.asked("undo") == (DEFAULT_OWNER, "s1", *asked)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/audit",
        "/v1/audit?soul=s1&limit=0",
        "/v1/audit?soul=s1&since=now",
        "/v1/audit?soul=s/1",
    ],
)
async def test_bad_questions_are_refused(client: Client, engine: FakeEngine, path: str) -> None:
    assert (await client.get(path)).status == 422
    assert engine.calls == []


@pytest.mark.parametrize("verdict", [choice.value for choice in Verdict])
async def test_feedback_is_taken(client: Client, engine: FakeEngine, verdict: str) -> None:
    body = {"trace": "t1", "memory": "m1", "verdict": verdict}
    got = await client.post("/v1/feedback", json=body)

    assert got.status == 200
    assert await got.json() == {
        "memory": "m1",
        "score": 0.35,
        "in_doubt": True,
        "not_in": ["c1"],
        "edges": 2,
        "change": "c9",
    }
    assert engine.asked("feedback") == (DEFAULT_OWNER, "t1", "m1", Verdict(verdict))
    for broken in ({"verdict": "meh"}, {"trace": ""}, {"more": 1}):
        assert (await client.post("/v1/feedback", json=body | broken)).status == 422
