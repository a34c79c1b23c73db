"""What a recall with a kept reply changes in the edges of its walk."""

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
async def chat_stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    """A soul after a chat, with a reply due, on a store that outlives its engine."""
    async with lived_chat(request.param, tmp_path) as stage:
        yield stage


@pytest.fixture
async def chain(chat_stage: Stage) -> list[MemoryId]:
    """Four notes in a row, and an edge from the first to another note."""
    ids: list[MemoryId] = []
    for name in ("violets", "lighthouse", "marmalade", "thunder"):
        edges = (NewEdge(EdgeKind.ASSOCIATES, source=ids[-1], strength=0.4),) if ids else ()
        ids.append((await chat_stage.note(f"About {name}.", edges=edges)).memory.id)
    aside = NewEdge(EdgeKind.ASSOCIATES, source=ids[0], strength=0.4)
    ids.append((await chat_stage.note("About pebbles.", edges=(aside,))).memory.id)
    return ids


def edge_between(table: EdgeTable, source: MemoryId, target: MemoryId) -> Edge:
    """The associative edge between the two."""
    edge = table.find(EdgeKind.ASSOCIATES, source, target)
    assert edge is not None
    return edge


async def noted_recall(
    stage: Stage,
    way: list[MemoryId],
    slot: str,
    walked: Mapping[str, float] | None = None,
) -> None:
    """A recall for that reply that returned the last memory of the path, over the others."""
    mind, world = await stage.mind(), await stage.world()
    edges = tuple(edge_between(mind.edges, source, target).id for source, target in pairwise(way))
    answer = await stage.recall("About thunder", "c1", max_items=1)
    path = tuple(
        PathStep(step, str(step), edge) for step, edge in zip(way, (None, *edges), strict=True)
    )
    memory = replace(answer.memories[0], id=way[-1], path=path, edges=edges)
    request = RecallRequest(SoulId("s1"), ChatId("c1"), SlotId(slot), 0)
    learner: Learner = stage.engine.learner
    flows = None if walked is None else lambda: walked
    learner.note_recall(world, request, replace(answer, memories=(memory,)), flows)


async def settled_recall(
    stage: Stage, way: list[MemoryId], walked: Mapping[str, float] | None = None
) -> None:
    """Such a recall, whose reply is kept."""
    _, chat_stage = await stage.engine.chats.get(ME, ChatId("c1"))
    number = len(chat_stage)
    await noted_recall(stage, way, f"r{number}", walked)
    shown = [
        replace(line(m.slot, m.text, m.role, speaker=m.speaker), swipe=m.swipe) for m in chat_stage
    ]
    more = [
        line(f"r{number}", f"Yes, {number}.", Role.CHARACTER),
        line(f"n{number}", f"Well, {number}."),
    ]
    await stage.sync("c1", [*shown, *more])
    await stage.engine.learner.drain()


async def test_every_edge_of_a_way_of_three_steps_shows_one_more_use(
    chat_stage: Stage, chain: list[MemoryId]
) -> None:
    """All are stronger and freshly touched; the one that led elsewhere is as it was. Stored, too."""
    mind = await chat_stage.mind()
    aside = edge_between(mind.edges, chain[0], chain[4])
    await settled_recall(chat_stage, chain[:4])
    for again in (False, True):
        if again:
            await chat_stage.restart()
            mind = await chat_stage.mind()
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


async def test_a_walk_over_three_edges_uses_them_all(chat_stage: Stage) -> None:
    """From the recall's own words, by the way that its answer tells."""
    for number in range(25):  # as many texts as a walk begins at
        await chat_stage.note(f"Sheep went over the hill, {number} of them.")
    chain: list[MemoryId] = []
    for name in ("Violets.", "Lighthouse.", "Marmalade.", "Thunder."):
        edges = (NewEdge(EdgeKind.ASSOCIATES, source=chain[-1], strength=0.4),) if chain else ()
        chain.append((await chat_stage.note(name, edges=edges)).memory.id)
    answer = await chat_stage.recall("violets", "c1", slot=SlotId("r1"), swipe=0)
    far = next((memory for memory in answer.memories if memory.id == chain[3]), None)
    assert far is not None
    assert [step.id for step in far.path] == chain
    await chat_stage.sync("c1", [*TALK, REPLY, NEXT])
    view = await chat_stage.engine.memories.get(ME, chain[3])
    mind = await chat_stage.mind()
    assert [mind.edges[edge].uses for edge in far.edges] == [1, 1, 1]
    assert all(mind.edges[edge].strength > 0.4 for edge in far.edges)
    assert view.usage is not None
    assert view.usage.count == 1


async def test_twenty_recalls_over_an_edge_raise_it_and_its_idle_neighbour_falls(
    chat_stage: Stage, chain: list[MemoryId]
) -> None:
    """It was offered each time and never of use. When it was touched stays: that is its last use."""
    mind = await chat_stage.mind()
    used = edge_between(mind.edges, chain[0], chain[1])
    idle = edge_between(mind.edges, chain[0], chain[4])
    faint = edge_between(mind.edges, chain[1], chain[2])
    walked = {used.id: 0.2, idle.id: 0.1, faint.id: 0.001}
    for _ in range(20):
        await settled_recall(chat_stage, chain[:2], walked)
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
    chat_stage: Stage, chain: list[MemoryId]
) -> None:
    """And what is recalled after a while lasts longer."""
    mind = await chat_stage.mind()
    before = edge_between(mind.edges, chain[0], chain[1])
    turn = mind.lived_turns(0)
    await chat_stage.engine.advance_clock(0, 300)
    faded_strength = mind.edge_strength(before, turn + 300 + 1)
    await settled_recall(chat_stage, chain[:2])
    after = edge_between(mind.edges, chain[0], chain[1])
    assert faded_strength < 0.16
    assert after.strength == pytest.approx(faded_strength + 0.1 * (1 - faded_strength), abs=0.01)
    assert after.stability == pytest.approx(1.8 * before.stability)
    await settled_recall(chat_stage, chain[:2])
    assert edge_between(mind.edges, chain[0], chain[1]).stability == after.stability


async def test_what_comes_to_mind_together_belongs_together(
    chat_stage: Stage, chain: list[MemoryId]
) -> None:
    """Whatever way each of them came; but not for what is always there."""
    mind = await chat_stage.mind()
    core = await chat_stage.note(
        "Mira is afraid of thunder.",
        permanent=True,
        edges=(NewEdge(EdgeKind.ASSOCIATES, to=chain[3], strength=0.4),),
    )
    answer = await chat_stage.recall(
        "About marmalade and thunder", "c1", slot=SlotId("r1"), swipe=0, max_items=2
    )
    assert {m.id for m in answer.memories} == {core.memory.id, chain[2], chain[3]}
    await chat_stage.sync("c1", [*TALK, REPLY, NEXT])
    await chat_stage.engine.learner.drain()
    together = edge_between(mind.edges, chain[2], chain[3])
    assert together.uses == 1
    assert together.strength > 0.425  # 0.43, but a turn has passed
    always = edge_between(mind.edges, core.memory.id, chain[3])
    assert (always.uses, always.strength) == (0, 0.4)
    assert await uses(chat_stage, "Mira is afraid of thunder.") == 1


@pytest.mark.parametrize("locked", [False, True])
async def test_nothing_the_user_tied_to_a_locked_memory_is_cut(
    chat_stage: Stage, locked: bool
) -> None:
    """An edge offered in vain a hundred times ends at the floor there, elsewhere below it."""
    first = (await chat_stage.note("About violets.")).memory.id
    edges = tuple(NewEdge(EdgeKind.ASSOCIATES, source=first, strength=s) for s in (0.4,))
    second = (await chat_stage.note("About pebbles.", locked=locked, edges=edges)).memory.id
    third = (await chat_stage.note("About tar.", edges=edges)).memory.id
    mind = await chat_stage.mind()
    walked = {edge_between(mind.edges, first, end).id: 0.2 for end in (second, third)}
    for _ in range(20):
        await settled_recall(chat_stage, [first, third], walked)
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
    await settled_recall(chat_stage, [first, third], walked)
    edge = edge_between(table, first, second)
    faded = 0.051 * edge.strength_at(mind.lived_turns(0)) / edge.strength
    now = edge.strength_at(mind.lived_turns(0))
    assert now == pytest.approx(0.05 if locked else 0.97 * faded, rel=0.005)
    assert faded > 0.0502


async def test_what_does_not_fade_is_only_counted(chat_stage: Stage) -> None:
    """`instance_of` says what is so: no use makes it truer."""
    whole = (
        await chat_stage.note("Walks in the rain.", kind=MemoryKind.ABSTRACT_EPISODE)
    ).memory.id
    edges = (NewEdge(EdgeKind.INSTANCE_OF, to=whole, strength=0.4),)
    part = (
        await chat_stage.note("We walked to the sea.", kind=MemoryKind.EPISODE, edges=edges)
    ).memory.id
    mind = await chat_stage.mind()
    edge_before = mind.edges.find(EdgeKind.INSTANCE_OF, part, whole)
    assert edge_before is not None
    answer = await chat_stage.recall(
        "walks rain sea", "c1", slot=SlotId("r1"), swipe=0, max_items=2
    )
    assert {m.id for m in answer.memories} == {part, whole}
    await chat_stage.sync("c1", [*TALK, REPLY, NEXT])
    await chat_stage.engine.learner.drain()
    edge_after = mind.edges.find(EdgeKind.INSTANCE_OF, part, whole)
    assert edge_after is not None
    assert (edge_after.uses, edge_after.strength, edge_after.stability) == (
        1,
        edge_before.strength,
        edge_before.stability,
    )


async def test_a_fact_is_recorded_by_its_relation(chat_stage: Stage) -> None:
    """Which has one use more and is stronger, now and after a restart."""
    lund = (await chat_stage.note("Lund", kind=MemoryKind.CONCEPT)).memory.id
    edges = (NewEdge(EdgeKind.RELATES, to=lund, verb="was born in", strength=0.4),)
    ilse = (await chat_stage.note("Ilse", kind=MemoryKind.CONCEPT, edges=edges)).memory.id
    mind, world = await chat_stage.mind(), await chat_stage.world()
    (relation,) = (e for e in mind.edges.of(ilse) if e.kind is EdgeKind.RELATES)
    answer = await chat_stage.recall("Where was Ilse born?", "c1", max_items=1)
    fact = replace(answer.memories[0], id=MemoryId(relation.id), kind="fact")
    request = RecallRequest(SoulId("s1"), ChatId("c1"), SlotId("r1"), 0)
    chat_stage.engine.learner.note_recall(world, request, replace(answer, memories=(fact,)))
    await chat_stage.sync("c1", [*TALK, REPLY, NEXT])
    await chat_stage.engine.learner.drain()
    for again in (False, True):
        if again:
            await chat_stage.restart()
            mind = await chat_stage.mind()
        edge = mind.edges[relation.id]
        assert edge.uses == 1
        assert edge.strength == pytest.approx(0.4 + 0.1 * 0.6, rel=0.01)  # a turn has passed
        row = mind.row(MemoryId(relation.id))
        assert row is not None
        assert mind.recalls.uses(mind.size)[row] == 1
