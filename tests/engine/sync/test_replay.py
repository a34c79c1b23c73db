"""After any series of events in chats the memory equals a fresh replay of the remaining chats."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.edges import TEXTS as FADING_KINDS
from soulmem.domain.errors import StoreError
from soulmem.domain.ids import ChatId, MemoryId, SoulId
from soulmem.domain.memories import Memory, Origin, Timelines
from soulmem.domain.micro_units import AnchorKind
from soulmem.domain.soul import KnownName
from soulmem.engine.api.requests import (
    MemoryPatch,
    NewAnchor,
    NewUnit,
    RecallRequest,
)
from soulmem.engine.params import EngineParams
from soulmem.engine.runtime import worker
from soulmem.engine.world.snapshots import SnapshotParams
from tests.conftest import Failures
from tests.engine.namer import PICK, SOULS
from tests.engine.picky_store import PickyStore
from tests.engine.picture import Picture, picture, stray_vectors
from tests.engine.reteller import HOWS, PRESENT, ROLES, TEXTS, Reteller
from tests.engine.sovereign import Sovereign
from tests.engine.stage import ME, Stage, line
from tests.engine.told import Told, replayed
from tests.examples import sized
from tests.fakes.at_once import AtOnce
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.images import FakeImages

LONG = os.environ.get("SOULMEM_TEST_LIVES", "")
NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
CASTS = st.sampled_from([("s1",), ("s2",), ("s1", "s2")])


class Player(Sovereign, Reteller):
    """Does everything a player can do; at the end, compares the memory with the shown chats."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        if LONG:
            self.loop.set_default_executor(AtOnce())
        self.store = PickyStore()
        self.embedder = FakeEmbedder(dim=16)
        self.images = FakeImages()
        params = EngineParams(rest_by_itself=False, images=SnapshotParams(least=0, pause=0.0))
        self.stage = Stage(
            self.store, model=self.embedder.source(), params=params, images=self.images
        )
        self.chats: dict[str, Told] = {}
        self.made: dict[MemoryId, Memory] = {}
        self.mine: dict[MemoryId, str] = {}
        self.drafted: set[MemoryId] = set()
        self.settings: dict[str, dict[str, Any]] = {soul: {} for soul in SOULS}
        self.names: dict[str, tuple[KnownName, ...]] = {soul: () for soul in SOULS}
        self.slots = 0

    def teardown(self) -> None:
        """Run the checks, then stop and delete everything."""
        try:
            self.run(self.look)
        finally:
            self.loop.run_until_complete(self.stage.stop())
            self.loop.run_until_complete(self.loop.shutdown_default_executor())
            self.loop.close()

    def run(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do a piece of work that the store may refuse: then nothing has changed, and
        it is repeated.
        """
        self.loop.run_until_complete(self._run(work))

    async def _run(self, work: Callable[[], Awaitable[None]]) -> None:
        before = [await picture(self.stage, soul) for soul in SOULS] if self.store.fail_in else []
        try:
            await work()
        except StoreError:
            assert [await picture(self.stage, soul) for soul in SOULS] == before
            self.store.fail_in = None
            await work()

    @initialize(souls=CASTS, messages=st.integers(1, 25), text=TEXTS)
    def begin(self, souls: tuple[str, ...], messages: int, text: str) -> None:
        """Two characters, a chat, a branch of it and a chat of its own."""

        async def work() -> None:
            await self.stage.start()
            for soul in SOULS:
                await self.stage.soul(soul, soul.upper())

        self.loop.run_until_complete(work())
        self.new_chat(souls, messages, text, "full")
        self.branch(0, messages // 2, "bare", souls)
        self.new_chat(("s1", "s2"), 3, text, "full")
        self.loop.run_until_complete(
            self.stage.engine.idle.run()
        )  # so there are images that grow old

    def pick(self, number: int) -> Told:
        """One of the chats in use."""
        shown = [chat for chat in self.chats.values() if chat.synced is not None]
        return shown[number % len(shown)]

    def fresh(self, text: str, role: Role = Role.USER, **more: Any) -> SentMessage:
        """A new message."""
        self.slots += 1
        return line(
            f"m{self.slots}",
            text,
            role,
            sent_at=NOON + timedelta(minutes=self.slots),
            **more,
        )

    def show(self, chat: Told, how: str, *, confirm: bool = True) -> None:
        """Sync the chat, now or with the next change."""
        if how != "later":
            self.run(lambda: chat.show(self.stage, how, confirm=confirm))

    def any_shown(self) -> bool:
        """Whether a chat is in use."""
        return any(chat.synced is not None for chat in self.chats.values())

    @precondition(lambda self: len(self.chats) < 7)
    @rule(
        souls=CASTS,
        count=st.integers(1, 8),
        text=TEXTS,
        how=st.sampled_from(["full", "bare"]),
    )
    def new_chat(self, souls: tuple[str, ...], count: int, text: str, how: str) -> None:
        chat = Told(f"c{len(self.chats)}", souls)
        chat.messages = [
            self.fresh(text, Role.CHARACTER if i % 2 else Role.USER) for i in range(count)
        ]
        self.chats[chat.id] = chat
        self.show(chat, how)

    @precondition(lambda self: len(self.chats) < 7 and self.any_shown())
    @rule(pick=PICK, at=PICK, how=st.sampled_from(["full", "bare"]), souls=CASTS)
    def branch(self, pick: int, at: int, how: str, souls: tuple[str, ...]) -> None:
        parent = self.pick(pick)
        if parent.messages:
            shared = parent.messages[: at % len(parent.messages) + 1]
            chat = Told(f"c{len(self.chats)}", souls, list(shared), (parent.id, shared[-1].slot))
            self.chats[chat.id] = chat
            self.show(chat, how)

    @precondition(any_shown)
    @rule(
        pick=PICK,
        texts=st.lists(TEXTS, min_size=1, max_size=8),
        role=ROLES,
        present=PRESENT,
        how=HOWS,
        mind=st.sampled_from([None, *SOULS]),
        swipe=st.sampled_from([0, 0, 1]),
    )
    def say(
        self,
        pick: int,
        texts: list[str],
        role: Role,
        present: Any,
        how: str,
        mind: str | None,
        swipe: int,
    ) -> None:
        """The recall for the first message teaches, unless it was for another swipe."""
        chat = self.pick(pick)
        messages = [self.fresh(text, role, present=present) for text in texts]
        if mind is not None:
            request = RecallRequest(
                SoulId(mind),
                ChatId(chat.id),
                messages[0].slot,
                swipe,
                "ring, rain, noon",
            )
            self.run(lambda: self.recall(request))
        chat.messages += messages
        self.show(chat, how)

    async def recall(self, request: RecallRequest) -> None:
        """All recalled memories must exist."""
        answer = await self.stage.engine.recaller.recall(ME, request)
        memories = (await self.stage.mind(request.soul)).memories
        assert all(memory.id in memories or memory.kind == "fact" for memory in answer.memories)

    @precondition(any_shown)
    @rule(pick=PICK, left=st.integers(0, 4), confirm=st.booleans())
    def lose_most(self, pick: int, left: int, confirm: bool) -> None:
        chat = self.pick(pick)
        chat.messages = chat.messages[:left]
        self.show(chat, "bare", confirm=confirm)

    @precondition(any_shown)
    @rule(pick=PICK, souls=CASTS)
    def recast(self, pick: int, souls: tuple[str, ...]) -> None:
        chat = self.pick(pick)
        chat.souls = souls
        self.show(chat, "full")

    @precondition(any_shown)
    @rule(pick=PICK, to=PICK)
    def find_parent(self, pick: int, to: int) -> None:
        chat, parent = self.pick(pick), self.pick(to)
        if chat.parent is None and parent.messages and chat.id not in self.line_of(parent):
            chat.parent = (parent.id, parent.messages[0].slot)
            self.show(chat, "bare")

    def line_of(self, chat: Told) -> list[str]:
        """The chat and its ancestors."""
        out = [chat.id]
        while chat.parent is not None:
            chat = self.chats[chat.parent[0]]
            out.append(chat.id)
        return out

    @precondition(any_shown)
    @rule(pick=PICK)
    def delete_chat(self, pick: int) -> None:
        """Only a chat whose branch and parent stay related without it."""
        chat = self.pick(pick)
        between = chat.parent is not None and any(
            other.parent is not None and other.parent[0] == chat.id for other in self.chats.values()
        )
        if not between:
            self.run(lambda: self.stage.engine.chats.delete(ME, ChatId(chat.id)))
            chat.synced = None

    @rule(pick=PICK, how=st.sampled_from(["full", "bare"]))
    def open_again(self, pick: int, how: str) -> None:
        self.show(list(self.chats.values())[pick % len(self.chats)], how)

    @precondition(any_shown)
    @rule(pick=PICK)
    def close(self, pick: int) -> None:
        chat = self.pick(pick)
        self.run(lambda: self.stage.close(chat.id))

    @precondition(any_shown)
    @rule(
        pick=PICK,
        soul=st.sampled_from(SOULS),
        timelines=st.sampled_from(Timelines),
        text=TEXTS,
    )
    def remember(self, pick: int, soul: str, timelines: Timelines, text: str) -> None:
        chat = self.pick(pick)
        if not chat.synced:
            return

        async def work() -> None:
            view = await self.stage.note(text, soul, timelines=timelines, chat=chat.id)
            self.made[view.memory.id] = view.memory

        self.run(work)

    @rule(pick=PICK, soul=st.sampled_from(SOULS), kind=st.sampled_from(AnchorKind))
    def anchor(self, pick: int, soul: str, kind: AnchorKind) -> None:
        """The first words of a text are marked by hand, and the whole is one unit."""

        async def work() -> None:
            mind = await self.stage.mind(soul)
            texts = [m for m in mind.memories.values() if m.kind in FADING_KINDS]
            if texts:
                memory = sorted(texts, key=lambda m: m.id)[pick % len(texts)]
                patch = MemoryPatch(
                    anchors=(NewAnchor(memory.text[:5], kind),),
                    units=(NewUnit(memory.text),) if pick % 2 else (),
                )
                await self.stage.engine.memories.patch(ME, memory.id, patch)
                self.drafted.discard(memory.id)  # undo leaves what the user changed
                if memory.id in self.made:
                    self.made[memory.id] = mind.memories[memory.id]

        self.run(work)

    @rule(soul=st.sampled_from(SOULS), remember_hidden=st.booleans())
    def decide_about_hidden(self, soul: str, remember_hidden: bool) -> None:
        self.settings[soul] = {"remember_hidden": remember_hidden}

        async def work() -> None:
            await self.stage.soul(soul, soul.upper(), **self.settings[soul])

        self.run(work)

    @rule(seconds=st.sampled_from([10, 700]))
    def rest(self, seconds: int) -> None:
        self.store.fail_in = None  # several small changes, each for itself
        self.stage.clock.advance(seconds)
        self.run(self.stage.engine.idle.run)

    @rule(how=st.sampled_from(["image", "rows", "killed"]))
    def restart(self, how: str) -> None:
        """With the latest snapshots, with none, or with older ones."""
        self.store.fail_in = None
        self.loop.run_until_complete(self.restarted(how))

    async def restarted(self, how: str) -> None:
        engine, kept = self.stage.engine, dict(self.images.kept)
        before = [await picture(self.stage, soul) for soul in SOULS]
        if how == "killed":
            engine.snapshots.images = None  # it comes to write nothing
        await self.stage.restart()
        if how == "killed":
            assert self.images.kept == kept
        if how == "rows":
            self.images.kept.clear()
        assert [await picture(self.stage, soul) for soul in SOULS] == before

    @rule(commits=st.integers(1, 3))
    def let_the_store_fail(self, commits: int) -> None:
        self.store.fail_in = commits

    async def look(self) -> None:
        """Sync everything; then the memory must equal the shown chats."""
        self.store.fail_in = None
        shown = [chat for chat in self.chats.values() if chat.synced is not None]
        for chat in shown:
            await chat.show(self.stage, "full")
        await self.fetch_back()
        for soul in SOULS:
            await self.undone(soul)
        await self.same_as_the_screen(shown)
        await self.same_links()
        await self.stage.engine.idle.run()
        await self.same_as_a_replay(shown)
        await self.same_as_reopened()

    async def same_as_the_screen(self, shown: list[Told]) -> None:
        """Chats read back as shown; souls remember what they attended; memories by hand
        are unchanged.
        """
        for chat in shown:
            _, messages = await self.stage.engine.chats.get(ME, ChatId(chat.id))
            assert [(m.slot, m.text, m.hidden, m.present) for m in messages] == [
                (m.slot, m.text, m.hidden, m.present) for m in chat.messages
            ]
        for soul in SOULS:
            mind = await self.stage.mind(soul)
            hides = not self.settings[soul].get("remember_hidden", True)
            for chat in shown:
                hidden_slots = {m.slot for m in chat.messages if m.hidden and hides}
                branch = mind.branches.branch(ChatId(chat.id))
                versions = [mind.memories[m].evidence[0][0] for m in branch.order] if branch else []
                last = chat.messages[-1].slot if chat.messages else None
                assert [(v.slot, v.hash) for v in versions if v.slot != last] == [
                    (slot, text)
                    for slot, text in chat.remembered_by(soul)
                    if slot not in hidden_slots
                ]
            made = {m.id: m for m in mind.memories.values() if m.origin is Origin.USER}
            assert made == {key: m for key, m in self.made.items() if m.soul == soul}

    async def same_as_a_replay(self, shown: list[Told]) -> None:
        """A new engine that gets the surviving chats once has the same fingerprint."""
        again = Stage()
        await again.start()
        try:
            for soul in SOULS:
                await again.soul(soul, soul.upper(), **self.settings[soul])
            await replayed(shown, again)
            for soul in SOULS:
                await again.engine.souls.put(ME, SoulId(soul), soul.upper(), self.names[soul], None)
                assert await again.fingerprint(soul) == await self.stage.fingerprint(soul)
        finally:
            await again.stop()

    async def same_as_reopened(self) -> None:
        """A new engine on the same store has nothing to repair and shows the same in every chat."""
        live = await self.pictures(self.stage)
        for soul in SOULS:
            assert await stray_vectors(await self.stage.mind(soul), self.embedder) == []
        opened = Stage(self.store.twin(), model=self.embedder.source())
        await opened.start()
        try:
            for soul, before, after in zip(SOULS, live, await self.pictures(opened), strict=True):
                assert {k: v for k, v in after.items() if v != before[k]} == {}, soul
        finally:
            await opened.stop()

    async def pictures(self, stage: Stage) -> list[Picture]:
        """The pictures of all souls."""
        return [await picture(stage, SoulId(soul)) for soul in SOULS]


@pytest.mark.slow("lives at random, each replayed")
@pytest.mark.timeout(0)
def test_whatever_a_player_does_the_memory_is_a_replay_of_what_is_left(
    monkeypatch: pytest.MonkeyPatch, loop_watch: Any, failures: Failures
) -> None:
    """Branches, groups, swipes, edits, deletions, insertions, hides, losses, restarts, a store that fails.

    SOULMEM_TEST_LIVES=1000x200 looks at a thousand lives of up to two hundred steps. With each value of
    SOULMEM_TEST_LIVES_SEED (1, 2, ..) the lives are others, so that several processes share the work.
    """
    lives, steps = map(int, (LONG or f"{sized(8, 100)}x30").split("x"))
    if LONG:
        monkeypatch.setattr(worker, "ThreadPoolExecutor", AtOnce)
    number = os.environ.get("SOULMEM_TEST_LIVES_SEED")
    run_state_machine_as_test(
        seed(int(number))(Player) if number else Player,
        settings=settings(max_examples=lives, stateful_step_count=steps),
    )
    odd = [told for told in failures.take() if "the disk is full" not in told]
    assert odd == []  # only the store that fails on purpose makes lessons wait
    if LONG:
        loop_watch.blocked.clear()  # what is computed there belongs elsewhere
