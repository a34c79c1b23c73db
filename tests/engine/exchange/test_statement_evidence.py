"""Memories of other extensions that were written about messages go with these messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from soulmem.domain.ids import ChatId, MemoryId, SlotId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin, Place
from soulmem.engine.api.requests import ImportFormat, ImportRequest, MemoryPatch
from soulmem.engine.exchange import lore_import
from soulmem.engine.runtime.jobs import JobState
from tests.cli.chat_files import HEADER, said, talk
from tests.engine.exchange.test_chat_import import chat_file, ended
from tests.engine.stage import ME, Stage

KEY = "Bel hid the brass key under the third stair."
FERRY = "The ferry to Varn sank in the storm."
SCENE = "Ann and Bel swore to find the drowned bell of Orm."
COUNTS = ("added", "changed", "removed", "kept", "absent", "unlinked")


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a short store has many."""
    monkeypatch.setattr(lore_import, "_PIECE", 1)


def summarized(summaries: dict[int, str], count: int = 12, **more: Any) -> list[dict[str, Any]]:
    """A chat with summaries of MessageSummarize at these places."""
    rows = talk(count)
    for place, text in summaries.items():
        rows[place]["extra"] = {"qvink_memory": {"memory": text, **more}}
    return rows


def book(first: int, last: int, chat: str = "night") -> bytes:
    """A world with an entry of MemoryBooks about these places of the chat."""
    entry = {
        "comment": "[001] - The oath",
        "content": SCENE,
        "key": ["Orm", "bell"],
        "stmemorybooks": True,
        "STMB_start": first,
        "STMB_end": last,
        "STMB_chatId": chat,
    }
    return json.dumps({"entries": {"0": entry}}).encode()


async def played(
    stage: Stage, rows: list[dict[str, Any]], name: str = "night", **header: Any
) -> ChatId:
    """Make the chat known as its file has it now; its id."""
    data = chat_file(rows, {**HEADER, **header})
    request = ImportRequest(SoulId("s1"), ImportFormat.ST_CHAT, data, name, confirm_removal=True)
    view = await ended(stage, await stage.engine.imports.start(ME, request))
    assert view.state is JobState.DONE, view
    assert view.result is not None
    return ChatId(view.result["chat"])


async def taken_in(
    stage: Stage, data: bytes, name: str = "night.jsonl", *, dry: bool = False
) -> list[int]:
    """Import a store; the counts."""
    request = ImportRequest(SoulId("s1"), ImportFormat.MEMORY_STORE, data, name, dry_run=dry)
    view = await ended(stage, await stage.engine.imports.start(ME, request))
    assert view.state is JobState.DONE, view
    assert view.result is not None
    return [view.result[key] for key in COUNTS]


async def notes(stage: Stage, state: MemoryState = MemoryState.ACTIVE) -> list[Memory]:
    """What was imported, by text."""
    return await stage.listed(state, kind=MemoryKind.NOTE)


async def texts(stage: Stage) -> list[str]:
    """The same, as texts."""
    return [memory.text for memory in await notes(stage)]


async def places(stage: Stage, memory: MemoryId) -> tuple[Place, ...]:
    """The messages that are shown for a memory."""
    return (await stage.engine.memories.get(ME, memory)).sources


async def slots(stage: Stage, chat: ChatId) -> list[SlotId]:
    """Of the chat's messages."""
    _, messages = await stage.engine.chats.get(ME, chat)
    return [message.slot for message in messages]


async def test_a_summary_is_linked_to_its_message_and_comes_once(
    either_stage: Stage,
) -> None:
    stage = either_stage
    rows = summarized({3: KEY, 7: FERRY})
    chat = await played(stage, rows)
    store = chat_file(rows)
    assert await taken_in(stage, store, dry=True) == [2, 0, 0, 0, 0, 0]
    assert await texts(stage) == []
    assert await taken_in(stage, store) == [2, 0, 0, 0, 0, 0]
    assert await taken_in(stage, store) == [0, 0, 0, 0, 0, 0]
    key, ferry = await notes(stage)
    assert (key.text, key.origin, key.tags) == (
        KEY,
        Origin.MODEL,
        ("store: night", "MessageSummarize"),
    )
    messages = await slots(stage, chat)
    assert await places(stage, key.id) == (Place(chat, messages[3]),)
    assert await places(stage, ferry.id) == (Place(chat, messages[7]),)
    recalled = await stage.recall("Where is the brass key hidden?")
    assert KEY in [memory.text for memory in recalled.memories]


@pytest.mark.parametrize("after_restart", [False, True])
async def test_it_goes_with_its_message_and_with_another_wording(
    stage: Stage, after_restart: bool
) -> None:
    rows = summarized({3: KEY, 7: FERRY, 8: "Nobody slept."})
    await played(stage, rows)
    await taken_in(stage, chat_file(rows))
    if after_restart:
        await stage.restart()
    edited = [*rows[:7], said(7, "The ferry came in.", user=True), *rows[8:]]
    await played(stage, [*edited[:3], *edited[4:]])
    assert await texts(stage) == ["Nobody slept."]
    recalled = await stage.recall("Where is the brass key? Did the ferry sink?")
    shown = "\n".join(memory.text for memory in recalled.memories)
    assert not {KEY, FERRY} & set(shown.split("\n"))
    assert await taken_in(stage, chat_file(rows)) == [0, 0, 0, 0, 2, 0]
    assert await texts(stage) == ["Nobody slept."]


async def test_a_summary_of_an_unknown_chat_is_free_until_the_chat_is_known(
    stage: Stage,
) -> None:
    rows = summarized({3: KEY, 5: FERRY})
    assert await taken_in(stage, chat_file(rows)) == [2, 0, 0, 0, 0, 2]
    free = await notes(stage)
    assert {memory.origin for memory in free} == {Origin.CARD}
    (before,) = [memory.revision for memory in free if memory.text == KEY]
    await played(stage, [*rows[:5], *rows[6:]])
    assert await taken_in(stage, chat_file(rows)) == [0, 1, 1, 0, 1, 0]
    (key,) = await notes(stage)
    assert (key.text, key.origin, key.revision) == (KEY, Origin.MODEL, before + 1)
    await played(stage, [*rows[:3], *rows[6:]])
    assert await texts(stage) == []


async def test_the_same_summary_of_two_messages_stays_while_one_of_them_does(
    stage: Stage,
) -> None:
    rows = summarized({3: KEY, 7: KEY})
    chat = await played(stage, rows)
    assert await taken_in(stage, chat_file(rows)) == [1, 0, 0, 0, 0, 0]
    (key,) = await notes(stage)
    assert len(await places(stage, key.id)) == 2
    await played(stage, [*rows[:3], *rows[4:]])
    assert await texts(stage) == [KEY]
    messages = await slots(stage, chat)
    assert await places(stage, key.id) == (Place(chat, messages[6]),)
    await played(stage, [*rows[:3], *rows[4:7], *rows[8:]])
    assert await texts(stage) == []


async def test_what_is_not_in_the_store_any_more_goes_and_what_is_the_users_stays(
    stage: Stage,
) -> None:
    rows = summarized({3: KEY, 5: SCENE, 7: FERRY})
    await played(stage, rows)
    await taken_in(stage, chat_file(rows))
    by_text = {memory.text: memory for memory in await notes(stage)}
    mine = "The ferry to Varn never sailed."
    await stage.engine.memories.patch(ME, by_text[FERRY].id, MemoryPatch(text=mine))
    store = chat_file(summarized({3: KEY}))
    assert await taken_in(stage, store, dry=True) == [0, 0, 1, 0, 0, 0]
    assert await taken_in(stage, store) == [0, 0, 1, 0, 0, 0]
    assert await texts(stage) == [KEY, mine]
    mind = await stage.mind()
    made = {each.id for each in mind.derivations if each.source}
    assert len(made) == 2  # of the key and of what became the user's
    assert await taken_in(stage, chat_file(rows)) == [1, 0, 0, 1, 0, 0]


async def test_a_branch_knows_it_once_and_only_behind_its_message(stage: Stage) -> None:
    rows = summarized({3: KEY, 7: FERRY})
    await played(stage, rows)
    branch = [*rows[:5], said(40, "Elsewhere then.", user=True), said(41, "Yes.")]
    record = {"main_chat": "night"}
    other = await played(stage, branch, "night - Branch #1", chat_metadata=record)
    await taken_in(stage, chat_file(rows))
    store = chat_file(branch, {**HEADER, "chat_metadata": record})
    name = "night - Branch #1.jsonl"
    assert await taken_in(stage, store, name) == [0, 1, 0, 0, 0, 0]
    assert await texts(stage) == [KEY, FERRY]
    elsewhere = await stage.recall("Did the ferry to Varn sink?")
    assert FERRY in [memory.text for memory in elsewhere.memories]
    in_branch = await stage.recall("Did the ferry to Varn sink?", other)
    assert FERRY not in [memory.text for memory in in_branch.memories]
    await played(stage, [*rows[:3], *rows[4:]])
    assert await texts(stage) == [KEY, FERRY]  # the branch still tells it


async def test_an_entry_of_memory_books_is_linked_to_its_scene(stage: Stage) -> None:
    rows = talk(12)
    chat = await played(stage, rows)
    assert await taken_in(stage, book(2, 5), "Oaths.json") == [1, 0, 0, 0, 0, 0]
    (oath,) = await notes(stage)
    assert oath.text == f"The oath: {SCENE}"
    messages = await slots(stage, chat)
    assert {place.slot for place in await places(stage, oath.id)} == set(messages[2:6])
    soul = await stage.engine.souls.get(ME, SoulId("s1"))
    assert "Orm" not in [name.name for name in soul.names]
    await played(stage, [*rows[:4], *rows[5:]])
    assert await texts(stage) == []


async def test_a_world_of_memory_books_is_the_same_memory_as_its_store(
    stage: Stage,
) -> None:
    """Both buttons of the extension read the world; the chat is known only at the second."""
    request = ImportRequest(SoulId("s1"), ImportFormat.WORLD_INFO, book(2, 5), "Oaths.json")
    view = await ended(stage, await stage.engine.imports.start(ME, request))
    assert view.result is not None
    assert [view.result[key] for key in COUNTS] == [1, 0, 0, 0, 0, 1]
    rows = talk(12)
    await played(stage, rows)
    assert await taken_in(stage, book(2, 5), "Oaths.json") == [0, 1, 0, 0, 0, 0]
    (oath,) = await notes(stage)
    assert oath.tags == ("world: Oaths", "MemoryBooks", "store: Oaths")
    await played(stage, [*rows[:4], *rows[5:]])
    assert await texts(stage) == []


async def test_what_a_world_says_by_itself_stays_when_a_summary_that_says_it_goes(
    stage: Stage,
) -> None:
    entry = json.dumps({"entries": {"0": {"content": KEY, "key": []}}}).encode()
    request = ImportRequest(SoulId("s1"), ImportFormat.WORLD_INFO, entry, "Isles.json")
    assert (await ended(stage, await stage.engine.imports.start(ME, request))).result
    rows = summarized({3: KEY})
    await played(stage, rows)
    assert await taken_in(stage, chat_file(rows)) == [0, 1, 0, 0, 0, 0]
    await played(stage, [*rows[:3], *rows[4:]])
    assert await texts(stage) == [KEY]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (book(2, 5, "another night"), [1, 0, 0, 0, 0, 1]),
        (book(9, 12), [0, 0, 0, 0, 1, 0]),  # the chat has 12 messages by now
        (book(5, 2), [1, 0, 0, 0, 0, 0]),  # no range
        (book(2, 5, ""), [1, 0, 0, 0, 0, 0]),  # of no chat
    ],
)
async def test_an_entry_without_such_messages(
    stage: Stage, data: bytes, expected: list[int]
) -> None:
    await played(stage, talk(12))
    assert await taken_in(stage, data, "Oaths.json") == expected


async def test_a_title_that_two_chats_have_links_nothing(stage: Stage) -> None:
    await played(stage, talk(12))
    record = {"soulmem": {"chat": "c-other", "name": "night"}}
    await played(stage, talk(12, "the hill"), chat_metadata=record)
    assert await taken_in(stage, book(2, 5), "Oaths.json") == [1, 0, 0, 0, 0, 1]


async def test_what_was_taken_back_comes_with_the_next_import_and_what_the_user_binned_stays(
    stage: Stage,
) -> None:
    rows = summarized({3: KEY, 5: SCENE, 7: FERRY}, remember=True)
    await played(stage, rows)
    engine, store = stage.engine, chat_file(rows)

    async def job() -> str:
        request = ImportRequest(SoulId("s1"), ImportFormat.MEMORY_STORE, store, "night.jsonl")
        started = await engine.imports.start(ME, request)
        assert (await ended(stage, started)).state is JobState.DONE
        return started

    async def take_back(job: str) -> int:
        undone = await engine.history.undo(ME, SoulId("s1"), since=None, change=None, job=job)
        return len(undone.memories)

    first = await job()
    by_text = {memory.text: memory for memory in await notes(stage)}
    await engine.memories.delete(ME, by_text[SCENE].id, None)
    assert await take_back(first) == 2
    assert await texts(stage) == []
    binned = await notes(stage, MemoryState.BIN)
    assert [memory.text for memory in binned] == [SCENE, KEY, FERRY]

    assert await taken_in(stage, store, dry=True) == [2, 0, 0, 1, 0, 0]
    second = await job()
    assert await texts(stage) == [KEY, FERRY]
    assert await taken_in(stage, store) == [0, 0, 0, 1, 0, 0]
    messages = await slots(stage, await played(stage, rows))
    (place,) = await places(stage, by_text[KEY].id)
    assert place.slot == messages[3]
    recalled = await stage.recall("Where is the brass key hidden?")
    assert KEY in [memory.text for memory in recalled.memories]

    # Taken back again, and binned by the user after a third import: then it is the user's wish.
    assert await take_back(second) == 2
    await job()
    await engine.memories.delete(ME, by_text[KEY].id, None)
    assert await taken_in(stage, store) == [0, 0, 0, 2, 0, 0]
    assert await texts(stage) == [FERRY]
    await played(stage, [*rows[:7], *rows[8:]])
    assert await texts(stage) == []
