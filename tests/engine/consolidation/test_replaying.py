"""Does going over a region again strengthen and link it, have read what was parked, and go with its job?"""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import combinations
from typing import Any

import pytest

from soulmem.domain.edges import DECAYING, Edge, EdgeKind
from soulmem.domain.ids import SlotId, SoulId
from soulmem.domain.llm import Unreadable
from soulmem.domain.memories import Origin
from soulmem.domain.soul import KnownName
from soulmem.engine.api.requests import NewEdge
from soulmem.engine.runtime.jobs import JobState, JobView
from tests.engine.kind_scenes import NAMED, KindStage, honest, story
from tests.engine.model_stage import ModelStage, read_of, talk
from tests.engine.stage import ME, Stage, ended
from tests.engine.taught import BREAD, KEY, NEXT, REPLY, TALK


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """A soul that lived a chat in which a bridge is named, and was asked about it once."""
    one = Stage()
    await one.start()
    await one.engine.souls.put(
        ME, SoulId("s1"), "Mira", (KnownName("bridge"), KnownName("Sundays")), None
    )
    await one.sync("c1", TALK)
    await one.recall("silver key, bread", "c1", slot=SlotId("r1"), swipe=0, max_items=4)
    await one.sync("c1", [*TALK, REPLY, NEXT])
    await one.engine.memories.get(ME, await one.find(KEY))  # waits for the lesson
    yield one
    await one.stop()


async def replay(stage: Stage, **region: Any) -> JobView:
    """Go over it, as a job."""
    return await ended(
        stage, await stage.engine.jobs.ask(ME, "replay", SoulId("s1"), region)
    )


async def edges(stage: Stage) -> dict[str, Edge]:
    """Every edge as it is stored."""
    return {one.id: one for one in (await stage.store.graph(ME, SoulId("s1"))).edges}


async def test_it_strengthens_and_links_and_all_of_it_is_taken_back(
    stage: Stage,
) -> None:
    before, print_before = await edges(stage), await stage.fingerprint()
    stage.clock.advance(60, 5)
    done = await replay(stage)
    after = await edges(stage)
    assert done.state is JobState.DONE, done.error

    new = [edge for key, edge in after.items() if key not in before]
    pair = {await stage.find(KEY), await stage.find(BREAD)}
    assert pair in [{edge.source, edge.target} for edge in new]
    assert {(edge.kind, edge.strength) for edge in new} == {(EdgeKind.ASSOCIATES, 0.1)}
    stronger = [key for key in before if after[key].strength > before[key].strength]
    assert stronger
    assert (done.result["linked"], done.result["strengthened"]) == (
        len(new),
        len(stronger),
    )
    assert {key for key in before if after[key] != before[key]} == set(stronger)
    assert all(after[key].kind in DECAYING for key in stronger)
    assert await stage.fingerprint() == print_before

    await stage.engine.history.undo(
        ME, SoulId("s1"), since=None, change=None, job=done.id
    )
    assert await edges(stage) == before
    assert {key: (await stage.mind()).edges[key] for key in before} == before


async def test_twice_in_a_moment_is_once(stage: Stage) -> None:
    stage.clock.advance(60, 5)
    await replay(stage)
    once = await edges(stage)
    again = await replay(stage)
    assert (again.result["strengthened"], again.result["linked"]) == (0, 0)
    assert await edges(stage) == once


async def test_what_the_user_drew_stays_as_it_is(stage: Stage) -> None:
    key = await stage.find(KEY)
    await stage.note(
        "the key turns", edges=(NewEdge(EdgeKind.ASSOCIATES, to=key, strength=0.5),)
    )
    before = await edges(stage)
    stage.clock.advance(60, 5)
    assert (await replay(stage)).result["strengthened"]
    after = await edges(stage)
    assert [e for e in before.values() if e.origin is Origin.USER]
    assert all(
        after[one] == edge for one, edge in before.items() if edge.origin is Origin.USER
    )


async def test_only_the_region_is_gone_over(stage: Stage) -> None:
    await stage.sync("c2", talk(4, word="bridge and Sundays "))
    stage.clock.advance(60, 5)
    before = await edges(stage)
    done = await replay(stage, chat="c2")
    after = await edges(stage)
    mind = await stage.mind()
    inside = {m for m in mind.memories if "c2" in mind.lineages.holders(m)}
    assert done.result["memories"] == len(inside) > 0
    changed = {edge.source for key, edge in after.items() if edge != before.get(key)}
    assert changed
    assert changed <= inside

    near = await replay(stage, around=await stage.find(KEY))
    again = {
        key for key, edge in (await edges(stage)).items() if edge != after.get(key)
    }
    assert near.result["strengthened"] + near.result["linked"] == len(again) > 0
    at = stage.clock.now().isoformat()
    assert (await replay(stage, **{"from": at})).result["memories"] == 0
    assert (await replay(stage, to=at)).result["memories"] > 0


@pytest.mark.parametrize(
    "region",
    [
        {"chat": "c9"},
        {"chat": 7},
        {"around": "nobody"},
        {"from": "yesterday"},
        {"from": "2024-01-02T00:00:00"},
        {"from": "2024-01-02T00:00:00Z", "to": "2024-01-01T00:00:00Z"},
    ],
)
async def test_a_region_that_is_none_is_said(
    stage: Stage, region: dict[str, Any]
) -> None:
    before = await edges(stage)
    done = await replay(stage, **region)
    assert done.state is JobState.FAILED
    assert done.error
    assert await edges(stage) == before


async def test_what_was_parked_is_read_again() -> None:
    stage = ModelStage(Unreadable("nonsense"))
    await stage.start()
    await stage.soul()
    await stage.sync("c", talk(30))
    await stage.rest()
    assert (await stage.engine.consolidator.usage_report(ME, SoulId("s1"))).deferred
    assert not await stage.drafted()

    stage.llm.then([honest])
    done = await replay(stage, chat="c")
    assert await stage.drafted()
    books = await stage.engine.consolidator.usage_report(ME, SoulId("s1"))
    assert not books.deferred
    assert books.totals["replay"].calls == done.result["calls"] == 2
    await stage.engine.history.undo(
        ME, SoulId("s1"), since=None, change=None, job=done.id
    )
    assert not await stage.drafted()
    await stage.stop()


@pytest.mark.timeout(60)  # the encoder is loaded
async def test_kinds_are_named_for_the_region_as_often_as_asked() -> None:
    stage = KindStage()
    await stage.start()
    await stage.soul()
    await stage.sync("c", story())
    await stage.rest()
    first = {m.text for m in await stage.kinds()}
    done = await replay(stage)
    found = {m.text for m in await stage.kinds()}
    assert len(first) == 1
    assert first < found <= set(NAMED["en"].values())
    assert stage.calls.count("kinds") == 1 + done.result["calls"]
    assert done.result["written"] == len(found - first)
    await replay(stage)
    asked = [
        {text for _, _, text in read_of(p)}
        for p in stage.llm.asked
        if p.name == "kinds"
    ]
    assert all(
        2 * len(one & other) < len(other) for one, other in combinations(asked, 2)
    )
    await stage.engine.history.undo(
        ME, SoulId("s1"), since=None, change=None, job=done.id
    )
    assert {m.text for m in await stage.kinds()} == first
    await stage.stop()


@pytest.mark.timeout(60)  # the encoder is loaded
async def test_what_the_model_makes_nothing_of_is_told() -> None:
    stage = KindStage()
    await stage.start()
    await stage.soul()
    await stage.sync("c", story())
    await stage.rest()
    stage.llm.then([Unreadable("nonsense")])
    done = await replay(stage)
    assert done.state is JobState.DONE
    assert done.result["parked"] == ["c: nonsense"]
    await stage.stop()


async def test_a_job_that_is_cancelled_ends_between_two_calls() -> None:
    stage = ModelStage()
    await stage.start()
    await stage.soul()
    await stage.sync("c", talk(120))
    stage.llm.answers.clear()
    job = await stage.engine.jobs.ask(ME, "replay", SoulId("s1"), {})
    await stage.thinking()
    await stage.engine.jobs.cancel(ME, job)
    stage.llm.answers.set()
    assert (await ended(stage, job)).state is JobState.CANCELLED
    assert len(stage.calls) == 1
    await stage.stop()
