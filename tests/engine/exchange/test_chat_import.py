"""An imported chat file makes the same memory as the played chat, in pieces and after any interruption."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import pytest

from soulmem.domain.dialogue import Message, SentMessage
from soulmem.domain.errors import NotFound
from soulmem.domain.ids import ChatId, SoulId
from soulmem.engine.api.requests import ImportFormat, ImportRequest, SyncRequest
from soulmem.engine.exchange import chat_import
from soulmem.engine.runtime.jobs import ENDED, JobState, JobView
from tests.cli.chat_files import HEADER, said, talk
from tests.engine.stage import ME, Stage, line


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a short chat has many."""
    monkeypatch.setattr(chat_import, "_PIECE", 10)


def chat_file(rows: Sequence[dict[str, Any]], header: dict[str, Any] = HEADER) -> bytes:
    """A chat file as SillyTavern writes it."""
    return "".join(json.dumps(row) + "\n" for row in [header, *rows]).encode()


def sent(messages: Sequence[Message]) -> list[SentMessage]:
    """The messages as the extension would have sent them: with every field that a message has."""
    names = [each.name for each in fields(SentMessage)]
    return [SentMessage(**{name: getattr(m, name) for name in names}) for m in messages]


async def ended(stage: Stage, job: str) -> JobView:
    """The job when it is over."""
    for _ in range(2000):
        view = stage.engine.jobs.get(ME, job)
        if view.state in ENDED:
            return view
        await asyncio.sleep(0.002)
    raise AssertionError(view)


async def begin(
    stage: Stage, data: bytes, name: str = "night.jsonl", soul: str = "s1", **more: Any
) -> str:
    """Start an import."""
    request = ImportRequest(SoulId(soul), ImportFormat.ST_CHAT, data, name, **more)
    return await stage.engine.imports.start(ME, request)


async def half_way(stage: Stage, job: str) -> None:
    """Returns when 20 messages are in."""
    for _ in range(2000):
        if stage.engine.jobs.get(ME, job).progress.done >= 20:
            return
        await asyncio.sleep(0.001)
    raise AssertionError("nothing moves")


async def imported(
    stage: Stage, data: bytes, name: str = "night.jsonl", **more: Any
) -> dict[str, Any]:
    """What an import came to."""
    view = await ended(stage, await begin(stage, data, name, **more))
    assert view.state is JobState.DONE, view
    return dict(view.result)


async def test_it_makes_what_the_played_chat_makes(either_stage: Stage) -> None:
    result = await imported(either_stage, chat_file(talk(45)))
    assert (
        result["messages"],
        result["added"],
        result["changed"],
        result["removed"],
    ) == (
        45,
        45,
        0,
        0,
    )
    head, messages = await either_stage.engine.chats.get(ME, ChatId(result["chat"]))
    assert (head.title, head.persona, len(messages)) == ("night", "Ann", 45)
    played = Stage()
    await played.start()
    await played.soul()
    for stop in (1, 2, 30, 45):
        await played.sync("c1", sent(messages[:stop]))
    await played.close("c1")
    assert await either_stage.fingerprint() == await played.fingerprint()
    assert len(await either_stage.listed()) == 45  # the last one is settled
    await played.stop()


async def test_the_same_file_changes_nothing_and_a_longer_one_adds_the_rest(
    stage: Stage,
) -> None:
    first = await imported(stage, chat_file(talk(25)))
    mark = await stage.fingerprint()
    again = await imported(stage, chat_file(talk(25)), "backups/night.JSONL")
    assert again["chat"] == first["chat"]
    assert [again[key] for key in ("added", "changed", "removed")] == [0, 0, 0]
    assert await stage.fingerprint() == mark
    longer = await imported(stage, chat_file(talk(48)))
    assert (longer["chat"], longer["added"]) == (first["chat"], 23)


async def test_an_edited_file_changes_only_what_differs(stage: Stage) -> None:
    await imported(stage, chat_file(talk(25)))
    rows = talk(25)
    rows[7]["mes"] = "Something else was said."
    result = await imported(stage, chat_file([*rows[:20], *rows[21:]]))
    assert [result[key] for key in ("added", "changed", "removed", "held")] == [
        0,
        1,
        1,
        None,
    ]
    assert "Bel: Something else was said." not in [
        m.text for m in await stage.listed()
    ]  # said by the user
    assert "Ann: Something else was said." in [m.text for m in await stage.listed()]


async def test_a_dry_run_tells_the_same_numbers_and_changes_nothing(
    stage: Stage,
) -> None:
    await imported(stage, chat_file(talk(25)))
    before = await stage.fingerprint()
    rows = talk(40)
    rows[3]["mes"] = "Something else was said."
    rows[30]["mes"] = "(OOC: back in a minute)"
    data = chat_file(rows)
    result = await imported(stage, data, dry_run=True)
    assert result["dry_run"]
    assert [result[key] for key in ("messages", "added", "changed", "removed")] == [
        40,
        15,
        1,
        0,
    ]
    assert result["memories"] == 15  # what is out of character is no memory
    assert result["minutes"] == pytest.approx(15 * 0.006 / 60, abs=0.01)
    assert await stage.fingerprint() == before
    assert len((await stage.engine.chats.get(ME, ChatId(result["chat"])))[1]) == 25
    done = await imported(stage, data)
    assert [done[key] for key in ("added", "changed", "removed")] == [15, 1, 0]


async def test_cancelled_it_keeps_what_is_in_and_goes_on_later(stage: Stage) -> None:
    job = await begin(stage, chat_file(talk(60)))
    await half_way(stage, job)
    await stage.engine.jobs.cancel(ME, job)
    view = await ended(stage, job)
    assert view.state is JobState.CANCELLED
    [(head, count)] = await stage.engine.chats.list(ME, None)
    assert 20 <= count < 60
    result = await imported(stage, chat_file(talk(60)))
    assert (result["chat"], result["added"]) == (head.id, 60 - count)


async def test_stopped_in_the_middle_it_goes_on_by_itself_to_the_same_memory(
    stage: Stage,
) -> None:
    job = await begin(stage, chat_file(talk(60)))
    await half_way(stage, job)
    await stage.restart()
    for _ in range(1000):  # it is known again once the store is open
        try:
            stage.engine.jobs.get(ME, job)
            break
        except NotFound:
            await asyncio.sleep(0.002)
    view = await ended(stage, job)
    assert view.state is JobState.DONE
    assert 0 < view.result["added"] < 60
    whole = Stage()
    await whole.start()
    await whole.soul()
    await imported(whole, chat_file(talk(60)))
    assert await stage.fingerprint() == await whole.fingerprint()
    await whole.stop()


async def test_somebody_who_writes_to_the_chat_meanwhile_disturbs_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The base of the next piece is no longer what is stored."""
    whole = await imported(stage, chat_file(talk(40)), dry_run=True)
    shown = False
    sync = stage.engine.chats.sync

    async def crowded(owner: Any, request: Any) -> Any:
        nonlocal shown
        if request.base is not None and request.base.count == 20 and not shown:
            shown = True
            _, messages = await stage.engine.chats.get(ME, ChatId(whole["chat"]))
            edited = line(messages[5].slot, "Edited meanwhile.")
            rest = [line(f"x{n}", f"Said meanwhile, {n}.") for n in range(3)]
            as_sent = sent(messages)
            await sync(
                owner,
                replace(
                    request,
                    messages=[*as_sent[:5], edited, *as_sent[6:], *rest],
                    base=None,
                ),
            )
        return await sync(owner, request)

    monkeypatch.setattr(stage.engine.chats, "sync", crowded)
    result = await imported(stage, chat_file(talk(40)))
    assert shown
    _, messages = await stage.engine.chats.get(ME, ChatId(result["chat"]))
    assert [m.text for m in messages] == [row["mes"] for row in talk(40)]


async def test_a_branch_shares_its_beginning_with_the_chat_it_left(
    stage: Stage,
) -> None:
    rows = talk(12)
    main = await imported(stage, chat_file(rows), "main.jsonl")
    header = {**HEADER, "chat_metadata": {"main_chat": "main"}}
    branch = await imported(
        stage,
        chat_file([*rows[:5], said(99, "Another way.")], header),
        "main - Branch.jsonl",
    )
    assert branch["branch_of"] == main["chat"]
    _, messages = await stage.engine.chats.get(ME, ChatId(main["chat"]))
    head, _ = await stage.engine.chats.get(ME, ChatId(branch["chat"]))
    assert head.parent is not None
    assert (head.parent.chat, head.parent.slot) == (main["chat"], messages[4].slot)
    assert len(await stage.listed()) == 13
    again = await imported(
        stage,
        chat_file([*rows[:5], said(99, "Another way.")], {**HEADER}),
        "main - Branch.jsonl",
    )
    assert (
        again["branch_of"] == main["chat"]
    )  # a file that lost the word of its parent changes nothing


async def test_a_new_file_with_the_old_name_of_a_renamed_chat_is_another_chat(
    stage: Stage,
) -> None:
    first = await imported(stage, chat_file(talk(25)))
    world = await stage.world()
    _, messages = await stage.engine.chats.get(ME, ChatId(first["chat"]))
    request = SyncRequest(ChatId(first["chat"]), (SoulId("s1"),), sent(messages), title="day")
    await stage.engine.chats.sync(ME, request)
    for _ in range(2):
        second = await imported(stage, chat_file(talk(30, "another river")))
        assert second["chat"] != first["chat"]
        assert second["held"] is None
    assert sorted(head.title for head in world.heads.values()) == ["day", "night"]


async def test_what_a_broken_file_lacks_is_not_taken_for_deleted(stage: Stage) -> None:
    whole = chat_file(talk(8))
    await imported(stage, whole)
    lines = whole.splitlines(keepends=True)
    torn = b"".join([*lines[:3], b'{"name": "Bel", "mes": "to\n', *lines[4:]])
    for dry_run in (True, False):
        result = await imported(stage, torn, dry_run=dry_run)
        assert result["broken"] == [{"line": 4, "reason": "not_json"}]
        assert result["held"] == {"reason": "broken_lines", "count": 1}
    assert len(await stage.listed()) == 8
    result = await imported(stage, torn, confirm_removal=True)
    assert (result["held"], result["removed"]) == (None, 1)


async def test_a_file_that_lost_most_of_its_chat_waits_for_a_word(stage: Stage) -> None:
    await imported(stage, chat_file(talk(40)))
    for dry_run in (True, False):
        result = await imported(stage, chat_file(talk(5)), dry_run=dry_run)
        assert result["held"] == {"reason": "mass_removal", "count": 35}
    result = await imported(stage, chat_file(talk(5)), confirm_removal=True)
    assert result["removed"] == 35


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"\n\n", "empty"),
        ("\ufeff".encode("utf-16"), "empty"),
        (b"\xff\xfe\x00", "UTF-16, and is not: save it as UTF-8"),
        (chat_file(talk(2)).decode().encode("utf-16-le"), "zero bytes"),
        (b'{"name": "Mira", "spec": "chara_card_v2"}', "no chat message"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "zero bytes"),
        (b"once upon a time", "no chat message"),
    ],
)
async def test_what_is_no_chat_file_is_refused_in_words(
    stage: Stage, data: bytes, words: str
) -> None:
    await imported(stage, chat_file(talk(3)))
    view = await ended(stage, await begin(stage, data))
    assert view.state is JobState.FAILED
    assert view.error is not None
    assert re.search(words, str(view.error)), view.error
    assert len(await stage.listed()) == 3


async def test_a_group_chat_is_heard_by_all_who_are_named(stage: Stage) -> None:
    await stage.soul("s2", "Cas")
    await imported(stage, chat_file(talk(4)), others=(SoulId("s2"),))
    assert len(await stage.listed(soul="s2")) == len(await stage.listed()) == 4
    with pytest.raises(NotFound):
        await begin(stage, chat_file(talk(4)), others=(SoulId("s9"),))
    with pytest.raises(NotFound):
        await begin(stage, chat_file(talk(4)), soul="s9")


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("a/b/night.jsonl", "night"),
        (r"C:\chats\night.jsonl", "night"),
        ("../..", ".."),
        ("", "chat"),
    ],
)
async def test_a_chat_is_called_like_its_file_without_folders(
    stage: Stage, name: str, title: str
) -> None:
    assert (await imported(stage, chat_file(talk(2)), name))["title"] == title


async def test_macros_for_persons_in_a_file_are_their_names(stage: Stage) -> None:
    """SillyTavern fills them in when it shows a chat; a file may still hold them."""
    rows = talk(3)
    rows[0]["mes"] = "{{char}} waves to {{user}}, and <BOT> nods."
    rows[2]["mes"] = "Keep the telescope, <user>."
    await imported(stage, chat_file(rows))
    texts = [memory.text for memory in await stage.listed()]
    assert not [text for text in texts if "{" in text or "<" in text]
    assert any("waves to Ann, and" in text for text in texts)
    assert any("Keep the telescope, Ann." in text for text in texts)
