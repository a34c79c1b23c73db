"""The answers of a sync, and when messages become memories."""

from __future__ import annotations

import pytest

from soulmem.domain.dialogue import Base, Role, digest
from soulmem.domain.errors import Conflict, NotFound
from soulmem.domain.ids import ChatId, SlotId
from soulmem.engine.api.requests import SyncAnswer
from tests.engine.stage import ME, Stage, as_told, bare, line, lines


async def base_of(stage: Stage, chat: str, count: int) -> Base:
    """The base with which a client proves what it knows of the stored chat."""
    _, messages = await stage.engine.chats.get(ME, ChatId(chat))
    return Base(count, digest(messages[:count]))


async def test_a_chat_is_taken_over_and_shown_as_sent(either_stage: Stage) -> None:
    """The answer counts what came; the chat reads back in order, with its head."""
    assert await either_stage.sync("c1", lines(3)) == SyncAnswer(added=3)
    head, messages = await either_stage.engine.chats.get(ME, ChatId("c1"))
    assert head.souls == ("s1",)
    assert [(m.slot, m.text) for m in messages] == [(m.slot, m.text) for m in lines(3)]
    assert [(c.id, count) for c, count in await either_stage.engine.chats.list(ME, None)] == [
        ("c1", 3)
    ]


async def test_the_same_body_twice_changes_nothing(either_stage: Stage) -> None:
    """The second answer counts nothing, and the memory is the same."""
    await either_stage.sync("c1", lines(4))
    before = await either_stage.fingerprint()
    assert await either_stage.sync("c1", lines(4)) == SyncAnswer()
    assert await either_stage.fingerprint() == before


async def test_unknown_texts_are_asked_for_and_nothing_is_applied(
    either_stage: Stage,
) -> None:
    """One new slot and one new wording without text: both are named, the chat stays."""
    await either_stage.sync("c1", lines(3))
    edited = line("m2", "edited")
    listing = bare([lines(3)[0], edited, lines(3)[2], line("m4")])
    assert await either_stage.sync("c1", listing) == SyncAnswer(
        needs_text=(SlotId("m2"), SlotId("m4")), applied=False
    )
    assert len((await either_stage.engine.chats.get(ME, ChatId("c1")))[1]) == 3
    answer = await either_stage.sync(
        "c1", [*bare(lines(1)), edited, *bare([lines(3)[2]]), line("m4")]
    )
    assert answer == SyncAnswer(added=1, changed=1)


async def test_a_base_saves_sending_the_rest(either_stage: Stage) -> None:
    """What the base proves is kept; a wrong one is a conflict and changes nothing."""
    await either_stage.sync("c1", lines(5))
    answer = await either_stage.sync("c1", [line("m6")], base=await base_of(either_stage, "c1", 4))
    assert answer == SyncAnswer(added=1, removed=1)
    with pytest.raises(Conflict):
        await either_stage.sync("c1", [line("m7")], base=Base(5, "0" * 64))
    _, messages = await either_stage.engine.chats.get(ME, ChatId("c1"))
    assert [m.slot for m in messages] == ["m1", "m2", "m3", "m4", "m6"]


async def test_an_unknown_soul_is_refused(stage: Stage) -> None:
    """And no chat is made."""
    with pytest.raises(NotFound):
        await stage.sync("c1", lines(2), souls=["nobody"])
    assert await stage.engine.chats.list(ME, None) == []


async def test_the_last_message_teaches_nothing_until_something_follows(
    stage: Stage,
) -> None:
    """Provisional as long as a swipe would undo it."""
    await stage.sync("c1", lines(3))
    assert await stage.known("c1") == as_told(lines(2))
    await stage.sync("c1", lines(4))
    assert await stage.known("c1") == as_told(lines(3))


async def test_closing_the_chat_settles_its_end(either_stage: Stage) -> None:
    """Also across a restart; a swipe afterwards takes the memory back."""
    await either_stage.sync("c1", lines(2))
    await either_stage.close("c1")
    assert await either_stage.known("c1") == as_told(lines(2))
    await either_stage.sync("c1", [lines(1)[0], line("m2", "another reply")])
    assert await either_stage.known("c1") == as_told(lines(1))


async def test_ten_minutes_settle_the_end(stage: Stage) -> None:
    """Idle looks at the clock; an edit in between starts the ten minutes anew."""
    await stage.sync("c1", lines(2))
    stage.clock.advance(400)
    await stage.sync("c1", [lines(1)[0], line("m2", "edited")])
    stage.clock.advance(400)
    await stage.engine.idle.run()
    assert await stage.known("c1") == as_told(lines(1))
    stage.clock.advance(200)
    await stage.engine.idle.run()
    assert await stage.known("c1") == as_told([lines(1)[0], line("m2", "edited")])


async def test_what_was_followed_stays_settled(stage: Stage) -> None:
    """Deleting the last message does not make the one before it forgotten."""
    await stage.sync("c1", lines(3))
    await stage.sync("c1", lines(2))
    assert await stage.known("c1") == as_told(lines(2))


EDITS = {
    "edit": (
        [*lines(2), line("m3", "edited"), *lines(3, 4)],
        as_told([*lines(2), line("m3", "edited"), *lines(2, 4)]),
    ),
    "delete": ([*lines(2), *lines(3, 4)], as_told([*lines(2), *lines(2, 4)])),
    "insert": (
        [*lines(2), line("new"), *lines(4, 3)],
        as_told([*lines(2), line("new"), *lines(3, 3)]),
    ),
    "swipe of the end": ([*lines(5), line("m6", "swiped")], as_told(lines(5))),
    "system": (
        [*lines(2), line("m3", role=Role.SYSTEM), *lines(3, 4)],
        as_told([*lines(2), *lines(2, 4)]),
    ),
    "out of character": (
        [*lines(2), line("m3", "(OOC: hm)"), *lines(3, 4)],
        as_told([*lines(2), *lines(2, 4)]),
    ),
    "hidden": (
        [*lines(2), line("m3", hidden=True), *lines(3, 4)],
        as_told([*lines(2), line("m3"), *lines(2, 4)]),
    ),
    "other speaker": (
        [*lines(2), line("m3", speaker="Alicia"), *lines(3, 4)],
        as_told([*lines(2), line("m3", speaker="Alicia"), *lines(2, 4)]),
    ),
}


@pytest.mark.parametrize("name", EDITS)
async def test_an_edit_takes_its_episode_along_and_nothing_else(stage: Stage, name: str) -> None:
    """Edited, deleted, inserted, swiped, hidden..: other memories keep their identity and text."""
    listing, expected = EDITS[name]
    await stage.sync("c1", lines(6))
    before = {m.text: m for m in await stage.visible("c1")}
    await stage.sync("c1", listing)
    after = {m.text: m for m in await stage.visible("c1")}
    assert sorted(after) == expected
    for text in before.keys() & after.keys():
        assert after[text] == before[text]


async def test_hidden_messages_are_forgotten_where_the_soul_says_so(
    stage: Stage,
) -> None:
    """With `remember_hidden` off they go, and come back when it is on again."""
    await stage.sync("c1", [line("m1"), line("m2", hidden=True), line("m3")])
    assert await stage.known("c1") == as_told([line("m1"), line("m2")])
    await stage.soul(remember_hidden=False)
    assert await stage.known("c1") == as_told([line("m1")])
    await stage.soul(remember_hidden=True)
    assert await stage.known("c1") == as_told([line("m1"), line("m2")])


async def test_only_who_is_present_remembers(stage: Stage) -> None:
    """A group of two: null means both, a list exactly those on it; a change moves the memory."""
    await stage.soul("s2", "Tom")
    talk = [
        line("m1"),
        line("m2", present=("s1",)),
        line("m3", present=("s2",)),
        line("m4"),
    ]
    await stage.sync("c1", talk, souls=["s1", "s2"])
    assert await stage.known("c1", "s1") == as_told([talk[0], talk[1]])
    assert await stage.known("c1", "s2") == as_told([talk[0], talk[2]])
    talk[1] = line("m2", present=("s2",))
    await stage.sync("c1", talk, souls=["s1", "s2"])
    assert await stage.known("c1", "s1") == as_told([talk[0]])
    assert await stage.known("c1", "s2") == as_told(talk[:3])


async def test_who_joins_later_knows_what_it_is_said_to_have_heard(
    stage: Stage,
) -> None:
    """A soul that comes into the chat gets the messages it was present at, who leaves loses the rest."""
    await stage.sync("c1", lines(3))
    await stage.soul("s2", "Tom")
    await stage.sync("c1", lines(3), souls=["s1", "s2"])
    assert await stage.known("c1", "s2") == as_told(lines(2))
    await stage.sync("c1", lines(3), souls=["s2"])
    assert await stage.known("c1", "s1") == []
    assert await stage.known("c1", "s2") == as_told(lines(2))


async def test_a_list_of_chats_counts_messages_without_reading_them(
    stage: Stage,
) -> None:
    """Also after the chat went on and was let go of."""
    sent = lines(4)
    world = await stage.world()
    for length in (2, 2, 4, 3):
        await stage.sync("a", sent[:length])
        for is_loaded in (True, False):
            listed = await stage.engine.chats.list(ME, None)
            assert [count for _, count in listed] == [length]
            assert (world.loaded_log(ChatId("a")) is not None) is is_loaded
            await world.release_logs([ChatId("a")])
