"""Are names learned from what is said twice, or introduced, and are they gone with it?"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from soulmem.domain.audit import Actor
from soulmem.domain.dialogue import SentMessage
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import ChatId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.domain.soul import KnownName, SoulSettings
from soulmem.engine.api.requests import MemoryFilter, MemoryPatch, NewMemory
from tests.engine.stage import ME, Stage, line


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """One soul, Mira; Al talks to her."""
    stage = Stage()
    await stage.start()
    await stage.soul()
    yield stage
    await stage.stop()


def messages_of(*texts: str) -> list[SentMessage]:
    """A message of each text, and a last one that settles them."""
    return [line(f"m{i}", text) for i, text in enumerate((*texts, "Hm."))]


async def concepts(stage: Stage) -> dict[str, Memory]:
    """The concepts of Mira in use, by what they are called."""
    page = await stage.engine.memories.list(ME, MemoryFilter(SoulId("s1"), kind=MemoryKind.CONCEPT))
    return {view.memory.text: view.memory for view in page.memories}


async def mentioned_by(stage: Stage, name: str) -> set[str]:
    """The texts that are linked to the concept of that name."""
    mind, concept = await stage.mind(), (await concepts(stage))[name]
    edges = [e for e in mind.edges.of(concept.id) if e.kind is EdgeKind.MENTIONS]
    return {mind.memories[e.source].text.removeprefix("Al: ") for e in edges}


async def test_a_name_said_twice_is_learned_and_once_is_not(stage: Stage) -> None:
    await stage.sync("c1", messages_of("I met Kaelith by the well."))
    assert await concepts(stage) == {}
    await stage.sync(
        "c1",
        [
            *messages_of("I met Kaelith by the well."),
            line("n1", "Poor Kaelith!"),
            line("n2"),
        ],
    )
    assert (await concepts(stage)).keys() == {"Kaelith"}
    assert (await concepts(stage))["Kaelith"].origin is Origin.CHAT
    assert await mentioned_by(stage, "Kaelith") == {
        "I met Kaelith by the well.",
        "Poor Kaelith!",
    }


async def test_who_is_introduced_is_learned_at_once_and_goes_with_that_message(
    stage: Stage,
) -> None:
    introduction = messages_of("This is my brother Kaelith.", "Good evening.")
    await stage.sync("c1", introduction)
    assert await mentioned_by(stage, "Kaelith") == {"This is my brother Kaelith."}
    await stage.restart()
    assert (await concepts(stage)).keys() == {"Kaelith"}
    await stage.sync("c1", introduction[1:], confirm=True)
    assert await concepts(stage) == {}


async def test_a_name_and_the_whole_name_once_each_are_enough(stage: Stage) -> None:
    texts = messages_of("We saw Kaelith Moor by the well.", "I asked Kaelith to come.")
    await stage.sync("c1", texts)
    assert (await concepts(stage)).keys() == {"Kaelith"}
    await stage.sync("c1", texts[1:], confirm=True)
    assert await concepts(stage) == {}


async def test_a_title_makes_nobody_else_of_whom_the_card_names(stage: Stage) -> None:
    card = (KnownName("Kaelith"),)
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", card, SoulSettings())
    await stage.sync("c1", messages_of("Sir Kaelith!", "I met Sir Kaelith again."))
    assert (await concepts(stage)).keys() == {"Kaelith"}


async def test_texts_that_merely_hold_the_name_are_linked_too(stage: Stage) -> None:
    texts = (
        "who is kaelith?",
        "I met Kaelith.",
        "It rained.",
        "Ask Kaelith.",
        "kaelith again",
    )
    await stage.sync("c1", messages_of(*texts))
    assert await mentioned_by(stage, "Kaelith") == set(texts) - {"It rained."}


async def test_its_sources_are_the_messages_that_give_it(stage: Stage) -> None:
    await stage.sync("c1", messages_of("I met Kaelith.", "It rained.", "Ask Kaelith."))
    page = await stage.engine.memories.list(ME, MemoryFilter(SoulId("s1"), kind=MemoryKind.CONCEPT))
    (view,) = page.memories
    assert [place.slot for place in view.sources] == ["m0", "m2"]


@pytest.mark.parametrize("how", ["removed", "edited"])
async def test_it_goes_with_one_of_the_two(stage: Stage, how: str) -> None:
    messages = messages_of("I met Kaelith.", "It rained.", "Ask Kaelith.")
    await stage.sync("c1", messages)
    remaining = [messages[0], *messages[2:]] if how == "nothing" else list(messages)
    remaining[2:3] = [] if how == "removed" else [line("m2", "Ask him.")]
    await stage.sync("c1", remaining)
    assert await concepts(stage) == {}
    mind = await stage.mind()
    assert not [e for e in mind.edges.every() if e.kind is EdgeKind.MENTIONS]
    await stage.sync("c1", messages)
    assert (await concepts(stage)).keys() == {"Kaelith"}


async def test_it_is_there_after_a_restart(stage: Stage) -> None:
    await stage.sync("c1", messages_of("I met Kaelith.", "It rained.", "Ask Kaelith."))
    await stage.restart()
    assert await mentioned_by(stage, "Kaelith") == {"I met Kaelith.", "Ask Kaelith."}
    await stage.sync("c1", messages_of("I met Kaelith.", "It rained."))
    assert await concepts(stage) == {}


async def test_nobody_who_speaks_is_learned_nor_the_soul_itself(stage: Stage) -> None:
    texts = ("Thanks, Al!", "Come here, Al.", "Is that Mira?", "Yes, dear Mira.")
    await stage.sync("c1", messages_of(*texts))
    assert await concepts(stage) == {}


async def test_who_begins_to_speak_is_learned_no_more(stage: Stage) -> None:
    messages = messages_of("I met Kaelith.", "Ask Kaelith.")
    await stage.sync("c1", messages)
    assert (await concepts(stage)).keys() == {"Kaelith"}
    more = [line("n1", "Good evening.", speaker="Kaelith"), line("n2")]
    await stage.sync("c1", [*messages, *more])
    assert await concepts(stage) == {}
    await stage.sync("c1", messages)
    assert (await concepts(stage)).keys() == {"Kaelith"}


async def test_the_card_wins(stage: Stage) -> None:
    await stage.sync("c1", messages_of("I met Kaelith.", "Ask Kaelith."))
    await stage.engine.souls.put(
        ME, SoulId("s1"), "Mira", (KnownName("Kaelith", ("Kael",)),), SoulSettings()
    )
    assert {name: m.origin for name, m in (await concepts(stage)).items()} == {
        "Kaelith": Origin.CARD
    }
    assert await mentioned_by(stage, "Kaelith") == {"I met Kaelith.", "Ask Kaelith."}
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", (), SoulSettings())
    assert {name: m.origin for name, m in (await concepts(stage)).items()} == {
        "Kaelith": Origin.CHAT
    }
    assert await mentioned_by(stage, "Kaelith") == {"I met Kaelith.", "Ask Kaelith."}


@pytest.mark.parametrize(
    ("original", "reworded"),
    [("Ask Kaelith.", "Ask her."), ("Ask her.", "Ask Kaelith.")],
)
async def test_undoing_what_was_done_to_texts_and_names_at_once(
    stage: Stage, original: str, reworded: str
) -> None:
    """The name is learned, or not, as if nothing had been reworded."""
    await stage.sync("c1", messages_of("Poor Kaelith!", original))
    before = await concepts(stage)
    made = (await stage.note("ring", kind=MemoryKind.CONCEPT)).memory
    (text,) = [m for m in await stage.listed() if m.text == f"Al: {original}"]
    since = stage.clock.now()
    for key, words in ((text.id, reworded), (made.id, "the ring")):
        arguments = {"memory_id": key, "new_content": words}
        await stage.engine.tools.call(ME, "update_memory_node", "s1", Actor.ARCHIVIST, arguments)
    assert ("Kaelith" in await concepts(stage)) != ("Kaelith" in before)
    await stage.engine.history.undo(ME, SoulId("s1"), since=since, change=None, job=None)

    assert (await concepts(stage)).keys() == {"ring", *before}
    if before:
        assert await mentioned_by(stage, "Kaelith") == {"Poor Kaelith!", original}
    await stage.restart()
    assert (await concepts(stage)).keys() == {"ring", *before}


async def test_the_user_wins(stage: Stage) -> None:
    await stage.sync("c1", messages_of("I met Kaelith.", "Ask Kaelith."))
    new = NewMemory(SoulId("s1"), MemoryKind.CONCEPT, "Kaelith")
    made = await stage.engine.memories.create(ME, new)
    assert {name: m.origin for name, m in (await concepts(stage)).items()} == {
        "Kaelith": Origin.USER
    }
    await stage.engine.memories.delete(ME, made.memory.id, None)
    assert {name: m.origin for name, m in (await concepts(stage)).items()} == {
        "Kaelith": Origin.CHAT
    }


async def test_what_the_user_throws_away_does_not_come_back(stage: Stage) -> None:
    messages = messages_of("I met Kaelith.", "Ask Kaelith.")
    await stage.sync("c1", messages)
    await stage.engine.memories.delete(ME, (await concepts(stage))["Kaelith"].id, None)
    assert await concepts(stage) == {}
    await stage.sync(
        "c1",
        [
            *messages,
            line("n1", "Again Kaelith!"),
            line("n2", "Dear Kaelith!"),
            line("n3"),
        ],
    )
    assert await concepts(stage) == {}
    await stage.restart()
    assert await concepts(stage) == {}


async def test_what_the_user_changes_is_the_users_own(stage: Stage) -> None:
    await stage.sync("c1", messages_of("I met Kaelith.", "Ask Kaelith."))
    learned = (await concepts(stage))["Kaelith"]
    await stage.engine.memories.patch(ME, learned.id, MemoryPatch(tags=("smith",)))
    assert (await concepts(stage))["Kaelith"].origin is Origin.USER
    await stage.sync("c1", messages_of("Nothing else."), confirm=True)
    assert (await concepts(stage)).keys() == {"Kaelith"}


async def test_another_branch_does_not_teach_it(stage: Stage) -> None:
    shared = [line("m0", "who is kaelith?"), line("m1", "I met Kaelith.")]
    await stage.sync(
        "c1",
        [*shared, line("a1", "Ask Kaelith."), line("a2", "Dear Kaelith."), line("a3")],
    )
    await stage.sync("c2", [*shared[:1], line("b1", "Nothing."), line("b2")], parent=("c1", "m0"))
    mind, world = await stage.mind(), await stage.world()
    row = mind.row((await concepts(stage))["Kaelith"].id)
    assert row is not None
    accessible = {
        c: bool(mind.accessible_rows(c, world.family(c), world.holds)[row]) for c in world.heads
    }
    assert accessible == {"c1": True, "c2": False}


async def test_a_branch_with_the_introduction_needs_no_more(stage: Stage) -> None:
    shared = [line("m0", "This is my brother Kaelith."), line("m1", "Ask Kaelith.")]
    await stage.sync("c1", [*shared, line("a1", "Dear Kaelith."), line("a2")])
    await stage.sync("c2", [*shared[:1], line("b1", "Nothing."), line("b2")], parent=("c1", "m0"))
    mind, world = await stage.mind(), await stage.world()
    row = mind.row((await concepts(stage))["Kaelith"].id)
    assert row is not None
    branch = ChatId("c2")
    assert mind.accessible_rows(branch, world.family(branch), world.holds)[row]


async def test_it_is_not_told_by_itself(stage: Stage) -> None:
    await stage.sync("c1", messages_of("I met Kaelith by the well.", "Ask Kaelith."))
    recalled = await stage.recall("Kaelith", chat=None)
    assert recalled.memories
    assert {memory.kind for memory in recalled.memories} == {MemoryKind.EPISODE}


async def test_a_chinese_name_and_its_latin_spelling_are_one(stage: Stage) -> None:
    texts = (
        "昨天我遇见了林月。",
        "He asked for Lin Yue again.",
        "下雨了。",
        "林月喜欢桂花糕。",
    )
    await stage.sync("c1", messages_of(*texts))
    learned = await concepts(stage)
    assert learned.keys() == {"林月"}
    assert learned["林月"].concept is not None
    assert learned["林月"].concept.aliases == ("Lin Yue",)
    assert await mentioned_by(stage, "林月") == {texts[0], texts[1], texts[3]}


async def test_a_latin_name_of_the_card_is_found_in_chinese_texts(stage: Stage) -> None:
    await stage.sync("c1", messages_of("昨天我遇见了林月。", "下雨了。"))
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", (KnownName("Lin Yue"),), SoulSettings())
    assert await mentioned_by(stage, "Lin Yue") == {"昨天我遇见了林月。"}
    await stage.sync(
        "c1",
        messages_of("昨天我遇见了林月。", "下雨了。", "林月喜欢桂花糕。", "林月又来了。"),
    )
    assert (await concepts(stage)).keys() == {"Lin Yue"}
    assert len(await mentioned_by(stage, "Lin Yue")) == 3


async def test_a_name_of_the_card_is_found_by_sound_in_what_the_user_wrote(
    stage: Stage,
) -> None:
    note = await stage.note("林月来了。")
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", (KnownName("Lin Yue"),), None)
    assert await mentioned_by(stage, "Lin Yue") == {note.memory.text}
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", (KnownName("Lin Yu"),), None)
    assert await mentioned_by(stage, "Lin Yu") == set()


async def test_a_learned_name_is_found_by_sound_once_it_is_the_users(
    stage: Stage,
) -> None:
    note = await stage.note("林月来了。")
    await stage.sync("c1", messages_of("Where is Lin Yue?", "Ask Lin Yue."))
    mentions = await mentioned_by(stage, "Lin Yue")
    assert mentions == {"Where is Lin Yue?", "Ask Lin Yue."}
    learned = (await concepts(stage))["Lin Yue"]
    await stage.engine.memories.patch(ME, learned.id, MemoryPatch(tags=("friend",)))
    assert await mentioned_by(stage, "Lin Yue") == {*mentions, note.memory.text}


async def test_a_message_that_the_user_corrects_still_names_whom_it_names(
    stage: Stage,
) -> None:
    """In what the correction leaves of it."""
    said = ("Saint Elmo played violins for Kaelith.", "Kaelith and Saint Elmo!")
    await stage.sync("c1", messages_of(*said))
    first = await stage.find(f"Al: {said[0]}")
    text = "Al: Saint Elmo played cellos."
    await stage.engine.memories.patch(ME, first, MemoryPatch(text=text))
    assert (await concepts(stage)).keys() == {"Saint Elmo"}
    await stage.restart()
    assert (await concepts(stage)).keys() == {"Saint Elmo"}
