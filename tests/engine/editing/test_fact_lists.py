"""Facts in lists: which, in which order, and what each says of its relation."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from soulmem.domain.edges import EdgeKind
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import MemoryKind, MemoryState
from soulmem.engine.api.requests import (
    ListOrder,
    MemoryFilter,
    MemoryPatch,
    NewEdge,
    Part,
    TagMatch,
)
from soulmem.engine.api.results import MemoryView, Page
from soulmem.server.resources.memory_responses import listed_memory
from tests.engine.stage import ME, Stage

FACTS = MemoryFilter(SoulId("s1"), only_facts=True)


async def listed(stage: Stage, **more: Any) -> Page:
    """The facts that a filter selects."""
    return await stage.engine.memories.list(ME, replace(FACTS, **more))


async def texts(stage: Stage, **more: Any) -> list[str]:
    return [view.memory.text for view in (await listed(stage, **more)).memories]


async def concept(stage: Stage, name: str, *edges: NewEdge, **more: Any) -> MemoryView:
    return await stage.note(name, kind=MemoryKind.CONCEPT, edges=edges, **more)


def to(other: MemoryView, verb: str, strength: float = 0.5) -> NewEdge:
    return NewEdge(EdgeKind.RELATES, other.memory.id, strength=strength, verb=verb)


async def town_and_people(stage: Stage) -> dict[str, MemoryView]:
    """Three facts, a day apart: Bela's town, Bela's trade, Ada's town."""
    lund = await concept(stage, "Lund")
    smith = await concept(stage, "blacksmith", importance=0.9)
    bela = await concept(stage, "Bela", to(lund, "lives in", 0.4))
    stage.clock.advance(86_400.0, 0)
    patch = MemoryPatch(edges=(to(smith, "works as", 0.9),))
    bela = await stage.engine.memories.patch(ME, bela.memory.id, patch)
    stage.clock.advance(86_400.0, 0)
    ada = await concept(stage, "Ada", to(lund, "lives in", 0.6))
    return {"Lund": lund, "Bela": bela, "Ada": ada}


async def test_the_facts_of_a_soul_are_listed_in_any_order(either_stage: Stage) -> None:
    await town_and_people(either_stage)
    bela, trade, ada = (
        "Bela lives in Lund",
        "Bela works as blacksmith",
        "Ada lives in Lund",
    )
    assert await texts(either_stage) == [ada, trade, bela]
    for order, wanted in (
        (ListOrder.OLDEST, [bela, trade, ada]),
        (ListOrder.STRENGTH, [trade, ada, bela]),
        (ListOrder.IMPORTANCE, [trade, ada, bela]),
        (ListOrder.RECALLED, [ada, trade, bela]),
    ):
        assert await texts(either_stage, order=order) == wanted, order


async def test_each_tells_its_relation_as_it_reads_by_itself(stage: Stage) -> None:
    await town_and_people(stage)
    facts = (await listed(stage)).memories
    assert facts
    for view in facts:
        assert view == await stage.engine.memories.get(ME, view.memory.id)
        answer = listed_memory(view)
        assert isinstance(answer.edges, list)
        assert answer.kind == "fact"
        assert [(e.id, e.verb) for e in answer.edges] == [(view.memory.id, view.edges[0].verb)]


async def test_page_by_page_each_comes_once(stage: Stage) -> None:
    await town_and_people(stage)
    for order in (ListOrder.NEWEST, ListOrder.STRENGTH):
        whole = await texts(stage, order=order)
        seen: list[str] = []
        cursor: str | None = None
        for _ in whole:
            page = await listed(stage, order=order, limit=1, cursor=cursor)
            seen += [view.memory.text for view in page.memories]
            cursor = page.cursor
        assert (seen, cursor) == (whole, None)
    newest = await stage.engine.memories.list(ME, MemoryFilter(SoulId("s1"), limit=1))
    with pytest.raises(Unprocessable):
        await listed(stage, cursor=newest.cursor)


async def test_those_about_somebody_are_of_all_names_and_either_side(
    stage: Stage,
) -> None:
    people = await town_and_people(stage)
    about = Part(about=people["Bela"].memory.id)
    assert len(await texts(stage, part=about)) == 2
    await concept(stage, "Belinda", to(people["Bela"], "is also known as"))
    stage.clock.advance(86_400.0, 0)
    await concept(stage, "Carl", NewEdge(EdgeKind.RELATES, people["Bela"].memory.id, verb="fears"))
    found = await texts(stage, part=about)
    assert found[:2] == ["Carl fears Bela", "Belinda is also known as Bela"]
    about_town = Part(about=people["Lund"].memory.id)
    assert len(await texts(stage, part=about_town)) == 2


async def test_words_find_facts_those_that_have_them_all_first(stage: Stage) -> None:
    await town_and_people(stage)
    found = await texts(stage, q="Bela lives in", match=TagMatch.PARTIAL)
    assert found[0] == "Bela lives in Lund"
    assert set(found) >= {"Bela works as blacksmith", "Ada lives in Lund"}
    assert await texts(stage, q="Bela lives in", match=TagMatch.EXACT) == found[:1]
    by_meaning = await texts(stage, q="Bela", match=TagMatch.MEANING)
    assert set(by_meaning) >= {text for text in found if "Bela" in text}
    assert await texts(stage, q="Uppsala", match=TagMatch.PARTIAL) == []


async def test_a_span_of_time_selects_by_when_a_fact_was_told(stage: Stage) -> None:
    await town_and_people(stage)
    now = stage.clock.now()
    part = Part(start=now - timedelta(hours=36), end=now - timedelta(hours=12))
    assert await texts(stage, part=part) == ["Bela works as blacksmith"]


async def test_a_fact_goes_with_its_concept_and_when_it_has_faded(stage: Stage) -> None:
    people = await town_and_people(stage)
    await stage.engine.memories.delete(ME, people["Ada"].memory.id, None)
    assert len(await texts(stage)) == 2
    lund = people["Lund"].memory.id
    bela = people["Bela"].memory.id
    gone = NewEdge(EdgeKind.RELATES, source=bela, strength=0.0, verb="lives in")
    await stage.engine.memories.patch(ME, lund, MemoryPatch(edges=(gone,)))
    assert await texts(stage) == ["Bela works as blacksmith"]


@pytest.mark.parametrize(
    "more",
    [
        {"tag": "a"},
        {"permanent": True},
        {"state": MemoryState.BIN},
        {"state": MemoryState.WAITING},
    ],
)
async def test_what_no_fact_is_selects_none(stage: Stage, more: dict[str, Any]) -> None:
    await town_and_people(stage)
    assert await texts(stage, **more) == []


async def test_looking_at_facts_changes_nothing(stage: Stage) -> None:
    await town_and_people(stage)
    before = await stage.fingerprint()
    (first, *_) = (await listed(stage)).memories
    await stage.engine.memories.get(ME, MemoryId(first.memory.id))
    assert await stage.fingerprint() == before
