"""Are concepts and mentions, after any series of names, texts and covers, those that one look would make?"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule, run_state_machine_as_test

from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import MemoryPatch
from tests.engine.namer import CALLED, PICK, SOULS, Namer
from tests.engine.stage import ME, Stage, line
from tests.engine.told import Told
from tests.examples import few

TEXTS = st.sampled_from(["I lost the ring at noon.", "Noon!", "The ring?", "雨停了", "S2, hm."])


class Naming(Namer):
    """One chat, and much done about names; after every step the mentions must be right."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.stage = Stage()
        self.chat = Told("c1", SOULS)
        self.made, self.names = {}, {soul: () for soul in SOULS}
        self.slots = 0
        self.run = self._run

    def teardown(self) -> None:
        """An end without a trace."""
        self.loop.run_until_complete(self.stage.stop())
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()

    def _run(self, work: Callable[[], Awaitable[None]]) -> None:
        async def done() -> None:
            await work()

        self.loop.run_until_complete(done())

    @initialize(texts=st.lists(TEXTS, min_size=4, max_size=6))
    def begin(self, texts: list[str]) -> None:
        """Two characters and a talk."""

        async def work() -> None:
            await self.stage.start()
            for soul in SOULS:
                await self.stage.soul(soul, soul.upper())

        self._run(work)
        for text in texts:
            self.say(text)

    @rule(text=TEXTS)
    def say(self, text: str) -> None:
        self.slots += 1
        self.chat.messages.append(line(f"m{self.slots}", text))
        self._run(lambda: self.chat.show(self.stage, "base"))

    @rule(index=PICK, text=TEXTS)
    def edit(self, index: int, text: str) -> None:
        index %= len(self.chat.messages)
        self.chat.messages[index] = line(self.chat.messages[index].slot, text)
        self._run(lambda: self.chat.show(self.stage, "full"))

    @rule(index=PICK)
    def delete(self, index: int) -> None:
        if len(self.chat.messages) > 2:
            del self.chat.messages[index % len(self.chat.messages)]
            self._run(lambda: self.chat.show(self.stage, "full", confirm=True))

    @rule(soul=st.sampled_from(SOULS), pick=PICK, importance=st.sampled_from([0.1, 0.6]))
    def matter(self, soul: str, pick: int, importance: float) -> None:
        """More or less than before."""

        async def work() -> None:
            mind = await self.stage.mind(soul)
            some = sorted(m.id for m in mind.memories.values() if m.kind is MemoryKind.EPISODE)
            patch = MemoryPatch(importance=importance)
            if some:
                await self.stage.engine.memories.patch(ME, some[pick % len(some)], patch)

        self._run(work)

    @rule(soul=st.sampled_from(SOULS), text=CALLED)
    def tell(self, soul: str, text: str) -> None:
        self.make(lambda: self.stage.note(f"Once {text} was told.", soul, kind=MemoryKind.EPISODE))

    @rule()
    def restart(self) -> None:
        self._run(self.stage.restart)

    @invariant()
    def is_right(self) -> None:
        """As if all were looked at now."""
        if self.slots:
            self._run(self.same_links)


@pytest.mark.timeout(120)
def test_whatever_is_named_mentions_are_what_texts_say() -> None:
    """Names of the card, concepts, notes, covers, importance, edits, deletions, restarts."""
    run_state_machine_as_test(Naming, settings=few(10, long=160, stateful_step_count=20))
