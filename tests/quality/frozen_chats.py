"""How well two short chats recall what a line calls for, and keep silent where it calls for nothing.

    python -m tests.quality.frozen_chats

The chats, their cues and their small talk were written for this test and stay as they are, so that a change of
recall shows. The encoder that comes along reads them, and the last twelve messages are in the prompt.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.domain.soul import KnownName, SoulSettings
from soulmem.engine.api.requests import RecallRequest, RecallType
from soulmem.engine.api.results import Recalled
from soulmem.engine.params import EngineParams
from soulmem.engine.recall.context import RecallParams
from tests.engine.reflexes import PACKAGED
from tests.engine.stage import ME, Stage, line

CHATS = ("orchard_en", "book_shop_zh")
WAYS = ("asked", "said")  # the line as a query; the line in the chat, and no query
_WINDOW = 12  # messages in the prompt
_SOUL = SoulId("s1")
_PATIENT = EngineParams(rest_by_itself=False, recall=RecallParams(time_budget_ms=20_000))


@dataclass(frozen=True, slots=True)
class Cue:
    """A line of the player, and the slots of the messages that it calls for."""

    text: str
    evidence: frozenset[SlotId]


@dataclass(frozen=True, slots=True)
class FrozenChat:
    """A chat of one character, with lines that call for a memory and lines that call for none."""

    name: str
    character: str
    persona: str
    names: tuple[str, ...]
    messages: tuple[SentMessage, ...]
    cues: tuple[Cue, ...]
    small_talk: dict[str, tuple[str, ...]]  # short and long


@cache
def load(name: str) -> FrozenChat:
    """One of `CHATS`, from the file beside this module."""
    path = Path(__file__).with_name(f"{name}.json")
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    messages = []
    for number, message in enumerate(data["messages"], 1):
        role, speaker = Role(message["role"]), message["speaker"]
        messages.append(line(f"m{number}", message["text"], role, speaker=speaker))
    cues = []
    for cue in data["cues"]:
        slots = frozenset(SlotId(f"m{number}") for number in cue["evidence"])
        cues.append(Cue(cue["text"], slots))
    return FrozenChat(
        name=name,
        character=data["character"],
        persona=data["persona"],
        names=tuple(data["names"]),
        messages=tuple(messages),
        cues=tuple(cues),
        small_talk={kind: tuple(lines) for kind, lines in data["small_talk"].items()},
    )


class Reading:
    """A chat that a character has read, and whom one asks."""

    def __init__(self, stage: Stage, chat: FrozenChat) -> None:
        self._stage = stage
        self.chat = chat
        self._first_in_prompt = chat.messages[-_WINDOW].slot

    def way(self, name: str) -> Callable[[str], Awaitable[Recalled]]:
        """How a line is brought up: one of `WAYS`."""
        return {"asked": self.asked, "said": self.said}[name]

    async def asked(self, text: str) -> Recalled:
        """The recall for `text` as a query."""
        return await self._recall(text)

    async def said(self, text: str) -> Recalled:
        """The recall for the reply to `text`, after it was said in the chat."""
        said = line("said", text, Role.USER, speaker=self.chat.persona)
        await self._stage.sync("c1", [*self.chat.messages, said])
        return await self._recall(None)

    async def _recall(self, query: str | None) -> Recalled:
        request = RecallRequest(
            _SOUL,
            ChatId("c1"),
            query=query,
            type=RecallType.QUIET,  # nothing is learned: each line comes as the first
            context_from=self._first_in_prompt,
        )
        return await self._stage.engine.recaller.recall(ME, request)


@asynccontextmanager
async def reading(name: str, restraint: float) -> AsyncIterator[Reading]:
    """The chat of that name, read, with all its vectors, by a character of that restraint."""
    chat = load(name)
    stage = Stage(judges_lines=True, fallback=PACKAGED, params=_PATIENT)
    await stage.start()
    try:
        names = tuple(KnownName(other) for other in chat.names)
        settings = SoulSettings(restraint=restraint)
        await stage.engine.souls.put(ME, _SOUL, chat.character, names, settings)
        await stage.sync("c1", chat.messages)
        await stage.engine.idle.run()
        yield Reading(stage, chat)
    finally:
        await stage.stop()


def share_recalled(answer: Recalled, evidence: frozenset[SlotId]) -> float:
    """0..1, how much of the evidence the answer holds."""
    slots = set[SlotId]()
    for memory in answer.memories:
        slots.update(place.slot for place in memory.sources)
    return len(slots & evidence) / len(evidence)


def is_silent(answer: Recalled) -> float:
    """1 where nothing goes into the prompt, 0 else."""
    return float(not answer.blocks)


async def recalled(read: Reading, way: str) -> float:
    """0..1, the share of the evidence of the cues among the memories that come; `way` is one of `WAYS`."""
    recall = read.way(way)
    answers = [(await recall(cue.text), cue.evidence) for cue in read.chat.cues]
    return _mean([share_recalled(*answer) for answer in answers])


async def silence(read: Reading, way: str, kind: str) -> float:
    """0..1, the share of the short or long small talk that brings nothing; `way` is one of `WAYS`."""
    recall = read.way(way)
    return _mean([is_silent(await recall(text)) for text in read.chat.small_talk[kind]])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


async def _print_all() -> None:
    for name in CHATS:
        for restraint in (0.0, 1.0, 2.0):
            async with reading(name, restraint) as read:
                await _print(read, restraint)


async def _print(read: Reading, restraint: float) -> None:
    for way in WAYS:
        figures = {"recall": await recalled(read, way)}
        for kind in read.chat.small_talk:
            figures[f"{kind} silent"] = await silence(read, way, kind)
        cells = (f"{figure} {value:.3f}" for figure, value in figures.items())
        print(read.chat.name, f"restraint {restraint:g}", way, *cells, sep="  ")


if __name__ == "__main__":
    asyncio.run(_print_all())
