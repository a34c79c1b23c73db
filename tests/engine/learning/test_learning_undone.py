"""A lesson has one audit entry, and undoing it restores the exact values."""

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
async def chat_stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    """A soul after a chat, with a reply due."""
    async with lived_chat(request.param, tmp_path) as stage:
        yield stage


async def edges(stage: Stage, memory: MemoryId) -> dict[str, Edge]:
    """The edges of the memory as they are stored."""
    graph = await stage.store.graph(ME, SoulId("s1"))
    return {edge.id: edge for edge in graph.edges if memory in (edge.source, edge.target)}


async def test_it_is_told_and_taken_back(chat_stage: Stage) -> None:
    key = await chat_stage.find(KEY)
    tie = NewEdge(EdgeKind.ASSOCIATES, to=key, strength=0.5)
    await chat_stage.note("the silver key turns", edges=(tie,))
    before = await edges(chat_stage, key)
    chat_stage.clock.advance(60, 0)
    start = chat_stage.clock.now()
    answer = await chat_stage.recall("silver key", "c1", slot=SlotId("r1"), swipe=0, max_items=4)
    await chat_stage.sync("c1", [*TALK, REPLY, NEXT])
    await chat_stage.engine.memories.get(ME, key)  # waits for the lesson
    taught = {name: one for name, one in (await edges(chat_stage, key)).items() if name in before}
    assert taught != before, "the recall taught nothing"

    (entry,) = [
        one
        for one in (await chat_stage.engine.history.audit(ME, SoulId("s1"), None, 99, None)).entries
        if one.action is Action.LEARN
    ]
    assert (entry.actor, entry.target, entry.source) == (
        Actor.ENGINE,
        answer.trace,
        "c1",
    )
    changed = {name for name, one in taught.items() if one != before[name]}
    assert changed <= set(dict(entry.after or {})["edges"])

    undone = await chat_stage.engine.history.undo(
        ME, SoulId("s1"), since=start, change=None, job=None
    )
    assert entry.id in undone.changes
    back = await edges(chat_stage, key)
    assert {name: back[name] for name in before} == before
    mind = await chat_stage.mind()
    assert {name: mind.edges[name] for name in before} == before


async def test_what_a_tool_made_goes_with_the_mentions_that_recalls_taught(
    chat_stage: Stage,
) -> None:
    """Undoing the memory drops a mention that undoing the lesson would put back as it was."""
    start = chat_stage.clock.now()
    await chat_stage.engine.souls.put(ME, SoulId("s1"), "Mira", (KnownName("Tovan"),), None)
    arguments = {"content": "Tovan hid a silver key, too.", "reason": "told so"}
    tools = chat_stage.engine.tools
    made = await tools.call(ME, "save_permanent_memory", "s1", Actor.LEAD, arguments)
    drafted = MemoryId(made["memory"])
    before = await edges(chat_stage, drafted)
    assert [edge.kind for edge in before.values()] == [EdgeKind.MENTIONS]
    await chat_stage.recall("Tovan, silver key", "c1", slot=SlotId("r1"), swipe=0, max_items=4)
    await chat_stage.sync("c1", [*TALK, REPLY, NEXT])
    await chat_stage.engine.memories.get(ME, drafted)  # waits for the lesson
    assert (await edges(chat_stage, drafted)) != before, "the recall taught nothing"

    await chat_stage.engine.history.undo(ME, SoulId("s1"), since=start, change=None, job=None)
    assert (await chat_stage.engine.memories.get(ME, drafted)).memory.state is MemoryState.BIN
    mind = await chat_stage.mind()
    assert (
        {edge.id: edge for edge in mind.edges.of(drafted)} == await edges(chat_stage, drafted) == {}
    )
