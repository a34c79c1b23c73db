"""A message that says that two names are one joins them, for as long as it stands."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from soulmem.domain.dialogue import SentMessage
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import MemoryKind
from soulmem.domain.situation import ConceptDetail
from soulmem.engine.api.requests import NewEdge
from soulmem.engine.api.results import Recalled
from soulmem.language.relations import relation_of
from tests.engine.stage import ME, Stage, ended, line
from tests.engine.two_languages import TOLD_IN_CHINESE, TOLD_IN_ENGLISH

TALK = {
    "en": (
        "We met Elizabeth by the river.",
        "Again it was Elizabeth who paid.",
        "Where does Lizzy keep the telescope?",
        "I gave Lizzy the telescope.",
        "You know Elizabeth, called Lizzy, she is my aunt.",
        "Hm.",
    ),
    "zh": (
        "我们在河边碰到了王建国。",
        "又是王建国付的钱。",
        "望远镜放在老王那里吗？",
        "我把望远镜给了老王。",
        "王建国外号叫老王。",
        "嗯。",
    ),
}
# Of something else, by the same people.
TALES = [text for text, _ in (*TOLD_IN_CHINESE, *TOLD_IN_ENGLISH)]
NAMES = {"en": ("Elizabeth", "Lizzy"), "zh": ("王建国", "老王")}
ASK = {"en": "Did you see Lizzy?", "zh": "你看见老王了吗？"}


def talk(lang: str = "en", skipped: int | None = None) -> list[SentMessage]:
    texts = enumerate(TALK[lang])
    return [line(f"m{i}", text) for i, text in texts if i != skipped]


def ranks(answer: Recalled, texts: Sequence[str]) -> list[int]:
    """The places of these texts in an answer, counted from 1."""
    told = [item.text for item in answer.memories]
    return sorted(next((i for i, item in enumerate(told, 1) if text in item), 99) for text in texts)


async def people(stage: Stage) -> list[set[str]]:
    """The names of each person that the soul knows."""
    listed = await stage.engine.overviews.people(ME, SoulId("s1"))
    return [{person.name, *person.aliases} for person in listed]


async def joined(stage: Stage) -> list[str]:
    """The relations that say that two names are one."""
    mind = await stage.mind()
    concepts = (m for m in mind.memories.values() if m.kind is MemoryKind.CONCEPT)
    edges = mind.edges.between({concept.id for concept in concepts})
    return [edge.id for edge in edges if relation_of(edge.verb).is_alias]


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_who_is_asked_for_by_one_name_is_looked_for_by_the_other(
    stage: Stage, lang: str
) -> None:
    await stage.soul()
    await stage.sync("c", talk(lang))
    await stage.sync("d", [line(f"n{i}", text) for i, text in enumerate(TALES)])
    before = await stage.recall(ASK[lang], max_items=50)
    await stage.engine.idle.run()
    after = await stage.recall(ASK[lang], max_items=50)

    names = set(NAMES[lang])
    assert [p for p in await people(stage) if p & names] == [names]
    others = TALK[lang][:2]  # which have the other name alone
    assert ranks(before, others)[-1] > 6
    assert ranks(after, others)[-1] <= 6


async def test_the_names_part_when_the_message_goes(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c", talk())
    fingerprint = await stage.fingerprint()
    await stage.engine.idle.run()
    assert await joined(stage)
    assert await stage.fingerprint() == fingerprint
    await stage.sync("c", talk(skipped=4))
    await stage.engine.idle.run()

    assert not await joined(stage)
    assert {"Elizabeth", "Lizzy"} not in await people(stage)


async def test_a_branch_from_before_the_message_keeps_two(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c", talk())
    await stage.sync("b", [*talk()[:4], line("n1", "Well.")], parent=("c", "m3"))
    await stage.engine.idle.run()

    verb = "is also called"
    assert any(verb in text for text in await stage.known("c"))
    assert not any(verb in text for text in await stage.known("b"))


async def test_what_was_undone_is_not_joined_again(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c", talk())
    await stage.engine.idle.run()
    page = await stage.engine.history.audit(ME, SoulId("s1"), None, 50, None)
    for entry in page.entries:
        if entry.reason == "two names of one":
            undo = stage.engine.history.undo
            await undo(ME, SoulId("s1"), since=None, change=entry.id, job=None)
    assert not await joined(stage)
    await stage.sync("d", [line("x", "The sun is out."), line("y")])
    await stage.engine.idle.run()

    assert not await joined(stage)


async def test_a_name_of_two_things_joins_neither(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c", talk())
    await stage.engine.idle.run()
    assert await joined(stage)
    more = [
        line("x", "My boss Margaret Hill is called Lizzy, too."),
        line("y", "Margaret Hill is nice."),
        line("z"),
    ]
    await stage.sync("d", more)
    await stage.engine.idle.run()

    assert not await joined(stage)


async def test_two_spellings_of_one_concept_are_not_joined(stage: Stage) -> None:
    await stage.soul()
    await stage.note("The Mill", kind=MemoryKind.CONCEPT)
    texts = ["It is The Mill, also known as Mill, there.", "Hm.", "Well."]
    await stage.sync("c", [line(f"m{i}", text) for i, text in enumerate(texts)])
    await stage.engine.idle.run()

    edges = (await stage.mind()).edges.every()
    assert [edge for edge in edges if edge.source == edge.target] == []


async def test_names_are_joined_by_hand(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c", talk(skipped=4))
    assert {"Elizabeth", "Lizzy"} not in await people(stage)
    lizzy = await concept(stage, "Lizzy")
    edge = NewEdge(EdgeKind.RELATES, lizzy, verb="is also called")
    await stage.note("Elizabeth", kind=MemoryKind.CONCEPT, edges=(edge,))

    assert {"Elizabeth", "Lizzy"} in await people(stage)
    recalled = await stage.recall(ASK["en"], max_items=6)
    assert any("by the river" in item.text for item in recalled.memories)


async def test_an_alias_by_hand_takes_over_the_other_name(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c", talk(skipped=4))
    detail = ConceptDetail(aliases=("Lizzy",))
    await stage.note("Elizabeth", kind=MemoryKind.CONCEPT, concept=detail)

    assert {"Elizabeth", "Lizzy"} in await people(stage)
    recalled = await stage.recall(ASK["en"], max_items=6)
    assert any("by the river" in item.text for item in recalled.memories)


async def test_replay_says_how_many_names_it_joined(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c", talk())
    job = await stage.engine.jobs.ask(ME, "replay", SoulId("s1"), {})
    view = await ended(stage, job)
    assert view.result is not None
    assert view.result["names"] == 1


async def concept(stage: Stage, name: str) -> MemoryId:
    """The learned concept of that name."""
    listed = await stage.listed(kind=MemoryKind.CONCEPT)
    (key,) = [m.id for m in listed if m.text == name]
    return key
