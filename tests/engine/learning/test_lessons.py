"""What does a recall that was of use make of the associations it went over?"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from soulmem.domain.dialogue import Role
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import ChatId, MemoryId, SlotId, SoulId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import NewEdge, RecallRequest
from soulmem.engine.api.results import PathStep
from soulmem.engine.learning.learner import Learner
from soulmem.graph.edge_table import EdgeTable
from tests.engine.stage import ME, Stage, line
from tests.engine.taught import NEXT, REPLY, STORES, TALK, lived_chat, uses


@pytest.fixture(params=STORES)
async def told(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    """A soul that lived a chat and waits to reply, on a store that outlives its engine."""
    async with lived_chat(request.param, tmp_path) as stage:
        yield stage


@pytest.fixture
async def chain(told: Stage) -> list[MemoryId]:
    """Four notes that lead from one to the next; and a way from the first that leads elsewhere."""
    ids: list[MemoryId] = []
    for name in ("violets", "lighthouse", "marmalade", "thunder"):
        edges = (
            (NewEdge(EdgeKind.ASSOCIATES, source=ids[-1], strength=0.4),) if ids else ()
        )
        ids.append((await told.note(f"About {name}.", edges=edges)).memory.id)
    aside = NewEdge(EdgeKind.ASSOCIATES, source=ids[0], strength=0.4)
    ids.append((await told.note("About pebbles.", edges=(aside,))).memory.id)
    return ids


def edge_between(table: EdgeTable, source: MemoryId, target: MemoryId) -> Edge:
    """The one that was drawn."""
    found = table.find(EdgeKind.ASSOCIATES, source, target)
    assert found is not None
    return found


async def came_over(
    stage: Stage,
    way: list[MemoryId],
    slot: str,
    walked: Mapping[str, float] | None = None,
) -> None:
    """A recall for that reply brought the last memory of the way, over the others."""
    mind, world = await stage.mind(), await stage.world()
    edges = tuple(edge_between(mind.edges, one, two).id for one, two in pairwise(way))
    found = await stage.recall("About thunder", "c1", max_items=1)
    path = tuple(
        PathStep(step, str(step), edge)
        for step, edge in zip(way, (None, *edges), strict=True)
    )
    memory = replace(found.memories[0], id=way[-1], path=path, edges=edges)
    request = RecallRequest(SoulId("s1"), ChatId("c1"), SlotId(slot), 0)
    learner: Learner = stage.engine.learner
    flows = None if walked is None else lambda: walked
    learner.noted(world, request, replace(found, memories=(memory,)), flows)


async def lived(
    stage: Stage, way: list[MemoryId], walked: Mapping[str, float] | None = None
) -> None:
    """Such a recall, whose reply is kept."""
    _, told = await stage.engine.chats.get(ME, ChatId("c1"))
    number = len(told)
    await came_over(stage, way, f"r{number}", walked)
    shown = [
        replace(line(m.slot, m.text, m.role, speaker=m.speaker), swipe=m.swipe)
        for m in told
    ]
    more = [
        line(f"r{number}", f"Yes, {number}.", Role.CHARACTER),
        line(f"n{number}", f"Well, {number}."),
    ]
    await stage.sync("c1", [*shown, *more])
    await stage.engine.learner.drain()


async def test_every_edge_of_a_way_of_three_steps_shows_one_more_use(
    told: Stage, chain: list[MemoryId]
) -> None:
    """All are stronger and freshly touched; the one that led elsewhere is as it was. Stored, too."""
    mind = await told.mind()
    aside = edge_between(mind.edges, chain[0], chain[4])
    await lived(told, chain[:4])
    for again in (False, True):
        if again:
            await told.restart()
            mind = await told.mind()
        for source, target in pairwise(chain[:4]):
            edge = edge_between(mind.edges, source, target)
            assert edge.uses == 1
            assert edge.strength > 0.4
            assert edge.at_turn == mind.lived_turns(0)
        assert edge_between(mind.edges, chain[0], chain[4]) == aside
    usage = mind.recalls.usage(chain[3])
    assert usage is not None
    assert usage.count == 1
    assert mind.recalls.usage(chain[1]) is None  # on the way, not recalled
    (record,) = mind.recalls.records()
    assert record.trails[0].via == tuple(chain[:3])
    assert len(record.trails[0].edges) == 3


async def test_a_walk_over_three_edges_uses_them_all(told: Stage) -> None:
    """From the recall's own words, by the way that its answer tells."""
    for number in range(25):  # as many texts as a walk begins at
        await told.note(f"Sheep went over the hill, {number} of them.")
    chain: list[MemoryId] = []
    for name in ("Violets.", "Lighthouse.", "Marmalade.", "Thunder."):
        edges = (
            (NewEdge(EdgeKind.ASSOCIATES, source=chain[-1], strength=0.4),)
            if chain
            else ()
        )
        chain.append((await told.note(name, edges=edges)).memory.id)
    found = await told.recall("violets", "c1", slot=SlotId("r1"), swipe=0)
    far = next((memory for memory in found.memories if memory.id == chain[3]), None)
    assert far is not None
    assert [step.id for step in far.path] == chain
    await told.sync("c1", [*TALK, REPLY, NEXT])
    view = await told.engine.memories.get(ME, chain[3])
    mind = await told.mind()
    assert [mind.edges[edge].uses for edge in far.edges] == [1, 1, 1]
    assert all(mind.edges[edge].strength > 0.4 for edge in far.edges)
    assert view.usage is not None
    assert view.usage.count == 1


async def test_twenty_recalls_over_an_edge_raise_it_and_its_idle_neighbour_falls(
    told: Stage, chain: list[MemoryId]
) -> None:
    """It was offered each time and never of use. When it was touched stays: that is its last use."""
    mind = await told.mind()
    used = edge_between(mind.edges, chain[0], chain[1])
    idle = edge_between(mind.edges, chain[0], chain[4])
    faint = edge_between(mind.edges, chain[1], chain[2])
    walked = {used.id: 0.2, idle.id: 0.1, faint.id: 0.001}
    for _ in range(20):
        await lived(told, chain[:2], walked)
    assert edge_between(mind.edges, chain[0], chain[1]).strength > 0.85
    assert edge_between(mind.edges, chain[0], chain[1]).uses == 20
    fallen = edge_between(mind.edges, chain[0], chain[4])
    assert fallen.strength == pytest.approx(0.4 * 0.97**20)
    assert (fallen.uses, fallen.touched, fallen.at_turn) == (
        0,
        idle.touched,
        idle.at_turn,
    )
    assert edge_between(mind.edges, chain[1], chain[2]) == faint


async def test_a_late_use_begins_where_fading_has_come_to(
    told: Stage, chain: list[MemoryId]
) -> None:
    """And what is recalled after a while lasts longer."""
    mind = await told.mind()
    before = edge_between(mind.edges, chain[0], chain[1])
    turn = mind.lived_turns(0)
    await told.engine.advance_clock(0, 300)
    left = mind.edge_strength(before, turn + 300 + 1)
    await lived(told, chain[:2])
    after = edge_between(mind.edges, chain[0], chain[1])
    assert left < 0.16
    assert after.strength == pytest.approx(left + 0.1 * (1 - left), abs=0.01)
    assert after.stability == pytest.approx(1.8 * before.stability)
    await lived(told, chain[:2])
    assert edge_between(mind.edges, chain[0], chain[1]).stability == after.stability


async def test_what_comes_to_mind_together_belongs_together(
    told: Stage, chain: list[MemoryId]
) -> None:
    """Whatever way each of them came; but not for what is always there."""
    mind = await told.mind()
    core = await told.note(
        "Mira is afraid of thunder.",
        permanent=True,
        edges=(NewEdge(EdgeKind.ASSOCIATES, to=chain[3], strength=0.4),),
    )
    found = await told.recall(
        "About marmalade and thunder", "c1", slot=SlotId("r1"), swipe=0, max_items=2
    )
    assert {m.id for m in found.memories} == {core.memory.id, chain[2], chain[3]}
    await told.sync("c1", [*TALK, REPLY, NEXT])
    await told.engine.learner.drain()
    together = edge_between(mind.edges, chain[2], chain[3])
    assert together.uses == 1
    assert together.strength > 0.425  # 0.43, but a turn has passed
    always = edge_between(mind.edges, core.memory.id, chain[3])
    assert (always.uses, always.strength) == (0, 0.4)
    assert await uses(told, "Mira is afraid of thunder.") == 1


@pytest.mark.parametrize("locked", [False, True])
async def test_nothing_the_user_tied_to_a_locked_memory_is_cut(
    told: Stage, locked: bool
) -> None:
    """An edge offered in vain a hundred times ends at the floor there, elsewhere below it."""
    first = (await told.note("About violets.")).memory.id
    edges = tuple(
        NewEdge(EdgeKind.ASSOCIATES, source=first, strength=s) for s in (0.4,)
    )
    second = (await told.note("About pebbles.", locked=locked, edges=edges)).memory.id
    third = (await told.note("About tar.", edges=edges)).memory.id
    mind = await told.mind()
    walked = {edge_between(mind.edges, first, end).id: 0.2 for end in (second, third)}
    for _ in range(20):
        await lived(told, [first, third], walked)
    strength = edge_between(mind.edges, first, second).strength
    assert strength == pytest.approx(0.4 * 0.97**20)
    table = mind.edges
    table.put(
        replace(
            edge_between(table, first, second),
            strength=0.051,
            at_turn=float(mind.lived_turns(0)),
        )
    )
    await lived(told, [first, third], walked)
    edge = edge_between(table, first, second)
    faded = 0.051 * edge.strength_at(mind.lived_turns(0)) / edge.strength
    now = edge.strength_at(mind.lived_turns(0))
    assert now == pytest.approx(0.05 if locked else 0.97 * faded, rel=0.005)
    assert faded > 0.0502


async def test_what_does_not_fade_is_only_counted(told: Stage) -> None:
    """`instance_of` says what is so: no use makes it truer."""
    whole = (
        await told.note("Walks in the rain.", kind=MemoryKind.ABSTRACT_EPISODE)
    ).memory.id
    edges = (NewEdge(EdgeKind.INSTANCE_OF, to=whole, strength=0.4),)
    one = (
        await told.note("We walked to the sea.", kind=MemoryKind.EPISODE, edges=edges)
    ).memory.id
    mind = await told.mind()
    known = mind.edges.find(EdgeKind.INSTANCE_OF, one, whole)
    assert known is not None
    found = await told.recall(
        "walks rain sea", "c1", slot=SlotId("r1"), swipe=0, max_items=2
    )
    assert {m.id for m in found.memories} == {one, whole}
    await told.sync("c1", [*TALK, REPLY, NEXT])
    await told.engine.learner.drain()
    now = mind.edges.find(EdgeKind.INSTANCE_OF, one, whole)
    assert now is not None
    assert (now.uses, now.strength, now.stability) == (
        1,
        known.strength,
        known.stability,
    )


async def test_a_fact_is_recorded_by_its_relation(told: Stage) -> None:
    """Which has one use more and is stronger, now and after a restart."""
    lund = (await told.note("Lund", kind=MemoryKind.CONCEPT)).memory.id
    edges = (NewEdge(EdgeKind.RELATES, to=lund, verb="was born in", strength=0.4),)
    ilse = (await told.note("Ilse", kind=MemoryKind.CONCEPT, edges=edges)).memory.id
    mind, world = await told.mind(), await told.world()
    (known,) = (e for e in mind.edges.of(ilse) if e.kind is EdgeKind.RELATES)
    found = await told.recall("Where was Ilse born?", "c1", max_items=1)
    fact = replace(found.memories[0], id=MemoryId(known.id), kind="fact")
    request = RecallRequest(SoulId("s1"), ChatId("c1"), SlotId("r1"), 0)
    told.engine.learner.noted(world, request, replace(found, memories=(fact,)))
    await told.sync("c1", [*TALK, REPLY, NEXT])
    await told.engine.learner.drain()
    for again in (False, True):
        if again:
            await told.restart()
            mind = await told.mind()
        edge = mind.edges[known.id]
        assert edge.uses == 1
        assert edge.strength == pytest.approx(
            0.4 + 0.1 * 0.6, rel=0.01
        )  # a turn has passed
        row = mind.row(MemoryId(known.id))
        assert row is not None
        assert mind.recalls.uses(mind.size)[row] == 1
