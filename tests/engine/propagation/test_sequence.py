"""Forgotten messages have no edges, terms or vectors of their own; restored or undone they have them again."""

from __future__ import annotations

from dataclasses import replace

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import MemoryState
from soulmem.domain.soul import KnownName, SoulSettings
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.world.audit import BY_USER
from tests.engine.stage import ME, Stage, line, lines

TEXT = "Tobin hid the silver spoon."


async def talk(stage: Stage) -> MemoryId:
    """Three messages and a last one; the second names somebody of the card."""
    await stage.engine.souls.put(
        ME, SoulId("s1"), "Mira", (KnownName("Tobin"),), SoulSettings(restraint=0.0)
    )
    messages = [*lines(1), line("m2", TEXT), *lines(2, 3)]
    await stage.sync("c1", messages)
    await stage.engine.idle.run()
    return await stage.find(f"Al: {TEXT}")


async def turn(stage: Stage, key: MemoryId, state: MemoryState) -> None:
    """Put the memory into a state, as forgetting and undo do."""
    world, mind = await stage.world(), await stage.mind()
    new = replace(mind.memories[key], state=state)
    async with world.writing as token:
        change = MindChange(put_memories=(new,))
        auditor = stage.engine.services.auditor
        await auditor.carry_out(token, world, mind, change, BY_USER)


async def edges(stage: Stage, key: MemoryId) -> list[Edge]:
    return (await stage.mind()).edges_of(key)


async def test_a_forgotten_message_lets_go_of_its_edges_and_terms(
    stage: Stage,
) -> None:
    key = await talk(stage)
    kinds = sorted(edge.kind.value for edge in await edges(stage, key))
    assert kinds == ["mentions", "next", "next"]
    mind = await stage.mind()
    row = mind.row(key)
    assert row is not None
    assert mind.terms.incidence.terms_of(row)
    before = await stage.fingerprint()
    await turn(stage, key, MemoryState.FORGOTTEN)
    assert await edges(stage, key) == []
    assert mind.terms.incidence.terms_of(row) == []
    assert await stage.fingerprint() == before
    await stage.restart()
    assert await edges(stage, key) == []
    assert await stage.fingerprint() == before


async def test_what_comes_back_is_linked_as_before(stage: Stage) -> None:
    key = await talk(stage)
    before = {edge.id for edge in await edges(stage, key)}
    await turn(stage, key, MemoryState.FORGOTTEN)
    await turn(stage, key, MemoryState.ACTIVE)
    assert {edge.id for edge in await edges(stage, key)} == before
    mind = await stage.mind()
    row = mind.row(key)
    assert row is not None
    assert mind.terms.incidence.terms_of(row)


async def test_two_forgotten_neighbours_are_not_joined_until_both_are_back(
    stage: Stage,
) -> None:
    key = await talk(stage)
    other = await stage.find("Al: text of m1")
    for each in (key, other):
        await turn(stage, each, MemoryState.FORGOTTEN)
    await turn(stage, other, MemoryState.ACTIVE)
    assert not [e for e in await edges(stage, other) if e.kind is EdgeKind.NEXT]
    await turn(stage, key, MemoryState.ACTIVE)
    (joined,) = [e for e in await edges(stage, other) if e.kind is EdgeKind.NEXT]
    assert (joined.source, joined.target) == (other, key)


async def test_the_vector_of_a_forgotten_message_in_its_context_is_not_needed(
    stage: Stage,
) -> None:
    key = await talk(stage)
    mind = await stage.mind()
    wanted = {text.key for text in mind.vector_queue.all_texts()}
    await turn(stage, key, MemoryState.FORGOTTEN)
    remaining = {text.key for text in mind.vector_queue.all_texts()}
    dropped = wanted - remaining
    (first,) = [pair for pair in dropped if isinstance(pair, tuple)]
    assert dropped == {key, first}
    assert first[1] == key
    await turn(stage, key, MemoryState.ACTIVE)
    assert {text.key for text in mind.vector_queue.all_texts()} == wanted
