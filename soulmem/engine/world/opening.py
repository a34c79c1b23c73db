"""Reads a soul from the store into a mind: chats first, so that visibility is right from the start.

A memory is visible as soon as it is read, and never before it is known from which
chats; the rest follows page by page.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import numpy as np

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.garbage import no_full_collections, spare_the_collector
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.runtime.write_lock import WriteToken
from soulmem.engine.world.chat_delta import chat_pairs
from soulmem.engine.world.edge_loader import EdgeLoader
from soulmem.engine.world.message_log import ChatLog
from soulmem.engine.world.snapshots import SnapshotKeeper
from soulmem.engine.world.world import World
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.graph.columns import ORIGINS, UNKNOWN
from soulmem.kernels.memory_release import release_free_memory
from soulmem.language.scripts import is_unspaced
from soulmem.ports.store import Mark, Store


def load_memories(mind: Mind, memories: Sequence[Memory], *, packed: bool) -> None:
    """Add memories that the mind has not, after the branches of its chats and before all edges.

    `Mind.apply` does the same, with a look at what was there before.

    packed  they are kept as bytes, as is due in a large soul
    """
    frame = mind.frame()
    rows = [frame.rows.add(memory.id) for memory in memories]
    mind.memories.load(rows, memories, packed=packed)
    mind.columns.put_all(rows, memories)
    searched = [memory.is_searched for memory in memories]
    mind.columns.searched[rows] = searched
    mind.columns.tokens[rows] = UNKNOWN
    mind.columns.unspaced[rows] = [is_unspaced(memory.text) for memory in memories]
    tokens, words = mind.tokeniser.tokens, mind.words
    for row, memory, is_searched in zip(rows, memories, searched, strict=True):
        if memory.kind is MemoryKind.CONCEPT:
            mind.names.put(memory)
            mind.drafted.put(memory)
        if memory.state is MemoryState.MERGED:
            mind.tellings.put(memory)
        mind.name_counts.swap(None, memory)
        mind.terms.load(row, memory)
        frame.visibility.load_flags(row, memory)
        if is_searched:
            words.put(row, tokens(memory.text))
            mind.vector_queue.load(memory.id, frame.pairs.ending_at(row))


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
            restored = await self.images.open(world, mind.soul, self.loader.most_edges)
            if restored is None:
                await self._fill(token, world, mind)
            else:
                mind, mark = restored
                if not mark.is_current:
                    await self._catch_up(token, world, mind, mark)
        await self.compute.run(spare_the_collector)
        await self.compute.run(release_free_memory)  # temporary memory of reading
        return mind

    async def _catch_up(self, token: WriteToken, world: World, mind: Mind, mark: Mark) -> None:
        """Apply what was stored after the snapshot, and repair what an interrupted change left."""
        owner, soul = world.owner, mind.soul.id
        memories = await self.store.some_memories(owner, soul, sorted(mark.put))
        page = await self.store.some_edges(owner, soul, sorted(mark.edges))
        edges = {edge.id: edge for edge in page.edges(soul)}
        # Edges go with their memory; one that was stored again since has others.
        stored = {memory.id for memory in memories}
        renewed = sorted(stored & mark.dropped)
        around = await self.store.edges_around(owner, soul, renewed)
        edges.update((edge.id, edge) for edge in around.edges(soul))
        former = await self.compute.run(_edges_of, mind, renewed)
        change = MindChange(
            put_memories=tuple(memories),
            drop_memories=tuple((mark.put | mark.dropped) - stored),
            put_edges=tuple(edges.values()),
            drop_edges=tuple((mark.edges | former).difference(edges)),
        )
        chats = []
        for chat in mark.chats:  # first, as episodes go after their places
            log = await world.log(chat)
            if log is not None:
                await self.compute.run(world.put_branch, mind, log)
                chats.append(log)
        for piece in change.batches(_MEMORIES):
            await self.compute.run(mind.apply, piece)
        await self._repair(token, world, mind, chats)

    async def _repair(
        self, token: WriteToken, world: World, mind: Mind, chats: Sequence[ChatLog]
    ) -> None:
        """Repair what an interrupted change left: memories follow these chats."""
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

    async def _fill(self, token: WriteToken, world: World, mind: Mind) -> None:
        """Read everything but vectors, and repair what an interrupted change left."""
        owner, soul = world.owner, mind.soul.id
        is_alone = len(world.souls) == 1
        world.expected.clear()
        if is_alone:
            world.expected[soul] = await self.store.memory_count(owner)
        chats = []
        async for log in _logs(world, soul):
            await self.compute.run(world.expect, mind, log)
            chats.append(log)
        mind.terms.begin_loading()
        await self._read_memories(owner, mind)
        await self._read_edges(owner, mind, alone=is_alone)
        indexing = mind.terms.end_loading()
        while await self.compute.run(next, indexing, self) is not self:
            pass
        await self._repair(token, world, mind, chats)

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


async def _logs(world: World, soul: SoulId) -> AsyncIterator[ChatLog]:
    """The chats that the soul takes part in. The next one is read while one is used."""
    heads = [h for h in world.heads.values() if soul in h.cast or soul in h.souls]
    ahead: asyncio.Future[ChatLog | None] | None = None
    try:
        for head in [*heads, None]:
            log = await ahead if ahead is not None else None
            ahead = asyncio.ensure_future(world.log(head.id)) if head else None
            if log is not None:
                yield log
    finally:
        if ahead is not None:
            ahead.cancel()


def _edges_of(mind: Mind, memories: Sequence[MemoryId]) -> set[str]:
    """Ids of all edges of these memories."""
    return {edge.id for key in memories for edge in mind.edges.of(key)}


def _orphans(mind: Mind) -> MindChange:
    """Memories and `next` edges in the store that belong to no chat."""
    n, columns = mind.size, mind.columns
    in_chats = np.zeros(n, np.bool_)
    for branch in mind.branches:
        in_chats[mind.chat_rows(branch.chat)] = True
    alone = columns.in_use[:n] & (columns.origin[:n] == ORIGINS.index(Origin.CHAT)) & ~in_chats
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
