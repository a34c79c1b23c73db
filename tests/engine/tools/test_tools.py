"""What language models can do through tools, and what they cannot."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from soulmem.domain.audit import Action, Actor
from soulmem.domain.deletions import DeletionState
from soulmem.domain.errors import (
    Conflict,
    Forbidden,
    NotFound,
    SoulMemError,
    Unprocessable,
)
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import MemoryKind, MemoryState
from soulmem.engine.api.requests import MemoryPatch
from soulmem.engine.digests.on_request import PERIODS
from soulmem.engine.runtime.jobs import JobState
from soulmem.engine.tools.definitions import TOOLS
from tests.engine.stage import ME, Stage, ended, line, lines
from tests.examples import few

GUARDS: tuple[dict[str, Any], ...] = (
    {"permanent": True},
    {"locked": True},
    {"permanent": True, "locked": True},
)


async def call(
    stage: Stage, name: str, actor: Actor = Actor.ARCHIVIST, **arguments: Any
) -> dict[str, Any]:
    return await stage.engine.tools.call(ME, name, "s1", actor, arguments)


async def actions(stage: Stage) -> list[tuple[Actor, Action]]:
    page = await stage.engine.history.audit(ME, SoulId("s1"), None, 1000, None)
    return [(e.actor, e.action) for e in page.entries][::-1]


async def test_each_model_has_its_own_tools(stage: Stage) -> None:
    await stage.soul()
    for tool in TOOLS.values():
        for actor in set(Actor) - set(tool.takes):
            with pytest.raises(Forbidden):
                await call(stage, tool.name, actor)
    with pytest.raises(NotFound):
        await call(stage, "format_disk")


@pytest.mark.parametrize(
    ("name", "actor", "arguments"),
    [
        (
            "search_memories",
            Actor.LEAD,
            {"query": "rain", "time_range": {"from": "2024-01-01T00:00:00Z"}},
        ),
        ("search_memories", Actor.LEAD, {}),
        ("search_memories", Actor.LEAD, {"query": " "}),
        ("search_memories", Actor.LEAD, {"query": "rain", "limit": 51}),
        (
            "search_memories",
            Actor.ARCHIVIST,
            {
                "query": "a",
                "time_range": {
                    "from": "2024-01-02T00:00:00Z",
                    "to": "2024-01-01T00:00:00Z",
                },
            },
        ),
        ("archive_memories", Actor.ARCHIVIST, {"period": "chat"}),
        (
            "update_memory_node",
            Actor.ARCHIVIST,
            {"memory_id": "a/b", "new_content": "x"},
        ),
        ("delete_memory", Actor.ARCHIVIST, {"memory_id": "m1"}),
        ("save_permanent_memory", Actor.LEAD, {"content": "x", "reason": ""}),
        (
            "call_assistant",
            Actor.LEAD,
            {"instruction": "tidy up"},
        ),  # there is no language model
    ],
)
async def test_what_a_tool_cannot_take_is_said(
    stage: Stage, name: str, actor: Actor, arguments: dict[str, Any]
) -> None:
    await stage.soul()
    with pytest.raises(Unprocessable):
        await call(stage, name, actor, **arguments)
    assert await actions(stage) == []


async def test_the_lead_keeps_something_for_good_and_it_can_be_undone(
    stage: Stage,
) -> None:
    await stage.soul()
    got = await call(
        stage,
        "save_permanent_memory",
        Actor.LEAD,
        content="allergic to nuts",
        reason="vital",
        tags=["health"],
    )

    kept = (await stage.engine.memories.get(ME, MemoryId(got["memory"]))).memory
    assert (kept.text, kept.permanent, kept.tags) == (
        "allergic to nuts",
        True,
        ("health",),
    )
    (entry,) = (await stage.engine.history.of_memory(ME, kept.id, 9, None)).entries
    assert (entry.actor, entry.action, entry.reason) == (
        Actor.LEAD,
        Action.CREATE,
        "vital",
    )
    await stage.engine.history.undo(ME, SoulId("s1"), since=None, change=entry.id, job=None)
    assert await stage.listed() == []
    assert [m.id for m in await stage.listed(MemoryState.BIN)] == [kept.id]


async def test_a_search_finds_and_is_noted(stage: Stage) -> None:
    await stage.soul()
    made = (await stage.note("the brass key lies under the bridge")).memory
    await stage.note("it rained in the mountains")

    result = await call(stage, "search_memories", query="brass key", limit=1)

    assert [memory["id"] for memory in result["memories"]] == [made.id]
    assert result["memories"][0]["text"] == made.text
    entry = (await stage.engine.history.audit(ME, SoulId("s1"), None, 1, None)).entries[0]
    assert (entry.actor, entry.action) == (Actor.ARCHIVIST, Action.READ)
    assert entry.after == {"query": "brass key", "found": [made.id]}
    start = (stage.clock.now() + timedelta(days=1)).isoformat()
    assert await call(stage, "search_memories", query="brass key", time_range={"from": start}) == {
        "memories": []
    }


async def test_spans_may_end_where_the_calendar_does(stage: Stage) -> None:
    await stage.soul()
    await stage.note("the brass key lies under the bridge")
    span = {"from": "0001-01-01T00:00:00+14:00", "to": "9999-12-31T23:59:59-12:00"}
    found = await call(stage, "search_memories", query="brass key", time_range=span)
    jobs = stage.engine.jobs
    views = [
        await ended(
            stage,
            await jobs.start(ME, "digest", SoulId("s1"), {"period": period, **span}),
        )
        for period in PERIODS
    ]
    assert len(found["memories"]) == 1
    assert [view.state for view in views] == [JobState.DONE] * len(PERIODS)


async def test_a_search_goes_all_the_way_whatever_it_is_for(stage: Stage) -> None:
    """A recall would take such a line for small talk, and a character of few words would keep it back."""
    await stage.soul(restraint=2.0)
    await stage.note("oh yes, please, said the goose")
    await call(stage, "search_memories", query="oh yes, please")
    entry = (await stage.engine.history.audit(ME, SoulId("s1"), None, 1, None)).entries[0]
    trace = await stage.engine.recaller.trace(ME, str(entry.source))
    assert trace.grades[-1].name == "walk"
    answer = await stage.recall("well, well")
    shown = await stage.engine.recaller.trace(ME, answer.trace)
    assert shown.grades[-1].name == "baseline"


async def test_a_search_with_tags_goes_down_four_levels(stage: Stage) -> None:
    await stage.soul()
    await stage.note("nothing of the kind")
    partial = (await stage.note("a row of poles", tags=("lantern festival",))).memory
    in_text = (await stage.note("the lantern hangs over the door")).memory
    exact = (await stage.note("oil is in the shed", tags=("Lantern",))).memory
    doubted = (await stage.note("a lie", tags=("lantern",))).memory
    await stage.engine.memories.patch(ME, doubted.id, MemoryPatch(in_doubt=True))

    found = await call(stage, "search_memories", query="door", tags=["lantern"])
    ids = [memory["id"] for memory in found["memories"]]
    assert ids[:3] == [exact.id, partial.id, in_text.id]
    assert doubted.id not in ids
    one = await call(stage, "search_memories", query="door", tags=["lantern"], limit=1)
    assert [memory["id"] for memory in one["memories"]] == [exact.id]
    start = (stage.clock.now() + timedelta(days=1)).isoformat()
    later = {"from": start}
    assert await call(
        stage, "search_memories", query="door", tags=["lantern"], time_range=later
    ) == {"memories": []}


async def test_the_lead_keeps_an_ordinary_memory(stage: Stage) -> None:
    await stage.soul()
    got = await call(
        stage,
        "remember",
        Actor.LEAD,
        content="The key hangs behind the door",
        tags=["key"],
        importance=0.4,
    )
    made = (await stage.engine.memories.get(ME, MemoryId(got["memory"]))).memory
    assert (made.text, made.tags, made.importance, made.permanent) == (
        "The key hangs behind the door",
        ("key",),
        0.4,
        False,
    )
    plain = await call(stage, "remember", Actor.LEAD, content="It rained")
    assert 0 < plain["importance"] < 1  # by the rule for all memories
    assert await actions(stage) == [(Actor.LEAD, Action.CREATE)] * 2


async def test_ratings_move_the_feedback_of_the_rated_alone(stage: Stage) -> None:
    await stage.soul()
    first, second = [(await stage.note(text)).memory.id for text in ("rain", "sun")]

    async def scores() -> list[float]:
        return [(await stage.engine.memories.get(ME, key)).feedback for key in (first, second)]

    rating = {"memory_id": first, "useful": 1.0}
    got = await call(stage, "rate_memories", ratings=[rating])
    assert got == {"feedback": {first: pytest.approx(0.65)}}
    assert await scores() == [pytest.approx(0.65), 0.5]
    unknown = {"memory_id": "nobody", "useful": 1.0}
    with pytest.raises(NotFound):
        await call(stage, "rate_memories", ratings=[rating, unknown])
    assert await scores() == [pytest.approx(0.65), 0.5]
    (entry, *_) = (await stage.engine.history.of_memory(ME, first, 9, None)).entries
    await stage.engine.history.undo(ME, SoulId("s1"), since=None, change=entry.id, job=None)
    assert await scores() == [0.5, 0.5]


async def test_a_reworded_memory_can_be_put_back(stage: Stage) -> None:
    await stage.soul()
    made = (await stage.note("rain")).memory
    got = await call(stage, "update_memory_node", memory_id=made.id, new_content="sun")

    assert got == {"memory": made.id, "text": "sun", "revision": 2}
    assert (Actor.ARCHIVIST, Action.CHANGE) in await actions(stage)
    with pytest.raises(NotFound):
        await call(stage, "update_memory_node", memory_id="nobody", new_content="sun")
    await stage.soul("s2")
    other = (await stage.note("snow", soul="s2")).memory
    with pytest.raises(NotFound):  # another soul's memory is none of its business
        await call(stage, "update_memory_node", memory_id=other.id, new_content="sun")


async def test_a_deletion_waits_for_the_user(stage: Stage) -> None:
    await stage.soul()
    made = (await stage.note("rain")).memory
    got = await call(stage, "delete_memory", memory_id=made.id, reason="tidy")

    assert got["status"] == "awaiting_confirmation"
    assert len(await stage.listed()) == 1
    (asked,) = await stage.engine.deletions.list(ME, SoulId("s1"))
    assert (asked.id, asked.quote, asked.reason, asked.actor) == (
        got["request"],
        "rain",
        "tidy",
        Actor.ARCHIVIST,
    )
    await stage.restart()
    decided = await stage.engine.deletions.decide(ME, asked.id, confirmed=True)
    assert decided.state is DeletionState.CONFIRMED
    assert [m.id for m in await stage.listed(MemoryState.BIN)] == [made.id]
    for confirmed in (True, False):
        with pytest.raises(Conflict):
            await stage.engine.deletions.decide(ME, asked.id, confirmed=confirmed)
    assert (await actions(stage))[1:] == [
        (Actor.ARCHIVIST, Action.ASK),
        (Actor.USER, Action.BIN),
    ]


async def test_a_rejected_or_late_deletion_does_nothing(stage: Stage) -> None:
    await stage.soul()
    made = (await stage.note("rain")).memory
    first = (await call(stage, "delete_memory", memory_id=made.id, reason="tidy"))["request"]
    await stage.engine.deletions.decide(ME, first, confirmed=False)
    second = (await call(stage, "delete_memory", memory_id=made.id, reason="tidy"))["request"]
    stage.clock.advance(7 * 86_400, 0)

    states = {
        deletion.id: deletion.state for deletion in await stage.engine.deletions.list(ME, None)
    }
    assert states == {first: DeletionState.REJECTED, second: DeletionState.EXPIRED}
    for request in (first, second):
        with pytest.raises(Conflict):
            await stage.engine.deletions.decide(ME, request, confirmed=True)
    with pytest.raises(NotFound):
        await stage.engine.deletions.decide(ME, "nobody", confirmed=True)
    assert [m.id for m in await stage.listed()] == [made.id]


@pytest.mark.parametrize("guard", GUARDS)
async def test_what_was_protected_meanwhile_stays(stage: Stage, guard: dict[str, Any]) -> None:
    await stage.soul()
    made = (await stage.note("rain")).memory
    request = (await call(stage, "delete_memory", memory_id=made.id, reason="tidy"))["request"]
    await stage.engine.memories.patch(ME, made.id, MemoryPatch(**guard))

    with pytest.raises(Forbidden):
        await stage.engine.deletions.decide(ME, request, confirmed=True)
    assert [m.id for m in await stage.listed()] == [made.id]


async def test_digests_quote_what_happened_and_are_kept(stage: Stage) -> None:
    await stage.soul()
    assert await call(stage, "archive_memories", period="day") == {"digests": []}
    with pytest.raises(Unprocessable, match="no messages yet"):
        await call(stage, "create_daily_summary", context="what the heron did")
    await stage.sync("c1", [*lines(15), line("heron", "a heron landed"), *lines(14, start=16)])
    await stage.close("c1")

    (only,) = (await call(stage, "archive_memories", period="year"))["digests"]
    day = (await call(stage, "create_daily_summary", context="heron landed"))["digest"]
    listed = {m.id: m for m in await stage.listed()}
    assert listed[only].kind is listed[day].kind is MemoryKind.DIGEST
    assert "a heron landed" in listed[day].text


names = st.sampled_from(sorted(TOOLS))


@few(15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(script=st.lists(st.tuples(names, st.integers(0, 3), st.booleans()), max_size=12))
def test_no_order_of_calls_touches_what_is_protected(
    script: list[tuple[str, int, bool]],
) -> None:
    """Protected memories come out of any series of tool calls, decisions and undoing as they were."""

    async def play() -> None:
        stage = Stage()
        await stage.start()
        await stage.soul()
        kept = [(await stage.note(f"rain {n}", **GUARDS[n])).memory for n in range(3)]
        free = (await stage.note("sun")).memory
        start = stage.clock.now()
        for name, which, confirmed in script:
            target = [*kept, free][which].id
            actor = next(iter(TOOLS[name].takes))
            arguments_by_tool: dict[str, dict[str, Any]] = {
                "call_assistant": {"instruction": f"forget {target}"},
                "save_permanent_memory": {"content": "rain 0", "reason": "asked"},
                "search_memories": {"query": "rain"},
                "create_daily_summary": {"context": "rain"},
                "archive_memories": {"period": "day"},
                "update_memory_node": {"memory_id": target, "new_content": "other"},
                "delete_memory": {"memory_id": target, "reason": "asked"},
                "remember": {"content": "rain 0"},
                "rate_memories": {"ratings": [{"memory_id": target, "useful": 0.0}]},
            }
            try:
                got = await call(stage, name, actor, **arguments_by_tool[name])
                if "request" in got:
                    await stage.engine.deletions.decide(ME, got["request"], confirmed=confirmed)
            except SoulMemError:
                continue
        await stage.engine.history.undo(ME, SoulId("s1"), since=start, change=None, job=None)
        for memory in kept:
            assert (await stage.engine.memories.get(ME, memory.id)).memory == memory
        await stage.stop()

    asyncio.run(play())
