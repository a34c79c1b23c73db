"""Random edits, branches and replays of a chat whose scenes are of kinds.

No word of a vanished message stays, each kind and each of its instances rests on scenes of the chat, and no branch
sees kinds of another.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable
from itertools import product

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from soulmem.domain.derivations import Work
from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import SoulId
from soulmem.domain.llm import Prompt
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.engine.runtime.jobs import JobState
from tests.engine.kind_scenes import KindStage
from tests.engine.model_stage import obliging, read_of
from tests.engine.stage import ME, ended, line
from tests.examples import few
from tests.fakes.embedder import FakeEmbedder

_MARK = re.compile(r"\bw\d+q\b")
_KINDS = (
    "rain puddles umbrella coat soaked",
    "dough flour oven kitchen bread",
    "ledger debt coins landlord rent",
)
_OTHER = [
    " ".join(words)
    for words in product(("heron", "bell"), ("mayor", "boat", "cat"), ("hat", "star"))
]

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.integers(6, 40)),
        st.tuples(st.just("edit"), st.integers(0, 400)),
        st.tuples(st.just("delete"), st.integers(0, 400)),
        st.tuples(st.just("branch"), st.integers(30, 400)),
        st.tuples(st.just("replay"), st.just(0)),
        st.tuples(st.just("rest"), st.just(0)),
        st.tuples(st.just("restart"), st.just(0)),
    ),
    min_size=2,
    max_size=5,
)


def naming(prompt: Prompt) -> str:
    """A model that names a kind by the marks of its scenes: words that one message alone has."""
    if prompt.name != "kinds":
        return obliging(prompt)
    scenes = [(number, text) for number, _, text in read_of(prompt)]
    marks = _MARK.findall("\n".join(text for _, text in scenes))
    kind = " ".join([*scenes[0][1].split()[:4], *marks])
    shown = [{"line": n, "words": text} for n, text in scenes]
    return json.dumps({"kind": kind, "scenes": shown, "importance": 0.5})


def marks_of(messages: Iterable[SentMessage]) -> set[str]:
    """The marks of the messages."""
    return set(_MARK.findall("\n".join(message.text or "" for message in messages)))


def is_kind(memory: Memory) -> bool:
    """Whether it is a kind of episode."""
    return memory.kind is MemoryKind.ABSTRACT_EPISODE


class Life:
    """One chat and at most two branches of it."""

    def __init__(self) -> None:
        self.stage = KindStage(naming, reader=FakeEmbedder().source())
        self.count = 0
        self.chats: dict[str, tuple[list[SentMessage], tuple[str, str] | None]] = {"c0": ([], None)}
        self.current = "c0"

    def message(self, slot: str | None = None) -> SentMessage:
        """A new one, or another text for the slot: every third is of a kind."""
        self.count += 1
        n = self.count
        what = _KINDS[n // 3 % 3] if n % 3 == 0 else _OTHER[n * 7 % len(_OTHER)]
        text = f"{what} {'once more ' * (n % 2)}w{n}q."
        return line(slot or f"m{n}", text, (Role.CHARACTER, Role.USER)[n % 2])

    async def step(self, what: str, where: int) -> None:
        """One thing that a player does, or a pause."""
        if what == "rest":
            await self.stage.rest()
        elif what == "restart":
            await self.stage.restart()
        elif what == "replay":
            job = await self.stage.engine.jobs.ask(ME, "replay", SoulId("s1"), {})
            assert (await ended(self.stage, job)).state is JobState.DONE
        else:
            self.play(what, where)
            messages, parent = self.chats[self.current]
            await self.stage.sync(self.current, messages, parent=parent, confirm=True)

    def play(self, what: str, where: int) -> None:
        """What happens on the screen."""
        messages = self.chats[self.current][0]
        index = where % max(1, len(messages))
        if what == "say":
            messages += [self.message() for _ in range(where)]
        elif what == "edit" and messages:
            messages[index] = self.message(messages[index].slot)
        elif what == "delete":
            del messages[index : index + 2]
        elif what == "branch" and messages and len(self.chats) < 3:
            parent = (self.current, str(messages[index].slot))
            branch = [*messages[: index + 1], *(self.message() for _ in range(4))]
            self.current = f"c{len(self.chats)}"
            self.chats[self.current] = (branch, parent)

    async def check(self) -> None:
        """What must hold at any time."""
        every: set[str] = set()
        for chat, (messages, _) in self.chats.items():
            marks = marks_of(messages)
            every |= marks
            await self.check_kinds(chat, marks)
        assert set(_MARK.findall(await self.stage.words())) <= every
        mind = await self.stage.mind()
        for derivation in mind.derivations:
            if derivation.work is Work.KIND:
                assert mind.memories.keys() >= set(derivation.read)
                assert derivation.after is not None or len(derivation.read) >= 3
        for memory in mind.memories.values():
            if is_kind(memory) and memory.origin is Origin.MODEL:
                assert mind.derivations.of(memory.id)

    async def check_kinds(self, chat: str, marks: set[str]) -> None:
        """The kinds visible in a chat have words of it alone; if they are from it, three scenes of it, too."""
        mind = await self.stage.mind()
        visible = await self.stage.visible(chat)
        keys = {memory.id for memory in visible}
        for kind in filter(is_kind, visible):
            assert set(_MARK.findall(kind.text)) <= marks
            edges = mind.edges.of(kind.id)
            scenes = [e.source for e in edges if e.kind is EdgeKind.INSTANCE_OF]
            assert scenes
            holders: set[str] = set()
            for derivation in mind.derivations.of(kind.id):
                if derivation.work is Work.KIND:
                    holders.update(mind.derivations.holders_of(derivation.id))
            if chat in holders:
                assert len(keys.intersection(scenes)) >= 3


async def _lives(steps: list[tuple[str, int]]) -> int:
    life = Life()
    await life.stage.start()
    await life.stage.soul()
    try:
        await life.step("say", 100)
        await life.step("rest", 0)
        await life.check()
        for step in steps:
            await life.step(*step)
            await life.check()
        await life.step("rest", 0)
        await life.check()
        asked = len(life.stage.llm.asked)
        await life.step("rest", 0)
        assert len(life.stage.llm.asked) == asked
        return life.stage.calls.count("kinds")
    finally:
        await life.stage.stop()


@pytest.mark.slow("lives at random")
@pytest.mark.timeout(300)
@few(2, long=32, suppress_health_check=list(HealthCheck))
@given(STEPS)
def test_kinds_go_with_their_scenes_whatever_happens(
    steps: list[tuple[str, int]],
) -> None:
    assert asyncio.run(_lives(steps)) > 0
