"""Which texts are linked again after a change, and whose edges win."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.propagation.linker import _Mentions
from soulmem.engine.propagation.mentions import MindAfter, texts_to_relink
from tests.engine.stage import Stage, lines

SOUL = SoulId("s1")


def edge(source: Memory, target: Memory, kind: EdgeKind) -> Edge:
    return Edge(SOUL, source.id, target.id, kind, Origin.CHAT, source.created, 0.4)


async def two_texts(stage: Stage) -> tuple[Mind, Memory, Memory]:
    """A mind, and two texts of its chat."""
    await stage.soul()
    await stage.sync("c", lines(6))
    mind = await stage.mind()
    keys = [await stage.find(f"{who}: text of m{i}") for who, i in (("Al", 1), ("Mira", 2))]
    first, second = (mind.memories[key] for key in keys)
    return mind, first, second


async def relinked(mind: Mind, change: MindChange) -> set[MemoryId]:
    def go() -> list[MemoryId]:
        return texts_to_relink(mind, change, MindAfter(mind, change))

    return set(await asyncio.to_thread(go))


async def test_a_text_that_changes_is_linked_again_and_another_kind_is_not(
    stage: Stage,
) -> None:
    mind, first, second = await two_texts(stage)
    concept = replace(second, id=MemoryId("k"), kind=MemoryKind.CONCEPT)
    change = MindChange(put_memories=(first, concept))
    assert await relinked(mind, change) == {first.id}
    assert await relinked(mind, MindChange()) == set()


async def test_a_new_or_dropped_instance_concerns_both_its_ends_and_other_edges_none(
    stage: Stage,
) -> None:
    mind, first, second = await two_texts(stage)
    instance = edge(first, second, EdgeKind.INSTANCE_OF)
    assert await relinked(mind, MindChange(put_edges=(instance,))) == {
        first.id,
        second.id,
    }
    other = edge(first, second, EdgeKind.ASSOCIATES)
    assert await relinked(mind, MindChange(put_edges=(other,))) == set()
    await stage.engine.services.compute.run(mind.apply, MindChange(put_edges=(instance, other)))
    dropped = MindChange(drop_edges=(other.id, "of nobody"))
    assert await relinked(mind, dropped) == set()
    dropped = MindChange(drop_edges=(instance.id,))
    assert await relinked(mind, dropped) == {first.id, second.id}
    dropped = MindChange(drop_memories=(first.id,))
    assert await relinked(mind, dropped) == {second.id}


async def test_the_mentions_that_were_found_win_over_the_change(stage: Stage) -> None:
    _, first, second = await two_texts(stage)
    fresh = edge(first, second, EdgeKind.MENTIONS)
    stale = edge(second, first, EdgeKind.MENTIONS)
    kept = edge(first, second, EdgeKind.ASSOCIATES)
    change = MindChange(put_edges=(stale, kept), drop_edges=(fresh.id, "other"))
    after = _Mentions(put=[fresh], drop=[stale.id]).on(change)
    assert after.put_edges == (kept, fresh)
    assert after.drop_edges == ("other", stale.id)
