"""A soul that was exported and imported is the same, anywhere and however often."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis.stateful import run_state_machine_as_test

from soulmem.domain.calendar import FIRST, LAST
from soulmem.domain.dialogue import Role
from soulmem.domain.edges import EdgeKind
from soulmem.domain.errors import NotFound, StoreFull
from soulmem.domain.ids import ChatId, SoulId
from soulmem.domain.memories import MemoryKind, MemoryState, Timelines
from soulmem.domain.soul import KnownName
from soulmem.engine.api.requests import (
    ImportFormat,
    ImportRequest,
    MemoryPatch,
    NewEdge,
)
from soulmem.engine.exchange import bundle_plan
from soulmem.engine.runtime.jobs import JobState
from tests.engine.namer import SOULS
from tests.engine.picky_store import PickyStore
from tests.engine.picture import Picture, picture
from tests.engine.stage import ME, Stage, begun, ended, line, lines
from tests.engine.sync.test_replay import Player
from tests.examples import few


async def exported(stage: Stage, soul: str = "s1") -> bytes:
    """The file of a soul."""
    return b"".join([piece async for piece in await stage.engine.exports.bundle(ME, SoulId(soul))])


async def begin(stage: Stage, data: bytes, soul: str = "s1", **more: Any) -> str:
    """Start taking a bundle in."""
    request = ImportRequest(SoulId(soul), ImportFormat.BUNDLE, data, "s.jsonl", **more)
    return await stage.engine.imports.start(ME, request)


async def take_in(stage: Stage, data: bytes, soul: str = "s1", **more: Any) -> Any:
    """The result of taking a bundle in."""
    view = await ended(stage, await begin(stage, data, soul, **more))
    assert view.state is JobState.DONE, view.error
    return view.result


async def full_soul(stage: Stage) -> None:
    """A soul with chats, a branch, a group, things made by hand, names and recalls."""
    await stage.start()
    await stage.soul(forgetting=0.5, remember_hidden=False)
    await stage.soul("s2", "Tom")
    names = (KnownName("Bo", ("B",)), KnownName("林月"))
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", names, None)
    await stage.sync(
        "c1",
        [
            *lines(24),
            line("m25", "Bo lost the ring\u2028 at \x85 noon"),
            line("m26", hidden=True),
        ],
    )
    await stage.sync("c2", [*lines(10), line("b1", "林月 came"), line("b2")], parent=("c1", "m10"))
    await stage.sync(
        "g",
        [line("x1", present=(SoulId("s1"),)), line("x2"), line("x3")],
        souls=("s1", "s2"),
    )
    await stage.close("c2")
    first = (await stage.note("a ring", kind=MemoryKind.CONCEPT)).memory.id
    edge = NewEdge(EdgeKind.ASSOCIATES, to=first, strength=0.4)
    await stage.note("by hand", permanent=True, tags=("a", "标签"), edges=(edge,))
    await stage.note("here only", timelines=Timelines.THIS, chat="c2")
    await stage.engine.memories.delete(ME, (await stage.note("binned")).memory.id, None)
    episode = await stage.find("Al: text of m3")
    await stage.engine.memories.patch(ME, episode, MemoryPatch(timelines=Timelines.ALL))
    await stage.recall("the ring", "c1", slot="m27", swipe=0)
    await stage.sync(
        "c1",
        [
            *lines(24),
            line("m25", "Bo lost it"),
            line("m27", role=Role.CHARACTER),
            line("m28"),
        ],
    )
    await stage.engine.idle.run()


async def same(origin: Stage, other: Stage, soul: str = "s1") -> None:
    """Everything that the soul's memory says."""
    before, after = await picture(origin, soul), await picture(other, soul)
    assert {k: v for k, v in after.items() if v != before[k]} == {}
    assert before["memories"]


async def everything(stage: Stage, soul: str = "s1") -> tuple[Any, Picture]:
    """The soul as it is asked for, and its memory."""
    view = await stage.engine.souls.get(ME, SoulId(soul))
    return (view.name, view.names, view.settings), await picture(stage, soul)


class Copyist(Player):
    """A player whose souls are copied at the end."""

    async def look(self) -> None:
        self.store.fail_in = None
        other = Stage(model=self.embedder.source())
        await other.start()
        try:
            for soul in SOULS:
                await other.soul(soul, soul.upper())
            bundles = {soul: await exported(self.stage, soul) for soul in SOULS}
            for soul, data in bundles.items():
                assert (await take_in(other, data, soul))["whole"]
            for soul in SOULS:
                before, after = (
                    await picture(self.stage, soul),
                    await picture(other, soul),
                )
                kept = (
                    "fingerprint",
                    "memories",
                    "edges",
                    "usages",
                    "branches",
                    "visible",
                )
                assert {k: after[k] for k in kept if after[k] != before[k]} == {}, soul
                again = await everything(other, soul)
                result = await take_in(other, bundles[soul], soul)
                assert (result["memories"], result["messages"], result["edges"]) == (
                    0,
                    0,
                    0,
                )
                assert await everything(other, soul) == again
        finally:
            await other.stop()


@pytest.mark.timeout(120)
def test_a_soul_in_any_state_is_the_same_after_a_journey() -> None:
    run_state_machine_as_test(Copyist, settings=few(4, long=100, stateful_step_count=20))


async def test_a_bundle_brings_everything_into_an_empty_place() -> None:
    origin, other = Stage(), Stage()
    await full_soul(origin)
    await other.start()
    await other.soul()
    data = await exported(origin)
    result = await take_in(other, data)
    assert (result["whole"], result["broken"], result["known"]) == (True, [], 0)
    await same(origin, other)
    assert (await everything(other))[0] == (await everything(origin))[0]
    for chat in ("c1", "c2", "g"):
        assert await other.engine.chats.get(ME, ChatId(chat)) == await origin.engine.chats.get(
            ME, ChatId(chat)
        )
    assert [m.text for m in await other.listed(MemoryState.BIN)] == ["binned"]

    before = await everything(other)
    result = await take_in(other, data)
    assert (result["memories"], result["messages"], result["edges"]) == (0, 0, 0)
    assert await everything(other) == before
    await other.restart()
    assert await everything(other) == before
    await origin.stop()
    await other.stop()


async def test_a_dry_run_says_the_same_and_changes_nothing() -> None:
    origin, other = Stage(), Stage()
    await full_soul(origin)
    await other.start()
    await other.soul()
    data, before = await exported(origin), await everything(other)
    expected = await take_in(other, data, dry_run=True)
    assert await everything(other) == before
    assert {**await take_in(other, data), "dry_run": True} == expected
    await origin.stop()
    await other.stop()


async def test_what_is_there_is_never_overwritten() -> None:
    """Neither a memory that was changed since, nor one in the bin, nor a chat that went on, nor settings."""
    stage = Stage()
    await full_soul(stage)
    data = await exported(stage)
    await stage.engine.memories.patch(ME, await stage.find("by hand"), MemoryPatch(text="changed"))
    await stage.engine.memories.delete(ME, await stage.find("here only"), None)
    await stage.sync(
        "g",
        [line("x1"), line("x2", "edited"), line("x3"), line("x4")],
        souls=("s1", "s2"),
    )
    await stage.soul(forgetting=2.0)
    before = await everything(stage)
    result = await take_in(stage, data)
    assert result["chats_kept"] == ["g"]
    assert await everything(stage) == before
    await stage.stop()


async def test_a_chat_in_the_bin_comes_back() -> None:
    stage = Stage()
    await full_soul(stage)
    data, before = await exported(stage), await picture(stage, "s1")
    await stage.engine.chats.delete(ME, ChatId("c2"))
    assert (await picture(stage, "s1"))["fingerprint"] != before["fingerprint"]
    assert (await take_in(stage, data))["chats"] == 1
    after = await picture(stage, "s1")
    assert after["fingerprint"] == before["fingerprint"]
    assert after["visible"] == before["visible"]
    await stage.stop()


def texts_of(seen: Picture) -> list[str]:
    """The texts of all memories."""
    return [memory.text for memory in seen["memories"].values()]


async def test_another_soul_gets_a_copy_of_its_own() -> None:
    """In a place where the first one lives, too: nothing is shared, nothing of the first one changes."""
    stage = Stage()
    await full_soul(stage)
    await stage.soul("s9", "Mira")
    before = await everything(stage)
    result = await take_in(stage, await exported(stage), "s9")
    assert result["of_other_souls"] == 0
    old, copy = before[1], await picture(stage, "s9")
    after = await picture(stage, "s1")
    for key in ("fingerprint", "memories", "edges", "usages", "records", "branches"):
        assert after[key] == old[key]
    assert copy["fingerprint"] == old["fingerprint"]
    assert sorted(texts_of(copy)) == sorted(texts_of(old))
    assert not copy["memories"].keys() & old["memories"].keys()
    (copied,) = [m for m in copy["memories"].values() if m.text == "Al: text of m3"]
    assert copied.timelines is Timelines.ALL
    assert (await take_in(stage, await exported(stage), "s9"))["memories"] == 0
    await stage.stop()


async def test_a_memory_of_another_soul_is_not_overwritten_by_its_id() -> None:
    origin, other = Stage(), Stage()
    await full_soul(origin)
    await other.start()
    await other.soul()
    await other.soul("s3", "Eve")
    mine = (await other.note("Eve's own", "s3")).memory.id
    theirs = await origin.find("by hand")
    data = (await exported(origin)).replace(theirs.encode(), mine.encode())
    assert (await take_in(other, data))["of_other_souls"] == 1
    await other.restart()
    assert [m.text for m in await other.listed(soul="s3")] == ["Eve's own"]
    await origin.stop()
    await other.stop()


@pytest.mark.parametrize("commit", range(1, 9))
async def test_a_broken_off_import_goes_on_after_a_restart(
    commit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process dies at any of the commits: what is there then is sound, and the rest follows."""
    monkeypatch.setattr(bundle_plan, "_PIECE", 5)
    store = PickyStore()
    origin, other = Stage(), Stage(store)
    await full_soul(origin)
    await other.start()
    await other.soul()
    data = await exported(origin)
    store.fail_in = commit
    job = await begin(other, data)
    assert (await ended(other, job)).state is JobState.FAILED
    record = other.spool.kept[job]
    other.spool.kept[job] = replace(record, state="running", error=None)  # as a kill would leave it
    other.spool.payloads[job] = data
    await other.restart()
    await picture(other, "s1")  # the soul is opened between the two
    await begun(other)
    assert (await ended(other, job)).state is JobState.DONE
    await same(origin, other)
    await origin.stop()
    await other.stop()


async def test_a_full_disk_fails_the_job_in_words_and_nothing_else() -> None:
    store = PickyStore()
    origin, other = Stage(), Stage(store)
    await full_soul(origin)
    await other.start()
    await other.soul()
    store.refuses = StoreFull("the disk is full")
    view = await ended(other, await begin(other, await exported(origin)))
    assert (view.state, view.error) == (JobState.FAILED, "the disk is full")
    store.refuses = None
    await take_in(other, await exported(origin))
    await same(origin, other)
    await origin.stop()
    await other.stop()


async def test_broken_lines_are_told_by_number_and_the_rest_is_taken() -> None:
    origin, other = Stage(), Stage()
    await full_soul(origin)
    await other.start()
    await other.soul()
    rows = (await exported(origin)).splitlines(keepends=True)
    index = next(number for number, row in enumerate(rows) if b"by hand" in row)
    kept = json.loads(rows[index])
    rows[index] = b"{broken\n"
    result = await take_in(other, b"".join(rows))
    assert (result["whole"], [row["line"] for row in result["broken"]]) == (
        False,
        [index + 1],
    )
    assert kept["memory"]["text"] not in {m.text for m in await other.listed()}
    assert "here only" in {m.text for m in await other.listed()}
    await origin.stop()
    await other.stop()


@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
async def test_a_file_that_ends_too_early_says_so_and_what_is_there_is_sound(
    part: float,
) -> None:
    origin, other = Stage(), Stage()
    await full_soul(origin)
    await other.start()
    await other.soul()
    data = await exported(origin)
    assert not (await take_in(other, data[: int(len(data) * part)]))["whole"]
    assert (await take_in(other, data))["whole"]
    before, after = await picture(origin, "s1"), await picture(other, "s1")
    assert after["fingerprint"] == before["fingerprint"]
    assert after["memories"].keys() == before["memories"].keys()
    await origin.stop()
    await other.stop()


async def test_chats_are_told_anew_to_a_soul_that_knows_other_names() -> None:
    """The memory is that of a soul who lived them here."""
    origin, other, lived = Stage(), Stage(), Stage()
    await full_soul(origin)
    for stage in (other, lived):
        await stage.start()
        await stage.soul(remember_hidden=False)
        await stage.soul("s2", "Tom")
        await stage.engine.souls.put(ME, SoulId("s1"), "Mira", (KnownName("ring"),), None)
        await stage.note("noon", kind=MemoryKind.CONCEPT)
    await take_in(other, await exported(origin))
    for chat in ("c1", "c2", "g"):
        head, messages = await origin.engine.chats.get(ME, ChatId(chat))
        as_sent = [
            line(m.slot, m.text, m.role, hidden=m.hidden, present=m.present) for m in messages
        ]
        parent = (head.parent.chat, head.parent.slot) if head.parent else None
        await lived.sync(chat, as_sent, souls=head.souls, parent=parent)
    assert await other.fingerprint() == await lived.fingerprint()
    assert {"by hand", "noon"} <= {m.text for m in await other.listed()}
    for stage in (origin, other, lived):
        await stage.stop()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{not json\n{"type":"soul"}\n\x01\x02\n[]\n7\n{}\n', "is no bundle"),
        (
            b'{"type":"bundle","version":2,"soul":"s1","made":"2026-01-01T00:00:00Z"}\n',
            "newer SoulMem",
        ),
        (b"", "is no bundle"),
    ],
)
async def test_what_is_no_bundle_changes_nothing(data: bytes, words: str) -> None:
    stage = Stage()
    await full_soul(stage)
    before = await everything(stage)
    view = await ended(stage, await begin(stage, data))
    assert view.state is JobState.FAILED
    assert view.error is not None
    assert words in str(view.error)
    assert await everything(stage) == before
    await stage.stop()


def harmful(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Lines made of this one that must be refused."""
    part: dict[str, Any] = row.get(row["type"], {})
    if row["type"] == "memory" and part["text"] == "by hand":
        changes: list[dict[str, Any]] = [
            {"id": "../etc"},
            {"soul": "s7"},
            {"importance": 7},
            {"text": "a\0"},
            {"created": "2026-01-01T00:00:00"},
        ]
    elif row["type"] == "message" and part["slot"] == "m1":
        other_chat = {**row, "chat": "unknown"}
        return [{**row, "message": {**part, "text": "another"}}, other_chat]
    elif row["type"] == "edge" and part["kind"] == "associates":
        changes = [{"stability": 0}, {"kind": "fires"}]
    else:
        changes = []
    return [{**row, row["type"]: {**part, **change}} for change in changes]


async def test_lines_of_a_hand_that_means_harm_are_refused() -> None:
    origin, other = Stage(), Stage()
    await full_soul(origin)
    await other.start()
    await other.soul()
    rows = [json.loads(row) for row in (await exported(origin)).splitlines()]
    wrong: list[Any] = []
    for row in rows:
        wrong += harmful(row)
    data = "\n".join(json.dumps(row) for row in [rows[0], *wrong]).encode()
    result = await take_in(other, data)
    assert (
        len(result["broken"]) == len(wrong) - 1
    )  # whether a kind fits what it joins shows only in the end
    assert (result["memories"], result["messages"], result["edges"]) == (0, 0, 0)
    await origin.stop()
    await other.stop()


async def test_only_a_soul_in_use_is_written_out() -> None:
    stage = Stage()
    await stage.start()
    with pytest.raises(NotFound):
        await exported(stage)
    await stage.soul()
    await stage.engine.souls.delete(ME, SoulId("s1"), "Mira")
    with pytest.raises(NotFound):
        await exported(stage)
    await stage.stop()


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
async def test_times_at_the_ends_of_the_calendar_come_in_within_it(moment: str) -> None:
    origin, other = Stage(), Stage()
    await full_soul(origin)
    data = re.sub(rb'"\d{4}-\d\d-\d\dT[^"]*"', f'"{moment}"'.encode(), await exported(origin))
    await origin.stop()
    await other.start()
    await other.soul()
    await take_in(other, data)
    for _ in range(2):
        await other.engine.idle.run()
    answer = await other.recall("What happened on the last day of the year?")
    memories = await other.listed()
    await other.stop()
    assert data.count(moment.encode()) > 20
    assert answer.trace
    assert len(memories) > 5
    assert all(FIRST <= memory.created <= LAST for memory in memories)
