"""Whom does a soul know: who is met in its texts, by all names, and what it knows and feels of them?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import ChatId, SoulId
from soulmem.domain.memories import MemoryKind
from soulmem.domain.situation import Emotion, Situation
from soulmem.domain.soul import KnownName
from soulmem.engine.api.requests import MemoryPatch, NewEdge
from soulmem.engine.api.results import Person
from soulmem.engine.views import people as view
from tests.engine.stage import ME, Stage, line

START = datetime(2026, 5, 1, 10, tzinfo=timezone.utc)
TEXTS = (
    "Kaelith sold me a lantern.",
    "Where does Kaelith live?",
    "I was in Brindlemoor last week.",
    "They bake good bread in Brindlemoor.",
    "Good night.",
)


def told(texts: Sequence[str], first: str = "k", **more: Any) -> list[SentMessage]:
    """Lines of the user, one a minute."""
    return [
        line(f"{first}{i}", text, sent_at=START + timedelta(minutes=i), **more)
        for i, text in enumerate(texts)
    ]


async def people(stage: Stage) -> dict[str, Person]:
    """The people of the soul by name."""
    found = await stage.engine.overviews.people(ME, SoulId("s1"))
    return {person.name: person for person in found}


async def test_somebody_is_who_takes_part_and_a_place_is_nobody(stage: Stage) -> None:
    await stage.sync("a", told(TEXTS))
    (person,) = (await people(stage)).values()
    assert (person.name, person.episodes) == ("Kaelith", 2)
    assert person.last == START + timedelta(minutes=1)
    assert person.feeling is None
    assert person.facts == ()


async def test_who_is_only_gone_to_and_come_from_is_a_place(stage: Stage) -> None:
    texts = [
        "We went down to Merrow with the mail.",
        "I have a letter from Merrow.",
        "I gave it to Odile.",
        "Odile laughed.",
        "Hm.",
    ]
    await stage.sync("a", told(texts))
    assert sorted(await people(stage)) == ["Odile"]


async def test_what_stands_behind_an_article_is_nobody(stage: Stage) -> None:
    texts = [
        "We signed on with the Corvane.",
        "The Corvane is slow, and Odile knows it.",
        "Odile mended the Corvane.",
        "Hm.",
    ]
    await stage.sync("a", told(texts))
    assert sorted(await people(stage)) == ["Odile"]


async def test_given_and_given_family_are_one_unless_two_share_the_name(
    stage: Stage,
) -> None:
    texts = [
        "Then Kaelith Dunmoor said no.",
        "So Kaelith Dunmoor left.",
        "And Kaelith came back.",
        "Later Kaelith laughed.",
        "Now Kaelith sings.",
        "Hm.",
    ]
    await stage.sync("a", told(texts))
    (person,) = (await people(stage)).values()
    assert (person.name, person.aliases) == ("Kaelith", ("Kaelith Dunmoor",))
    assert person.episodes == 5
    more = ["Then Kaelith Brandt said no.", "So Kaelith Brandt left.", "Hm."]
    await stage.sync("b", told(more, first="n"))
    assert sorted(await people(stage)) == [
        "Kaelith",
        "Kaelith Brandt",
        "Kaelith Dunmoor",
    ]


async def test_chinese_names_as_one_is_called_and_no_word_for_a_place(
    stage: Stage,
) -> None:
    texts = [
        "阿菱在河里洗菜。",
        "阿菱笑了。",
        "河里有鱼。",
        "佟四娘来了。",
        "佟四娘骂人。",
        "嗯。",
    ]
    await stage.sync("a", told(texts))
    assert sorted(await people(stage)) == ["佟四娘", "阿菱"]


async def test_episodes_are_read_once_until_one_is_reworded(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message more reads those of whom it names; a reworded one may say that the name is a place."""
    read: list[Sequence[str]] = []
    plain = view._takes_part

    def counted(mind: Any, names: Sequence[str], rows: Any) -> bool:
        read.append(names)
        return plain(mind, names, rows)

    monkeypatch.setattr(view, "_takes_part", counted)
    texts = [*TEXTS[:2], "I gave it to Odile.", "Odile laughed."]
    await stage.sync("a", told([*texts, "Hm."]))
    assert sorted(await people(stage)) == ["Kaelith", "Odile"]
    read.clear()
    await stage.sync("a", told([*texts, "Hm.", "I asked Kaelith again.", "Well."]))
    assert sorted(await people(stage)) == ["Kaelith", "Odile"]
    assert read == [["Kaelith"]]
    mind = await stage.mind()
    by_text = {memory.text: memory.id for memory in mind.memories.values()}
    for text, other in (
        ("I gave it to Odile.", "I gave it to a man from Odile."),
        ("Odile laughed.", "We laughed in Odile."),
    ):
        (key,) = (by_text[full] for full in by_text if full.endswith(text))
        await stage.engine.memories.patch(ME, key, MemoryPatch(text=other))
    assert sorted(await people(stage)) == ["Kaelith"]


async def test_names_of_the_card_are_people_once_they_are_met_by_any_name(
    stage: Stage,
) -> None:
    names = (KnownName("Jonas", ("Joni",)), KnownName("Radek"), KnownName("Mira"))
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", names, None)
    await stage.sync("a", told(["Joni is late.", "Ask Mira.", "Mira knows.", "Hm."]))
    (person,) = (await people(stage)).values()
    assert (person.name, person.aliases, person.episodes) == ("Jonas", ("Joni",), 1)


async def test_a_relation_by_hand_is_a_fact_and_the_thing_it_names_is_nobody(
    stage: Stage,
) -> None:
    await stage.sync("a", told(TEXTS))
    kaelith = await stage.find("Kaelith")
    licence = await stage.note(
        "ferry licence",
        kind=MemoryKind.CONCEPT,
        edges=(NewEdge(EdgeKind.RELATES, kaelith, verb="belongs to"),),
    )
    (edge,) = licence.edges
    found = await people(stage)
    assert list(found) == ["Kaelith"]
    assert found["Kaelith"].facts == (edge.id,)


async def test_what_was_felt_most_in_the_last_episodes_is_shown(stage: Stage) -> None:
    names = (KnownName("Jonas"), KnownName("Radek"))
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", names, None)
    for text, *emotions in (
        ("Jonas broke my cup.", Emotion("anger", 0.9)),
        ("Jonas sang for me.", Emotion("joy", 0.6), Emotion("pride", 0.2)),
        ("Jonas came home.", Emotion("joy", 0.8)),
        ("Jonas and Radek ate.",),
    ):
        situation = Situation(emotions=tuple(emotions))
        await stage.note(text, kind=MemoryKind.EPISODE, situation=situation)
    found = await people(stage)
    feeling = found["Jonas"].feeling
    assert feeling is not None
    assert (feeling.label, round(feeling.intensity, 6)) == ("joy", 0.7)
    assert found["Radek"].feeling is None
    assert list(found) == ["Jonas", "Radek"]


async def test_who_was_met_in_one_chat_alone_goes_with_it(stage: Stage) -> None:
    await stage.sync("a", told(TEXTS))
    await stage.sync("b", told(["I met Odile.", "Odile limps.", "Hm."], first="o"))
    assert sorted(await people(stage)) == ["Kaelith", "Odile"]
    await stage.engine.chats.delete(ME, ChatId("b"))
    assert sorted(await people(stage)) == ["Kaelith"]


async def test_looking_changes_nothing(stage: Stage) -> None:
    await stage.sync("a", told(TEXTS, role=Role.USER))
    before = await stage.fingerprint(), await stage.listed()
    assert await people(stage) == await people(stage)
    assert (await stage.fingerprint(), await stage.listed()) == before


async def test_of_very_many_names_those_are_looked_at_that_are_named_most(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "_MOST", 1)
    texts = ["Kaelith sold me a lantern.", "Oswin waved.", "Kaelith laughs at Oswin."]
    names = (KnownName("Kaelith"), KnownName("Oswin"))
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", names, None)
    await stage.sync("c1", told([*texts, "Kaelith sleeps.", "Good night."]))
    assert list(await people(stage)) == ["Kaelith"]
