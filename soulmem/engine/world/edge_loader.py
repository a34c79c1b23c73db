"""Loads and releases edges of souls that have too many of them to keep in memory.

A walk runs on what is loaded, and the edges it lacks are read in between.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from soulmem.domain.edges import EdgeKind, EdgePage
from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.domain.memories import MemoryKind, Origin
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import Worker, compute_only
from soulmem.engine.world.edge_forecast import EdgeForecast, forecast_after, forecast_of
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.graph.residency import LINKS
from soulmem.kernels.arrays import Int64s
from soulmem.kernels.walk_result import Walk, WalkParams
from soulmem.ports.clock import Clock
from soulmem.ports.store import Store

log = logging.getLogger(__name__)

Attempt = Callable[
    [], Walk | None
]  # runs one walk with `Residency.boundary` in its tuning; None: no seeds

_PIECE = 200  # memories whose edges are read at once
_EDGES = 2000  # edges applied at once: about 10 ms on the compute thread

_ALL_KINDS = frozenset(kind.value for kind in EdgeKind)
_KEPT_KINDS = _ALL_KINDS - {kind.value for kind in LINKS}
# Edges that are always loaded: all edges of memories of these kinds, or (True) those leaving them.
_ALWAYS_LOADED = (
    ({MemoryKind.ABSTRACT_EPISODE, MemoryKind.TRIGGER, MemoryKind.ACTION}, False),
    ({MemoryKind.CONCEPT}, True),
)


@dataclass(frozen=True, slots=True)
class LoadingParams:
    """How much of a large soul is kept in memory; design 3."""

    resident_edges: int = 1_000_000  # a soul with more is loaded in part
    release_after: int = 500  # turns without use after which edges are released
    hot: int = 100  # most recalled memories, always loaded
    hops: int = 2  # distance around them up to which edges are preloaded


@dataclass(frozen=True, slots=True)
class LoadedWalk:
    """A walk with loading, and what it took."""

    walk: Walk | None
    walks: int  # number of attempts
    loaded: int  # memories whose edges were read in between
    complete: bool  # False: time ran out with `walk.error` above the wanted one


@dataclass(kw_only=True, eq=False)
class EdgeLoader:
    """Loads and releases edges of partly loaded minds. Used on the event loop."""

    store: Store
    compute: Worker
    clock: Clock
    params: LoadingParams = LoadingParams()

    def __post_init__(self) -> None:
        self._locks: WeakKeyDictionary[Mind, asyncio.Lock] = WeakKeyDictionary()
        self._tasks: set[asyncio.Task[int]] = set()

    @property
    def most_edges(self) -> int:
        """The largest number of edges of a soul in memory."""
        return self.params.resident_edges

    async def is_too_large(self, owner: Owner, soul: SoulId, alone: bool) -> bool:
        """Whether the soul has more edges than may be in memory; `alone`: the owner has one soul."""
        most = self.params.resident_edges
        if await self.store.edge_count(owner) <= most:
            return False
        return alone or await self.store.edge_count(owner, soul) > most

    async def follow(
        self,
        owner: Owner,
        mind: Mind,
        attempt: Attempt,
        params: WalkParams,
        seconds: float,
        first: Sequence[MemoryId] = (),
    ) -> LoadedWalk:
        """Walk until the error is at most `params.l1`, reading the edges that are
        missing; after `seconds` the best walk so far.

        `attempt` runs on the compute thread, again after each load; it must rebuild
        everything that depends on the edges. `first` are memories whose edges decide on
        the seeds.
        """
        end = time.perf_counter() + seconds
        walk: Walk | None = None
        waits: EdgeForecast | None = None
        walks = read = 0
        wanted = list(first)
        while True:
            if wanted:
                # A late read continues: the next turn needs the same edges.
                reading = self._start_task(self._load(owner, mind, wanted, weigh=True))
                try:
                    seconds_left = max(0.0, end - time.perf_counter())
                    read += await asyncio.wait_for(asyncio.shield(reading), seconds_left)
                except asyncio.TimeoutError:
                    return LoadedWalk(walk, walks, read, complete=False)
            if waits is not None:
                wanted, waits = await self.compute.run(_forecast, mind, waits, wanted, params)
            if waits is None:
                walk, wanted, waits = await self.compute.run(self._walk, mind, attempt, params)
                walks += 1
                if waits is None:
                    return LoadedWalk(walk, walks, read, complete=True)

    async def load_partial(self, owner: Owner, mind: Mind) -> None:
        """Load the edges that a large soul always has in memory; its memories are there already."""
        await self.compute.run(lambda: mind.residency.mark_partial(mind.size))
        for kinds, leaving in _ALWAYS_LOADED:
            memories = await self.compute.run(of_kinds, mind, kinds)
            for start in range(0, len(memories), _PIECE):
                page = await self.store.edges_around(
                    owner,
                    mind.soul.id,
                    memories[start : start + _PIECE],
                    leaving=leaving,
                )
                await self._take(mind, page, _KEPT_KINDS)

    async def complete(self, owner: Owner, mind: Mind, memories: Iterable[MemoryId]) -> int:
        """Load all edges of these memories; returns for how many they had to be read.

        Unknown memories are ignored.
        """
        return 0 if mind.residency.whole else await self._load(owner, mind, list(memories))

    async def surroundings(
        self,
        owner: Owner,
        mind: Mind,
        memories: Iterable[MemoryId],
        hops: int,
        most: int | None = None,
    ) -> None:
        """Load all edges on paths of up to `hops` steps from these memories, nearest first.

        Ends early once the soul has `most` edges in memory.
        """
        ring, seen = list(dict.fromkeys(memories)), set[MemoryId]()
        for hop in range(hops if not mind.residency.whole else 0):
            seen.update(ring)
            for start in range(0, len(ring), _PIECE):
                if hop and most is not None and len(mind.edges) >= most:
                    return
                await self._load(owner, mind, ring[start : start + _PIECE])
            if hop + 1 < hops:
                ring = await self.compute.run(_neighbours, mind, ring, seen)

    async def warm_up(self, owner: Owner, mind: Mind) -> None:
        """Load the edges of the hot memories of a newly opened soul; their surroundings
        follow in the background.
        """
        if not mind.residency.whole:
            hot = await self.compute.run(_hot_memories, mind, self.params.hot)
            await self._load(owner, mind, hot)
            self._start_task(self._load_surroundings(owner, mind, hot))

    def recalled(self, owner: Owner, mind: Mind, memories: Sequence[MemoryId]) -> None:
        """In the background, load the surroundings of recalled memories and release unused edges."""
        if not mind.residency.whole:
            self._start_task(self._load_surroundings(owner, mind, memories))

    async def release(self, mind: Mind) -> int:
        """Release edges that were unused for long; returns how many."""
        if mind.residency.whole:
            return 0
        async with self._lock(mind):
            return await self.compute.run(self._release, mind)

    async def run_idle(self, minds: Iterable[Mind]) -> None:
        """Release unused edges of all these minds, in Idle."""
        for mind in minds:
            await self.release(mind)

    @asynccontextmanager
    async def everything(self, owner: Owner, mind: Mind) -> AsyncIterator[None]:
        """All edges of the mind are in memory inside the context, whatever their number."""
        if mind.residency.whole:
            yield
            return
        memories = await self.compute.run(list, mind.memories)
        for start in range(0, len(memories), _PIECE):
            await self._load(owner, mind, memories[start : start + _PIECE], passing=True)
        try:
            yield
        finally:
            await self.release(mind)

    async def drain(self) -> None:
        """Wait for all background reads."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def stop(self) -> None:
        """Cancel background reads."""
        for task in list(self._tasks):
            task.cancel()
        await self.drain()

    async def _load_surroundings(
        self, owner: Owner, mind: Mind, memories: Sequence[MemoryId]
    ) -> int:
        p = self.params
        before = len(mind.edges)
        await self.surroundings(owner, mind, memories, p.hops, p.resident_edges // 2)
        await self.release(mind)
        return len(mind.edges) - before

    async def _load(
        self,
        owner: Owner,
        mind: Mind,
        memories: Sequence[MemoryId],
        *,
        passing: bool = False,
        weigh: bool = False,
    ) -> int:
        """Read the edges of those memories that are not complete; returns how many were not.

        `passing`: these edges are released first. `weigh`: also count mentions, as a
        walk needs.
        """
        async with self._lock(mind):
            missing = await self.compute.run(self._begin_loading, mind, memories, passing)
            if missing:
                await self._read(owner, mind, missing, passing)
            if weigh:
                await self._count_mentions(owner, mind, memories)
            return len(missing)

    async def _read(
        self, owner: Owner, mind: Mind, memories: list[MemoryId], passing: bool
    ) -> None:
        done: list[MemoryId] = []
        try:
            await self._take(mind, await self.store.edges_around(owner, mind.soul.id, memories))
            done = memories
        finally:
            await self.compute.run(self._end_loading, mind, done, passing)

    async def _count_mentions(self, owner: Owner, mind: Mind, memories: Sequence[MemoryId]) -> None:
        """Count the mentions of the texts linked to these complete memories, as a walk weighs them."""
        texts = await self.compute.run(_uncounted, mind, memories)
        names: Mapping[MemoryId, int] = {}
        if texts:
            names = await self.store.edges_leaving(owner, mind.soul.id, texts, EdgeKind.MENTIONS)
        await self.compute.run(
            _set_mention_counts,
            mind,
            memories,
            {text: names.get(text, 0) for text in texts},
        )

    async def _take(self, mind: Mind, page: EdgePage, kinds: Collection[str] = _ALL_KINDS) -> None:
        for start in range(0, len(page.id), _EDGES):
            piece = range(start, min(start + _EDGES, len(page.id)))
            await self.compute.run(
                _take,
                mind,
                page,
                [index for index in piece if page.kind[index] in kinds],
            )

    @compute_only
    def _begin_loading(
        self, mind: Mind, memories: Sequence[MemoryId], passing: bool
    ) -> list[MemoryId]:
        """The memories among these whose edges must be read."""
        rows = _rows(mind, dict.fromkeys(memories))
        missing = [mind.memory_at(row).id for row in rows if not mind.residency.is_complete(row)]
        if not passing:
            mind.residency.mark_used(rows, self._turn(mind))
        if missing:
            mind.residency.start_loading()
        return missing

    @compute_only
    def _end_loading(self, mind: Mind, memories: Sequence[MemoryId], passing: bool) -> None:
        """Mark these memories complete: their edges have been applied."""
        rows = _rows(mind, memories)
        mind.residency.mark_loaded(rows, 0 if passing else self._turn(mind))

    @compute_only
    def _walk(
        self, mind: Mind, attempt: Attempt, params: WalkParams
    ) -> tuple[Walk | None, list[MemoryId], EdgeForecast | None]:
        """One attempt: the walk, the memories to load for it, and the forecast of waiting mass."""
        walk = attempt()
        if walk is None:
            return None, [], None
        mind.residency.mark_used(_needed_rows(walk, params), self._turn(mind))
        waits = forecast_of(walk, params.l1)
        return walk, _memories_to_load(mind, waits, params), waits

    def _release(self, mind: Mind) -> int:
        p = self.params
        return mind.residency.release(
            mind.edges,
            mind.size,
            self._turn(mind),
            unused=p.release_after,
            most=p.resident_edges,
            hot=_rows(mind, _hot_memories(mind, p.hot)),
        )

    def _turn(self, mind: Mind) -> int:
        return mind.lived_turns(self.clock.extra_turns)

    def _lock(self, mind: Mind) -> asyncio.Lock:
        return self._locks.setdefault(mind, asyncio.Lock())

    def _start_task(self, work: Coroutine[object, object, int]) -> asyncio.Task[int]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._task_done)
        return task

    def _task_done(self, task: asyncio.Task[int]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("edges of a large soul could not be read: %s", error)


@compute_only
def _forecast(
    mind: Mind, waits: EdgeForecast, read: Sequence[MemoryId], params: WalkParams
) -> tuple[list[MemoryId], EdgeForecast | None]:
    """The memories to read next, and the forecast after those in `read` were loaded."""
    after = forecast_after(mind, waits, np.asarray(_rows(mind, read), np.int64), params)
    return _memories_to_load(mind, after, params), after


def _memories_to_load(mind: Mind, waits: EdgeForecast | None, params: WalkParams) -> list[MemoryId]:
    return [] if waits is None else [mind.memory_at(int(row)).id for row in waits.most(params.l1)]


def _needed_rows(walk: Walk, params: WalkParams) -> Int64s:
    """The rows that the walk depends on: all others together passed on at most `l1` / 4."""
    order = np.argsort(walk.score)
    sent = np.cumsum(walk.score[order]) * (1 - params.restart) / params.restart
    rows = walk.rows[order][sent > params.l1 / 4].astype(np.int64)
    return np.setdiff1d(rows, walk.stuck_rows)


def _take(mind: Mind, page: EdgePage, which: Iterable[int]) -> None:
    """Add loaded edges to the mind, except those it has and those removed since."""
    mind.load_edges(page.pick([index for index in which if _is_new(mind, page, index)]))


def _uncounted(mind: Mind, memories: Sequence[MemoryId]) -> list[MemoryId]:
    return [
        mind.memory_at(int(row)).id
        for row in mind.residency.texts_to_count(mind.edges, _rows(mind, memories))
    ]


def _set_mention_counts(
    mind: Mind, memories: Sequence[MemoryId], names: Mapping[MemoryId, int]
) -> None:
    texts = [memory for memory in names if mind.row(memory) is not None]
    mind.residency.set_mention_counts(_rows(mind, texts), [names[memory] for memory in texts])
    mind.residency.mark_weighed(_rows(mind, memories))


def _rows(mind: Mind, memories: Iterable[MemoryId]) -> list[int]:
    """The rows of the memories that exist."""
    return [row for memory in memories if (row := mind.row(memory)) is not None]


@compute_only
def of_kinds(mind: Mind, kinds: Collection[MemoryKind]) -> list[MemoryId]:
    """Ids of all memories of these kinds."""
    n, codes = mind.size, [MEMORY_KINDS.index(kind) for kind in kinds]
    rows = np.flatnonzero(np.isin(mind.columns.kind[:n], codes) & (mind.columns.created[:n] != 0))
    return [mind.id_at(int(row)) for row in rows]


def _is_new(mind: Mind, page: EdgePage, index: int) -> bool:
    source, target = page.source[index], page.target[index]
    if (
        mind.residency.was_removed(page.id[index], source, target)
        or mind.edges.slot(page.id[index]) is not None
    ):
        return False
    # An interrupted change leaves `next` edges whose pair is in no chat.
    follows = page.kind[index] == EdgeKind.NEXT.value and page.origin[index] == Origin.CHAT.value
    return not follows or mind.branches.has_pair((source, target))


def _hot_memories(mind: Mind, count: int) -> list[MemoryId]:
    """The `count` memories recalled most often, filled up with the newest, and all permanent ones."""
    hot = dict.fromkeys(mind.recalls.hot(count))
    n = mind.size
    live = np.flatnonzero(mind.columns.live[:n] & mind.columns.active[:n])
    newest = live[np.argsort(-mind.columns.happened[live], kind="stable")][:count]
    for row in newest[: max(0, count - len(hot))]:
        hot[mind.memory_at(int(row)).id] = None
    hot.update(
        (mind.memory_at(int(row)).id, None) for row in np.flatnonzero(mind.columns.permanent[:n])
    )
    return list(hot)


def _neighbours(
    mind: Mind, memories: Sequence[MemoryId], seen: Collection[MemoryId]
) -> list[MemoryId]:
    """Memories that an edge joins to these, except those in `seen`."""
    neighbours: dict[MemoryId, None] = {}
    for memory in memories:
        for edge in mind.edges.of(memory):
            other = edge.target if edge.source == memory else edge.source
            if other not in seen:
                neighbours[other] = None
    return list(neighbours)
