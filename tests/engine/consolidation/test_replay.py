"""A replay strengthens and links a region, reads deferred input again, and is undone with its job."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from itertools import combinations
from typing import Any

import pytest

from soulmem.domain.edges import DECAYING, Edge, EdgeKind
from soulmem.domain.ids import SlotId, SoulId
from soulmem.domain.llm import Unreadable
from soulmem.domain.memories import Origin
from soulmem.domain.soul import KnownName, SoulSettings
from soulmem.engine.api.requests import NewEdge
from soulmem.engine.runtime.jobs import JobState, JobView
from tests.engine.kind_scenes import NAMED, KindStage, honest, story
from tests.engine.model_stage import ModelStage, read_of, talk
from tests.engine.stage import ME, Stage, ended
from tests.engine.taught import BREAD, KEY, NEXT, REPLY, TALK


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """A soul that lived a chat in which a bridge is named, and was asked about it once."""
    fresh_stage = Stage()
    await fresh_stage.start()
    await fresh_stage.engine.souls.put(
        ME,
        SoulId("s1"),
        "Mira",
        (KnownName("bridge"), KnownName("Sundays")),
        SoulSettings(restraint=0.0),
    )
    await fresh_stage.sync("c1", TALK)
    await fresh_stage.recall("silver key, bread", "c1", slot=SlotId("r1"), swipe=0, max_items=4)
    await fresh_stage.sync("c1", [*TALK, REPLY, NEXT])
    await fresh_stage.engine.memories.get(ME, await fresh_stage.find(KEY))  # waits for the lesson
    yield fresh_stage
    await fresh_stage.stop()


async def replay(stage: Stage, **region: Any) -> JobView:
    """Go over it, as a job."""
    return await ended(stage, await stage.engine.jobs.ask(ME, "replay", SoulId("s1"), region))


async def edges(stage: Stage) -> dict[str, Edge]:
    """Every edge as it is stored."""
    return {edge.id: edge for edge in (await stage.store.graph(ME, SoulId("s1"))).edges}


async def test_it_strengthens_and_links_and_all_of_it_is_taken_back(
    stage: Stage,
) -> None:
    before, print_before = await edges(stage), await stage.fingerprint()
    stage.clock.advance(60, 5)
    done = await replay(stage)
    after = await edges(stage)
    assert done.state is JobState.DONE, done.error

    await check_replayed(stage, before, after, done.result)
    assert await stage.fingerprint() == print_before

    await stage.engine.history.undo(ME, SoulId("s1"), since=None, change=None, job=done.id)
    assert await edges(stage) == before
    mind = await stage.mind()
    assert {key: mind.edges[key] for key in before} == before


async def check_replayed(
    stage: Stage,
    before: Mapping[str, Edge],
    after: Mapping[str, Edge],
    result: Mapping[str, Any],
) -> None:
    """Some edges are stronger and some are new, as many as it says; all others are as before."""
    new = [edge for key, edge in after.items() if key not in before]
    await check_new(stage, new)
    stronger = [key for key in before if after[key].strength > before[key].strength]
    assert stronger
    assert (result["linked"], result["strengthened"]) == (len(new), len(stronger))
    assert [key for key in before if after[key] != before[key]] == stronger
    assert {after[key].kind for key in stronger} <= set(DECAYING)


async def check_new(stage: Stage, new: list[Edge]) -> None:
    """They are weak associations, one of them between the two memories recalled together."""
    assert {(edge.kind, edge.strength) for edge in new} == {(EdgeKind.ASSOCIATES, 0.1)}
    pair = {await stage.find(KEY), await stage.find(BREAD)}
    assert pair in [{edge.source, edge.target} for edge in new]


def changed(before: Mapping[str, Edge], after: Mapping[str, Edge]) -> list[Edge]:
    """The edges that are new or not as before."""
    return [edge for key, edge in after.items() if edge != before.get(key)]


async def test_twice_in_a_moment_is_once(stage: Stage) -> None:
    stage.clock.advance(60, 5)
    await replay(stage)
    once = await edges(stage)
    again = await replay(stage)
    assert (again.result["strengthened"], again.result["linked"]) == (0, 0)
    assert await edges(stage) == once


async def test_what_the_user_drew_stays_as_it_is(stage: Stage) -> None:
    key = await stage.find(KEY)
    await stage.note("the key turns", edges=(NewEdge(EdgeKind.ASSOCIATES, to=key, strength=0.5),))
    before = await edges(stage)
    stage.clock.advance(60, 5)
    assert (await replay(stage)).result["strengthened"]
    after = await edges(stage)
    by_user = {key: edge for key, edge in before.items() if edge.origin is Origin.USER}
    assert by_user
    assert {key: after[key] for key in by_user} == by_user


async def test_only_the_region_is_gone_over(stage: Stage) -> None:
    await stage.sync("c2", talk(4, word="bridge and Sundays "))
    stage.clock.advance(60, 5)
    before = await edges(stage)
    done = await replay(stage, chat="c2")
    after = await edges(stage)
    mind = await stage.mind()
    inside = {m for m in mind.memories if "c2" in mind.branches.holders(m)}
    assert done.result["memories"] == len(inside) > 0
    sources = {edge.source for edge in changed(before, after)}
    assert sources
    assert sources <= inside

    near = await replay(stage, around=await stage.find(KEY))
    again = changed(after, await edges(stage))
    assert near.result["strengthened"] + near.result["linked"] == len(again) > 0
    moment = stage.clock.now().isoformat()
    assert (await replay(stage, **{"from": moment})).result["memories"] == 0
    assert (await replay(stage, to=moment)).result["memories"] > 0


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
async def test_a_region_that_is_none_is_said(stage: Stage, region: dict[str, Any]) -> None:
    before = await edges(stage)
    done = await replay(stage, **region)
    assert done.state is JobState.FAILED
    assert done.error
    assert await edges(stage) == before


async def test_what_was_deferred_is_read_again() -> None:
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
    report = await stage.engine.consolidator.usage_report(ME, SoulId("s1"))
    assert not report.deferred
    assert report.totals["replay"].calls == done.result["calls"] == 2
    await stage.engine.history.undo(ME, SoulId("s1"), since=None, change=None, job=done.id)
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
    after = {m.text for m in await stage.kinds()}
    assert len(first) == 1
    assert first < after <= set(NAMED["en"].values())
    assert stage.calls.count("kinds") == 1 + done.result["calls"]
    assert done.result["written"] == len(after - first)
    await replay(stage)
    check_asked_once(stage)
    await stage.engine.history.undo(ME, SoulId("s1"), since=None, change=None, job=done.id)
    assert {m.text for m in await stage.kinds()} == first
    await stage.stop()


def check_asked_once(stage: KindStage) -> None:
    """No two questions about kinds share half their scenes."""
    asked = []
    for prompt in stage.llm.asked:
        if prompt.name == "kinds":
            asked.append({text for _, _, text in read_of(prompt)})
    for scenes, other in combinations(asked, 2):
        assert 2 * len(scenes & other) < len(other)


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
