"""What is told brings what hangs on it by strong links, whatever its text says."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import NewEdge
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.brought import lived_edges
from soulmem.graph.edge_arrays import EdgeArrays
from soulmem.kernels.arrays import Float64s
from tests.engine.stage import Stage

pytestmark = pytest.mark.timeout(60)  # the first recall reads dictionaries

BISHOP = "The drunken bishop sold a wax elephant in the crypt."
UMBRELLA = "A grey umbrella leaned in the hall of the mill."
RAFT = "Three nuns built a raft of cheese boxes."
CANDLE = "One blue candle burned above the ferry steps."
CUE = "What did the drunken bishop do with the wax elephant?"


async def soul_of_barrels() -> Stage:
    """A soul of the usual restraint without a model, with some notes on other things."""
    made = Stage()
    await made.start()
    await made.soul(restraint=1.0, forgetting=0.0)
    for number in range(12):
        await made.note(f"Barrel number{number} holds salted fish{number}.")
    return made


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    made = await soul_of_barrels()
    yield made
    await made.stop()


async def linked(stage: Stage, text: str, target: MemoryId, strength: float) -> MemoryId:
    """A note that is associated with another memory."""
    edge = NewEdge(EdgeKind.ASSOCIATES, to=target, strength=strength)
    made = await stage.note(text, edges=(edge,))
    return made.memory.id


async def told(stage: Stage, query: str) -> list[str]:
    """The texts that a query brings."""
    answer = await stage.recall(query)
    return [memory.text for memory in answer.memories]


@pytest.mark.parametrize(("strength", "comes"), [(1.0, True), (0.2, False)])
async def test_a_strong_link_brings_what_shares_no_word_with_the_line(
    stage: Stage, strength: float, comes: bool
) -> None:
    other = (await stage.note(UMBRELLA)).memory.id
    await linked(stage, BISHOP, other, strength)
    texts = await told(stage, CUE)
    assert BISHOP in texts
    assert (UMBRELLA in texts) is comes


async def test_two_strong_links_bring_what_is_behind_both(stage: Stage) -> None:
    last = (await stage.note(RAFT)).memory.id
    middle = await linked(stage, UMBRELLA, last, 1.0)
    await linked(stage, BISHOP, middle, 1.0)
    assert {BISHOP, UMBRELLA, RAFT} <= set(await told(stage, CUE))


async def test_two_ways_as_strong_bring_one_memory_once(stage: Stage) -> None:
    ways = [(await stage.note(text)).memory.id for text in (UMBRELLA, CANDLE)]
    edges = tuple(NewEdge(EdgeKind.ASSOCIATES, to=way, strength=1.0) for way in ways)
    await stage.note(RAFT, edges=edges)  # the last row: both ways wait for it
    await stage.note(BISHOP, edges=edges)
    texts = await told(stage, CUE)
    assert BISHOP in texts
    assert len(texts) == len(set(texts)) > 1


async def test_where_not_all_have_a_place_what_the_surest_brings_comes(
    stage: Stage,
) -> None:
    for number, who in enumerate(("old", "sad", "tall", "deaf")):
        far = (await stage.note(f"Stone number{number} lay in ditch{number}.")).memory
        text = f"The {who} bishop sold a wax candle{number} in the crypt."
        await linked(stage, text, far.id, 1.0)
    other = (await stage.note(UMBRELLA)).memory.id
    await linked(stage, BISHOP, other, 1.0)
    answer = await stage.recall(CUE)
    texts = [memory.text for memory in answer.memories]
    assert len([text for text in texts if "bishop" in text]) > 1
    assert UMBRELLA in texts


async def test_nothing_is_brought_where_nothing_is_told(stage: Stage) -> None:
    other = (await stage.note(UMBRELLA)).memory.id
    await linked(stage, BISHOP, other, 1.0)
    assert await told(stage, "Good morning!") == []


async def test_the_reason_names_what_brought_it(stage: Stage) -> None:
    other = (await stage.note(UMBRELLA)).memory.id
    await linked(stage, BISHOP, other, 1.0)
    answer = await stage.recall(CUE)
    (brought,) = [m for m in answer.memories if m.text == UMBRELLA]
    assert [step.label for step in brought.path][:1] != []
    assert brought.hops == 1


async def test_edges_that_cannot_bring_anything_are_not_read(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a long chat thousands of texts mention a name that every reply recalls."""
    key = (await stage.note("Ludgate", kind=MemoryKind.CONCEPT)).memory.id
    for number in range(30):
        await stage.note(f"In Ludgate bell number{number} rang over roof{number}.")
    edge = NewEdge(EdgeKind.ASSOCIATES, to=key, strength=1.0)
    umbrella = await stage.note(UMBRELLA, edges=(edge,))
    mind = await stage.mind()
    assert sum(1 for _ in mind.edges.of(key)) > 30
    counted = list[int]()
    strengths = Mind.edge_strengths

    def strengths_counted(
        asked: Mind, edges: EdgeArrays, extra: int, before: float = 0.0
    ) -> Float64s:
        counted.append(edges.slot.size)
        return strengths(asked, edges, extra, before)

    monkeypatch.setattr(Mind, "edge_strengths", strengths_counted)
    row = mind.row(key)
    assert row is not None
    lived = lived_edges(mind, [row], 0)
    assert lived.far.tolist() == [mind.row(umbrella.memory.id)]
    assert counted == [1]


GIFT = "The captain has the locket from Ysolde Marten."
DROWNED = "Ysolde Marten drowned at the weir one winter."
ASKED = "Who gave the captain her locket?"


async def names_known(stage: Stage, *texts: str) -> None:
    """The soul knows Ysolde Marten, and these texts."""
    await stage.note("Ysolde Marten", kind=MemoryKind.CONCEPT)
    for text in texts:
        await stage.note(text)


async def test_the_rare_name_in_an_answer_brings_what_is_known_of_it(stage: Stage) -> None:
    await names_known(stage, GIFT, DROWNED)
    assert {GIFT, DROWNED} <= set(await told(stage, ASKED))


async def test_a_name_that_many_memories_mention_leads_nowhere(stage: Stage) -> None:
    others = [f"Ysolde Marten sold eel{number} at gate{number}." for number in range(6)]
    await names_known(stage, GIFT, DROWNED, *others)
    texts = await told(stage, ASKED)
    assert GIFT in texts
    assert not {DROWNED, *others} & set(texts)


async def test_a_remark_does_not_go_on_over_names(stage: Stage) -> None:
    await names_known(stage, GIFT, DROWNED)
    texts = await told(stage, "The captain wears her locket again.")
    assert GIFT in texts
    assert DROWNED not in texts


async def test_what_a_name_brings_says_over_which_name(stage: Stage) -> None:
    await names_known(stage, GIFT, DROWNED)
    answer = await stage.recall(ASKED)
    (brought,) = [m for m in answer.memories if m.text == DROWNED]
    assert "Ysolde Marten" in [step.label for step in brought.path]
