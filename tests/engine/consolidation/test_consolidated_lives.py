"""Whatever happens to chats that are consolidated: no word of a vanished message stays, nobody knows what
another branch tells, nothing is asked for twice, and what was made without a model equals a replay.
"""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from soulmem.consolidation.habits import HabitParams, count_scenes
from soulmem.domain.derivations import Work
from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.llm import Prompt
from soulmem.domain.memories import MemoryKind, Origin
from soulmem.engine.consolidation.draft_habits import habit_change
from soulmem.engine.mind.changes import MindChange
from tests.engine.model_stage import ModelStage, obliging, read_of
from tests.engine.stage import Stage, line
from tests.engine.told import Told, replayed

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


class Life:
    """Chats on the screen and what is remembered of them; every message has a word of its own."""

    def __init__(self) -> None:
        self.stage = ModelStage(habitual)
        self.chats = [Told("c0", ("s1",))]
        self.at = 0
        self.count = 0

    def message(self, slot: str | None = None) -> SentMessage:
        """A new one, or another text for the slot."""
        self.count += 1
        roles = (Role.CHARACTER, Role.USER)
        text = f"They spoke at length of w{self.count}q."
        return line(slot or f"m{self.count}", text, roles[self.count % 2])

    async def step(self, what: str, one: int, two: int) -> None:
        """One thing that a player does, or a pause."""
        if what == "rest":
            await self.stage.rest()
        elif what == "restart":
            await self.stage.restart()
        elif what == "turn to":
            self.at = one % len(self.chats)
        else:
            self.play(what, one, two)
            await self.chats[self.at].show(self.stage, "full")

    def play(self, what: str, one: int, two: int) -> None:
        """What happens on the screen."""
        chat = self.chats[self.at]
        said, where = chat.messages, one % max(1, len(chat.messages))
        if what == "say":
            said += [self.message() for _ in range(one)]
        elif what == "edit" and said:
            said[where] = self.message(said[where].slot)
        elif what == "delete":
            del said[where : where + two]
        elif what == "insert":
            said.insert(where, self.message())
        elif what == "branch" and said and len(self.chats) < 4:
            new = Told(
                f"c{len(self.chats)}",
                ("s1",),
                list(said[: where + 1]),
                (chat.id, said[where].slot),
            )
            new.messages += [self.message() for _ in range(two)]
            self.chats.append(new)
            self.at = len(self.chats) - 1
        elif what == "new" and len(self.chats) < 4:
            self.chats.append(
                Told(
                    f"c{len(self.chats)}", ("s1",), [self.message() for _ in range(one)]
                )
            )
            self.at = len(self.chats) - 1

    def root(self, chat: Told) -> str:
        """The chat that it comes from."""
        while chat.parent is not None:
            chat = next(c for c in self.chats if c.id == (chat.parent or ("",))[0])
        return chat.id

    async def held(self, chat: Told) -> set[MemoryId]:
        """Drafted episodes of which the chat holds every message that was read: found the slow way."""
        mind, slots = await self.stage.mind(), {(m.slot, m.hash) for m in chat.messages}
        versions = {
            one.id: [mind.memories[key].evidence[0][0] for key in one.read]
            for one in mind.derivations
        }
        last = (chat.messages[-1].slot, chat.messages[-1].hash)
        return {
            MemoryId(made.id)
            for one in mind.derivations
            if one.after is None
            and all((v.slot, v.hash) in slots - {last} for v in versions[one.id])
            for made in one.products
            if (m := mind.memories.get(MemoryId(made.id))) is not None
            and m.kind is MemoryKind.EPISODE
        }

    async def check(self) -> None:
        """What must hold at any time."""
        told = {
            chat.id: {w for m in chat.messages for w in _WORD.findall(m.text or "")}
            for chat in self.chats
        }
        assert set(_WORD.findall(await self.stage.words())) <= set().union(
            *told.values()
        )
        for chat in self.chats:
            if chat.messages:
                drafted = [
                    m
                    for m in await self.stage.visible(chat.id)
                    if m.origin is Origin.MODEL
                ]
                known = {
                    word for memory in drafted for word in _WORD.findall(memory.text)
                }
                apart = (
                    told[c.id] for c in self.chats if self.root(c) != self.root(chat)
                )
                assert known <= told[chat.id].union(*apart)
                assert {m.id for m in drafted} >= await self.held(chat)
            await self.check_habits(chat)
        mind = await self.stage.mind()
        for one in mind.derivations:
            assert all(key in mind.memories for key in one.read)
            assert (
                one.work is not Work.SUMMARY
                or one.after is None
                or mind.derivations.get(one.after)
            )

    async def check_habits(self, chat: Told) -> None:
        """She is told of a habit in a chat only if that chat, or one apart, has three scenes of it."""
        mind = await self.stage.mind()
        order = {c.id: [m.slot for m in c.messages] for c in self.chats}
        for memory in await self.stage.visible(chat.id):
            if memory.kind is MemoryKind.ACTION:
                shown = {
                    mind.memories[key].evidence[0][0].slot
                    for key in mind.derivations.cited(memory.id)
                }
                places = {
                    c.id: [at for at, slot in enumerate(order[c.id]) if slot in shown]
                    for c in self.chats
                }
                near = [
                    c
                    for c in self.chats
                    if c is chat or self.root(c) != self.root(chat)
                ]
                assert (
                    max(
                        count_scenes([(c.id, at) for at in places[c.id]], HabitParams())
                        for c in near
                    )
                    >= 3
                )

    async def settled(self) -> None:
        """After a pause nothing more is to be told of what the drafts hold."""
        mind = await self.stage.mind()
        for chat in self.chats:
            assert (
                habit_change(mind, ChatId(chat.id), None, self.stage.clock)
                == MindChange()
            )


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
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_word_of_a_vanished_message_is_left(
    steps: list[tuple[str, int, int]],
) -> None:
    asyncio.run(_lives(steps))
