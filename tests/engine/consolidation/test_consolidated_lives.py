"""Random edits, branches and restarts of consolidated chats.

No word of a vanished message stays, no branch sees drafts of another, nothing is asked twice, and what was made
without a model equals a replay.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Set
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.derivations import Work
from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.ids import ChatId, MemoryId, SlotId
from soulmem.domain.llm import Prompt
from soulmem.domain.memories import MemoryKind, Origin
from soulmem.engine.consolidation.draft_habits import (
    HabitParams,
    count_scenes,
    habit_change,
)
from soulmem.engine.mind.changes import MindChange
from tests.engine.model_stage import ModelStage, obliging, read_of
from tests.engine.stage import Stage, line
from tests.engine.told import Told, replayed
from tests.examples import few

_WORD = re.compile(r"\bw\d+q\b")

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.integers(4, 30), st.just(0)),
        st.tuples(st.just("edit"), st.integers(0, 200), st.just(0)),
        st.tuples(st.just("delete"), st.integers(0, 200), st.integers(1, 3)),
        st.tuples(st.just("insert"), st.integers(0, 200), st.just(0)),
        st.tuples(st.just("branch"), st.integers(0, 200), st.integers(0, 12)),
        st.tuples(st.just("new"), st.integers(2, 30), st.just(0)),
        st.tuples(st.just("turn to"), st.integers(0, 5), st.just(0)),
        st.tuples(st.just("rest"), st.just(0), st.just(0)),
        st.tuples(st.just("restart"), st.just(0), st.just(0)),
    ),
    min_size=4,
    max_size=14,
)


def habitual(prompt: Prompt) -> str:
    """What a good model answers, and a habit that shows in some lines of hers, in words of one of them."""
    answer = json.loads(obliging(prompt))
    own = [(n, text) for n, who, text in read_of(prompt) if who == "Mira"][::2]
    if "habits" in answer and own:
        word = _WORD.findall(own[len(own) // 2][1])[0]
        does = f"speaks at length of {word}"
        answer["habits"] = [
            {
                "lines": [n for n, _ in own],
                "when": f"long speeches of {word}",
                "does": does,
            }
        ]
    return json.dumps(answer)


def words_of(chat: Told) -> set[str]:
    """The marked words of a chat's messages."""
    words: set[str] = set()
    for message in chat.messages:
        words.update(_WORD.findall(message.text or ""))
    return words


def scenes_in(chat: Told, shown: Set[str]) -> int:
    """How many scenes the messages at the slots `shown` are in this chat."""
    places = [
        (chat.id, index) for index, message in enumerate(chat.messages) if message.slot in shown
    ]
    return count_scenes(places, HabitParams())


class Life:
    """Chats on the screen and what is remembered of them; every message has a word of its own."""

    def __init__(self) -> None:
        self.stage = ModelStage(habitual)
        self.chats = [Told("c0", ("s1",))]
        self.current = 0
        self.count = 0

    def message(self, slot: str | None = None) -> SentMessage:
        """A new one, or another text for the slot."""
        self.count += 1
        roles = (Role.CHARACTER, Role.USER)
        text = f"They spoke at length of w{self.count}q."
        return line(slot or f"m{self.count}", text, roles[self.count % 2])

    async def step(self, what: str, number: int, length: int) -> None:
        """One thing that a player does, or a pause."""
        if what == "rest":
            await self.stage.rest()
        elif what == "restart":
            await self.stage.restart()
        elif what == "turn to":
            self.current = number % len(self.chats)
        else:
            self.play(what, number, length)
            await self.chats[self.current].show(self.stage, "full")

    def play(self, what: str, number: int, length: int) -> None:
        """What happens on the screen."""
        chat = self.chats[self.current]
        messages, where = chat.messages, number % max(1, len(chat.messages))
        if what == "say":
            messages += self.new_messages(number)
        elif what == "delete":
            del messages[where : where + length]
        elif what == "insert":
            messages.insert(where, self.message())
        elif what == "edit":
            if messages:
                messages[where] = self.message(messages[where].slot)
        elif len(self.chats) < 4:
            if what == "branch" and messages:
                fork = messages[: where + 1]
                parent = (chat.id, messages[where].slot)
                self.open_chat([*fork, *self.new_messages(length)], parent)
            elif what == "new":
                self.open_chat(self.new_messages(number))

    def new_messages(self, count: int) -> list[SentMessage]:
        """So many new messages."""
        return [self.message() for _ in range(count)]

    def open_chat(
        self, messages: list[SentMessage], parent: tuple[str, SlotId] | None = None
    ) -> None:
        """Go on in a new chat with these messages."""
        self.chats.append(Told(f"c{len(self.chats)}", ("s1",), messages, parent))
        self.current = len(self.chats) - 1

    def root(self, chat: Told) -> str:
        """The chat that it comes from."""
        while chat.parent is not None:
            chat = next(c for c in self.chats if c.id == (chat.parent or ("",))[0])
        return chat.id

    def is_apart(self, chat: Told, other: Told) -> bool:
        """Whether two chats share no message."""
        return self.root(chat) != self.root(other)

    async def expected_drafts(self, chat: Told) -> set[MemoryId]:
        """Drafted episodes of which the chat holds every message that was read: computed the slow way."""
        mind = await self.stage.mind()
        settled = {(m.slot, m.hash) for m in chat.messages}
        settled.discard((chat.messages[-1].slot, chat.messages[-1].hash))
        episodes: set[MemoryId] = set()
        for derivation in mind.derivations:
            places = [mind.memories[key].evidence[0][0] for key in derivation.read]
            if derivation.after is None and settled.issuperset(
                (place.slot, place.hash) for place in places
            ):
                for product in derivation.products:
                    memory = mind.memories.get(MemoryId(product.id))
                    if memory is not None and memory.kind is MemoryKind.EPISODE:
                        episodes.add(memory.id)
        return episodes

    async def check(self) -> None:
        """What must hold at any time."""
        every_word: set[str] = set()
        for chat in self.chats:
            every_word |= words_of(chat)
        assert set(_WORD.findall(await self.stage.words())) <= every_word
        for chat in self.chats:
            if chat.messages:
                await self.check_drafts(chat)
            await self.check_habits(chat)
        mind = await self.stage.mind()
        for derivation in mind.derivations:
            assert mind.memories.keys() >= set(derivation.read)
            if derivation.work is Work.SUMMARY and derivation.after is not None:
                assert mind.derivations.get(derivation.after)

    async def check_drafts(self, chat: Told) -> None:
        """The chat sees what was drafted from it, and no word that only its branches tell."""
        visible = await self.stage.visible(chat.id)
        drafted = [memory for memory in visible if memory.origin is Origin.MODEL]
        words = words_of(chat)
        for other in self.chats:
            if self.is_apart(chat, other):
                words |= words_of(other)
        for memory in drafted:
            assert words.issuperset(_WORD.findall(memory.text))
        assert {memory.id for memory in drafted} >= await self.expected_drafts(chat)

    async def check_habits(self, chat: Told) -> None:
        """A habit is visible in a chat only if that chat, or one apart, has three scenes of it."""
        mind = await self.stage.mind()
        for memory in await self.stage.visible(chat.id):
            if memory.kind is MemoryKind.ACTION:
                cited = mind.derivations.cited(memory.id)
                shown = {mind.memories[key].evidence[0][0].slot for key in cited}
                counts = [
                    scenes_in(other, shown)
                    for other in self.chats
                    if other is chat or self.is_apart(chat, other)
                ]
                assert max(counts) >= 3

    async def settled(self) -> None:
        """After a pause nothing more is to be told of what the drafts hold."""
        mind = await self.stage.mind()
        for chat in self.chats:
            assert habit_change(mind, ChatId(chat.id), None, self.stage.clock) == MindChange()


async def _lives(steps: list[tuple[str, int, int]]) -> None:
    life = Life()
    await life.stage.start()
    await life.stage.soul()
    try:
        await life.step("say", 30, 0)
        await life.step("rest", 0, 0)
        assert [m for m in await life.stage.drafted() if m.kind is MemoryKind.ACTION]
        for step in steps:
            await life.step(*step)
            await life.check()
        await life.step("rest", 0, 0)
        await life.check()
        await life.settled()
        asked = len(life.stage.llm.asked)
        await life.step("rest", 0, 0)
        assert len(life.stage.llm.asked) == asked

        other = Stage()
        await other.start()
        await other.soul()
        await replayed([replace(chat) for chat in life.chats if chat.messages], other)
        assert await life.stage.fingerprint() == await other.fingerprint()
        await other.stop()
    finally:
        await life.stage.stop()


@pytest.mark.timeout(300)
@given(STEPS)
@few(5, long=80)
def test_no_word_of_a_vanished_message_is_left(
    steps: list[tuple[str, int, int]],
) -> None:
    asyncio.run(_lives(steps))
