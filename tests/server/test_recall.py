"""Recall: every field of the contract is taken, checked and answered."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from soulmem.domain.situation import Emotion
from soulmem.engine.api.requests import RecallMode, RecallRequest, RecallType, TimeRange
from tests.server.conftest import Client, refused
from tests.server.fake_engine import FakeEngine
from tests.server.test_chats import a_chat, a_message

UPSIDE_DOWN = {"from": "2024-03-02T00:00:00Z", "to": "2024-03-01T00:00:00Z"}
ANSWER = {
    "trace": "t1",
    "memories": [
        {
            "id": "m1",
            "kind": "episode",
            "text": "It rained.",
            "score": 1.5,
            "hops": 0,
            "permanent": False,
            "fired": None,
            "why": "rain -> that day",
            "path": [{"id": "m1", "label": "that day", "edge": None}],
            "sources": [{"chat": "c1", "slot": "k1"}],
            "age_turns": 3,
            "visibility": 1.0,
            "pushed": False,
        }
    ],
    "blocks": [
        {
            "section": "episodes",
            "position": "in_chat",
            "depth": 4,
            "role": "system",
            "text": "Memories:\nIt rained.",
            "tokens": 5,
            "items": [{"memory": "m1", "text": "It rained.", "tokens": 3, "scene": None}],
        }
    ],
    "tokens": 5,
    "timed_out": False,
    "took_ms": {
        "total": 1.0,
        "embed": 0.5,
        "search": 0.25,
        "walk": 0.0,
        "assemble": 0.25,
    },
    "withheld": 3,
}


@pytest.fixture(autouse=True)
async def soul(client: Client) -> None:
    await client.put("/v1/souls/s1", json={"name": "Mira"})


async def test_the_least_that_can_be_asked(client: Client, engine: FakeEngine) -> None:
    answer = await client.post("/v1/recall", json={"soul": "s1"})
    assert answer.status == 200
    assert await answer.json() == ANSWER
    assert engine.asked("recall") == RecallRequest("s1")  # type: ignore[arg-type]


async def test_everything_that_can_be_asked(client: Client, engine: FakeEngine) -> None:
    body = {
        "soul": "s1",
        "chat": "c1",
        "slot": "m9",
        "swipe": 2,
        "query": "rain?",
        "intent": "show that I care",
        "type": "swipe",
        "budget_tokens": 100,
        "max_items": 50,
        "context_from": "m3",
        "context_texts": ["A card.", "一张卡片。"],
        "time_budget_ms": 1,
        "mode": "walk",
        "time_range": {
            "from": "2024-03-01T00:00:00Z",
            "to": "2024-03-02T01:00:00+01:00",
        },
        "mood": {"label": "calm", "intensity": 1},
        "tags": ["a", "标签"],
        "reserve_window": True,
    }
    assert (await client.post("/v1/recall", json=body)).status == 200
    assert engine.asked("recall") == RecallRequest(
        soul="s1",  # type: ignore[arg-type]
        chat="c1",  # type: ignore[arg-type]
        slot="m9",  # type: ignore[arg-type]
        swipe=2,
        query="rain?",
        intent="show that I care",
        type=RecallType.SWIPE,
        budget_tokens=100,
        max_items=50,
        context_from="m3",  # type: ignore[arg-type]
        context_texts=("A card.", "一张卡片。"),
        time_budget_ms=1,
        mode=RecallMode.WALK,
        time_range=TimeRange(
            datetime(2024, 3, 1, tzinfo=timezone.utc),
            datetime(2024, 3, 2, tzinfo=timezone.utc),
        ),
        mood=Emotion("calm", 1.0),
        tags=("a", "标签"),
        reserve_window=True,
    )


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("soul", "a b", "soul"),
        ("soul", None, "soul"),
        ("chat", "⟨a⟩", "chat"),
        ("chat", "", "chat"),
        ("slot", 7, "slot"),
        ("swipe", -5, "swipe"),
        ("query", 7, "query"),
        ("query", "x" * 200_001, "query"),
        ("type", "", "type"),
        ("mode", "fast", "mode"),
        ("budget_tokens", 0, "budget_tokens"),
        ("budget_tokens", 1_000_001, "budget_tokens"),
        ("budget_tokens", "100", "budget_tokens"),
        ("budget_tokens", True, "budget_tokens"),
        ("max_items", 0, "max_items"),
        ("max_items", 51, "max_items"),
        ("time_budget_ms", 0, "time_budget_ms"),
        ("context_from", "é", "context_from"),
        ("context_texts", "A card.", "context_texts"),
        ("context_texts", [7], "context_texts[0]"),
        ("context_texts", [""] * 65, "context_texts"),
        ("context_texts", ["x" * 200_001], "context_texts[0]"),
        ("context_texts", ["x" * 100_000, "y" * 100_001], "context_texts"),
        ("mood", {"label": "calm", "intensity": 1.01}, "mood.intensity"),
        ("mood", {"label": "calm"}, "mood.intensity"),
        ("mood", "calm", "mood"),
        ("tags", "a", "tags"),
        ("tags", [7], "tags[0]"),
        ("time_range", {"from": "2024-03-01T00:00:00"}, "time_range.from"),
        (
            "time_range",
            {"from": "2024-03-02T00:00:00Z", "to": "2024-03-02T00:00:00Z"},
            "time_range.to",
        ),
        ("time_range", {"start": "2024-03-02T00:00:00Z"}, "time_range.start"),
        ("reserve_window", "no", "reserve_window"),
        ("budget_token", 1, "budget_token"),
    ],
)
async def test_bad_questions_are_refused(
    client: Client, engine: FakeEngine, field: str, value: Any, expected: str
) -> None:
    answer = await client.post("/v1/recall", json={"soul": "s1", field: value})
    await refused(answer, 422, expected)
    assert [name for name, _ in engine.calls] == ["put_soul"]


async def test_messages_name_value_and_remedy(client: Client) -> None:
    cases: list[tuple[dict[str, Any], str, list[str]]] = [
        ({"mode": "fast"}, "mode", ['"fast"', "auto", "steady"]),
        ({"max_items": 51}, "max_items", ["51", "at most 50"]),
        ({"chat": "a b"}, "chat", ['"a b"', "A-Z a-z 0-9 _ -"]),
        ({"query": "x" * 200_001}, "query", ["200001", "200000"]),
        ({"context_texts": [""] * 65}, "context_texts", ["65", "at most 64"]),
        (
            {"context_texts": ["x" * 200_000, "y"]},
            "context_texts",
            ["200001", "200000", "send"],
        ),
        ({"budget_tokens": "7"}, "budget_tokens", ['"7"', "whole number"]),
    ]
    for body, field, words in cases:
        message = await refused(
            await client.post("/v1/recall", json={"soul": "s1", **body}), 422, field
        )
        assert all(word in message for word in words), message


async def test_a_sync_and_the_recall_behind_it_are_one_call(
    client: Client, engine: FakeEngine
) -> None:
    body = {
        "sync": a_chat(a_message("m1"), a_message("m2")),
        "recall": {"soul": "s1", "slot": "m3", "swipe": 0, "time_budget_ms": 900},
    }
    answer = await client.post("/v1/chats/c1/recall", json=body)
    assert answer.status == 200
    assert await answer.json() == {
        "sync": {
            "needs_text": [],
            "applied": True,
            "added": 2,
            "changed": 0,
            "removed": 0,
            "held": None,
        },
        "recall": ANSWER,
    }
    asked = [name for name, _ in engine.calls]
    assert asked == ["put_soul", "sync_chat", "recall"]
    request = engine.asked("recall")
    assert (request.chat, request.slot) == ("c1", "m3")
    assert 0 < request.time_budget_ms <= 900, "the sync is part of it"


async def test_nothing_is_recalled_for_a_chat_that_lacks_texts(
    client: Client, engine: FakeEngine
) -> None:
    body = {"sync": a_chat(a_message("m1", text=None)), "recall": {"soul": "s1"}}
    answer = await (await client.post("/v1/chats/c1/recall", json=body)).json()
    assert answer["sync"]["needs_text"] == ["m1"]
    assert answer["recall"] is None
    assert [name for name, _ in engine.calls] == ["put_soul", "sync_chat"]


@pytest.mark.parametrize(
    ("recall", "expected"),
    [
        ({"soul": "s1", "chat": "c2"}, "recall.chat"),
        ({"soul": "a b"}, "recall.soul"),
        ({"soul": "s1", "time_range": UPSIDE_DOWN}, "recall.time_range.to"),
        (None, "recall"),
    ],
)
async def test_a_bad_recall_is_refused_before_the_sync(
    client: Client, engine: FakeEngine, recall: Any, expected: str
) -> None:
    body = {"sync": a_chat(a_message("m1")), "recall": recall}
    await refused(await client.post("/v1/chats/c1/recall", json=body), 422, expected)
    assert [name for name, _ in engine.calls] == ["put_soul"]


async def test_a_slot_that_is_sent_twice_is_named_as_a_part_of_the_sync(
    client: Client,
) -> None:
    body = {
        "sync": a_chat(a_message("m1"), a_message("m1")),
        "recall": {"soul": "s1"},
    }
    answer = await client.post("/v1/chats/c1/recall", json=body)
    await refused(answer, 422, "sync.messages[1].slot")


async def test_an_open_range_is_no_range(client: Client, engine: FakeEngine) -> None:
    await client.post("/v1/recall", json={"soul": "s1", "time_range": {}})
    assert engine.asked("recall").time_range is None


@pytest.mark.parametrize("end", ["from", "to"])
async def test_a_range_that_is_open_at_one_end_is_bounded_at_the_other(
    client: Client, engine: FakeEngine, end: str
) -> None:
    span = {end: "2024-03-01T00:00:00Z"}
    await client.post("/v1/recall", json={"soul": "s1", "time_range": span})
    moment = datetime(2024, 3, 1, tzinfo=timezone.utc)
    wanted = TimeRange(moment, None) if end == "from" else TimeRange(None, moment)
    assert engine.asked("recall").time_range == wanted


async def test_an_unknown_soul(client: Client) -> None:
    await refused(await client.post("/v1/recall", json={"soul": "nobody"}), 404)


async def test_a_trace_tells_what_was_considered(client: Client) -> None:
    got = await (await client.get("/v1/traces/t1")).json()
    assert got["answer"] == ANSWER
    assert got["query"] == [{"text": "rain", "weight": 1.0}]
    assert got["seeds"] == [{"id": "m1", "share": 0.5}]
    assert got["considered"][0]["cut"] == "over the budget"
    assert (got["grade"], got["grade_why"], got["guidance"]) == (
        "baseline",
        "small talk",
        {"depth": "casual"},
    )
    assert got["grades"] == [
        {
            "name": "baseline",
            "enough": True,
            "why": "small talk",
            "why_phrase": {
                "code": "climb_small_talk",
                "text": "small talk",
                "values": {},
            },
            "ms": 0.5,
        }
    ]
    assert got["working"] == [
        {
            "id": "m3",
            "text": "fog",
            "loaded": False,
            "recalls": 2,
            "turns": 7,
            "why": "recalled twice",
        }
    ]
    await refused(await client.get("/v1/traces/t2"), 404)
