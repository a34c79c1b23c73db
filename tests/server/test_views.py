"""Fading, graph, people, timeline and the test routes."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from soulmem.domain.digests import Period
from soulmem.domain.ids import DEFAULT_OWNER, ChatId, MemoryId, SoulId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import MemoryFilter, Part
from soulmem.engine.editing.overviews import KnownFilter
from soulmem.engine.views.fading_ahead import Horizon
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
    await client.get("/v1/graph?soul=s1&limit=5&also=m1,m2")
    assert engine.asked("graph") == ("s1", None, 2, 5, "m1", "m2")


async def test_a_graph_has_places_where_they_are_asked_for(client: Client) -> None:
    await client.post("/v1/memories", json={"soul": "s1", "kind": "note", "text": "t"})
    got = await (await client.get("/v1/graph?soul=s1")).json()
    assert not {"x", "y"} & got["memories"][0].keys()
    got = await (await client.get("/v1/graph?soul=s1&layout=true")).json()
    assert [(m["x"], m["y"]) for m in got["memories"]] == [(0.25, 1.0)]


async def test_a_graph_tells_how_memories_read_now_where_that_is_asked_for(
    client: Client,
) -> None:
    await client.post("/v1/memories", json={"soul": "s1", "kind": "note", "text": "t"})
    (plain,) = (await (await client.get("/v1/graph?soul=s1")).json())["memories"]
    assert not {"reads_now", "visibility"} & plain.keys()
    path = "/v1/graph?soul=s1&reads=true&layout=true"
    (node,) = (await (await client.get(path)).json())["memories"]
    assert (node["reads_now"], node["visibility"], node["x"]) == ("t xxx", 0.5, 0.25)


async def test_fading(client: Client, engine: FakeEngine) -> None:
    got = await (await client.get("/v1/fading?soul=s1")).json()
    row = {
        "id": "m1",
        "kind": "episode",
        "importance": 0.5,
        "text": "It rained.",
        "text_then": "xxx",
        "reads_then": "…",
        "visibility": 0.75,
        "visibility_then": 0.5,
        "leaves": True,
    }
    assert got == {"memories": [row], "cursor": "0.250000000_m1"}
    assert engine.asked("fading") == ("s1", Horizon(500, None), 100, None)
    path = "/v1/fading?soul=s1&turns=30&forgetting=1.5&limit=2&cursor=c"
    await client.get(path)
    assert engine.asked("fading") == ("s1", Horizon(30, 1.5), 2, "c")
    got = await (await client.get("/v1/fading?soul=s1&memory=m1&turns=9")).json()
    assert got == {"memories": [row], "cursor": None}
    assert engine.asked("fading_of") == ("s1", "m1", Horizon(9, None))


async def test_a_list_shows_how_memories_read_now_where_that_is_asked_for(
    client: Client,
) -> None:
    await client.put("/v1/souls/s1", json={"name": "Mira"})
    await client.post("/v1/memories", json={"soul": "s1", "kind": "note", "text": "t"})
    (plain,) = (await (await client.get("/v1/memories?soul=s1")).json())["memories"]
    assert not {"reads_now", "visibility"} & plain.keys()
    got = await (await client.get("/v1/memories?soul=s1&reads=true")).json()
    (read,) = got["memories"]
    assert (read["text"], read["reads_now"], read["visibility"]) == ("t", "t xxx", 0.5)


async def test_facts_and_every_kind_can_be_listed(client: Client, engine: FakeEngine) -> None:
    await client.put("/v1/souls/s1", json={"name": "Mira"})
    assert (await client.get("/v1/memories?soul=s1&kind=fact&reads=true")).status == 200
    assert engine.asked("list_memories") == MemoryFilter(SoulId("s1"), only_facts=True)
    for kind in MemoryKind:
        url = f"/v1/memories?soul=s1&kind={kind.value}"
        assert (await client.get(url)).status == 200
        assert engine.asked("list_memories") == MemoryFilter(SoulId("s1"), kind)


async def test_people(client: Client, engine: FakeEngine) -> None:
    got = await (await client.get("/v1/people?soul=s1")).json()
    assert got["people"] == [
        {
            "concept": "c1",
            "name": "Jo",
            "aliases": ["Joni"],
            "facts": ["f1"],
            "fact_count": 1,
            "episodes": 2,
            "last": "2024-03-01T00:00:00Z",
            "feeling": {"label": "joy", "intensity": 0.5},
        },
        {
            "concept": "c2",
            "name": "Rad",
            "aliases": [],
            "facts": ["f2"],
            "fact_count": 1,
            "episodes": 0,
            "last": None,
            "feeling": None,
        },
    ]
    assert engine.asked("people") == ("s1",)


async def test_the_map_of_a_heart(client: Client, engine: FakeEngine) -> None:
    got = await (await client.get("/v1/heart?soul=s1&you=Joni")).json()
    person = {"concept": "c1", "name": "Jo", "aliases": ["Joni"], "episodes": 2}
    line = {"first": None, "second": "c1", "text": "Jo sings.", "memory": "m1"}
    assert got == {
        "people": [person | {"x": 0.62, "y": 0.5}],
        "lines": [line | {"weight": 1.0, "clear": 0.5}],
        "middle": [[0.38, 0.5], [0.62, 0.5]],
        "you": "c1",
        "spots": [],
    }
    assert engine.asked("heart") == ("s1", "Joni", False)
    got = await (await client.get("/v1/heart?soul=s1&spots=true")).json()
    pier = {"id": "place pier", "name": "Pier", "began": None, "memories": 2}
    assert got["spots"] == [pier | {"x": 0.1, "y": 0.2}]


async def test_what_a_soul_knows_of_people(client: Client, engine: FakeEngine) -> None:
    url = "/v1/souls/s1/known?about=Jo&kind=gift&state=past&limit=7&cursor=5_1_m9l0"
    got = await (await client.get(url)).json()
    assert got == {
        "known": [
            {
                "id": "m1l0",
                "kind": "fact",
                "about": "Jo",
                "concept": "c1",
                "speaker": "Jo",
                "quote": "I sing.",
                "memory": "m1",
                "chat": "ch1",
                "slot": "t1",
                "said_at": "2024-03-01T00:00:00Z",
                "story_at": None,
                "location": "the pier",
                "until": None,
                "replaced_by": None,
                "sure": 1.0,
                "kept": True,
                "permanent": False,
            }
        ],
        "cursor": "5_1_m1l0",
        "unread": 2,
    }
    wanted = KnownFilter("gift", "Jo", is_past=True)
    assert engine.asked("known") == ("s1", wanted, 7, "5_1_m9l0")
    await client.get("/v1/souls/s1/known")
    assert engine.asked("known") == ("s1", KnownFilter(), 100, None)


async def test_two_people_of_one_name_are_told_apart(client: Client, engine: FakeEngine) -> None:
    names = {"name": "Jo the smith", "other": "Jo the bird"}
    got = await client.post("/v1/people/c1/split", json=names)
    assert (got.status, await got.json()) == (201, {"concept": "c1", "other": "c9"})
    assert engine.asked("split") == ("c1", "Jo the smith", "Jo the bird")
    for body, field in (({"name": "Jo"}, "other"), (names | {"name": ""}, "name")):
        await refused(await client.post("/v1/people/c1/split", json=body), 422, field)


async def test_habits(client: Client, engine: FakeEngine) -> None:
    got = await (await client.get("/v1/habits?soul=s1&limit=7&cursor=5_1_t9")).json()
    assert engine.asked("habits") == ("s1", 7, "5_1_t9")
    assert got["cursor"] == "5_1_t1"
    (habit,) = got["habits"]
    assert habit["trigger"] == "t1"
    assert [memory["text"] for memory in habit["situations"]] == ["It rained."]
    (action,) = habit["actions"]
    assert (action["memory"]["text"], action["probability"]) == ("hums", 0.5)


async def test_overview(client: Client, engine: FakeEngine) -> None:
    got = await (await client.get("/v1/overview?soul=s1")).json()
    assert got == {
        "memories": 12,
        "permanent": 3,
        "today": 2,
        "habits": 1,
        "felt": {"label": "joy", "intensity": 0.5, "memory": "m9", "text": "Yes!"},
    }
    assert engine.asked("overview") == ("s1",)


async def test_feelings(client: Client, engine: FakeEngine) -> None:
    query = "soul=s1&about=m4&stretches=2"
    got = await (await client.get(f"/v1/feelings?{query}")).json()
    assert got["stretches"] == [
        {
            "from": SPAN["from"],
            "to": SPAN["from"],
            "balance": -0.25,
            "feeling": {"label": "fear", "intensity": 0.25},
            "memory": "m9",
        },
        {**SPAN, "balance": 0.0, "feeling": None, "memory": None},
    ]
    assert engine.asked("feelings") == ("s1", "m4", 2)
    await client.get("/v1/feelings?soul=s1")
    assert engine.asked("feelings") == ("s1", None, 24)


async def test_density(client: Client, engine: FakeEngine) -> None:
    query = "soul=s1&kind=episode&chat=c1&about=m4&texts=true&bins=2&by=day"
    got = await (await client.get(f"/v1/density?{query}")).json()
    assert got == {
        "from": "2024-03-01T00:00:00Z",
        "to": "2024-03-02T00:00:00Z",
        "counts": [3, 0],
        "periods": [SPAN | {"count": 3}],
    }
    part = Part(ChatId("c1"), MemoryId("m4"), only_texts=True)
    wanted = MemoryFilter(SoulId("s1"), MemoryKind.EPISODE, part=part)
    assert engine.asked("density") == (wanted, 2, Period.DAY)
    got = await (await client.get("/v1/density?soul=empty&bins=1")).json()
    assert got == {"from": None, "to": None, "counts": [0], "periods": []}


async def test_timeline(client: Client, engine: FakeEngine) -> None:
    fields = {"time_span": {"from": SPAN["from"], "to": "2024-03-01T06:00:00Z"}}
    await client.post(
        "/v1/memories",
        json={"soul": "s1", "kind": "episode", "text": "t", "fields": fields},
    )
    await client.post("/v1/memories", json={"soul": "s1", "kind": "episode", "text": "u"})
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
        ("/v1/graph?soul=s1&layout=yes", "layout"),
        ("/v1/people", "soul"),
        ("/v1/heart", "soul"),
        ("/v1/heart?soul=s1&you=", "you"),
        ("/v1/souls/s1/known?kind=lie", "kind"),
        ("/v1/souls/s1/known?state=then", "state"),
        ("/v1/souls/s1/known?about=", "about"),
        ("/v1/feelings", "soul"),
        ("/v1/feelings?soul=s1&stretches=0", "stretches"),
        ("/v1/feelings?soul=s1&about=a/b", "about"),
        ("/v1/fading", "soul"),
        ("/v1/fading?soul=s1&turns=0", "turns"),
        ("/v1/fading?soul=s1&turns=1000001", "turns"),
        ("/v1/fading?soul=s1&forgetting=2.1", "forgetting"),
        ("/v1/fading?soul=s1&forgetting=nan", "forgetting"),
        ("/v1/fading?soul=s1&memory=a/b", "memory"),
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
    assert (await client.post("/v1/test/clock", json={"advance_seconds": 1.5})).status == 200
    assert (await client.post("/v1/test/clock", json={"advance_turns": 7})).status == 200
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


async def test_the_roulette_draws(client: Client, engine: FakeEngine) -> None:
    body = {"soul": "s1", "count": 3, "seed": 7}
    got = await (await client.post("/v1/test/draws", json=body)).json()
    assert got == {"counts": {"m1": 3}, "weights": {"m1": 0.5, "m2": 0.0}}
    assert engine.asked("draws") == (DEFAULT_OWNER, "s1", 3, 7)
    for wrong in ({"count": 0}, {"count": 1.5}, {"seed": -1}):
        answer = await client.post("/v1/test/draws", json=body | wrong)
        await refused(answer, 422, next(iter(wrong)))


async def test_idle_runs(client: Client, engine: FakeEngine) -> None:
    assert (await client.post("/v1/test/idle")).status == 200
    assert (await client.post("/v1/test/idle", json={})).status == 200
    assert [name for name, _ in engine.calls] == ["run_idle", "run_idle"]


async def test_test_doors_exist_in_test_mode_only(opened: Opener, engine: FakeEngine) -> None:
    client = await opened(test_mode=False)
    await refused(await client.post("/v1/test/idle", json={}), 404)
    await refused(await client.post("/v1/test/clock", json={"advance_turns": 1}), 404)
    assert "/v1/test/idle" not in (await (await client.get("/openapi.json")).json())["paths"]
    assert engine.calls == []
