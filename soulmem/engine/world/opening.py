"""Reads a soul from the store into a mind: chats first, so that visibility is right from the start.

A memory is visible as soon as it is read, and never before it is known from which
chats; the rest follows page by page.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import Owner
from soulmem.domain.memories import MemoryKind, Origin
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.loading import load_memories
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.garbage import no_full_collections, spare_the_collector
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.runtime.write_lock import WriteToken
from soulmem.engine.world.chat_delta import chat_pairs
from soulmem.engine.world.edge_loader import EdgeLoader
from soulmem.engine.world.snapshots import SnapshotKeeper
from soulmem.engine.world.world import World
from soulmem.graph.association import MEMORY_KINDS
from soulmem.graph.columns import ORIGINS
from soulmem.kernels.memory_release import release_free_memory
from soulmem.ports.store import Store

_MANY = 10_000  # memories; a larger soul keeps them packed, and only used ones as objects of 1 kB
_PACKED = 2000  # memories packed at once: about 10 ms
_MEMORIES = 200  # memories applied at once: about 20 ms on the compute thread


@dataclass(kw_only=True, eq=False)
class Opener:
    """Fills new minds."""

    store: Store
    compute: Worker
    loader: EdgeLoader
    images: SnapshotKeeper

    async def open(self, token: WriteToken, world: World, mind: Mind) -> Mind:
        """The soul's mind without vectors and recall records.

        It is a new mind restored from the snapshot, or `mind`, filled from the store.
        """
        with no_full_collections():
            restored_mind = await self.images.open(
                world, mind.soul, self.loader.most_edges
            )
            if restored_mind is None:
                await self._fill(token, world, mind)
        await self.compute.run(spare_the_collector)
        await self.compute.run(release_free_memory)  # temporary memory of reading
        return restored_mind or mind

    async def _fill(self, token: WriteToken, world: World, mind: Mind) -> None:
        """Read everything but vectors, and repair what an interrupted change left:
        memories follow the chats.
        """
        owner, soul = world.owner, mind.soul.id
        is_alone = len(world.souls) == 1
        world.expected.clear()
        if is_alone:
            world.expected[soul] = await self.store.memory_count(owner)
        chats = []
        for head in [
            h for h in world.heads.values() if soul in h.cast or soul in h.souls
        ]:
            log = await world.log(head.id)
            if log is not None:
                await self.compute.run(world.expect, mind, log)
                chats.append(log)
        mind.terms.begin_loading()
        await self._read_memories(owner, mind)
        await self._read_edges(owner, mind, alone=is_alone)
        indexing = mind.terms.end_loading()
        while await self.compute.run(next, indexing, self) is not self:
            pass
        orphans = await self.compute.run(_orphans, mind)
        world.check_whole(mind, len(orphans.drop_memories))
        for log in chats:
            await world.repair(
                token, mind, await self.compute.run(world.missing_of_chat, mind, log)
            )
        await world.repair(token, mind, await self.compute.run(_orphans, mind))
        await world.carry_out(token, mind, await world.linker.unfinished(token, mind))
        if len(mind.memories) > _MANY:
            await world.release_logs(log.head.id for log in chats)

    async def _read_memories(self, owner: Owner, mind: Mind) -> None:
        async for memories in self.store.memory_pages(owner, mind.soul.id):
            packed = len(mind.memories) + len(memories) > _MANY
            for start in range(0, len(memories), _MEMORIES):
                piece = memories[start : start + _MEMORIES]
                await self.compute.run(load_memories, mind, piece, packed=packed)
            while packed and await self.compute.run(mind.memories.pack, _PACKED) > 0:
                pass
            await self.compute.run(spare_the_collector)

    async def _read_edges(self, owner: Owner, mind: Mind, *, alone: bool) -> None:
        if await self.loader.is_too_large(owner, mind.soul.id, alone=alone):
            await self.loader.load_partial(owner, mind)
        else:
            async for page in self.store.edge_pages(owner, mind.soul.id):
                await self.compute.run(mind.load_edges, page)


def _orphans(mind: Mind) -> MindChange:
    """Memories and `next` edges in the store that belong to no chat."""
    n, columns = mind.size, mind.columns
    in_chats = np.zeros(n, np.bool_)
    for branch in mind.branches:
        in_chats[mind.chat_rows(branch.chat)] = True
    alone = (
        columns.in_use[:n]
        & (columns.origin[:n] == ORIGINS.index(Origin.CHAT))
        & ~in_chats
    )
    concepts = columns.kind[:n] == MEMORY_KINDS.index(MemoryKind.CONCEPT)
    alone &= ~concepts  # concepts follow the remaining texts
    memories = [mind.id_at(int(row)) for row in np.flatnonzero(alone)]
    drop: dict[str, None] = {}
    for key in memories:
        drop.update((edge.id, None) for edge in mind.edges.of(key))
    follows = mind.edges.arrays([EdgeKind.NEXT])
    for slot in follows.slot[~np.isin(follows.pair, chat_pairs(mind))]:
        edge = mind.edges.edge_at(int(slot))
        if edge.origin is Origin.CHAT and edge.verb is None:
            drop[edge.id] = None
    return MindChange(drop_memories=tuple(memories), drop_edges=tuple(drop))
