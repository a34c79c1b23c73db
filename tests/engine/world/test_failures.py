"""A request whose change the store refuses leaves nothing behind, and can be repeated."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from soulmem.domain.errors import StoreError, StoreFull, StoreLocked, StoreReadOnly
from soulmem.domain.ids import ChatId, SoulId
from soulmem.domain.memories import MemoryKind, MemoryState, Origin, Timelines
from soulmem.domain.soul import KnownName
from soulmem.engine.api.requests import MemoryPatch
from soulmem.ports.spool import JobRecord
from soulmem.ports.store import Change
from tests.conftest import Failures
from tests.engine.picky_store import PickyStore
from tests.engine.picture import picture
from tests.engine.stage import ME, Stage, as_told, line, lines
from tests.fakes.spool import FakeSpool
from tests.fakes.store import FakeStore


@pytest.fixture
async def store() -> PickyStore:
    """A store that refuses chosen commits."""
    return PickyStore()


@pytest.fixture
async def stage(store: PickyStore) -> AsyncIterator[Stage]:
    """A chat, a branch of it, a branch of an unknown chat, a note and a memory in the bin."""
    new_stage = Stage(store)
    await new_stage.start()
    await new_stage.soul()
    await new_stage.sync("c1", [*lines(5), line("m6", hidden=True), line("m7")])
    await new_stage.sync("c2", lines(4), parent=("c1", "m4"))
    await new_stage.sync("c3", [line("x1"), line("x2"), line("x3")], parent=("c9", "x1"))
    await new_stage.sync("c4", [line("x1"), line("y2"), line("y3")], parent=("c9", "x1"))
    await new_stage.note("a note")
    await new_stage.engine.memories.delete(ME, (await new_stage.note("binned")).memory.id, None)
    yield new_stage
    await new_stage.stop()


Request = Callable[[Stage], Awaitable[Any]]


async def memory_id_of(stage: Stage, text: str, state: MemoryState = MemoryState.ACTIVE) -> Any:
    """The id of the memory with that text."""
    return await stage.find(text, state)


REQUESTS: dict[str, Request] = {
    "more messages": lambda s: s.sync("c1", [*lines(5), *lines(4, 8)]),
    "an edit": lambda s: s.sync("c2", [*lines(2), line("m3", "edited"), line("m4")]),
    "a new chat": lambda s: s.sync("c5", lines(3)),
    "a parent found": lambda s: s.sync(
        "c9", [line("x1"), line("z2"), line("z3")], parent=("c8", "x1")
    ),
    "another parent": lambda s: s.sync(
        "c1", [*lines(5), line("m6", hidden=True), line("m7")], parent=("c3", "x2")
    ),
    "closing": lambda s: s.close("c2"),
    "deleting a chat": lambda s: s.engine.chats.delete(ME, ChatId("c1")),
    "a setting": lambda s: s.soul(remember_hidden=False),
    "a new soul": lambda s: s.soul("s2", "Tom"),
    "another name": lambda s: s.soul("s1", "Mirabel"),
    "deleting the soul": lambda s: s.engine.souls.delete(ME, SoulId("s1"), "Mira"),
    "a memory": lambda s: s.note("new", timelines=Timelines.THIS, chat="c1"),
}


async def request(stage: Stage, name: str) -> Any:
    """Carry out one of the requests, or one of those that need an id."""
    if name == "a patch":
        key = await memory_id_of(stage, as_told([line("m3")])[0])
        return await stage.engine.memories.patch(ME, key, MemoryPatch(text="mine"))
    if name == "binning":
        return await stage.engine.memories.delete(ME, await memory_id_of(stage, "a note"), None)
    if name == "restoring":
        return await stage.engine.memories.restore(
            ME, await memory_id_of(stage, "binned", MemoryState.BIN)
        )
    return await REQUESTS[name](stage)


async def whole_state(stage: Stage) -> Any:
    """All that the engine shows: souls, chats, messages and the soul's memory."""
    chats = await stage.engine.chats.list(ME, None)
    chat_logs = [await stage.engine.chats.get(ME, head.id) for head, _ in chats]
    return await stage.engine.souls.list(ME), chat_logs, await picture(stage, "s1")


@pytest.mark.parametrize("commit", [1, 2, 3])
@pytest.mark.parametrize("name", [*REQUESTS, "a patch", "binning", "restoring"])
async def test_a_refused_request_never_was(
    store: PickyStore, stage: Stage, name: str, commit: int
) -> None:
    """Whichever commit is refused: nothing has changed, on disk neither, and the
    request can be repeated.
    """
    before = await whole_state(stage)
    store.fail_in = commit
    try:
        await request(stage, name)
    except StoreError:
        assert await whole_state(stage) == before
        await stage.restart()
        assert await whole_state(stage) == before
        store.fail_in = None
        await request(stage, name)
    else:
        assert commit > 1  # a request that is one commit has no second one to refuse
    if name == "deleting the soul":
        return
    store.fail_in = None
    after = await whole_state(stage)
    assert after != before
    await stage.restart()
    assert await whole_state(stage) == after


async def test_a_full_disk_is_an_error_and_then_no_more(store: PickyStore, stage: Stage) -> None:
    """Reads go on meanwhile, and health names the reason."""
    store.refuses = StoreFull("the disk is full")
    with pytest.raises(StoreFull):
        await stage.sync("c1", lines(5), confirm=True)
    health = stage.engine.health()
    assert (health.status, health.store_detail) == ("degraded", "the disk is full")
    assert "a note" in [m.text for m in (await stage.recall("a note", "c1")).memories]
    store.refuses = None
    assert (await stage.sync("c1", lines(5), confirm=True)).applied
    assert stage.engine.health().status == "ok"


async def remove_half(store: PickyStore, stage: Stage) -> None:
    """Remove half of a chat's episodes from the store, with their edges, and half of
    the links of a name.
    """
    rows = await store.memories(ME, SoulId("s1"))
    episodes = [m.id for m in rows if m.origin is Origin.CHAT and m.kind is MemoryKind.EPISODE]
    stale = [replace(m, state=MemoryState.STALE) for m in rows if m.text == "Vera"]
    assert stale
    await store.commit(Change(ME, drop_memories=episodes[::2], put_memories=stale))


@pytest.mark.parametrize("first", ["a memory", "more messages", "binning", "a setting"])
@pytest.mark.parametrize(
    "error", [StoreFull("the disk is full"), StoreReadOnly("it cannot be written")]
)
async def test_what_must_be_mended_is_read_on_a_full_disk_and_stored_later(
    store: PickyStore,
    stage: Stage,
    error: StoreError,
    first: str,
    failures: Failures,
) -> None:
    """Health says why; no other write precedes the repair, and after it the soul is as
    if undamaged.
    """
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", (KnownName("Vera"),), None)
    await stage.sync(
        "c5",
        [line("v1", "Vera has a lantern"), line("v2", "she is late"), line("v3", "so")],
    )
    whole = await picture(stage, "s1")
    await remove_half(store, stage)
    store.refuses = error
    await stage.restart()

    before = await picture(stage, "s1")
    assert before["visible"] == whole["visible"]
    assert before["branches"] == whole["branches"]
    assert "Al: Vera has a lantern" in [
        m.text for m in (await stage.recall("a lantern", "c5")).memories
    ]
    assert (stage.engine.health().status, stage.engine.health().store_detail) == (
        "degraded",
        error.message,
    )
    with pytest.raises(type(error)):
        await stage.sync("c5", [line("v1", "Vera has a lamp"), line("v2"), line("v3")])
    with pytest.raises(type(error)):
        await stage.note("new")
    await stage.engine.idle.run()  # tries again, in vain
    assert await picture(stage, "s1") == before
    assert {error.message in told for told in failures.take()} == {True}

    store.refuses = None
    await request(stage, first)
    after = await picture(stage, "s1")
    assert stage.engine.health().status == "ok"
    await stage.restart()
    assert await picture(stage, "s1") == after
    stored = {m.id for m in await store.memories(ME, SoulId("s1"))}
    assert stored == set(after["memories"])


async def test_what_waits_for_room_is_stored_in_a_quiet_moment(
    store: PickyStore, stage: Stage
) -> None:
    """Without any other write."""
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", (KnownName("Vera"),), None)
    await stage.sync(
        "c5",
        [line("v1", "Vera has a lantern"), line("v2", "she is late"), line("v3", "so")],
    )
    await remove_half(store, stage)
    store.refuses = StoreFull("the disk is full")
    await stage.restart()
    await stage.mind()
    store.refuses = None
    await stage.engine.idle.run()

    world = await stage.world()
    assert SoulId("s1") not in world.pending_writes
    stored = {m.id for m in await store.memories(ME, SoulId("s1"))}
    assert stored == set((await stage.mind()).memories)


@pytest.mark.alone
async def test_a_store_that_cannot_be_opened_is_told_in_health_and_to_every_caller() -> None:
    """Another process has the folder: every call fails at once with the reason."""

    class Locked(FakeStore):
        """Somebody else's."""

        async def open(self) -> None:
            raise StoreLocked("another SoulMem is running on this folder")

    stage = Stage(Locked())
    await stage.start()
    try:
        with pytest.raises(StoreLocked):
            await asyncio.wait_for(stage.soul(), 1)
        health = stage.engine.health()
        assert (health.status, health.store_state) == ("degraded", "error")
        assert health.notes[0] == "another SoulMem is running on this folder"
    finally:
        await asyncio.wait_for(stage.stop(), 1)


@pytest.mark.alone
async def test_a_full_disk_is_tried_again_until_there_is_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("soulmem.engine.runtime.store_opening._RETRY_SECONDS", 0.01)

    class Full(FakeStore):
        """Has no room until some is made."""

        room = False

        async def open(self) -> None:
            if not self.room:
                raise StoreFull("the disk is full: free some space, SoulMem goes on by itself")
            await super().open()

    stage = Stage(store := Full())
    await stage.start()
    try:
        with pytest.raises(StoreFull):
            await asyncio.wait_for(stage.soul(), 1)
        assert stage.engine.health().status == "degraded"
        assert stage.engine.unsaved() is not None
        store.room = True
        for _ in range(500):
            if stage.engine.health().status == "ok":
                break
            await asyncio.sleep(0.01)
        assert (stage.engine.health().status, stage.engine.unsaved()) == ("ok", None)
        await stage.soul()
    finally:
        await stage.stop()


async def test_it_is_not_ok_before_what_was_broken_off_is_listed() -> None:
    listed = asyncio.Event()

    class Slow(FakeSpool):
        """Takes its time to say what is in it."""

        async def records(self) -> list[JobRecord]:
            await listed.wait()
            return await super().records()

    stage = Stage()
    stage.spool = Slow()
    stage.engine = stage._new_engine()
    await stage.start()
    try:
        await stage.soul()
        assert stage.engine.health().status == "starting"
        listed.set()
        for _ in range(500):
            if stage.engine.health().status == "ok":
                break
            await asyncio.sleep(0.01)
        assert stage.engine.health().status == "ok"
    finally:
        await stage.stop()


async def test_requests_wait_for_a_store_that_opens_slowly() -> None:
    """From the first moment on they are taken, and carried out once it is open."""

    class Slow(FakeStore):
        """Opens after a while."""

        async def open(self) -> None:
            await asyncio.sleep(0.1)
            await super().open()

    stage = Stage(Slow())
    await stage.start()
    try:
        assert stage.engine.health().status == "starting"
        await stage.soul()
        await stage.sync("c1", lines(3))
        assert await stage.known("c1") == as_told(lines(2))
        assert stage.engine.health().status == "ok"
    finally:
        await stage.stop()
