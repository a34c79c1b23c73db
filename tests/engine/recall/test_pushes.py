"""Memories that come to mind by themselves: rarely, never while moved, never what the prompt says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import pytest

from soulmem.domain.dialogue import Role
from soulmem.domain.errors import NotFound
from soulmem.domain.ids import SlotId, SoulId
from soulmem.domain.situation import Emotion
from soulmem.domain.soul import Push
from soulmem.engine.api.requests import MemoryPatch, RecallType
from soulmem.engine.api.results import Recalled
from tests.engine.stage import ME, Stage, line

EXCHANGES = 60
TEXTS = [f"the {word} stood behind the mill" for word in ("cart", "plough", "barrel")]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    played = Stage()
    await played.start()
    yield played
    await played.stop()


class Evening:
    """A chat of which each reply is recalled for; by exchange what came by itself."""

    def __init__(self, stage: Stage, push: Push, **ask: Any) -> None:
        self.stage, self.push, self.ask = stage, push, ask
        self.messages = [line("m0", "good evening", Role.CHARACTER)]

    async def play(self, exchanges: int = EXCHANGES) -> dict[int, Recalled]:
        await self.stage.soul(push=self.push, restraint=2.0)
        for text in TEXTS:
            await self.stage.note(text, importance=0.4)
        out = {}
        for number in range(exchanges):
            self.messages.append(line(f"u{number}", "well, well"))
            await self.stage.sync("c1", self.messages)
            answer = await self.recall(f"r{number}")
            if pushed(answer):
                out[number] = answer
                assert pushed(await self.recall(f"r{number}")) == pushed(answer)
            self.messages.append(line(f"r{number}", "hm", Role.CHARACTER))
        return out

    async def recall(self, slot: str, **more: Any) -> Recalled:
        ask = {"slot": SlotId(slot), "swipe": 0} | self.ask | more
        return await self.stage.recall(None, "c1", **ask)  # type: ignore[arg-type]


def pushed(answer: Recalled) -> list[str]:
    return [memory.text for memory in answer.memories if memory.pushed]


@pytest.mark.parametrize(("push", "gap"), [(Push.RARE, 20), (Push.OFTEN, 8)])
async def test_one_memory_comes_now_and_then_with_a_reason_and_in_a_block(
    stage: Stage, push: Push, gap: int
) -> None:
    came = await Evening(stage, push).play()
    numbers = list(came)
    assert len(numbers) >= 2
    assert all(b - a >= gap for a, b in pairwise(numbers))
    for answer in came.values():
        (text,) = pushed(answer)
        assert text in TEXTS
        (memory,) = [memory for memory in answer.memories if memory.pushed]
        assert "by itself" in memory.why
        assert any(text in block.text for block in answer.blocks)


async def test_the_same_chat_brings_the_same_after_a_restart(stage: Stage) -> None:
    evening = Evening(stage, Push.OFTEN)
    came = await evening.play(30)
    number, answer = next(iter(came.items()))
    other = Stage()
    await other.start()
    again = await Evening(other, Push.OFTEN).play(30)
    assert list(again) == list(came)
    await other.stop()
    assert pushed(answer)
    assert number < 30


@pytest.mark.parametrize(
    "ask",
    [
        {"type": RecallType.QUIET},
        {"type": RecallType.SWIPE},
        {"slot": None, "swipe": None},
        {"mood": Emotion("anger", 0.6)},
        {"context_texts": tuple(TEXTS)},
    ],
)
async def test_none_comes_where_none_may(stage: Stage, ask: dict[str, Any]) -> None:
    assert await Evening(stage, Push.OFTEN, **ask).play(30) == {}


async def test_none_comes_where_it_is_off_or_all_is_permanent(stage: Stage) -> None:
    assert await Evening(stage, Push.OFF).play(30) == {}
    for memory in await stage.listed():
        if memory.text in TEXTS:
            change = MemoryPatch(permanent=True)
            await stage.engine.memories.patch(ME, memory.id, change)
    counts = (await stage.engine.roulette.draws(ME, SoulId("s1"), 500, 1)).counts
    listed = {memory.id: memory for memory in await stage.listed()}
    assert counts
    assert not any(listed[key].permanent for key in counts)


async def test_a_moment_missed_while_moved_is_made_up_for(stage: Stage) -> None:
    calm = await Evening(stage, Push.OFTEN).play(30)
    first = next(iter(calm))
    other = Stage()
    await other.start()
    evening = Evening(other, Push.OFTEN)
    asked = evening.recall

    async def moved(slot: str, **more: Any) -> Recalled:
        if slot == f"r{first}":
            more["mood"] = Emotion("anger", 0.9)
        return await asked(slot, **more)

    evening.recall = moved  # type: ignore[method-assign]
    came = await evening.play(30)
    assert next(iter(came)) == first + 1
    await other.stop()


async def test_the_roulette_counts_every_draw_and_is_seeded(stage: Stage) -> None:
    await stage.soul()
    for number, text in enumerate(TEXTS):
        await stage.note(text, importance=0.1 + 0.4 * number)

    async def draws(seed: int) -> dict[str, int]:
        found = await stage.engine.roulette.draws(ME, SoulId("s1"), 3000, seed)
        assert set(found.counts) == set(found.weights)
        return {str(key): count for key, count in found.counts.items()}

    first = await draws(1)
    assert sum(first.values()) == 3000
    assert first == await draws(1)
    assert first != await draws(2)
    with pytest.raises(NotFound):
        await stage.engine.roulette.draws(ME, SoulId("nobody"), 1, 1)
    await stage.soul("s2")
    assert (await stage.engine.roulette.draws(ME, SoulId("s2"), 5, 1)).counts == {}


async def test_what_was_withheld_may_come_by_itself(stage: Stage) -> None:
    """With texts of the prompt to compare with, as SillyTavern sends them."""
    card = ("Mira keeps the lantern house.",)
    came = await Evening(stage, Push.OFTEN, context_texts=card).play(24)
    assert len(came) >= 2
    assert all(answer.withheld for answer in came.values())
