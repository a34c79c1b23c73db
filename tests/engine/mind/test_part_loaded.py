"""What is asked of a soul that is partly loaded, or done to it, goes as with all of it in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import numpy as np
import pytest

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import MemoryKind, MemoryState
from soulmem.domain.soul import KnownName, SoulSettings
from soulmem.engine.api.requests import MemoryPatch, NewEdge
from soulmem.engine.mind.mind import Mind
from soulmem.engine.params import EngineParams
from soulmem.engine.recall.walks import WalkingParams, Walks
from soulmem.engine.world.edge_loader import Attempt, LoadingParams
from soulmem.kernels.walk import Walk, WalkParams
from soulmem.ports.store import Change
from tests.engine.stage import ME, Stage, line
from tests.fakes.store import FakeStore

pytestmark = pytest.mark.timeout(60)  # each opens three engines

S1 = SoulId("s1")
NAMES = (
    "Ada",
    "Boris",
    "Cora",
    "Dmitri",
    "Elsa",
    "Farid",
    *(f"Citizen{chr(65 + n)}" for n in range(18)),
)
DEEDS = (
    "crosses the bridge",
    "finds a key",
    "hides in the tower",
    "sings at night",
    "lost a glove",
)


class CountingStore(FakeStore):
    """Keeps the changes it stored."""

    def __init__(self, like: FakeStore | None = None) -> None:
        super().__init__()
        self.commits: list[Change] = []
        if like is not None:
            self._worlds = {owner: world.copy() for owner, world in like._worlds.items()}

    async def commit(self, change: Change) -> None:
        self.commits.append(change)
        await super().commit(change)


def lines_with_names(count: int) -> list[str]:
    """Lines that name one to four of the people, each in a few places."""
    texts: list[str] = []
    for n in range(count):
        places = (n // 2 + 5 * k for k in range(1 + n * n % 7 % 4))
        names = " and ".join(NAMES[place % len(NAMES)] for place in places)
        texts.append(f"{names} {DEEDS[n % 5]}, the {n}th time")
    return texts


async def sync_lines(stage: Stage, texts: list[str]) -> None:
    """The one chat, with these lines."""
    await stage.sync("c1", [line(f"m{n}", text) for n, text in enumerate(texts)])
    await stage.close("c1")


async def written() -> CountingStore:
    """A store with one soul: a chat of forty lines, two dozen people, and who loves whom."""
    store = CountingStore()
    stage = Stage(store)
    await stage.start()
    await stage.soul()
    await stage.engine.souls.put(
        ME,
        S1,
        "Mira",
        (KnownName("Ada"), KnownName("Boris")),
        SoulSettings(restraint=0.0),
    )
    concepts = [await stage.note(name, kind=MemoryKind.CONCEPT) for name in NAMES[2:]]
    first, second = (view.memory.id for view in concepts[:2])
    loves = NewEdge(EdgeKind.RELATES, to=second, verb="loves")
    await stage.engine.memories.patch(ME, first, MemoryPatch(edges=(loves,)))
    await sync_lines(stage, lines_with_names(40))
    await stage.stop()
    return store


@asynccontextmanager
async def opened_twice(store: CountingStore) -> AsyncIterator[tuple[Stage, Stage]]:
    """What is stored, opened two times: with three edges in memory, and with all."""
    exact = WalkingParams(walk=WalkParams(l1=1e-6))
    every = EngineParams(rest_by_itself=False, walking=exact)
    few = replace(every, loading=LoadingParams(resident_edges=3, hot=2))
    part, whole = (
        Stage(CountingStore(store), params=few),
        Stage(CountingStore(store), params=every),
    )
    for each in (part, whole):
        await each.start()
    assert not (await part.mind()).residency.whole
    assert (await whole.mind()).residency.whole
    yield part, whole
    for each in (part, whole):
        await each.stop()


@pytest.fixture
async def two_stages() -> AsyncIterator[tuple[Stage, Stage]]:
    """One and the same memory, partly loaded and whole."""
    async with opened_twice(await written()) as stages:
        yield stages


def stored_state(stage: Stage) -> tuple[object, dict[str, Edge]]:
    """All that the store holds."""
    assert isinstance(stage.store, CountingStore)
    world = stage.store._worlds[ME]
    return world.memories, world.edges


async def test_opening_writes_nothing(two_stages: tuple[Stage, Stage]) -> None:
    part, whole = two_stages
    for each in two_stages:
        assert isinstance(each.store, CountingStore)
        assert [change for change in each.store.commits if change] == []
    await part.engine.services.loader.drain()
    assert len((await part.mind()).edges) < len((await whole.mind()).edges) / 2


async def test_every_memory_shows_all_its_edges(
    two_stages: tuple[Stage, Stage],
) -> None:
    part, whole = two_stages
    shown = 0
    for memory in (await whole.mind()).memories:
        view = await part.engine.memories.get(ME, memory)
        assert view == await whole.engine.memories.get(ME, memory)
        shown += len(view.edges)
    assert shown == 2 * len((await whole.mind()).edges)


async def test_a_part_of_the_graph_is_the_same(two_stages: tuple[Stage, Stage]) -> None:
    part, whole = two_stages
    center = await whole.find("Cora")
    for where, hops, limit in (
        (center, 1, 5),
        (center, 1, 100),
        (center, 2, 30),
        (center, 3, 100),
        (None, 1, 10),
    ):
        in_part = await part.engine.memories.graph(ME, S1, where, hops, limit)
        two = await whole.engine.memories.graph(ME, S1, where, hops, limit)
        assert in_part.memories == two.memories
        assert {edge.id for edge in in_part.edges} == {edge.id for edge in two.edges}
        assert two.edges


async def test_the_fingerprint_is_the_same(two_stages: tuple[Stage, Stage]) -> None:
    part, whole = two_stages
    assert await part.engine.souls.fingerprint(ME, S1) == await whole.engine.souls.fingerprint(
        ME, S1
    )
    assert len((await part.mind()).edges) < len(
        (await whole.mind()).edges
    )  # and they are gone again


@pytest.mark.parametrize(
    "query", ["What did Cora find?", "Boris and the tower", "who loves Dmitri", "Ada"]
)
async def test_a_recall_answers_the_same(two_stages: tuple[Stage, Stage], query: str) -> None:
    part, whole = two_stages
    in_part = await part.recall(query, "c1", time_budget_ms=60_000)
    in_whole = await whole.recall(query, "c1", time_budget_ms=60_000)
    for mine, other in zip(in_part.memories, in_whole.memories, strict=True):
        assert (mine.id, mine.path) == (other.id, other.path)
        assert mine.score == pytest.approx(other.score, abs=1e-3)
    assert any(m.hops for m in in_whole.memories)
    assert not in_part.timed_out


def walking(mind: Mind, start: MemoryId, l1: float) -> Attempt:
    """The walk of a recall, with weights and all, from one memory."""
    walks = Walks(mind, WalkingParams(walk=WalkParams(0.3, l1)))

    def attempt() -> Walk:
        walks.refresh(0)
        row = mind.row(start)
        assert row is not None
        everywhere, unlike = (
            np.ones(mind.size, np.bool_),
            np.full(mind.size, np.nan, np.float32),
        )
        return walks.walk(np.asarray([row], np.uint32), np.ones(1), everywhere, {}, unlike).walk

    return attempt


@pytest.mark.parametrize("released", [False, True])
@pytest.mark.parametrize(
    ("start", "l1"),
    [
        ("Ada", 0.3),
        ("Cora", 0.1),
        ("the 7th time", 0.01),
        *(
            pytest.param(start, l1, marks=pytest.mark.nightly)
            for start, l1 in (
                *(("Ada", 0.1), ("Ada", 0.01), ("Cora", 0.3), ("Cora", 0.01)),
                *(("the 7th time", 0.3), ("the 7th time", 0.1)),
            )
        ),
    ],
)
async def test_a_walk_differs_by_no_more_than_it_says(
    two_stages: tuple[Stage, Stage], start: str, l1: float, released: bool
) -> None:
    if released:
        await two_stages[0].engine.souls.fingerprint(
            ME, S1
        )  # for which everything is loaded, and let go again
    part, whole = await two_stages[0].mind(), await two_stages[1].mind()
    (memory,) = [m.id for m in whole.memories.values() if m.text.endswith(start)]
    loader = two_stages[0].engine.services.loader
    walked = await loader.follow(ME, part, walking(part, memory, l1), WalkParams(0.3, l1), 60.0)
    assert walked.walk is not None
    assert walked.walk.error <= l1
    true = walking(whole, memory, 1e-9)()
    assert true is not None
    truth = {
        whole.memory_at(int(row)).id: score
        for row, score in zip(true.rows, true.score, strict=True)
    }
    for row, score in zip(walked.walk.rows, walked.walk.score, strict=True):
        truth[part.memory_at(int(row)).id] -= score
    assert min(truth.values()) > -1e-8
    assert sum(truth.values()) == pytest.approx(walked.walk.error, abs=1e-7)


async def test_what_is_known_and_done_stays_however_long_nobody_needs_it(
    two_stages: tuple[Stage, Stage],
) -> None:
    part, whole = two_stages
    for _ in range(3):
        part.clock.advance(1.0, 1000)
        await part.engine.idle.run()
    mind, everything = await part.mind(), await whole.mind()
    facts = mind.edges.arrays([EdgeKind.RELATES]).slot
    assert facts.size == len(mind.facts) == len(everything.facts) == 1
    assert len(mind.edges) < len(everything.edges) / 2


async def test_when_time_is_over_the_trace_says_what_was_not_followed(
    two_stages: tuple[Stage, Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    part, _ = two_stages
    await part.engine.services.loader.drain()
    never = asyncio.Event()

    async def waits(*_: object) -> object:
        return await never.wait()

    monkeypatch.setattr(part.store, "edges_around", waits)
    answer = await part.recall("What did Cora find?", "c1", time_budget_ms=200)
    assert answer.timed_out
    (note,) = (await part.engine.recaller.trace(ME, answer.trace)).notes
    assert "of the walk was not followed" in note
    never.set()


async def test_what_an_interrupted_change_left_is_mended_as_well() -> None:
    store = await written()
    world = store._worlds[ME]
    (cora,) = [m for m in world.memories.values() if m.text == "Cora"]
    pair = [e for e in world.edges.values() if e.kind is EdgeKind.NEXT][7]
    lost_edges = [
        e.id for e in world.edges.values() if e.target == cora.id and e.kind is EdgeKind.MENTIONS
    ]
    await store.open()
    await store.commit(
        Change(
            ME,
            put_memories=[replace(cora, state=MemoryState.BIN)],
            drop_edges=[pair.id],
        )
    )
    async with opened_twice(store) as (part, whole):
        assert lost_edges
        assert stored_state(whole)[1].keys() & lost_edges == set()
        assert pair.id in stored_state(whole)[1]
        assert stored_state(part) == stored_state(whole)


async def change_a_text(stage: Stage) -> None:
    (memory,) = [m.id for m in await stage.listed() if m.text.endswith("the 2th time")]
    await stage.engine.memories.patch(ME, memory, MemoryPatch(text="Elsa and Farid danced"))


async def rename_a_concept(stage: Stage) -> None:
    await stage.engine.memories.patch(
        ME, await stage.find("Elsa"), MemoryPatch(text="Dmitri's tower")
    )


async def bin_and_restore_a_concept(stage: Stage) -> None:
    memory = await stage.find("Cora")
    await stage.engine.memories.delete(ME, memory, None)
    await stage.engine.memories.restore(ME, memory)


async def bin_a_concept(stage: Stage) -> None:
    await stage.engine.memories.delete(ME, await stage.find("Farid"), None)


async def change_the_card(stage: Stage) -> None:
    names = (KnownName("Boris", ("glove",)), KnownName("Zoe", ("key",)))
    await stage.engine.souls.put(ME, S1, "Mira", names, SoulSettings())


async def rewrite_the_chat(stage: Stage) -> None:
    texts = lines_with_names(40)
    await sync_lines(stage, [*texts[:10], "Farid says no", *texts[12:25], *texts[27:]])


async def delete_the_chat(stage: Stage) -> None:
    await stage.engine.chats.delete(ME, (await stage.engine.chats.list(ME, S1))[0][0].id)


@pytest.mark.parametrize(
    "deed",
    [
        change_a_text,
        rename_a_concept,
        bin_and_restore_a_concept,
        bin_a_concept,
        change_the_card,
        rewrite_the_chat,
        delete_the_chat,
    ],
)
async def test_what_is_done_is_stored_the_same(
    two_stages: tuple[Stage, Stage], deed: Callable[[Stage], Awaitable[None]]
) -> None:
    part, whole = two_stages
    before = stored_state(whole)
    for each in two_stages:
        await deed(each)
    assert stored_state(whole) != before
    assert stored_state(part) == stored_state(whole)
    mind = await part.mind()
    for memory in list(mind.memories):
        assert (await part.engine.memories.get(ME, memory)).edges == (
            await whole.engine.memories.get(ME, memory)
        ).edges
    assert await part.engine.souls.fingerprint(ME, S1) == await whole.engine.souls.fingerprint(
        ME, S1
    )
