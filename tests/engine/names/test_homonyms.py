"""Of two things of one name a text mentions the one that its words fit."""

from __future__ import annotations

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import MemoryKind
from soulmem.domain.situation import ConceptDetail
from soulmem.engine.api.requests import NewEdge
from tests.engine.stage import ME, Stage, line

FRUIT = "a sweet round fruit that grows on trees and is baked in pies and cakes"
FIRM = "a company that makes phones and computers and their software"
PIE = "Al: Grandmother baked an Apple in two of her pies."
PHONE = "Al: The Apple on my desk is one of those new computers."
OPEN = "Al: Apple is a word of five letters."


async def two_apples(stage: Stage) -> dict[str, MemoryId]:
    """A soul that knows a fruit and a firm of one name and heard of both."""
    await stage.soul(forgetting=0.0)
    ids = {}
    for name, description in (("fruit", FRUIT), ("firm", FIRM)):
        view = await stage.note(
            "Apple",
            kind=MemoryKind.CONCEPT,
            concept=ConceptDetail(description=description),
        )
        ids[name] = view.memory.id
    texts = [text.removeprefix("Al: ") for text in (PIE, PHONE, OPEN, "Hm.")]
    await stage.sync("c", [line(f"m{i}", text) for i, text in enumerate(texts)])
    return ids


async def mentioned(stage: Stage, text: str) -> set[MemoryId]:
    """What the text of that memory mentions."""
    view = await stage.engine.memories.get(ME, await stage.find(text))
    edges = (edge for edge in view.edges if edge.kind is EdgeKind.MENTIONS)
    return {edge.target for edge in edges}


async def test_a_mention_goes_to_the_thing_whose_description_the_text_fits(
    stage: Stage,
) -> None:
    apples = await two_apples(stage)
    both_apples = set(apples.values())
    assert await mentioned(stage, PIE) == both_apples
    fingerprint = await stage.fingerprint()
    await stage.engine.idle.run()

    assert await mentioned(stage, PIE) == {apples["fruit"]}
    assert await mentioned(stage, PHONE) == {apples["firm"]}
    assert await mentioned(stage, OPEN) == both_apples
    assert await stage.fingerprint() == fingerprint


async def test_it_stays_decided_when_names_change(stage: Stage) -> None:
    apples = await two_apples(stage)
    await stage.engine.idle.run()
    await stage.note("Apple pie", kind=MemoryKind.CONCEPT)
    await stage.sync("d", [line("x", "Apple again."), line("y")])

    assert await mentioned(stage, PIE) == {apples["fruit"]}
    assert await mentioned(stage, PHONE) == {apples["firm"]}


async def test_undo_gives_back_both_mentions_and_they_stay(stage: Stage) -> None:
    apples = await two_apples(stage)
    await stage.engine.idle.run()
    page = await stage.engine.history.audit(ME, SoulId("s1"), None, 50, None)
    key = await stage.find(PIE)
    (entry,) = [e for e in page.entries if e.target == key and e.reason == "two things of one name"]
    undo = stage.engine.history.undo
    await undo(ME, SoulId("s1"), since=None, change=entry.id, job=None)
    await stage.engine.idle.run()

    assert await mentioned(stage, PIE) == set(apples.values())
    assert await mentioned(stage, PHONE) == {apples["firm"]}


async def test_what_the_user_linked_stays(stage: Stage) -> None:
    apples = await two_apples(stage)
    pie = await stage.note(
        "We ate Apple in pies.",
        edges=(NewEdge(EdgeKind.MENTIONS, to=apples["firm"], strength=0.9),),
    )
    await stage.engine.idle.run()

    view = await stage.engine.memories.get(ME, pie.memory.id)
    edges = [edge for edge in view.edges if edge.target == apples["firm"]]
    assert [edge.strength for edge in edges] == [0.9]


async def test_where_the_user_linked_one_thing_nothing_is_decided(stage: Stage) -> None:
    apples = await two_apples(stage)
    text = "The Apple on my desk makes phones and computers and software."
    link = NewEdge(EdgeKind.MENTIONS, to=apples["firm"], strength=0.9)
    await stage.note(text, edges=(link,))
    await stage.engine.idle.run()

    assert await mentioned(stage, text) == set(apples.values())
