"""Random lives in which events are told again and again: nothing is lost, nothing dead stands for the living,
no branch knows what was told elsewhere, and the memory equals a replay.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.dialogue import SentMessage
from soulmem.domain.ids import MemoryId, SlotId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState
from soulmem.engine.api.requests import MemoryPatch
from tests.engine.stage import ME, Stage, line
from tests.engine.told import Told, replayed
from tests.examples import few

EVENTS = (
    "{}Irma and I stole the silver flag from the mill that night, and nobody {}.",
    "{}Irma and I stole the silver spoon from the mill that night, and nobody {}.",
    "{}那天夜里我和雨果从磨坊偷走了祖父的剑，{}没人发现。",
)
OPENINGS = ("", "Well, ", "You know, ", "As I said, ")
ENDS = ("noticed", "noticed it", "ever noticed")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("tell"), st.integers(0, 2), st.integers(0, 99)),
        st.tuples(st.just("edit"), st.integers(0, 200), st.integers(0, 99)),
        st.tuples(st.just("delete"), st.integers(0, 200), st.integers(1, 3)),
        st.tuples(st.just("branch"), st.integers(0, 200), st.integers(0, 99)),
        st.tuples(st.just("new"), st.integers(0, 2), st.integers(0, 99)),
        st.tuples(st.just("turn to"), st.integers(0, 5), st.just(0)),
        st.tuples(st.just("lock"), st.integers(0, 200), st.just(0)),
        st.tuples(st.just("undo"), st.just(0), st.just(0)),
        st.tuples(st.just("rest"), st.just(0), st.just(0)),
        st.tuples(st.just("restart"), st.just(0), st.just(0)),
    ),
    min_size=4,
    max_size=25,
)


def telling(event: int, way: int) -> str:
    """One of the ways to tell one of the events."""
    opening = OPENINGS[way % len(OPENINGS)]
    return EVENTS[event % 3].format(opening, ENDS[way // 4 % len(ENDS)])


class Life:
    """Chats on the screen in which a player tells the same again and again."""

    def __init__(self) -> None:
        self.stage = Stage()
        self.chats = [Told("c0", ("s1",))]
        self.current = 0
        self.count = 0
        self.start_time = self.stage.clock.now()
        self.locked: set[MemoryId] = set()

    def message(self, text: str, slot: str | None = None) -> SentMessage:
        """A new one, or another text for the slot."""
        self.count += 1
        return line(slot or f"m{self.count}", text)

    async def step(self, what: str, number: int, more: int) -> None:
        """One thing that a player does, or a pause."""
        self.stage.clock.advance(1.0, 0)
        chat = self.chats[self.current]
        if what == "rest":
            await self.stage.engine.idle.run()
        elif what == "restart":
            await self.stage.restart()
        elif what == "turn to":
            self.current = number % len(self.chats)
        elif what == "undo":
            undo = self.stage.engine.history.undo
            since = self.start_time
            await undo(ME, SoulId("s1"), since=since, change=None, job=None)
        elif what == "lock":
            await self.lock(number)
        elif what in ("branch", "new"):
            await self.open_chat(what, number, more)
        else:
            self.play(chat, what, number, more)
            await chat.show(self.stage, "full")

    async def lock(self, number: int) -> None:
        """Lock one of the episodes, joined or not."""
        episodes = [*await self.episodes(), *await self.episodes(MemoryState.MERGED)]
        if episodes:
            key = episodes[number % len(episodes)].id
            await self.stage.engine.memories.patch(ME, key, MemoryPatch(locked=True))
            self.locked.add(key)

    def play(self, chat: Told, what: str, number: int, more: int) -> None:
        """What happens on the screen."""
        messages, where = chat.messages, number % max(1, len(chat.messages))
        if what == "tell":
            messages.append(self.message(telling(number, more)))
            messages.append(self.message(f"Hm, {self.count}."))
        elif what == "delete":
            del messages[where : where + more]
        elif messages:
            messages[where] = self.message(telling(more, number), messages[where].slot)

    async def open_chat(self, what: str, number: int, more: int) -> None:
        """Go on in a new chat, or in a branch of this one."""
        chat = self.chats[self.current]
        if len(self.chats) > 4 or (what == "branch" and not chat.messages):
            return
        messages: list[SentMessage] = []
        parent: tuple[str, SlotId] | None = None
        if what == "branch":
            where = number % len(chat.messages)
            messages = chat.messages[: where + 1]
            parent = (chat.id, messages[-1].slot)
        opened = Told(f"c{len(self.chats)}", ("s1",), list(messages), parent)
        opened.messages.append(self.message(telling(number, more)))
        opened.messages.append(self.message("Hm."))
        self.chats.append(opened)
        self.current = len(self.chats) - 1
        await opened.show(self.stage, "full")

    async def episodes(self, state: MemoryState = MemoryState.ACTIVE) -> list[Memory]:
        """The episodes of a state."""
        listed = await self.stage.listed(state)
        return [m for m in listed if m.kind is MemoryKind.EPISODE]

    def texts(self, chat: Told) -> set[str]:
        """What the messages of a chat tell; the last one is not settled, unless it was before."""
        return {f"Al: {m.text}" for m in chat.messages}

    async def check(self) -> None:
        """What must hold at any time."""
        used = {m.id: m for m in await self.episodes()}
        merged = await self.episodes(MemoryState.MERGED)
        for memory in merged:
            assert memory.merged_into in used
            assert not memory.locked
            assert memory.id not in self.locked
        assert self.locked.isdisjoint(m.merged_into for m in merged if m.merged_into)
        settled, shown = set[str](), set[str]()
        for chat in self.chats:
            settled |= {f"Al: {m.text}" for m in chat.messages[:-1]}
            shown |= self.texts(chat)
        remembered = {m.text for m in (*used.values(), *merged)}
        mine = {used[key].text for key in self.locked if key in used}
        assert settled <= remembered <= shown | mine
        for chat in self.chats:
            await self.check_chat(chat)

    async def check_chat(self, chat: Told) -> None:
        """A chat knows no text that only its branches tell."""
        apart = [c for c in self.chats if self.root(c) != self.root(chat)]
        known_texts = self.texts(chat).union(*map(self.texts, apart))
        for memory in await self.stage.visible(chat.id):
            if memory.kind is MemoryKind.EPISODE and memory.id not in self.locked:
                assert memory.text in known_texts

    def root(self, chat: Told) -> str:
        """The chat that it comes from."""
        while chat.parent is not None:
            chat = next(c for c in self.chats if c.id == (chat.parent or ("",))[0])
        return chat.id


async def groups(stage: Stage) -> list[list[str]]:
    """The texts of each memory that unites several."""
    mind = await stage.mind()
    joined = []
    for centre in mind.tellings:
        keys = (centre, *mind.tellings.merged(centre))
        joined.append(sorted(mind.memories[key].text for key in keys))
    return sorted(joined)


async def _lives(steps: list[tuple[str, int, int]]) -> None:
    life = Life()
    await life.stage.start()
    await life.stage.soul(forgetting=0.0)
    try:
        for way in range(4):
            await life.step("tell", 0, way)
        await life.step("rest", 0, 0)
        assert len(await life.episodes(MemoryState.MERGED)) == 3
        for step in steps:
            await life.step(*step)
            await life.check()
        for chat in life.chats:
            chat.messages.append(life.message("Hm."))  # all before it is settled
            await chat.show(life.stage, "full")
        await life.step("rest", 0, 0)
        await life.check()
        if life.locked:  # they are the user's own, and out of what a replay makes
            return
        other = Stage()
        await other.start()
        await other.soul(forgetting=0.0)
        await replayed([replace(chat) for chat in life.chats if chat.messages], other)
        assert await life.stage.fingerprint() == await other.fingerprint()
        await other.engine.idle.run()
        assert await life.stage.fingerprint() == await other.fingerprint()
        if "undo" not in [what for what, _, _ in steps]:  # which separates for good
            assert await groups(life.stage) == await groups(other)
        await other.stop()
    finally:
        await life.stage.stop()


@pytest.mark.timeout(300)
@given(STEPS)
@few(8, long=120)
def test_tellings_are_never_lost_nor_told_where_nobody_told_them(
    steps: list[tuple[str, int, int]],
) -> None:
    asyncio.run(_lives(steps))
