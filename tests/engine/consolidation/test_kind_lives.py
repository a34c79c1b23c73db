"""Whatever happens to a chat whose scenes are of kinds: no word of what vanished stays, each kind and each of
its instances rests on scenes that a chat tells, and nobody knows a kind from another branch.
"""

from __future__ import annotations

import asyncio
import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from soulmem.domain.derivations import Work
from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import SoulId
from soulmem.domain.llm import Prompt
from soulmem.domain.memories import MemoryKind, Origin
from soulmem.engine.runtime.jobs import JobState
from tests.engine.kind_scenes import KindStage
from tests.engine.model_stage import obliging, read_of
from tests.engine.stage import ME, ended, line
from tests.fakes.embedder import FakeEmbedder

_MARK = re.compile(r"\bw\d+q\b")
_KINDS = (
    "rain puddles umbrella coat soaked",
    "dough flour oven kitchen bread",
    "ledger debt coins landlord rent",
)
_OTHER = [
    f"{a} {b} {c}"
    for a in ("heron", "bell")
    for b in ("mayor", "boat", "cat")
    for c in ("hat", "star")
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
    marks = [mark for _, text in scenes for mark in _MARK.findall(text)]
    kind = " ".join([*scenes[0][1].split()[:4], *marks])
    shown = [{"line": n, "words": text} for n, text in scenes]
    return json.dumps({"kind": kind, "scenes": shown, "importance": 0.5})


class Life:
    """One chat and at most two branches of it."""

    def __init__(self) -> None:
        self.stage = KindStage(naming, reader=FakeEmbedder().source())
        self.count = 0
        self.chats: dict[str, tuple[list[SentMessage], tuple[str, str] | None]] = {
            "c0": ([], None)
        }
        self.at = "c0"

    def message(self, slot: str | None = None) -> SentMessage:
        """A new one, or another text for the slot: every third is of a kind."""
        self.count += 1
        n = self.count
        what = _KINDS[n // 3 % 3] if n % 3 == 0 else _OTHER[n * 7 % len(_OTHER)]
        text = f"{what} {'once more ' * (n % 2)}w{n}q."
        return line(slot or f"m{n}", text, (Role.CHARACTER, Role.USER)[n % 2])

    async def step(self, what: str, where: int) -> None:
        """One thing that a player does, or a pause."""
        said = self.chats[self.at][0]
        if what == "rest":
            await self.stage.rest()
            return
        if what == "restart":
            await self.stage.restart()
            return
        if what == "replay":
            job = await self.stage.engine.jobs.ask(ME, "replay", SoulId("s1"), {})
            assert (await ended(self.stage, job)).state is JobState.DONE
            return
        at = where % max(1, len(said))
        if what == "say":
            said += [self.message() for _ in range(where)]
        elif what == "edit" and said:
            said[at] = self.message(said[at].slot)
        elif what == "delete":
            del said[at : at + 2]
        elif what == "branch" and said and len(self.chats) < 3:
            fork = said[at].slot
            parent = (self.at, str(fork))
            self.at = f"c{len(self.chats)}"
            self.chats[self.at] = (
                [*said[: at + 1], *(self.message() for _ in range(4))],
                parent,
            )
        said, fork_at = self.chats[self.at]
        await self.stage.sync(self.at, said, parent=fork_at, confirm=True)

    async def check(self) -> None:
        """What must hold at any time."""
        told = {
            key: {w for m in said for w in _MARK.findall(m.text or "")}
            for key, (said, _) in self.chats.items()
        }
        every = set().union(*told.values())
        assert set(_MARK.findall(await self.stage.words())) <= every
        mind = await self.stage.mind()
        for one in mind.derivations:
            if one.work is Work.KIND:
                assert all(key in mind.memories for key in one.read)
                assert one.after is not None or len(one.read) >= 3
        for key, marks in told.items():
            seen = {m.id for m in await self.stage.visible(key)}
            kinds = [
                m
                for m in await self.stage.visible(key)
                if m.kind is MemoryKind.ABSTRACT_EPISODE
            ]
            for kind in kinds:
                assert set(_MARK.findall(kind.text)) <= marks
                scenes = [
                    e.source
                    for e in mind.edges.of(kind.id)
                    if e.kind is EdgeKind.INSTANCE_OF
                ]
                makers = mind.derivations.of(kind.id)
                assert scenes
                if any(
                    one.work is Work.KIND and key in mind.derivations.holders_of(one.id)
                    for one in makers
                ):
                    assert len(seen.intersection(scenes)) >= 3
        for memory in mind.memories.values():
            if (
                memory.kind is MemoryKind.ABSTRACT_EPISODE
                and memory.origin is Origin.MODEL
            ):
                assert mind.derivations.of(memory.id)


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


@pytest.mark.timeout(300)
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(STEPS)
def test_kinds_go_with_their_scenes_whatever_happens(
    steps: list[tuple[str, int]],
) -> None:
    assert asyncio.run(_lives(steps)) > 0
