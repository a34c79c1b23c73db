"""Souls: what is put is what is got, and nothing invalid reaches the engine."""

from __future__ import annotations

from typing import Any

import pytest

from soulmem.domain.ids import DEFAULT_OWNER
from soulmem.domain.soul import SoulState
from tests.server.conftest import Client, refused
from tests.server.fake_engine import FakeEngine

DEFAULTS = {
    "scope": "character",
    "clock": "turns",
    "forgetting": 1.0,
    "decay": "exponential",
    "restraint": 1.0,
    "budget_tokens": None,
    "max_items": None,
    "remember_hidden": True,
    "whole_messages": False,
    "weights": {},
    "keep": 50_000,
    "fades": True,
    "masks": "words",
    "knows_it_forgets": False,
    "push": "off",
    "rewords": True,
    "digest": {"hour": 0, "periods": ["day", "week", "month", "year", "chat"]},
    "headers": {},
    "sections_off": [],
}
FULL: dict[str, Any] = {
    "scope": "chat",
    "clock": "story",
    "forgetting": 0,
    "decay": "hybrid",
    "restraint": 1.5,
    "budget_tokens": 800,
    "max_items": 5,
    "remember_hidden": False,
    "whole_messages": True,
    "weights": {"recency": 1.0},
    "keep": 2000,
    "fades": False,
    "masks": "seed",
    "knows_it_forgets": True,
    "push": "rare",
    "rewords": False,
    "digest": {"hour": 4, "periods": ["hour", "month"]},
    "headers": {"facts": "[She knows:]", "summary": ""},
    "sections_off": ["impulses"],
}


async def test_new_then_changed(client: Client) -> None:
    first = await client.put("/v1/souls/s1", json={"name": "Mira"})
    assert first.status == 201
    assert await first.json() == {
        "id": "s1",
        "name": "Mira",
        "names": [],
        "config": DEFAULTS,
        "config_from": dict.fromkeys(DEFAULTS, "default"),
        "open": True,
    }
    second = await client.put("/v1/souls/s1", json={"name": "林月"})
    assert second.status == 200
    assert (await second.json())["name"] == "林月"


async def test_config_comes_back_as_it_was_put(client: Client) -> None:
    names = [{"name": "Bo", "aliases": ["B", "小波"]}]
    await client.put("/v1/souls/s1", json={"name": "Mira", "names": names, "config": FULL})
    got = await (await client.get("/v1/souls/s1")).json()
    assert got["config"] == FULL
    assert got["names"] == names
    assert (await (await client.get("/v1/souls")).json()) == {
        "souls": [got],
        "cursor": None,
    }


async def test_without_names_or_config_what_is_stored_stays(
    client: Client, engine: FakeEngine
) -> None:
    await client.put(
        "/v1/souls/s1", json={"name": "Mira", "names": [{"name": "Bo"}], "config": FULL}
    )
    await client.put("/v1/souls/s1", json={"name": "Mira B."})
    assert engine.asked("put_soul")[3:] == (None, None)
    got = await (await client.get("/v1/souls/s1")).json()
    assert (got["name"], got["config"]) == ("Mira B.", FULL)


async def test_what_is_not_sent_of_a_config_stays_and_null_is_the_default(
    client: Client,
) -> None:
    await client.put("/v1/souls/s1", json={"name": "Mira", "config": FULL})
    await client.put("/v1/souls/s1", json={"name": "Mira", "config": {"max_items": 9}})
    got = await (await client.get("/v1/souls/s1")).json()
    assert got["config"] == {**FULL, "max_items": 9}
    assert got["config_from"] == dict.fromkeys(FULL, "card")
    body = {
        "name": "Mira",
        "config": {
            "forgetting": None,
            "restraint": None,
            "scope": None,
            "max_items": None,
            "weights": None,
        },
    }
    await client.put("/v1/souls/s1", json=body)
    got = await (await client.get("/v1/souls/s1")).json()
    back = dict.fromkeys(("forgetting", "restraint", "scope", "max_items", "weights"))
    assert got["config"] == {**FULL, **{name: DEFAULTS[name] for name in back}}
    assert [name for name, origin in got["config_from"].items() if origin == "default"] == [
        name for name in FULL if name in back
    ]


async def test_of_digests_the_part_that_is_sent_changes(client: Client) -> None:
    for sent, shown in (
        ({"hour": 5}, {"hour": 5, "periods": ["hour", "month"]}),
        ({"periods": ["year", "day"]}, {"hour": 5, "periods": ["day", "year"]}),
        ({"periods": []}, {"hour": 5, "periods": []}),
        (None, DEFAULTS["digest"]),
    ):
        if "hour" in (sent or {}):
            await client.put("/v1/souls/s1", json={"name": "Mira", "config": FULL})
        body = {"name": "Mira", "config": {"digest": sent}}
        await client.put("/v1/souls/s1", json=body)
        got = await (await client.get("/v1/souls/s1")).json()
        assert got["config"]["digest"] == shown


async def test_weights_are_scaled_and_replaced_as_a_whole(client: Client) -> None:
    for sent, shown in (
        ({"recency": 1.0, "uses": 1.0}, {"recency": 0.5, "uses": 0.5}),
        ({"importance": 0.2}, {"importance": 1.0}),
        ({}, {}),
    ):
        await client.put("/v1/souls/s1", json={"name": "Mira", "config": {"weights": sent}})
        assert (await (await client.get("/v1/souls/s1")).json())["config"]["weights"] == shown


@pytest.mark.parametrize("weights", [{"charm": 0.5}, {"recency": 0.0, "uses": 0.0}])
async def test_weights_of_nothing_known_are_refused(
    client: Client, weights: dict[str, float]
) -> None:
    await client.put("/v1/souls/s1", json={"name": "Mira", "config": FULL})
    answer = await client.put("/v1/souls/s1", json={"name": "Mira", "config": {"weights": weights}})
    await refused(answer, 422, "config.weights")
    assert (await (await client.get("/v1/souls/s1")).json())["config"] == FULL


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"headers": {"footer": "x"}}, "config.headers"),
        ({"headers": {"facts": "x" * 501}}, "config.headers"),
        ({"sections_off": ["footer"]}, "config.sections_off"),
        ({"sections_off": ["permanent"]}, "config.sections_off"),
    ],
)
async def test_headers_and_sections_that_are_not_known_are_refused(
    client: Client, config: dict[str, Any], field: str
) -> None:
    await client.put("/v1/souls/s1", json={"name": "Mira", "config": FULL})
    answer = await client.put("/v1/souls/s1", json={"name": "Mira", "config": config})
    await refused(answer, 422, field)
    assert (await (await client.get("/v1/souls/s1")).json())["config"] == FULL


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": 7}, "name"),
        ({"name": "Mira", "Name": "x"}, "Name"),
        ({"name": "Mira", "names": [{"name": "Bo", "alias": []}]}, "names[0].alias"),
        (
            {"name": "Mira", "names": [{"name": "Bo", "aliases": [7]}]},
            "names[0].aliases[0]",
        ),
        ({"name": "Mira", "config": {"forgetting": 2.1}}, "config.forgetting"),
        ({"name": "Mira", "config": {"forgetting": -0.1}}, "config.forgetting"),
        ({"name": "Mira", "config": {"forgetting": "1"}}, "config.forgetting"),
        ({"name": "Mira", "config": {"forgetting": True}}, "config.forgetting"),
        ({"name": "Mira", "config": {"decay": "linear"}}, "config.decay"),
        ({"name": "Mira", "config": {"restraint": 2.1}}, "config.restraint"),
        ({"name": "Mira", "config": {"restraint": -0.1}}, "config.restraint"),
        ({"name": "Mira", "config": {"restraint": "1"}}, "config.restraint"),
        ({"name": "Mira", "config": {"restraint": True}}, "config.restraint"),
        ({"name": "Mira", "config": {"keep": 99}}, "config.keep"),
        ({"name": "Mira", "config": {"push": "always"}}, "config.push"),
        ({"name": "Mira", "config": {"keep": 1_000_001}}, "config.keep"),
        ({"name": "Mira", "config": {"keep": 2000.5}}, "config.keep"),
        ({"name": "Mira", "config": {"scope": "world"}}, "config.scope"),
        ({"name": "Mira", "config": {"clock": ""}}, "config.clock"),
        ({"name": "Mira", "config": {"budget_tokens": 0}}, "config.budget_tokens"),
        ({"name": "Mira", "config": {"max_items": 51}}, "config.max_items"),
        ({"name": "Mira", "config": {"max_items": 7.5}}, "config.max_items"),
        ({"name": "Mira", "config": {"remember_hidden": 1}}, "config.remember_hidden"),
        ({"name": "Mira", "config": {"weights": {"recency": -1}}}, "config.weights"),
        ({"name": "Mira", "config": {"digest": {"hour": 24}}}, "config.digest.hour"),
        (
            {"name": "Mira", "config": {"digest": {"periods": ["highlight"]}}},
            "config.digest.periods",
        ),
        ({"name": "Mira", "config": {"forgeting": 1}}, "config.forgeting"),
    ],
)
async def test_bad_souls_are_refused(
    client: Client, engine: FakeEngine, body: dict[str, Any], field: str
) -> None:
    await refused(await client.put("/v1/souls/s1", json=body), 422, field)
    assert engine.calls == []


async def test_a_typo_is_told_with_what_was_meant(client: Client) -> None:
    answer = await client.put("/v1/souls/s1", json={"name": "Mira", "config": {"forgeting": 1}})
    assert "'forgetting'" in await refused(answer, 422, "config.forgeting")


async def test_delete_needs_the_name(client: Client) -> None:
    await client.put("/v1/souls/s1", json={"name": "Mira"})
    answer = await client.delete("/v1/souls/s1")
    assert (await answer.json())["error"] == "confirmation_required"
    await refused(answer, 409, "confirm")
    assert (await client.delete("/v1/souls/s1", params={"confirm": "Mira"})).status == 200
    await refused(await client.get("/v1/souls/s1"), 404)


async def test_fingerprint(client: Client) -> None:
    await client.put("/v1/souls/s1", json={"name": "Mira"})
    answer = await client.get("/v1/souls/s1/fingerprint")
    assert await answer.json() == {"hash": "print-of-s1"}


async def test_souls_in_the_bin_can_be_asked_for(client: Client, engine: FakeEngine) -> None:
    assert (await client.get("/v1/souls?state=bin")).status == 200
    assert engine.asked("list_souls") == (DEFAULT_OWNER, SoulState.BIN)
    assert (await client.get("/v1/souls?state=stale")).status == 422


async def test_it_is_told_which_souls_are_in_memory(client: Client) -> None:
    for soul in ("s1", "closed1"):
        await client.put(f"/v1/souls/{soul}", json={"name": soul})
    got = await (await client.get("/v1/souls")).json()
    assert {s["id"]: s["open"] for s in got["souls"]} == {"s1": True, "closed1": False}
    one = await (await client.get("/v1/souls/closed1")).json()
    assert one["open"] is False
