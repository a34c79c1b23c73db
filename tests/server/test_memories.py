"""Memories by the user's hand: every field of the contract reaches the engine, and comes back."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import MemoryKind, MemoryState, Timelines
from soulmem.domain.situation import (
    ConceptDetail,
    ConceptType,
    Emotion,
    Participant,
    ParticipantKind,
    Situation,
    TimeSpan,
)
from soulmem.engine.api.requests import (
    ListOrder,
    MemoryFilter,
    MemoryPatch,
    NewEdge,
    NewMemory,
    Part,
    TagMatch,
)
from tests.server.conftest import Client, refused
from tests.server.fake_engine import FakeEngine

FIRST = datetime(2024, 3, 1, tzinfo=timezone.utc)
NOTE: dict[str, Any] = {"soul": "s1", "kind": "note", "text": "t"}
EPISODE_FIELDS = {
    "time_span": {
        "from": "2024-03-01T00:00:00Z",
        "to": "2024-03-01T06:00:00Z",
        "story": "that night",
    },
    "location": "the pier",
    "participants": [
        {"name": "Bo", "kind": "other", "feels": [{"label": "fear", "intensity": 0.4}]},
        {"name": "lantern", "kind": "object", "feels": []},
    ],
    "emotions": [{"label": "joy", "intensity": 0.7}],
    "sensations": ["salt wind"],
    "situation": "waiting for the ferry",
}
CONCEPT_FIELDS = {
    "concept_type": "abstract",
    "aliases": ["home"],
    "description": "where one is safe",
}


@pytest.fixture(autouse=True)
async def soul(client: Client) -> None:
    await client.put("/v1/souls/s1", json={"name": "Mira"})


async def test_the_least_a_memory_needs(client: Client, engine: FakeEngine) -> None:
    answer = await client.post("/v1/memories", json=NOTE)
    assert answer.status == 201
    assert engine.asked("create_memory") == NewMemory("s1", MemoryKind.NOTE, "t")  # type: ignore[arg-type]
    assert await answer.json() == {
        "id": "m1",
        "kind": "note",
        "text": "t",
        "tags": [],
        "feedback": 0.5,
        "in_doubt": False,
        "confidence": 1.0,
        "told": 1,
        "merged_into": None,
        "happened": "2024-03-01T12:00:00Z",
        "ended": "2024-03-01T12:00:00Z",
        "period": None,
        "importance": 0.5,
        "permanent": False,
        "locked": False,
        "timelines": "all",
        "state": "active",
        "revision": 1,
        "sources": [],
        "soul": "s1",
        "origin": "user",
        "created": "2024-03-01T12:00:00Z",
        "fields": {},
        "edges": [],
        "edge_count": 0,
        "evidence": [],
        "strength": 1.0,
        "visibility": 1.0,
        "uses": 0,
        "first_used": None,
        "last_used": None,
        "recall_frequency": 0.0,
        "recalls": [],
        "base_activation": None,
        "gone_in": None,
        "fades": False,
        "reworded": None,
        "units": [],
        "anchors": [],
        "left_out": [],
    }


async def test_a_memory_tells_of_its_recalls(client: Client) -> None:
    """How many, how often, the first, the last, and each of the last ones on both clocks."""
    await client.post("/v1/memories", json=NOTE)
    got = await (await client.get("/v1/memories/m1")).json()
    first, last = "2024-03-01T12:00:00Z", "2024-03-01T13:00:00Z"
    assert (got["uses"], got["first_used"], got["last_used"]) == (2, first, last)
    assert got["recalls"] == [{"at": first, "turn": 4}, {"at": last, "turn": 12}]
    assert got["recall_frequency"] == 2 / 8


async def test_an_episode_with_everything(client: Client, engine: FakeEngine) -> None:
    body = {
        **NOTE,
        "kind": "episode",
        "tags": ["a", "标签"],
        "importance": 1,
        "permanent": True,
        "locked": True,
        "timelines": "this",
        "chat": "c1",
        "slot": "k1",
        "fields": EPISODE_FIELDS,
        "edges": [
            {"to": "m9", "kind": "mentions", "strength": 0.4},
            {
                "from": "m8",
                "kind": "associates",
                "verb": "recalls",
                "confidence": 0.5,
                "probability": 0.25,
            },
        ],
    }
    answer = await client.post("/v1/memories", json=body)
    assert answer.status == 201
    assert engine.asked("create_memory") == NewMemory(
        soul="s1",  # type: ignore[arg-type]
        kind=MemoryKind.EPISODE,
        text="t",
        tags=("a", "标签"),
        importance=1.0,
        permanent=True,
        locked=True,
        timelines=Timelines.THIS,
        chat="c1",  # type: ignore[arg-type]
        slot="k1",  # type: ignore[arg-type]
        situation=Situation(
            time_span=TimeSpan(
                datetime(2024, 3, 1, tzinfo=timezone.utc),
                datetime(2024, 3, 1, 6, tzinfo=timezone.utc),
                "that night",
            ),
            location="the pier",
            participants=(
                Participant("Bo", feels=(Emotion("fear", 0.4),)),
                Participant("lantern", ParticipantKind.OBJECT),
            ),
            emotions=(Emotion("joy", 0.7),),
            sensations=("salt wind",),
            situation="waiting for the ferry",
        ),
        edges=(
            NewEdge(EdgeKind.MENTIONS, to="m9", strength=0.4),  # type: ignore[arg-type]
            NewEdge(
                EdgeKind.ASSOCIATES,
                source="m8",  # type: ignore[arg-type]
                verb="recalls",
                confidence=0.5,
                probability=0.25,
            ),
        ),
    )
    assert (await answer.json())["fields"] == EPISODE_FIELDS


async def test_edges_are_told_with_what_they_have(client: Client) -> None:
    edges = [
        {"to": "m9", "kind": "relates", "verb": "loves"},
        {"to": "m9", "kind": "associates"},
    ]
    got = await (await client.post("/v1/memories", json={**NOTE, "edges": edges})).json()
    first, second = got["edges"]
    assert (first["from"], first["to"], first["kind"], first["verb"]) == (
        "m1",
        "m9",
        "relates",
        "loves",
    )
    assert {"id", "strength", "stability", "uses", "confidence"} <= set(first)
    assert "verb" not in second
    assert "probability" not in second


async def test_a_concept(client: Client, engine: FakeEngine) -> None:
    answer = await client.post(
        "/v1/memories", json={**NOTE, "kind": "concept", "fields": CONCEPT_FIELDS}
    )
    assert engine.asked("create_memory").concept == ConceptDetail(
        ConceptType.ABSTRACT, ("home",), "where one is safe"
    )
    assert (await answer.json())["fields"] == CONCEPT_FIELDS


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"soul": "a b"}, "soul"),
        ({"kind": "fact"}, "kind"),
        ({"kind": ""}, "kind"),
        ({"text": 7}, "text"),
        ({"text": "x" * 100_001}, "text"),
        ({"text": "  \n"}, "text"),
        ({"tags": "a"}, "tags"),
        ({"tags": [""]}, "tags[0]"),
        ({"importance": 1.1}, "importance"),
        ({"importance": -0.1}, "importance"),
        ({"importance": "1"}, "importance"),
        ({"permanent": "no"}, "permanent"),
        ({"locked": 1}, "locked"),
        ({"timelines": "some"}, "timelines"),
        ({"timelines": "this"}, "chat"),
        ({"slot": "k1"}, "slot"),
        ({"fields": {"location": "x"}}, "fields.location"),
        ({"kind": "concept", "fields": {"emotions": []}}, "fields.emotions"),
        ({"kind": "episode", "fields": {"aliases": []}}, "fields.aliases"),
        ({"kind": "abstract_episode", "fields": {"location": "x"}}, "fields.location"),
        ({"kind": "episode", "fields": {"place": "x"}}, "fields.place"),
        (
            {"kind": "episode", "fields": {"emotions": [{"label": "joy"}]}},
            "fields.emotions[0].intensity",
        ),
        (
            {
                "kind": "episode",
                "fields": {"emotions": [{"label": "joy", "intensity": 2}]},
            },
            "fields.emotions[0].intensity",
        ),
        (
            {
                "kind": "episode",
                "fields": {"participants": [{"name": "Bo", "kind": "god"}]},
            },
            "fields.participants[0].kind",
        ),
        (
            {
                "kind": "episode",
                "fields": {"time_span": {"from": "2024-03-01T00:00:00"}},
            },
            "fields.time_span.from",
        ),
        (
            {
                "kind": "episode",
                "fields": {
                    "time_span": {
                        "from": "2024-03-02T00:00:00Z",
                        "to": "2024-03-01T00:00:00Z",
                    }
                },
            },
            "fields.time_span.to",
        ),
        ({"edges": [{"kind": "associates"}]}, "edges[0].to"),
        ({"edges": [{"kind": "associates", "to": "m1", "from": "m2"}]}, "edges[0].to"),
        ({"edges": [{"kind": "likes", "to": "m1"}]}, "edges[0].kind"),
        ({"edges": [{"to": "m1"}]}, "edges[0].kind"),
        ({"edges": [{"kind": "associates", "to": "m 1"}]}, "edges[0].to"),
        (
            {"edges": [{"kind": "associates", "to": "m1", "strength": 1.5}]},
            "edges[0].strength",
        ),
        (
            {"edges": [{"kind": "fires", "to": "m1", "probability": -1}]},
            "edges[0].probability",
        ),
        ({"edges": [{"kind": "associates", "source": "m1"}]}, "edges[0].source"),
    ],
)
async def test_bad_memories_are_refused(
    client: Client, engine: FakeEngine, change: dict[str, Any], field: str
) -> None:
    await refused(await client.post("/v1/memories", json={**NOTE, **change}), 422, field)
    assert engine.stored_memories == {}


async def test_the_longest_text_is_taken(client: Client) -> None:
    assert (await client.post("/v1/memories", json={**NOTE, "text": "漢" * 100_000})).status == 201


async def test_patch_sends_only_what_changes(client: Client, engine: FakeEngine) -> None:
    await client.post("/v1/memories", json=NOTE)
    assert (await client.patch("/v1/memories/m1", json={"text": "u", "revision": 1})).status == 200
    assert engine.asked("patch_memory") == MemoryPatch(text="u", revision=1)


async def test_empty_values_of_a_patch_count_as_sent(client: Client, engine: FakeEngine) -> None:
    await client.post("/v1/memories", json=NOTE)
    body = {
        "fields": EPISODE_FIELDS,
        "tags": [],
        "locked": False,
        "timelines": "all",
        "importance": 0,
    }
    assert (await client.patch("/v1/memories/m1", json=body)).status == 200
    asked = engine.asked("patch_memory")
    assert (asked.tags, asked.locked, asked.timelines, asked.importance) == (
        (),
        False,
        Timelines.ALL,
        0.0,
    )
    assert asked.situation.location == "the pier"
    assert asked.fields == EPISODE_FIELDS.keys()
    assert (asked.text, asked.permanent, asked.concept, asked.edges) == (
        None,
        None,
        None,
        None,
    )


async def test_a_patch_sends_the_fields_of_a_concept(client: Client, engine: FakeEngine) -> None:
    await client.post("/v1/memories", json=NOTE)
    assert (await client.patch("/v1/memories/m1", json={"fields": CONCEPT_FIELDS})).status == 200
    asked = engine.asked("patch_memory")
    assert asked.situation is None
    assert asked.concept.aliases == ("home",)
    assert (await client.patch("/v1/memories/m1", json={"fields": {"aliases": []}})).status == 200
    assert engine.asked("patch_memory").fields == {"aliases"}


async def test_a_stale_revision_is_a_conflict(client: Client) -> None:
    await client.post("/v1/memories", json=NOTE)
    await refused(
        await client.patch("/v1/memories/m1", json={"text": "u", "revision": 7}),
        409,
        "revision",
    )


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"text": None}, "text"),
        ({"revision": 0}, "revision"),
        ({"revision": "1"}, "revision"),
        ({"units": [{"gist": "a thing"}]}, "units[0].text"),
        ({"units": [{"text": "old", "start": -1, "end": 3}]}, "units[0].start"),
        ({"units": [{"text": "old", "visibility": 1.5}]}, "units[0].visibility"),
        ({"anchors": [{"text": ""}]}, "anchors[0].text"),
        ({"anchors": [{"text": "old", "kind": "iron"}]}, "anchors[0].kind"),
        ({"state": "bin"}, "state"),
        ({"slot": "k1"}, "slot"),
        ({"fields": {**EPISODE_FIELDS, **CONCEPT_FIELDS}}, "fields"),
        ({"importance": float(2)}, "importance"),
    ],
)
async def test_bad_patches_are_refused(
    client: Client, engine: FakeEngine, body: dict[str, Any], field: str
) -> None:
    await client.post("/v1/memories", json=NOTE)
    await refused(await client.patch("/v1/memories/m1", json=body), 422, field)
    assert "patch_memory" not in [name for name, _ in engine.calls]


async def test_bin_and_back(client: Client) -> None:
    await client.post("/v1/memories", json={**NOTE, "permanent": True})
    await refused(await client.delete("/v1/memories/m1?confirm=yes"), 409, "confirm")
    assert (await client.delete("/v1/memories/m1?confirm=permanent")).status == 200
    assert (await (await client.get("/v1/memories/m1")).json())["state"] == "bin"
    back = await client.post("/v1/memories/m1/restore")
    assert (back.status, (await back.json())["state"]) == (200, "active")
    assert (await client.post("/v1/memories/m1/restore", json={})).status == 200
    await refused(await client.post("/v1/memories/m1/restore", json={"to": "x"}), 422, "to")


async def test_a_memory_tells_its_evidence(client: Client) -> None:
    await client.post("/v1/memories", json=NOTE)
    got = await (await client.get("/v1/memories/m1")).json()
    assert got["evidence"] == [[{"slot": "k1", "hash": "0" * 16}]]
    assert got["sources"] == [{"chat": "c1", "slot": "k1"}]
    assert got["visibility"] == 0.5


async def test_listing_page_by_page(client: Client, engine: FakeEngine) -> None:
    for i in range(5):
        await client.post("/v1/memories", json={**NOTE, "text": f"t{i}"})
    texts, cursor, pages = [], None, 0
    while pages == 0 or cursor:
        params = {"soul": "s1", "limit": "2", **({"cursor": cursor} if cursor else {})}
        page = await (await client.get("/v1/memories", params=params)).json()
        assert all("edges" not in m and "revision" in m for m in page["memories"])
        texts += [m["text"] for m in page["memories"]]
        cursor, pages = page["cursor"], pages + 1
    assert (texts, pages) == (["t0", "t1", "t2", "t3", "t4"], 3)


async def test_every_filter(client: Client, engine: FakeEngine) -> None:
    params = {
        "soul": "s1",
        "kind": "episode",
        "q": "雨",
        "tag": "a",
        "match": "exact",
        "permanent": "true",
        "state": "bin",
        "limit": "1000",
        "cursor": "5",
        "chat": "c1",
        "about": "m4",
        "from": "2024-03-01T00:00:00Z",
        "to": "2024-03-02T00:00:00Z",
        "texts": "true",
        "sort": "strength",
    }
    assert (await client.get("/v1/memories", params=params)).status == 200
    assert engine.asked("list_memories") == MemoryFilter(
        soul="s1",  # type: ignore[arg-type]
        kind=MemoryKind.EPISODE,
        q="雨",
        tag="a",
        match=TagMatch.EXACT,
        permanent=True,
        state=MemoryState.BIN,
        part=Part(ChatId("c1"), MemoryId("m4"), FIRST, FIRST.replace(day=2), True),
        order=ListOrder.STRENGTH,
        limit=1000,
        cursor="5",
    )
    upside_down = params | {"to": params["from"], "from": params["to"]}
    await refused(await client.get("/v1/memories", params=upside_down), 422, "to")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "soul"),
        ("soul=a%20b", "soul"),
        ("soul=s1&limit=0", "limit"),
        ("soul=s1&limit=1001", "limit"),
        ("soul=s1&limit=x", "limit"),
        ("soul=s1&limit=", "limit"),
        ("soul=s1&limit=1e2", "limit"),
        ("soul=s1&limit=7.0", "limit"),
        ("soul=s1&limit=%2B7", "limit"),
        ("soul=s1&limit=999999999999999999999", "limit"),
        ("soul=s1&state=dead", "state"),
        ("soul=s1&match=fuzzy", "match"),
        ("soul=s1&kind=thing", "kind"),
        ("soul=s1&permanent=1", "permanent"),
        ("soul=s1&permanent=null", "permanent"),
        ("soul=s1&cursor=%00", "cursor"),
        ("soul=s1&cursor=", "cursor"),
        ("soul=s1&unknown=1", "unknown"),
    ],
)
async def test_bad_filters_are_refused(
    client: Client, engine: FakeEngine, query: str, field: str
) -> None:
    await refused(await client.get(f"/v1/memories?{query}"), 422, field)
    assert "list_memories" not in [name for name, _ in engine.calls]


async def test_a_parameter_may_come_once(client: Client) -> None:
    await refused(await client.get("/v1/memories?soul=s1&soul=s2"), 400, "soul")
