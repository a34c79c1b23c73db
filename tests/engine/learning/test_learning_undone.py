"""What a recall taught is told in one entry, and taken back to the last digit."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from soulmem.domain.audit import Action, Actor
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId, SlotId, SoulId
from soulmem.domain.memories import MemoryState
from soulmem.domain.soul import KnownName
from soulmem.engine.api.requests import NewEdge
from tests.engine.stage import ME, Stage
from tests.engine.taught import KEY, NEXT, REPLY, STORES, TALK, lived_chat


@pytest.fixture(params=STORES)
async def told(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    """A soul that lived a chat and waits to reply."""
    async with lived_chat(request.param, tmp_path) as stage:
        yield stage


async def edges(stage: Stage, memory: MemoryId) -> dict[str, Edge]:
    """The edges of the memory as they are stored."""
    graph = await stage.store.graph(ME, SoulId("s1"))
    return {one.id: one for one in graph.edges if memory in (one.source, one.target)}


async def test_it_is_told_and_taken_back(told: Stage) -> None:
    key = await told.find(KEY)
    tie = NewEdge(EdgeKind.ASSOCIATES, to=key, strength=0.5)
    await told.note("the silver key turns", edges=(tie,))
    before = await edges(told, key)
    told.clock.advance(60, 0)
    start = told.clock.now()
    found = await told.recall(
        "silver key", "c1", slot=SlotId("r1"), swipe=0, max_items=4
    )
    await told.sync("c1", [*TALK, REPLY, NEXT])
    await told.engine.memories.get(ME, key)  # waits for the lesson
    taught = {
        name: one for name, one in (await edges(told, key)).items() if name in before
    }
    assert taught != before, "the recall taught nothing"

    (entry,) = [
        one
        for one in (
            await told.engine.history.audit(ME, SoulId("s1"), None, 99, None)
        ).entries
        if one.action is Action.LEARN
    ]
    assert (entry.actor, entry.target, entry.source) == (
        Actor.ENGINE,
        found.trace,
        "c1",
    )
    changed = {name for name, one in taught.items() if one != before[name]}
    assert changed <= set(dict(entry.after or {})["edges"])

    undone = await told.engine.history.undo(
        ME, SoulId("s1"), since=start, change=None, job=None
    )
    assert entry.id in undone.changes
    back = await edges(told, key)
    assert {name: back[name] for name in before} == before
    mind = await told.mind()
    assert {name: mind.edges[name] for name in before} == before


async def test_what_a_tool_made_goes_with_the_mentions_that_recalls_taught(
    told: Stage,
) -> None:
    """Undoing the memory drops a mention that undoing the lesson would put back as it was."""
    start = told.clock.now()
    await told.engine.souls.put(ME, SoulId("s1"), "Mira", (KnownName("Tovan"),), None)
    given = {"content": "Tovan hid a silver key, too.", "reason": "told so"}
    tools = told.engine.tools
    made = await tools.call(ME, "save_permanent_memory", "s1", Actor.LEAD, given)
    drafted = MemoryId(made["memory"])
    before = await edges(told, drafted)
    assert [one.kind for one in before.values()] == [EdgeKind.MENTIONS]
    await told.recall(
        "Tovan, silver key", "c1", slot=SlotId("r1"), swipe=0, max_items=4
    )
    await told.sync("c1", [*TALK, REPLY, NEXT])
    await told.engine.memories.get(ME, drafted)  # waits for the lesson
    assert (await edges(told, drafted)) != before, "the recall taught nothing"

    await told.engine.history.undo(ME, SoulId("s1"), since=start, change=None, job=None)
    assert (await told.engine.memories.get(ME, drafted)).memory.state is MemoryState.BIN
    mind = await told.mind()
    assert (
        {one.id: one for one in mind.edges.of(drafted)}
        == await edges(told, drafted)
        == {}
    )
