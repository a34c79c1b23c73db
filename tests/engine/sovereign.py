"""What a player does to memories beyond the chat, and what tools and quiet weeks do: rules of a machine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from soulmem.domain.audit import Actor
from soulmem.domain.errors import ConfirmationRequired, Forbidden, NotFound
from soulmem.domain.ids import ChatId, MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.domain.opinions import Verdict
from soulmem.domain.soul import SoulSettings
from soulmem.engine.api.requests import MemoryPatch, RecallRequest
from soulmem.engine.api.results import MemoryView
from soulmem.engine.runtime.jobs import JobState
from tests.engine.namer import CALLED, PICK, SOULS, Namer
from tests.engine.picky_store import PickyStore
from tests.engine.stage import ME, ended
from tests.engine.told import Told

SOUL = st.sampled_from(SOULS)
LONG_AGO = datetime(2000, 1, 1, tzinfo=timezone.utc)
WEEK_AND_A_DAY = 8 * 86_400.0  # seconds: what lies in the bin is gone after them


class Sovereign(Namer):
    """Needs what `Player` has. `mine` are the last words of the user, `drafted` what the lead made."""

    store: PickyStore
    mine: dict[MemoryId, str]
    drafted: set[MemoryId]
    settings: dict[str, dict[str, Any]]
    any_shown: Callable[[], bool]
    pick: Callable[[int], Told]
    insert: Callable[[int, int, str, str], None]
    delete: Callable[[int, int, int, str], None]
    hide: Callable[[int, int, str], None]
    delete_chat: Callable[[int], None]

    @rule(pick=PICK, permanent=st.booleans(), locked=st.booleans())
    def protect(self, pick: int, permanent: bool, locked: bool) -> None:
        patch = MemoryPatch(permanent=permanent, locked=locked)
        self.change(pick, lambda key: self.stage.engine.memories.patch(ME, key, patch))

    @rule(pick=PICK)
    def bin(self, pick: int) -> None:
        """What is permanent wants the word once more."""

        async def work(key: MemoryId) -> MemoryView:
            if self.made[key].permanent:
                with pytest.raises(ConfirmationRequired):
                    await self.stage.engine.memories.delete(ME, key, None)
            await self.stage.engine.memories.delete(ME, key, "permanent")
            return await self.stage.engine.memories.get(ME, key)

        self.change(pick, work)

    @rule(soul=SOUL, pick=PICK)
    def bin_told(self, soul: str, pick: int) -> None:
        """Something that a chat tells is thrown away by hand; at the end all of that is fetched back."""

        async def work() -> None:
            told = await self.told(soul)
            if told:
                await self.stage.engine.memories.delete(ME, told[pick % len(told)].id, None)

        self.run(work)

    async def told(self, soul: str) -> list[Memory]:
        """What chats tell the soul, by id."""
        mind = await self.stage.mind(soul)
        keys = sorted({key for branch in mind.branches for key in branch.order})
        return [mind.memories[key] for key in keys if mind.memories[key].origin is Origin.CHAT]

    async def fetch_back(self) -> None:
        """What was thrown away although a chat tells it is in use again, and is the chat's."""
        for soul in SOULS:
            for memory in await self.told(soul):
                if memory.state is MemoryState.BIN:
                    back = (await self.stage.engine.memories.restore(ME, memory.id)).memory
                    assert (back.state, back.origin) == (
                        MemoryState.ACTIVE,
                        Origin.CHAT,
                    )

    @rule(soul=SOUL, text=CALLED)
    def draft(self, soul: str, text: str) -> None:
        """The lead keeps something for good."""

        async def work() -> None:
            given = {"content": text, "reason": "told so"}
            tools = self.stage.engine.tools
            told = await tools.call(ME, "save_permanent_memory", soul, Actor.LEAD, given)
            memory = (await self.stage.engine.memories.get(ME, MemoryId(told["memory"]))).memory
            assert memory.permanent
            self.made[memory.id] = memory
            self.drafted.add(memory.id)

        self.run(work)

    @rule(soul=SOUL, pick=PICK, text=CALLED, among=st.sampled_from(["made", "told"]))
    def reword(self, soul: str, pick: int, text: str, among: str) -> None:
        """The archivist rewords something; nothing that the user protected."""

        async def work() -> None:
            made = [m for m in self.made.values() if m.soul == soul]
            some = made if among == "made" else [m for m in await self.told(soul) if m.evidence]
            if not some:
                return
            memory = some[pick % len(some)]
            given = {"memory_id": memory.id, "new_content": text}
            tools = self.stage.engine.tools
            if memory.permanent or memory.locked:
                with pytest.raises(Forbidden):
                    await tools.call(ME, "update_memory_node", soul, Actor.ARCHIVIST, given)
                return
            await tools.call(ME, "update_memory_node", soul, Actor.ARCHIVIST, given)
            if among == "made":
                self.made[memory.id] = (await self.stage.engine.memories.get(ME, memory.id)).memory

        self.run(work)

    @rule(pick=PICK, confirmed=st.booleans())
    def ask_to_delete(self, pick: int, confirmed: bool) -> None:
        """Nothing goes before the user's word; nothing protected is even asked about."""
        self.store.fail_in = None  # the request, the memory and the decision, each for itself

        async def work(key: MemoryId) -> MemoryView:
            memory, engine = self.made[key], self.stage.engine
            given = {"memory_id": key, "reason": "old"}
            asking = engine.tools.call(ME, "delete_memory", memory.soul, Actor.ARCHIVIST, given)
            if memory.permanent or memory.locked:
                with pytest.raises(Forbidden):
                    await asking
            else:
                asked = await asking
                assert (await self.stage.engine.memories.get(ME, key)).memory == memory
                await engine.deletions.decide(ME, asked["request"], confirmed=confirmed)
            return await self.stage.engine.memories.get(ME, key)

        self.change(pick, work)

    @rule(soul=SOUL)
    def undo(self, soul: str) -> None:
        """All that was automatic is taken back: the user's words stand, and drafts lie in the bin."""
        self.store.fail_in = None  # a change, and opinions after it
        self.run(lambda: self.undone(soul))

    async def undone(self, soul: str) -> None:
        """See `undo`."""
        await self.stage.engine.learner.drain()
        await self.stage.engine.history.undo(
            ME, SoulId(soul), since=LONG_AGO, change=None, job=None
        )
        mind = await self.stage.mind(soul)
        for key, old in [one for one in self.made.items() if one[1].soul == soul]:
            now = mind.memories.get(key)
            if (
                now is None or now.origin is not Origin.USER
            ):  # given no more, or not till its week was over
                assert (old.kind, old.state) == (MemoryKind.CONCEPT, MemoryState.BIN)
                self.forgotten(key)
            else:
                assert now.text == self.mine.get(key, now.text)
                assert now.state is (MemoryState.BIN if key in self.drafted else old.state)
                self.made[key] = now

    @rule(soul=SOUL, verdict=st.sampled_from(Verdict), chat=st.booleans(), pick=PICK)
    def judge(self, soul: str, verdict: Verdict, chat: bool, pick: int) -> None:
        """A word about what a recall brought."""

        async def work() -> None:
            known = [head.id for head, _ in await self.stage.engine.chats.list(ME, SoulId(soul))]
            if not known:
                return
            where = ChatId(known[pick % len(known)])
            found = await self.stage.engine.recaller.recall(
                ME, RecallRequest(SoulId(soul), where, query="ring, noon")
            )
            for memory in found.memories[:1]:
                await self.stage.engine.feedback.give(ME, found.trace, memory.id, verdict)
                self.drafted.discard(memory.id)  # the user laid hands on it: undoing leaves it

        self.run(work)

    @rule(soul=SOUL, kind=st.sampled_from(["consolidate", "forget", "topics", "digest"]))
    def work_through(self, soul: str, kind: str) -> None:
        """A job that somebody asks for comes to its end."""
        self.store.fail_in = None

        async def work() -> None:
            job = await self.stage.engine.jobs.ask(ME, kind, SoulId(soul), {})
            view = await ended(self.stage, job)
            assert view.state is JobState.DONE, view.error

        self.run(work)

    @rule()
    def wait_a_week(self) -> None:
        """What lay in the bin is gone for good, whoever put it there and whatever it was."""
        self.store.fail_in = None
        self.stage.clock.advance(WEEK_AND_A_DAY)
        binned = {key for key, m in self.made.items() if m.state is MemoryState.BIN}

        async def look() -> None:
            await self.stage.engine.idle.run()
            for key in binned:
                try:
                    left = (await self.stage.engine.memories.get(ME, key)).memory
                except NotFound:
                    self.forgotten(key)
                else:  # the card or a chat gives its name
                    assert left.kind is MemoryKind.CONCEPT

        self.run(look)

    def forgotten(self, key: MemoryId) -> None:
        """It is gone for good; a concept of that name may come to be again."""
        del self.made[key]
        self.drafted.discard(key)
        self.mine.pop(key, None)

    @rule(
        soul=SOUL,
        pick=PICK,
        at=PICK,
        text=CALLED,
        remember_hidden=st.booleans(),
        meanwhile=st.sampled_from(["insert", "delete", "hide", "delete_chat"]),
    )
    def go_and_come_back(
        self,
        soul: str,
        pick: int,
        at: int,
        text: str,
        remember_hidden: bool,
        meanwhile: str,
    ) -> None:
        """A soul lies in the bin while chats that it was in go on, and comes back with other settings."""
        self.store.fail_in = None
        self.run(lambda: self.stage.engine.souls.delete(ME, SoulId(soul), soul.upper()))
        if self.any_shown() and (meanwhile == "delete_chat" or soul not in self.pick(pick).souls):
            changes: dict[str, Callable[[], None]] = {
                "insert": lambda: self.insert(pick, at, text, "bare"),
                "delete": lambda: self.delete(pick, at, 2, "bare"),
                "hide": lambda: self.hide(pick, at, "bare"),
                "delete_chat": lambda: self.delete_chat(pick),
            }
            changes[meanwhile]()
        self.settings[soul] = {"remember_hidden": remember_hidden}
        given = SoulSettings(remember_hidden=remember_hidden)

        async def back() -> None:
            await self.stage.engine.souls.put(
                ME, SoulId(soul), soul.upper(), self.names[soul], given
            )
            await self.stage.mind(soul)

        self.run(back)

    def make(self, work: Callable[[], Awaitable[MemoryView]]) -> None:
        async def noted() -> MemoryView:
            view = await work()
            known = self.made.get(view.memory.id)
            if known is None or known.text != view.memory.text:  # else it may be what a tool wrote
                self.mine[view.memory.id] = view.memory.text
            return view

        super().make(noted)

    def change(
        self,
        pick: int,
        work: Callable[[MemoryId], Awaitable[MemoryView]],
        among: Sequence[Memory] | None = None,
    ) -> None:
        """What the lead made is left alone, so that undoing takes it back."""
        some = self.made.values() if among is None else among
        super().change(pick, work, [m for m in some if m.id not in self.drafted])
