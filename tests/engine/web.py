"""Souls of many linked memories for tests, written into a store as they are, and walks over them."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, timezone

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import Edge, EdgeKind, EdgePage
from soulmem.domain.ids import DEFAULT_OWNER, MemoryId, Owner, SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.domain.soul import Soul
from soulmem.engine.mind.mind import Mind
from soulmem.engine.world.edge_loader import Attempt
from soulmem.graph.arcs import MEMORY_KINDS, WALKED, arcs
from soulmem.graph.edge_table import EdgeTable
from soulmem.graph.row_numbers import Rows
from soulmem.kernels.walk import Tuning, Walk, Walker, WalkParams
from soulmem.ports.store import Change, Store
from tests.fakes.store import FakeStore, _World, page_of

ME = DEFAULT_OWNER
SOUL = SoulId("s1")
_NOON = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)

Floats = NDArray[np.float64]
Pairs = Iterable[tuple[int, int]]


def key(number: int) -> MemoryId:
    """The id of a memory of the web."""
    return MemoryId(f"m{number:06}")


def near(nodes: int, seed: int) -> Pairs:
    """Links to the next three in a ring, one in fifty elsewhere: most ways stay near where they begin."""
    draw = random.Random(seed)
    for node in range(nodes):
        for step in (1, 2, 3):
            far = draw.random() < 0.02
            yield node, draw.randrange(nodes) if far else (node + step) % nodes


def anywhere(nodes: int, seed: int) -> Pairs:
    """Two and a half links a memory from anywhere to anywhere, loops and hubs among them."""
    draw = random.Random(seed)
    for _ in range(5 * nodes // 2):
        end = draw.randrange(20) if draw.random() < 0.02 else draw.randrange(nodes)
        yield draw.randrange(nodes), end


def links(pairs: Pairs, seed: int) -> list[Edge]:
    """An association of any strength for each pair, every pair once."""
    draw = random.Random(seed)
    return [
        Edge(
            SOUL,
            key(one),
            key(two),
            EdgeKind.ASSOCIATES,
            Origin.CHAT,
            _NOON,
            draw.random() ** 3,
            at_turn=0,
        )
        for one, two in dict.fromkeys(pairs)
    ]


class WebStore(FakeStore):
    """A store that holds one soul of notes m000000, .., each newer than the one before, with these edges.

    It waits at `gate` before it tells of edges, sets `waits` then, and counts how often it was asked.
    """

    def __init__(self, nodes: int, edges: Sequence[Edge]) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.gate.set()
        self.waits = asyncio.Event()
        self.asked = 0
        self._at: defaultdict[MemoryId, dict[str, None]] = defaultdict(dict)
        for edge in edges:
            for end in (edge.source, edge.target):
                self._at[end][edge.id] = None
        world = self._worlds.setdefault(ME, _World())
        world.souls[SOUL] = Soul(SOUL, "Mira", created=_NOON)
        world.memories.update((key(n), note(n)) for n in range(nodes))
        world.edges.update((edge.id, edge) for edge in edges)

    async def commit(self, change: Change) -> None:
        await super().commit(change)
        for edge in change.put_edges:
            for end in (edge.source, edge.target):
                self._at[end][edge.id] = None

    async def edges_around(
        self,
        owner: Owner,
        soul: SoulId,
        memories: Sequence[MemoryId],
        *,
        leaving: bool = False,
    ) -> EdgePage:
        self.asked += 1
        known = self._worlds[owner].edges
        ids = dict.fromkeys(
            edge for memory in memories for edge in self._at[memory] if edge in known
        )
        page = page_of([known[one] for one in ids if not leaving or known[one].source in memories])
        self.waits.set()
        await self.gate.wait()
        return page


async def near_store(nodes: int, seed: int) -> tuple[WebStore, list[Edge]]:
    """A store, open, of memories that are linked to those near them; and these links."""
    edges = await asyncio.to_thread(lambda: links(near(nodes, seed), seed))
    store = await asyncio.to_thread(WebStore, nodes, edges)
    await store.open()
    return store, edges


def note(number: int) -> Memory:
    """A memory of the web."""
    return Memory(
        id=key(number),
        soul=SOUL,
        kind=MemoryKind.NOTE,
        text=f"note {number}",
        origin=Origin.USER,
        created=_NOON + timedelta(seconds=number),
    )


async def write(store: Store, nodes: int, edges: Sequence[Edge]) -> None:
    """The same soul, into any open store."""
    await store.commit(Change(ME, souls=[Soul(SOUL, "Mira", created=_NOON)]))
    for start in range(0, nodes, 500):
        await store.commit(
            Change(
                ME,
                put_memories=[note(n) for n in range(start, min(start + 500, nodes))],
            )
        )
    for start in range(0, len(edges), 500):
        await store.commit(Change(ME, put_edges=edges[start : start + 500]))


class Walks:
    """A mind of the web as one that has all edges would be walked: row n is that of memory n."""

    def __init__(self, nodes: int, edges: Sequence[Edge]) -> None:
        rows: Rows[MemoryId] = Rows()
        for n in range(nodes):
            rows.add(key(n))
        table = EdgeTable(SOUL, rows)
        table.load(page_of(edges))
        every = table.arrays(WALKED)
        kinds = np.full(nodes, MEMORY_KINDS.index(MemoryKind.NOTE), np.uint8)
        self._walker = Walker(arcs(every, every.strength * every.confidence, kinds))
        self._nodes = nodes

    def true(self, seeds: Sequence[int], restart: float) -> Floats:
        """Where a walk is found, memory by memory, with an error of at most 1e-10."""
        walk = self._walker.walk(*_start(seeds), WalkParams(restart, 1e-10))
        return by_number(walk, self._nodes)


def walking(mind: Mind, seeds: Sequence[int], params: WalkParams) -> Attempt:
    """A walk from these memories, in equal shares, over what is in memory."""

    def attempt() -> Walk:
        edges = mind.edges.arrays(WALKED)
        weight = edges.strength * edges.confidence
        graph = arcs(edges, weight, mind.columns.kind[: mind.size])
        return Walker(graph).walk(
            *_start(seeds), params, Tuning(boundary=mind.residency.boundary(mind.size))
        )

    return attempt


def by_number(walk: Walk, nodes: int) -> Floats:
    """float64[nodes]: how much of the walk was found at each memory."""
    out = np.zeros(nodes)
    out[walk.rows] = walk.score
    return out


def _start(seeds: Sequence[int]) -> tuple[NDArray[np.uint32], Floats]:
    return np.asarray(seeds, np.uint32), np.full(len(seeds), 1 / len(seeds))
