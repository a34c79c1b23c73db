"""What a soul knows of people follows from its messages as they are now: quotes, about whom, until when."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.ids import SoulId
from soulmem.engine.api.requests import MemoryPatch
from soulmem.engine.editing.overviews import KnownFilter
from soulmem.engine.views.known import KnownThing
from soulmem.engine.views.read_texts import read_texts
from tests.engine.reflexes import PACKAGED
from tests.engine.stage import ME, Stage, line, lines

pytestmark = pytest.mark.timeout(60)  # the first fit embeds the examples

TOLD = (
    line("a1", "I'm allergic to peanuts, one bite and my throat closes."),
    line("a2", "The kettle is on. Mind the step.", Role.CHARACTER),
    line("a3", "I will bring you your father's sword before winter, I promise."),
    line("a4", "My mother died three years ago, in March.", Role.CHARACTER),
    line("a5", "*He looks at the floor.* Nice weather."),
)


async def stage_with(*told: SentMessage) -> Stage:
    stage = Stage(fallback=PACKAGED, judges_lines=True)
    await stage.start()
    await stage.soul()
    await sync(stage, told)
    return stage


async def sync(stage: Stage, told: Sequence[SentMessage], chat: str = "c1") -> None:
    await stage.sync(chat, [*told, *lines(2, 90)])
    await stage.engine.embedding.wait_pending()


async def known(stage: Stage, wanted: KnownFilter | None = None) -> list[KnownThing]:
    """All pages, two at a time."""
    out: list[KnownThing] = []
    cursor = None
    while True:
        page = await stage.engine.overviews.known(
            ME, SoulId("s1"), wanted or KnownFilter(), 2, cursor
        )
        out += page.things
        cursor = page.cursor
        if cursor is None:
            return out


async def test_what_lasts_is_quoted_with_who_says_it_and_of_whom() -> None:
    stage = await stage_with(*TOLD)
    things = {thing.quote: thing for thing in await known(stage)}
    promises = await known(stage, KnownFilter(told_as="promise"))
    of_mira = await known(stage, KnownFilter(about="Mira"))
    await stage.stop()
    assert set(things) == {
        "I'm allergic to peanuts, one bite and my throat closes.",
        "I will bring you your father's sword before winter, I promise.",
        "My mother died three years ago, in March.",
    }
    allergy = things["I'm allergic to peanuts, one bite and my throat closes."]
    assert (allergy.about, allergy.speaker, allergy.told_as) == ("Al", "Al", "fact")
    assert allergy.place is not None
    assert (allergy.place.chat, allergy.place.slot) == ("c1", "a1")
    assert [thing.quote[:12] for thing in promises] == ["I will bring"]
    assert [thing.quote[:9] for thing in of_mira] == ["My mother"]


async def test_a_line_that_was_edited_or_deleted_leaves_no_quote() -> None:
    stage = await stage_with(*TOLD)
    edited = line("a1", "I eat everything, give me the peanuts. The soup is hot.")
    await sync(stage, [edited, *TOLD[1:3]])
    quotes = [thing.quote for thing in await known(stage)]
    await sync(stage, [TOLD[1]])
    nothing = await known(stage)
    await stage.stop()
    assert not any("allergic" in quote or "mother" in quote for quote in quotes)
    assert any("sword" in quote for quote in quotes)
    assert nothing == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I live in a small house in Lund.", "I moved, I live in Malmo now."),
        ("We are getting married on Friday.", "We're getting married on Saturday now."),
        ("我住在苏州，在面包店上班。", "我搬家了，现在住在杭州，在面包店上班。"),
    ],
)
async def test_a_later_line_ends_what_it_says_otherwise(before: str, after: str) -> None:
    stage = await stage_with(line("b1", before), line("b2", "Ah."), line("b3", after))
    things = {thing.quote: thing for thing in await known(stage)}
    past = await known(stage, KnownFilter(is_past=True))
    await stage.stop()
    assert set(things) >= {before}
    assert [thing.quote for thing in past] == [before]
    later = next(t for t in things.values() if t.id == things[before].replaced_by)
    assert later.quote in after
    assert things[before].until == later.said_at


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("My father tuned pianos all his life.", "My mother runs a laundry in Leeds."),
        ("I can't swim, I never learned.", "I'm allergic to cats and horses."),
        ("我爸是修钟表的。", "我对花生过敏，一吃就喘不上气。"),
    ],
)
async def test_what_is_true_beside_it_ends_nothing(one: str, other: str) -> None:
    stage = await stage_with(line("b1", one), line("b2", "Ah."), line("b3", other))
    things = await known(stage)
    await stage.stop()
    assert {thing.quote for thing in things} == {one, other}
    assert [thing.until for thing in things] == [None, None]


async def test_what_was_said_again_stands_once() -> None:
    again = "I'm allergic to peanuts, remember."
    stage = await stage_with(TOLD[0], line("b2", "Ah."), TOLD[2], line("b4", again))
    quotes = [thing.quote for thing in await known(stage)]
    await sync(stage, (*TOLD, line("b4", TOLD[0].text or "")))
    twice = [t.quote for t in await known(stage) if "allergic" in t.quote]
    await stage.stop()
    assert len(quotes) >= 2
    assert twice == [TOLD[0].text]


async def test_it_is_there_after_a_restart() -> None:
    stage = await stage_with(*TOLD)
    before = await known(stage)
    await stage.restart()
    await stage.start()
    await stage.mind()
    await stage.engine.embedding.wait_pending()
    after = await known(stage)
    await stage.stop()
    assert after == before != []


async def test_an_open_promise_does_not_blur_one_that_was_kept_does() -> None:
    stage = await stage_with(*TOLD)
    (promise,) = await known(stage, KnownFilter(told_as="promise"))

    async def loss() -> float:
        mind = await stage.mind()
        memory = mind.memories[promise.memory]

        def visibility() -> float:
            turn = mind.lived_turns(0)
            (read,) = read_texts(mind, [memory], turn, ahead=3000.0)
            return read.visibility

        return 1.0 - await asyncio.to_thread(visibility)

    assert await loss() == 0.0
    await stage.engine.memories.patch(ME, promise.memory, MemoryPatch(tags=("kept",)))
    assert await loss() > 0.5
    await stage.stop()


MAREK = (
    line("a1", "My brother Marek is getting married in May."),
    line("a2", "*She smiles.* Tell me about him.", Role.CHARACTER),
    line("a3", "He's been sober for six years now."),
    line("a4", "And his family?", Role.CHARACTER),
    line("a5", "His wife Ana died last spring. He has two daughters, Ida and Lena."),
    line("a6", "Poor Marek. I never met Ana.", Role.CHARACTER),
)


async def test_he_and_she_mean_the_person_who_was_named_before() -> None:
    stage = await stage_with(*MAREK)
    about = {thing.quote: thing.about for thing in await known(stage)}
    mind = await stage.mind()
    (marek,) = (m.id for m in mind.memories.values() if m.text == "Marek")
    of_marek = {thing.quote for thing in await known(stage, KnownFilter(about=marek))}
    await stage.stop()
    assert about == {
        "My brother Marek is getting married in May.": "Al",
        "I never met Ana.": "Mira",
        "He's been sober for six years now.": "Marek",
        "His wife Ana died last spring.": "Ana",
        "He has two daughters, Ida and Lena.": "Marek",
    }
    assert about.keys() - of_marek == {
        "His wife Ana died last spring.",
        "I never met Ana.",
    }


@pytest.mark.parametrize(
    ("before", "told", "whom"),
    [
        ("How was the fair?", "She lost her sight in the war and never married.", None),
        (
            "How was Odile, and was Odile glad?",
            "She lost her sight in the war and never married.",
            "Odile",
        ),
        (
            "How was Odile, and was Odile glad?",
            "*She lost her sight in the war and never married.* Fine.",
            "Mira",
        ),
        (
            "Is Ida Odile's niece? Ida writes that Odile is glad. How was Odile?",
            "She lost her sight in the war, on the day that Ida was born.",
            "Odile",
        ),
    ],
)
async def test_a_line_about_a_person_who_was_not_named_is_not_kept(
    before: str, told: str, whom: str | None
) -> None:
    stage = await stage_with(line("a1", before), line("a2", told, Role.CHARACTER))
    about = [thing.about for thing in await known(stage) if "sight" in thing.quote]
    await stage.stop()
    assert about == ([] if whom is None else [whom])


async def test_a_place_that_is_only_spoken_of_is_not_where_it_was_said() -> None:
    stage = await stage_with(
        line("a1", "I was born in Tarnmouth."),
        line("a2", "*They walk through Tarnmouth.* I am allergic to walnuts."),
    )
    where = {thing.quote: thing.location for thing in await known(stage)}
    await stage.stop()
    assert where["I was born in Tarnmouth."] is None
    assert where["I am allergic to walnuts."] == "Tarnmouth"
