"""Statements of cards and worlds become memories, follow their source, and leave the user's memories alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.domain.soul import KnownName
from soulmem.engine.api.requests import (
    ImportFormat,
    ImportRequest,
    MemoryPatch,
    NewEdge,
)
from soulmem.engine.exchange import lore_import
from soulmem.engine.runtime.jobs import JobState
from tests.engine.exchange.test_chat_import import ended
from tests.engine.stage import ME, Stage, lines

STORY = "{{char}} keeps the lighthouse on the Isle of Varn, alone with her cat.\n"
BROTHER = "Her brother Tomas Hale, also known as Red, drowned in the winter storm."
HABITS = "Habits: hums when nervous; counts the stairs\n"
AGE = "Mira is thirty-four."


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a short card has many."""
    monkeypatch.setattr(lore_import, "_PIECE", 2)


def card(*entries: str, habits: str = HABITS, **more: Any) -> bytes:
    """A card of version 2 with these entries in its book."""
    book = {"entries": [{"keys": [], "content": entry, "enabled": True} for entry in entries]}
    data = {"name": "Mira", "description": habits, "character_book": book, **more}
    return json.dumps({"spec": "chara_card_v2", "spec_version": "2.0", "data": data}).encode()


def world(*entries: dict[str, Any]) -> bytes:
    """A world as SillyTavern writes it."""
    return json.dumps(
        {"entries": {str(number): entry for number, entry in enumerate(entries)}}
    ).encode()


async def imported(
    stage: Stage, data: bytes, format_: ImportFormat = ImportFormat.CARD, **more: Any
) -> dict[str, Any]:
    """What an import came to."""
    request = ImportRequest(SoulId("s1"), format_, data, **{"name": "Mira.png", **more})
    view = await ended(stage, await stage.engine.imports.start(ME, request))
    assert view.state is JobState.DONE, view
    return dict(view.result)


def counts(result: dict[str, Any]) -> list[int]:
    """What changed, in numbers."""
    return [result[key] for key in ("added", "changed", "removed", "kept")]


async def made(stage: Stage, state: MemoryState = MemoryState.ACTIVE) -> dict[str, Memory]:
    """What is remembered by text, without bare names."""
    return {m.text: m for m in await stage.listed(state) if m.kind is not MemoryKind.CONCEPT}


async def test_a_card_becomes_lore_habits_and_names(either_stage: Stage) -> None:
    result = await imported(
        either_stage,
        card(
            AGE,
            description=f"{STORY}{HABITS}",
            scenario=BROTHER,
            personality="Stubborn and kind.",
            first_mes="The lamp is out.",
        ),
    )
    assert counts(result) == [result["memories"], 0, 0, 0]
    memories = await made(either_stage)
    assert {text: (m.kind, m.origin, m.tags) for text, m in memories.items()} == {
        AGE: (MemoryKind.NOTE, Origin.CARD, ("card", "book")),
        "hums when nervous": (MemoryKind.ACTION, Origin.CARD, ("card", "description")),
        "counts the stairs": (MemoryKind.ACTION, Origin.CARD, ("card", "description")),
    }
    assert {(m.permanent, m.locked) for m in memories.values()} == {(False, False)}
    soul = await either_stage.engine.souls.get(ME, SoulId("s1"))
    assert soul.names == (
        KnownName("Isle of Varn", (), "card"),
        KnownName("Tomas Hale", ("Red",), "card"),
    )
    recalled = await either_stage.recall("How old are you?  Are you thirty?")
    assert AGE in [m.text for m in recalled.memories]
    recalled = await either_stage.recall("What happened to Red? Is the lamp out?")
    texts = "\n".join(m.text for m in recalled.memories)
    assert "drowned" not in texts
    assert "lamp" not in texts


async def test_the_same_card_again_changes_nothing_also_after_a_restart(
    stage: Stage,
) -> None:
    await imported(stage, card(STORY, AGE))
    before, names = (
        await made(stage),
        (await stage.engine.souls.get(ME, SoulId("s1"))).names,
    )
    await stage.restart()
    result = await imported(stage, card(STORY, AGE))
    assert counts(result) == [0, 0, 0, 0]
    assert (
        await made(stage),
        (await stage.engine.souls.get(ME, SoulId("s1"))).names,
    ) == (before, names)


async def test_a_changed_card_is_followed_and_what_is_the_users_stays(
    stage: Stage,
) -> None:
    await imported(stage, card(STORY, AGE))
    memories = await made(stage)
    story = memories["Mira keeps the lighthouse on the Isle of Varn, alone with her cat."]
    engine = stage.engine
    await engine.memories.patch(ME, memories[AGE].id, MemoryPatch(text="Mira never tells her age."))
    await engine.memories.delete(ME, memories["counts the stairs"].id, None)
    friend = await stage.note("The keeper of the other island.")
    tie = NewEdge(EdgeKind.ASSOCIATES, to=memories["hums when nervous"].id)
    await engine.memories.patch(ME, friend.memory.id, MemoryPatch(edges=(tie,)))

    departure = "{{char}} left the lighthouse of Varn and sails with Old Bram now."
    result = await imported(stage, card(departure, AGE, habits="Plain."))
    assert counts(result) == [1, 0, 1, 2]  # the age and the tied habit are kept
    assert set(await made(stage)) == {
        "Mira never tells her age.",
        "hums when nervous",
        "The keeper of the other island.",
        "Mira left the lighthouse of Varn and sails with Old Bram now.",
    }
    assert story.id not in (await stage.mind()).memories
    assert set(await made(stage, MemoryState.BIN)) == {"counts the stairs"}
    assert (await made(stage))["hums when nervous"].origin is Origin.USER
    soul = await stage.engine.souls.get(ME, SoulId("s1"))
    assert [name.name for name in soul.names] == ["Varn", "Old Bram"]

    result = await imported(stage, card(STORY, AGE))  # and back: what was binned stays there
    assert counts(result) == [1, 0, 1, 3]
    assert set(await made(stage, MemoryState.BIN)) == {"counts the stairs"}
    assert story.text in await made(stage)


async def test_a_dry_run_tells_the_same_numbers_and_changes_nothing(
    stage: Stage,
) -> None:
    data = card(STORY, BROTHER)
    result = await imported(stage, data, dry_run=True)
    assert (counts(result), result["names"], result["minutes"]) == (
        [4, 0, 0, 0],
        2,
        0.0,
    )
    assert await made(stage) == {}
    assert (await stage.engine.souls.get(ME, SoulId("s1"))).names == ()
    await imported(stage, data)
    data = card("{{char}} keeps bees now.", habits="Plain.")
    expected = await imported(stage, data, dry_run=True)
    assert counts(expected) == [1, 0, 4, 0]
    assert len(await made(stage)) == 4
    assert counts(await imported(stage, data)) == counts(expected)


async def test_two_sources_that_say_the_same_are_one_memory_until_neither_does(
    stage: Stage,
) -> None:
    entry = {"key": ["Varn"], "content": "Varn is an island.", "constant": True}
    book = {"entries": [{"keys": ["Varn"], "content": "Varn is an island.", "enabled": True}]}
    await imported(stage, card(habits="A keeper.", character_book=book))
    result = await imported(stage, world(entry), ImportFormat.WORLD_INFO, name="Isles.json")
    assert counts(result) == [0, 1, 0, 0]
    memory = (await made(stage))["Varn is an island."]
    assert (memory.tags, memory.importance) == (("card", "book", "world: Isles"), 0.8)
    assert counts(await imported(stage, card(habits="A keeper."))) == [0, 1, 0, 0]
    assert "Varn is an island." in await made(stage)
    result = await imported(
        stage,
        world({"key": [], "content": "Nothing."}),
        ImportFormat.WORLD_INFO,
        name="Isles.json",
    )
    assert counts(result) == [1, 0, 1, 0]
    assert "Varn is an island." not in await made(stage)


async def test_names_of_imports_and_names_of_the_client_do_not_take_each_other_away(
    stage: Stage,
) -> None:
    await imported(stage, card(STORY, BROTHER))
    soul, _ = await stage.engine.souls.put(ME, SoulId("s1"), "Mira", (KnownName("Ann"),), None)
    assert [name.name for name in soul.names] == ["Ann", "Isle of Varn", "Tomas Hale"]
    as_read = tuple(KnownName(name.name, name.aliases) for name in soul.names)
    soul, _ = await stage.engine.souls.put(ME, SoulId("s1"), "Mira", as_read, None)
    assert [(name.name, name.source) for name in soul.names] == [
        ("Ann", ""),
        ("Isle of Varn", "card"),
        ("Tomas Hale", "card"),
    ]
    await imported(stage, card(habits="A keeper of bees."))
    assert [k.name for k in (await stage.engine.souls.get(ME, SoulId("s1"))).names] == ["Ann"]


async def test_an_imported_name_is_spotted_in_chats(stage: Stage) -> None:
    await imported(stage, card(habits=BROTHER))
    messages = lines(3)
    await stage.sync("c1", messages)
    mind = await stage.mind()
    [red] = [m for m in mind.memories.values() if m.text == "Tomas Hale"]
    assert red.is_bare_name
    assert red.id in mind.names.spot("I saw Red at the pier.")


async def test_the_player_is_called_as_in_the_chats(stage: Stage) -> None:
    data = card("She has known {{user}} since they were children in Harrow.")
    await imported(stage, data, persona="Ann")
    assert "She has known Ann since they were children in Harrow." in await made(stage)
    await imported(stage, data)
    assert "She has known User since they were children in Harrow." in await made(stage)


@pytest.mark.parametrize(
    ("format_", "data", "words"),
    [
        (ImportFormat.CARD, b"", "empty"),
        (ImportFormat.CARD, b"{}", "no character card: export"),
        (ImportFormat.CARD, b'{"name": "Mira"}', "no character card: export"),
        (ImportFormat.CARD, b'["name"]', "no JSON object"),
        (ImportFormat.CARD, b"PK\x03\x04" + b"\x00" * 9, "no character card: export"),
        (ImportFormat.CARD, b"\xff\xfe\x00", "UTF-16, and is not: save it as UTF-8"),
        (ImportFormat.CARD, b'{"name": "M\xff"}', "0xff at 11 is no UTF-8"),
        (ImportFormat.CARD, b"\x89PNG\r\n\x1a\n", "carries no character"),
        (ImportFormat.WORLD_INFO, card(), "no `entries`"),
        (ImportFormat.WORLD_INFO, b'{"entries": 7}', "no `entries`"),
    ],
)
async def test_what_is_no_such_file_is_refused_in_words(
    stage: Stage, format_: ImportFormat, data: bytes, words: str
) -> None:
    await imported(stage, card())
    before = await made(stage)
    view = await ended(
        stage,
        await stage.engine.imports.start(ME, ImportRequest(SoulId("s1"), format_, data, "x")),
    )
    assert view.state is JobState.FAILED
    assert words in str(view.error)
    assert await made(stage) == before


STORE = b"<memory>\n- Ida sank the ferry.\n- Bo hums at night.\n</memory>"


async def test_a_store_of_another_extension_is_taken_in_once_and_taken_back_by_its_job(
    stage: Stage,
) -> None:
    """The same file again changes nothing; undo of the job moves what it made out of sight."""
    kind = ImportFormat.MEMORY_STORE
    expected = await imported(stage, STORE, kind, name="Mira.md", dry_run=True)
    assert (counts(expected), await made(stage)) == ([2, 0, 0, 0], {})
    request = ImportRequest(SoulId("s1"), kind, STORE, name="Mira.md")
    job = await stage.engine.imports.start(ME, request)
    assert (await ended(stage, job)).state is JobState.DONE
    memories = await made(stage)
    assert set(memories) == {"Ida sank the ferry.", "Bo hums at night."}
    assert memories["Bo hums at night."].tags == ("store: Mira", "CharMemory")
    assert counts(await imported(stage, STORE, kind, name="Mira.md")) == [0, 0, 0, 0]
    answer = await stage.recall("Who sank the ferry?")
    assert "Ida sank the ferry." in [memory.text for memory in answer.memories]
    undone = await stage.engine.history.undo(ME, SoulId("s1"), since=None, change=None, job=job)
    assert len(undone.memories) == 2
    assert await made(stage) == {}
