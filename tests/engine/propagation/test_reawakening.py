"""A new text brings concepts back that were forgotten, and no others."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.propagation.linker import with_reawakened
from tests.engine.stage import Stage

SOUL = SoulId("s1")


async def mind_with(stage: Stage, state: MemoryState) -> tuple[Mind, Memory, Memory]:
    """A mind, its concept in that state, and an active note."""
    await stage.soul()
    note = (await stage.note("Bo sings.")).memory
    made = (await stage.note("Bo", kind=MemoryKind.CONCEPT)).memory
    mind = await stage.mind()
    concept = replace(made, state=state)
    change = MindChange(put_memories=(concept,))
    await stage.engine.services.compute.run(mind.apply, change)
    return mind, concept, note


def mention(note: Memory, concept: Memory, kind: EdgeKind = EdgeKind.MENTIONS) -> Edge:
    """An edge from the note to the concept."""
    ends = (note.id, concept.id)
    return Edge(SOUL, *ends, kind, Origin.CHAT, note.created, 0.4)


@pytest.mark.parametrize("state", list(MemoryState))
async def test_only_a_forgotten_concept_comes_back(stage: Stage, state: MemoryState) -> None:
    mind, concept, note = await mind_with(stage, state)
    change = MindChange(put_edges=(mention(note, concept),))
    after = await asyncio.to_thread(with_reawakened, mind, change)
    woken = replace(concept, state=MemoryState.ACTIVE, revision=concept.revision + 1)
    is_woken = state is MemoryState.FORGOTTEN
    assert after.put_memories == ((woken,) if is_woken else ())
    assert after.put_edges == change.put_edges


async def test_an_edge_of_another_kind_wakes_nothing_and_two_mentions_wake_once(
    stage: Stage,
) -> None:
    mind, concept, note = await mind_with(stage, MemoryState.FORGOTTEN)
    other = MindChange(put_edges=(mention(note, concept, EdgeKind.ASSOCIATES),))
    assert await asyncio.to_thread(with_reawakened, mind, other) is other
    twice = (mention(note, concept), mention(concept, concept))
    change = MindChange(put_memories=(note,), put_edges=twice)
    after = await asyncio.to_thread(with_reawakened, mind, change)
    assert [memory.id for memory in after.put_memories] == [note.id, concept.id]
    assert after.put_memories[1].revision == concept.revision + 1


async def test_a_concept_that_the_change_itself_forgets_or_that_is_unknown(
    stage: Stage,
) -> None:
    mind, concept, note = await mind_with(stage, MemoryState.ACTIVE)
    forgotten = replace(concept, state=MemoryState.FORGOTTEN)
    change = MindChange(put_memories=(forgotten,), put_edges=(mention(note, concept),))
    after = await asyncio.to_thread(with_reawakened, mind, change)
    assert [memory.state for memory in after.put_memories] == [MemoryState.ACTIVE]
    unknown = mention(note, replace(concept, id=MemoryId("nobody")))
    change = MindChange(put_edges=(unknown,))
    assert await asyncio.to_thread(with_reawakened, mind, change) is change
