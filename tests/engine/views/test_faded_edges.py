"""What becomes of an association that faded, and what may not fade away?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from soulmem.domain.dialogue import Role
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId, SlotId
from soulmem.domain.memories import MemoryKind, Origin
from soulmem.domain.soul import KnownName
from soulmem.engine.api.requests import NewEdge
from soulmem.engine.mind.mind import Mind
from soulmem.engine.views.faded_edges import remaining_strengths, unfaded_edges
from tests.engine.stage import ME, Stage, line

HOLD, CUT = (
    690,
    691,
)  # turns after which 0.5 at S = 300 is just above, and just below 0.05


async def linked_notes(
    stage: Stage, first: str = "Violets.", second: str = "Marmalade.", **more: Any
) -> list[MemoryId]:
    """Two notes the user tied together, the second with `more`."""
    first_id = (await stage.note(first)).memory.id
    edge = NewEdge(EdgeKind.ASSOCIATES, source=first_id, strength=0.5)
    return [first_id, (await stage.note(second, edges=(edge,), **more)).memory.id]


def strengths_by_id(mind: Mind, turns: int) -> dict[str, float]:
    """What is left of each edge after so many turns, by id; what views show says the same."""
    arrays = mind.edges.arrays()
    strengths = remaining_strengths(mind, arrays, turns)
    by_id = {
        mind.edges.edge_at(int(s)).id: float(x) for s, x in zip(arrays.slot, strengths, strict=True)
    }
    shown: dict[str, float] = {}
    for key in mind.memories:
        edges, count = unfaded_edges(mind, [mind.memories[key]], turns, most=100)
        assert count == len(edges)
        shown.update((edge.id, edge.strength) for edge in edges)
    assert shown == pytest.approx(
        {key: strength for key, strength in by_id.items() if strength > 0.0}
    )
    return by_id


async def test_an_edge_below_the_floor_is_cut(stage: Stage) -> None:
    """It leads nowhere and is not shown; until then it is shown as it is now."""
    source, target = await linked_notes(stage)
    mind = await stage.mind()
    edge = mind.edges.find(EdgeKind.ASSOCIATES, source, target)
    assert edge is not None
    assert strengths_by_id(mind, 0) == {edge.id: 0.5}
    assert strengths_by_id(mind, HOLD) == {edge.id: pytest.approx(0.5 * np.exp(-HOLD / 300))}
    assert strengths_by_id(mind, CUT) == {edge.id: 0.0}
    assert mind.edges[edge.id] == edge  # nothing was written


@pytest.mark.parametrize("protection", ["permanent", "locked"])
async def test_what_the_user_tied_to_a_protected_memory_holds(
    stage: Stage, protection: str
) -> None:
    """At the floor, for ever; what a chat tied to it does not."""
    protected: dict[str, Any] = {protection: True}
    source, target = await linked_notes(stage, **protected)
    mind = await stage.mind()
    edge = mind.edges.find(EdgeKind.ASSOCIATES, source, target)
    assert edge is not None
    assert strengths_by_id(mind, 100_000) == {edge.id: 0.05}
    mind.edges.put(replace(edge, origin=Origin.CHAT))
    assert strengths_by_id(mind, 100_000) == {edge.id: 0.0}


async def test_what_does_not_fade_is_never_cut(stage: Stage) -> None:
    """Whatever its strength."""
    whole = (await stage.note("Walks in the rain.", kind=MemoryKind.ABSTRACT_EPISODE)).memory.id
    edges = (NewEdge(EdgeKind.INSTANCE_OF, to=whole, strength=0.01),)
    await stage.note("We walked to the sea.", kind=MemoryKind.EPISODE, edges=edges)
    assert list(strengths_by_id(await stage.mind(), 100_000).values()) == [0.01]


async def test_a_cut_edge_leads_nowhere(stage: Stage) -> None:
    """The recall that went over it finds the other end no more."""
    for number in range(25):  # as many texts as a walk begins at
        await stage.note(f"Sheep went over the hill, {number} of them.")
    _, two = await linked_notes(stage)

    async def hops() -> int | None:
        recalled = await stage.recall("violets", max_items=50)
        return next((memory.hops for memory in recalled.memories if memory.id == two), None)

    assert await hops() == 1
    await stage.engine.advance_clock(0, HOLD)
    assert await hops() == 1
    await stage.engine.advance_clock(0, 10)  # walks are faded every few turns
    assert await hops() in (0, None)


async def test_what_comes_to_mind_together_is_learned_again(stage: Stage) -> None:
    """A use of half a share makes 0.05 of nothing, and the next one more."""
    source, target = await linked_notes(stage)
    talk = [
        line("m1", "Hello."),
        line("m2", "Hm.", Role.CHARACTER),
        line("m3", "Well."),
    ]
    await stage.sync("c1", talk)
    await stage.engine.advance_clock(0, 5000)
    mind = await stage.mind()
    for number in range(2):
        await stage.recall(
            "violets, marmalade", "c1", slot=SlotId(f"r{number}"), swipe=0, max_items=2
        )
        talk += [line(f"r{number}", "Yes.", Role.CHARACTER), line(f"n{number}", "So?")]
        await stage.sync("c1", talk)
        await stage.engine.learner.drain()
    edge = mind.edges.find(EdgeKind.ASSOCIATES, source, target)
    assert edge is not None
    assert edge.uses == 2
    assert edge.strength == pytest.approx(1 - 0.95**2, rel=0.01)  # a turn passed between
    assert strengths_by_id(mind, 5000)[edge.id] > 0.09


async def test_a_cut_link_of_a_text_does_not_come_back_by_itself(stage: Stage) -> None:
    """Not with the next sync and not with a restart; and the fingerprint is that of a replay."""
    names = (KnownName("Ilse"),)
    soul = await stage.engine.souls.get(ME, (await stage.mind()).soul.id)
    await stage.engine.souls.put(ME, soul.id, soul.name, names, None)
    talk = [
        line("m1", "Ilse came by."),
        line("m2", "Who?", Role.CHARACTER),
        line("m3", "Nobody."),
    ]
    await stage.sync("c1", talk)

    async def links() -> list[Edge]:
        mind = await stage.mind()
        return [e for e in mind.edges.every() if e.kind is EdgeKind.MENTIONS]

    (link,) = await links()
    before = await stage.fingerprint()
    await stage.engine.advance_clock(0, 5000)
    await stage.engine.idle.run()
    assert strengths_by_id(await stage.mind(), 5000)[link.id] == 0.0
    await stage.sync("c1", [*talk, line("m4", "I see.", Role.CHARACTER)])
    await stage.sync("c1", talk)
    assert await stage.fingerprint() == before
    await stage.restart()
    assert await links() == [link]
    assert await stage.fingerprint() == before


@pytest.mark.parametrize("most", [0, 1, 3, 4, 9])
async def test_of_very_many_edges_the_strongest_are_shown(stage: Stage, most: int) -> None:
    """As they are by now, with the number of all that have not faded."""
    hub = (await stage.note("A square.")).memory
    given = (0.9, 0.1, 0.5, 0.7, 0.3)
    for strength in given:
        edge = NewEdge(EdgeKind.ASSOCIATES, to=hub.id, strength=strength)
        await stage.note(f"A street of {strength}.", edges=(edge,))
    turns = 300  # after which 0.1 has faded
    edges, count = unfaded_edges(await stage.mind(), [hub], turns, most)
    left = sorted((s * np.exp(-turns / 300) for s in given), reverse=True)[:4]
    assert count == len(left)
    shown = sorted((edge.strength for edge in edges), reverse=True)
    assert shown == pytest.approx(left[:most])
