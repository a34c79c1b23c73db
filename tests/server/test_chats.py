"""Chats: the sync reaches the engine whole and in order, and comes back as it went in."""

from __future__ import annotations

import copy
import hashlib
import io
import json
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from soulmem.domain.calendar import FIRST, LAST
from soulmem.domain.dialogue import Fork
from soulmem.engine.api.requests import Activity, Base, SyncAnswer, SyncRequest
from tests.server.conftest import Client, refused
from tests.server.fake_engine import FakeEngine


def a_message(slot: str, text: str | None = "hi", **more: Any) -> dict[str, Any]:
    return {
        "slot": slot,
        "hash": hashlib.sha256((text or "").encode()).hexdigest()[:16],
        "role": "user",
        "speaker": "Alice",
        "sent_at": "2024-03-01T00:00:00Z",
        "story_at": None,
        "hidden": False,
        "swipe": 0,
        "present": None,
        "text": text,
        **more,
    }


def a_chat(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "souls": ["s1"],
        "title": "t",
        "persona": "Alice",
        "parent": None,
        "base": None,
        "messages": list(messages),
        "confirm_removal": False,
        **more,
    }


async def test_a_chat_comes_back_as_it_was_sent(client: Client) -> None:
    messages = [
        a_message("m1", '你好 <b>\u202e\\ " \t'),
        a_message(
            "m2",
            role="character",
            speaker="Mira",
            hidden=True,
            swipe=3,
            present=["s1"],
            story_at="1850-01-01T09:00:00Z",
        ),
    ]
    parent = {"chat": "c0", "fork_slot": "m1"}
    done = await client.put("/v1/chats/c1", json=a_chat(*messages, parent=parent))
    assert done.status == 200
    assert await done.json() == {
        "needs_text": [],
        "applied": True,
        "added": 2,
        "changed": 0,
        "removed": 0,
        "held": None,
    }
    head = {
        "id": "c1",
        "title": "t",
        "souls": ["s1"],
        "persona": "Alice",
        "parent": parent,
        "count": 2,
        "state": "active",
        "held": None,
    }
    got = await (await client.get("/v1/chats/c1")).json()
    assert got == {**head, "messages": messages, "cursor": None}
    assert await (await client.get("/v1/chats?soul=s1")).json() == {
        "chats": [head],
        "cursor": None,
    }
    assert await (await client.get("/v1/chats?soul=s2")).json() == {
        "chats": [],
        "cursor": None,
    }


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("0001-01-01T00:00:00+14:00", FIRST),
        ("0001-01-01T00:00:00Z", FIRST),
        ("9999-12-31T23:59:59.999999-12:00", LAST),
    ],
)
async def test_a_time_at_an_end_of_the_calendar_arrives_as_the_nearest_with_a_date_everywhere(
    client: Client, engine: FakeEngine, sent: str, stored: datetime
) -> None:
    body = a_chat(a_message("m1", sent_at=sent, story_at=sent))
    assert (await client.put("/v1/chats/c1", json=body)).status == 200
    (message,) = engine.asked("sync_chat").messages
    assert (message.sent_at, message.story_at) == (stored, stored)


async def test_times_arrive_in_utc(client: Client, engine: FakeEngine) -> None:
    await client.put(
        "/v1/chats/c1",
        json=a_chat(a_message("m1", sent_at="2024-03-01T02:00:00+02:00")),
    )
    sent = engine.asked("sync_chat").messages[0].sent_at
    assert sent == datetime(2024, 3, 1, tzinfo=timezone.utc)
    assert sent.utcoffset() == timedelta(0)


async def test_the_request_reaches_the_engine(client: Client, engine: FakeEngine) -> None:
    body = a_chat(
        a_message("m3", text="x"),
        souls=["s1", "s2", "s1"],
        base={"count": 2, "digest": "0" * 64},
        parent={"chat": "c0", "fork_slot": "m1"},
        confirm_removal=True,
    )
    del body["messages"][0]["text"]
    answer = await client.put("/v1/chats/c1", json=body)
    assert (await answer.json())["needs_text"] == ["m3"]
    asked: SyncRequest = engine.asked("sync_chat")
    assert (asked.chat, asked.souls, asked.base) == (
        "c1",
        ("s1", "s2"),
        Base(2, "0" * 64),
    )
    assert (asked.parent, asked.confirm_removal) == (Fork("c0", "m1"), True)  # type: ignore[arg-type]
    assert asked.messages[0].text is None


async def test_held_removals_are_told(
    client: Client, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def held(*_: Any) -> SyncAnswer:
        return SyncAnswer(applied=False, held=15)

    monkeypatch.setattr(engine.chats, "sync", held)
    answer = await client.put("/v1/chats/c1", json=a_chat(a_message("m1")))
    assert (await answer.json())["held"] == {"reason": "mass_removal", "count": 15}


@pytest.mark.parametrize(
    ("where", "value", "field"),
    [
        (("souls",), [], "souls"),
        (("souls",), ["a b"], "souls[0]"),
        (("souls",), None, "souls"),
        (("messages",), {}, "messages"),
        (("messages", 0, "slot"), "a/b", "messages[0].slot"),
        (("messages", 0, "slot"), "a\n", "messages[0].slot"),
        (("messages", 0, "slot"), "a" * 65, "messages[0].slot"),
        (("messages", 0, "hash"), "0" * 15, "messages[0].hash"),
        (("messages", 0, "hash"), "A" * 16, "messages[0].hash"),
        (("messages", 0, "role"), "assistant", "messages[0].role"),
        (("messages", 0, "sent_at"), "2024-03-01T00:00:00", "messages[0].sent_at"),
        (("messages", 0, "sent_at"), "2024-02-30T00:00:00Z", "messages[0].sent_at"),
        (("messages", 0, "sent_at"), "yesterday", "messages[0].sent_at"),
        (("messages", 0, "sent_at"), 1700000000, "messages[0].sent_at"),
        (("messages", 0, "sent_at"), "10000-01-01T00:00:00Z", "messages[0].sent_at"),
        (("messages", 0, "story_at"), "0000-12-31T23:59:59Z", "messages[0].story_at"),
        (("messages", 0, "hidden"), 0, "messages[0].hidden"),
        (("messages", 0, "swipe"), -1, "messages[0].swipe"),
        (("messages", 0, "swipe"), "0", "messages[0].swipe"),
        (("messages", 0, "swipe"), 10**30, "messages[0].swipe"),
        (("messages", 0, "present"), "s1", "messages[0].present"),
        (("messages", 0, "text"), 7, "messages[0].text"),
        (("messages", 0, "txt"), "x", "messages[0].txt"),
        (("parent",), {"chat": "c0"}, "parent.fork_slot"),
        (("parent",), "c0", "parent"),
        (("base",), {"count": -1, "digest": "0" * 64}, "base.count"),
        (("base",), {"count": 1, "digest": "zz"}, "base.digest"),
        (("confirm_removal",), "yes", "confirm_removal"),
    ],
)
async def test_bad_syncs_are_refused(
    client: Client, engine: FakeEngine, where: tuple[Any, ...], value: Any, field: str
) -> None:
    body: Any = copy.deepcopy(a_chat(a_message("m1")))
    spot = body
    for key in where[:-1]:
        spot = spot[key]
    spot[where[-1]] = value
    await refused(await client.put("/v1/chats/c1", json=body), 422, field)
    assert engine.calls == []


async def test_a_slot_may_come_once(client: Client) -> None:
    answer = await client.put(
        "/v1/chats/c1",
        json=a_chat(a_message("m1"), a_message("m2"), a_message("m1", "y")),
    )
    assert "messages[0]" in await refused(answer, 422, "messages[2].slot")


@pytest.fixture
def large_chat() -> bytes:
    """5,000 messages, 6 MB; made outside the loop, which must not compute."""
    text = "x" * 1000
    messages = [a_message(f"m{i}", text, sent_at="2024-03-01T02:00:00+02:00") for i in range(5000)]
    return json.dumps(a_chat(*messages)).encode()


async def test_a_large_chat_never_holds_the_loop(client: Client, large_chat: bytes) -> None:
    """The fixture of all tests fails this one if a step on the loop computes longer than 50 ms."""
    answer = await client.put(
        "/v1/chats/c1",
        data=io.BytesIO(large_chat),
        headers={"Content-Type": "application/json"},
    )
    assert (await answer.json())["added"] == 5000
    got = await client.get("/v1/chats/c1")
    assert got.status == 200
    assert (await got.read()).count(b"x" * 1000) == 5000


async def test_delete(client: Client) -> None:
    await client.put("/v1/chats/c1", json=a_chat(a_message("m1")))
    assert (await client.delete("/v1/chats/c1")).status == 200
    await refused(await client.delete("/v1/chats/c1"), 404)


async def test_activity(client: Client, engine: FakeEngine) -> None:
    assert (await client.post("/v1/activity", json={"chat": "c1", "state": "closed"})).status == 200
    assert engine.asked("activity") == ("c1", Activity.CLOSED)
    await refused(
        await client.post("/v1/activity", json={"chat": "c1", "state": "open"}),
        422,
        "state",
    )
