"""What the loader of a large soul asks for: the neighbours of memories, and memories of a kind."""

from __future__ import annotations

import asyncio

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import NewEdge
from soulmem.engine.world.edge_loader import _neighbours, of_kinds
from tests.engine.stage import ME, Stage


async def linked(stage: Stage) -> dict[str, MemoryId]:
    """A concept in the middle of three texts, one of which has a neighbour of its own."""
    ids = {"hub": (await stage.note("Hub", kind=MemoryKind.CONCEPT)).memory.id}
    ids["far"] = (await stage.note("Far", kind=MemoryKind.CONCEPT)).memory.id
    for name in ("one", "two", "three"):
        edges = [NewEdge(EdgeKind.MENTIONS, to=ids["hub"])]
        if name == "three":
            edges.append(NewEdge(EdgeKind.MENTIONS, to=ids["far"]))
        text = f"Text {name}."
        view = await stage.note(text, kind=MemoryKind.EPISODE, edges=tuple(edges))
        ids[name] = view.memory.id
    return ids


async def test_neighbours_are_found_along_edges_in_both_directions(
    stage: Stage,
) -> None:
    ids = await linked(stage)
    mind = await stage.mind()
    texts = {ids["one"], ids["two"], ids["three"]}

    async def around(*names: str, seen: tuple[str, ...] = ()) -> list[MemoryId]:
        keys = [ids[name] for name in names]
        return await asyncio.to_thread(_neighbours, mind, keys, {ids[n] for n in seen})

    assert set(await around("hub")) == texts
    assert set(await around("three")) == {ids["hub"], ids["far"]}
    assert await around("three", seen=("hub",)) == [ids["far"]]
    assert await around("one", "two", seen=("one", "two")) == [ids["hub"]]
    assert await around("hub", seen=("one", "two", "three")) == []


async def test_memories_are_told_by_their_kind(stage: Stage) -> None:
    ids = await linked(stage)
    mind = await stage.mind()
    concepts = await asyncio.to_thread(of_kinds, mind, {MemoryKind.CONCEPT})
    assert {ids["hub"], ids["far"]} <= set(concepts)
    assert ids["one"] not in concepts
    assert set(await asyncio.to_thread(of_kinds, mind, {MemoryKind.EPISODE})) == {
        ids["one"],
        ids["two"],
        ids["three"],
    }
    assert await asyncio.to_thread(of_kinds, mind, {MemoryKind.TRIGGER}) == []
    await stage.engine.memories.delete(ME, ids["two"], None)
    await stage.engine.memories.delete(ME, ids["two"], "purge")
    left = await asyncio.to_thread(of_kinds, mind, {MemoryKind.EPISODE})
    assert set(left) == {ids["one"], ids["three"]}
