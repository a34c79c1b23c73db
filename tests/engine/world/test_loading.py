"""A partly loaded soul answers like a fully loaded one."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timezone

import numpy as np
import pytest

from soulmem.adapters.surreal import SurrealStore
from soulmem.domain.edges import Edge
from soulmem.domain.soul import Soul
from soulmem.domain.usage import Stamp, Usage
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.params import EngineParams
from soulmem.engine.propagation.linker import Steps
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.world.edge_loader import EdgeLoader, LoadedWalk, LoadingParams
from soulmem.kernels.walk import Walk, WalkParams
from soulmem.ports.store import Change, Store
from tests.engine.stage import Stage
from tests.engine.web import (
    ME,
    SOUL,
    Pairs,
    Walks,
    WebStore,
    anywhere,
    by_number,
    key,
    links,
    near,
    near_store,
    walking,
    write,
)
from tests.examples import sized
from tests.fakes.clock import StillClock

pytestmark = pytest.mark.timeout(60)  # large webs, on a machine that may be busy

HOUR = 3600.0


async def stage_with_limit(store: Store, resident_edges: int = 200, **loading: int) -> Stage:
    """An engine that keeps at most `resident_edges` edges, with its soul loaded."""
    params = LoadingParams(resident_edges=resident_edges, **loading)
    stage = Stage(store, params=EngineParams(rest_by_itself=False, loading=params))
    await stage.start()
    await stage.mind()
    return stage


class Reader:
    """A mind of the web and its loader, without the rest of an engine."""

    def __init__(self, store: Store, params: LoadingParams) -> None:
        self.compute = Worker("test")
        self.loader = EdgeLoader(
            store=store, compute=self.compute, clock=StillClock(), params=params
        )
        self.mind = Mind(Soul(SOUL, "Mira"))
        self._store = store

    async def open(self) -> None:
        """Open the mind as a large soul is opened."""
        assert await self.loader.is_too_large(ME, SOUL, alone=True)
        notes = await self._store.memories(ME, SOUL)
        for piece in MindChange(tuple(sorted(notes, key=lambda note: note.id))).batches(500):
            await self.compute.run(self.mind.apply, piece)
        await self.loader.load_partial(ME, self.mind)
        await self.loader.warm_up(ME, self.mind)

    async def close(self) -> None:
        await self.loader.stop()
        self.compute.stop()


async def walk_with_loading(
    stage: Stage, seeds: Sequence[int], params: WalkParams, seconds: float = 60.0
) -> LoadedWalk:
    """A walk from these memories."""
    mind = await stage.mind()
    return await stage.engine.services.loader.follow(
        ME, mind, walking(mind, seeds, params), params, seconds
    )


def walk_of(loaded_walk: LoadedWalk) -> Walk:
    """The walk, which is not None."""
    assert loaded_walk.walk is not None
    return loaded_walk.walk


def seed_groups(count: int, nodes: int, seed: int) -> list[list[int]]:
    """Seeds of recalls: groups of three memories near each other."""
    draw = random.Random(seed)
    return [
        [(place + step) % nodes for step in (0, 1, 5)] for place in draw.sample(range(nodes), count)
    ]


async def compare(
    store: Store,
    nodes: int,
    edges: Sequence[Edge],
    seeds: Sequence[Sequence[int]],
    params: WalkParams,
) -> None:
    """Walks on a soul of which few edges are loaded differ from the true ones by what they say.

    Afterwards less than half of the edges are in memory.
    """
    whole = await asyncio.to_thread(Walks, nodes, edges)
    reader = Reader(store, LoadingParams(resident_edges=200))
    await reader.open()
    try:
        mind = reader.mind
        for some in seeds:
            loaded_walk = await reader.loader.follow(
                ME, mind, walking(mind, some, params), params, 60.0
            )
            truth = await asyncio.to_thread(whole.true, some, params.restart)
            scores = by_number(walk_of(loaded_walk), nodes)
            assert loaded_walk.complete
            assert walk_of(loaded_walk).error <= params.l1
            assert np.abs(truth - scores).sum() == pytest.approx(
                walk_of(loaded_walk).error, abs=1e-8
            )
            assert (scores <= truth + 1e-9).all()
        assert 0 < len(mind.edges) < len(edges) / 2
    finally:
        await reader.close()


@pytest.mark.parametrize(
    ("web", "l1"),
    [
        (near, 1e-2),
        pytest.param(near, 1e-3, marks=pytest.mark.nightly),
        (anywhere, 0.1),
    ],
)
async def test_a_part_scores_as_the_whole(web: Callable[[int, int], Pairs], l1: float) -> None:
    nodes, seed = sized(4_000, 20_000), round(1 / l1)
    edges = await asyncio.to_thread(lambda: links(web(nodes, seed), seed))
    store = await asyncio.to_thread(WebStore, nodes, edges)
    await store.open()
    await compare(store, nodes, edges, seed_groups(5, nodes, seed), WalkParams(0.5, l1))


async def test_and_on_the_real_store() -> None:
    nodes = sized(700, 1500)
    edges = await asyncio.to_thread(lambda: links(near(nodes, 9), 9))
    store = SurrealStore("mem://")
    await store.open()
    try:
        await write(store, nodes, edges)
        await compare(store, nodes, edges, seed_groups(4, nodes, 9), WalkParams(0.5, 1e-2))
    finally:
        await store.close()


async def test_a_soul_that_fits_costs_nothing() -> None:
    store, edges = await near_store(300, 4)
    stage = await stage_with_limit(store, len(edges))
    try:
        mind, loaded_walk = (
            await stage.mind(),
            await walk_with_loading(stage, [7], WalkParams(0.5, 1e-2)),
        )
        assert len(mind.edges) == len(edges)
        assert (loaded_walk.walks, loaded_walk.loaded, store.asked) == (1, 0, 0)
        assert mind.residency.boundary(mind.size) is None
    finally:
        await stage.stop()
    other = await stage_with_limit(store, len(edges) - 1)
    try:
        assert not (await other.mind()).residency.whole
    finally:
        await other.stop()


async def test_what_nobody_needs_leaves_memory() -> None:
    nodes = 2000
    store, _ = await near_store(nodes, 5)
    stage = await stage_with_limit(store, 2000, hot=3)
    try:
        first_seeds, later_seeds = [100, 101], [1500, 1501]
        mind, first = (
            await stage.mind(),
            await walk_with_loading(stage, first_seeds, WalkParams(0.5, 1e-2)),
        )
        around = {key(n) for n in range(90, 112)}
        size = len(mind.edges)
        assert sum(1 for _ in mind.edges.of(key(100))) >= 3
        for _ in range(10):
            stage.clock.advance(HOUR, 100)
            await walk_with_loading(stage, later_seeds, WalkParams(0.5, 1e-2))
            await stage.engine.idle.run()
        remaining = {edge.id for memory in around for edge in mind.edges.of(memory)}
        assert remaining == set()
        assert len(mind.edges) < size
        assert not mind.residency.is_complete(mind.row_of(mind.memories[key(100)]))
        assert mind.residency.is_complete(mind.row_of(mind.memories[key(1500)]))

        again = await walk_with_loading(stage, first_seeds, WalkParams(0.5, 1e-2))
        assert (
            np.abs(by_number(walk_of(again), nodes) - by_number(walk_of(first), nodes)).sum()
            <= 1e-2
        )
    finally:
        await stage.stop()


async def test_more_edges_than_may_stay_go_at_once_the_longest_unneeded_first() -> None:
    nodes = 3500
    store, _ = await near_store(nodes, 6)
    stage = await stage_with_limit(store, 600, hot=0)
    try:
        mind = await stage.mind()
        for place in (100, 1000, 2000, 3000):
            stage.clock.advance(HOUR, 1)
            await stage.engine.services.loader.complete(
                ME, mind, [key(n) for n in range(place, place + 60)]
            )
        assert len(mind.edges) > 700
        await stage.engine.idle.run()
        assert 400 < len(mind.edges) <= 600
        complete = [
            mind.residency.is_complete(mind.row_of(mind.memories[key(n)])) for n in (130, 3030)
        ]
        assert complete == [False, True]
    finally:
        await stage.stop()


async def test_what_is_recalled_most_is_there_before_anybody_asks() -> None:
    nodes = 3000
    store, edges = await near_store(nodes, 7)
    stamp = Stamp(datetime(2026, 1, 1, tzinfo=timezone.utc), 5)
    often = [Usage(key(17 * n), SOUL, 100 - n, stamp, (stamp,)) for n in range(30)]
    await store.commit(Change(ME, put_usages=often))
    stage = await stage_with_limit(store, 150, hot=20)
    try:
        mind = await stage.mind()
        for usage in often[:20]:
            loaded = {edge.id for edge in edges if usage.memory in (edge.source, edge.target)}
            assert {edge.id for edge in mind.edges.of(usage.memory)} == loaded
        await stage.engine.services.loader.drain()
        assert len(mind.edges) < 400
        for _ in range(3):
            stage.clock.advance(HOUR, 400)
            await stage.engine.idle.run()
        assert all(
            mind.residency.is_complete(mind.row_of(mind.memories[u.memory])) for u in often[:10]
        )
    finally:
        await stage.stop()


async def test_round_what_is_hot_two_steps_are_loaded() -> None:
    nodes = 3000
    store, edges = await near_store(nodes, 7)
    stage = await stage_with_limit(store, 6000, hot=1)
    try:
        mind = await stage.mind()
        await stage.engine.services.loader.drain()
        newest = key(nodes - 1)
        beside = {
            end
            for edge in edges
            for end in (edge.source, edge.target)
            if newest in (edge.source, edge.target)
        }
        assert all(
            mind.residency.is_complete(mind.row_of(mind.memories[memory])) for memory in beside
        )
        assert len(mind.edges) < 100
    finally:
        await stage.stop()


async def test_when_time_is_over_the_walk_says_what_it_left_out() -> None:
    nodes = 1000
    store, _ = await near_store(nodes, 8)
    stage = await stage_with_limit(store, hot=0)
    params = WalkParams(0.5, 1e-2)
    try:
        mind = await stage.mind()
        store.gate.clear()
        late = await walk_with_loading(stage, [50], params, seconds=0.05)
        assert not late.complete
        assert walk_of(late).error == pytest.approx(float(walk_of(late).stuck.sum()), abs=1e-6)
        assert walk_of(late).error > 0.4
        store.gate.set()
        await stage.engine.services.loader.drain()
        assert mind.residency.is_complete(50)  # the reading went on
        in_time = await walk_with_loading(stage, [50], params)
        assert in_time.complete
        assert walk_of(in_time).error <= params.l1
    finally:
        await stage.stop()


async def test_what_changes_while_edges_are_read_is_as_it_was_changed() -> None:
    nodes = 500
    store, edges = await near_store(nodes, 3)
    stage = await stage_with_limit(store, hot=0)
    try:
        mind, world = await stage.mind(), await stage.world()
        removed, old = [edge for edge in edges if edge.source == key(100)][:2]
        new = replace(removed, target=key(333))
        stronger = replace(old, strength=1.0, uses=9)
        store.gate.clear()
        store.waits.clear()
        reading = asyncio.create_task(stage.engine.services.loader.complete(ME, mind, [key(100)]))
        await store.waits.wait()
        steps = Steps([MindChange(put_edges=(new, stronger), drop_edges=(removed.id,))])
        async with world.writing as token:
            await world.carry_out(token, mind, steps)
        store.gate.set()
        assert await reading == 1
        expected = {e.id: e for e in edges if key(100) in (e.source, e.target)}
        expected |= {new.id: new, stronger.id: stronger}
        del expected[removed.id]
        assert {edge.id: edge for edge in mind.edges.of(key(100))} == expected
    finally:
        await stage.stop()
