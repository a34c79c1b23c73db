"""How are texts read that were stored before anybody looked for concepts and names? In quiet moments."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from weakref import WeakSet

import numpy as np

from soulmem.conversation.episodes import own_feelings, said, with_feelings
from soulmem.conversation.text_analysis import TextAnalysis, read
from soulmem.domain.edges import TEXTS
from soulmem.domain.memories import Memory, Origin
from soulmem.domain.situation import Emotion, ParticipantKind
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.propagation.linker import Steps
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.world.world import World
from soulmem.graph.association import MEMORY_KINDS
from soulmem.language.feelings import feelings

_ROWS = 500  # looked at in one go: some 10 ms
_TEXTS = 50  # read and written in one go
_KINDS = tuple(MEMORY_KINDS.index(kind) for kind in TEXTS)


class Rereader:
    """Looks through every soul once. Whoever asks does not hold `World.writing`."""

    def __init__(self, compute: Worker) -> None:
        self._compute = compute
        self._done: WeakSet[Mind] = WeakSet()

    async def rest(self, worlds: Iterable[World]) -> None:
        """Read what is unread in the open souls that were not looked through yet.

        A soul of which only parts are loaded is left alone: to link every text all of its edges are needed.
        """
        for world in worlds:
            for mind in list(world.minds.values()):
                if mind not in self._done and mind.residency.whole:
                    await self._look_through(world, mind)
                    self._done.add(mind)

    async def _look_through(self, world: World, mind: Mind) -> None:
        start = 0
        while start < mind.size:
            unread = await self._compute.run(_unread, mind, start, start + _ROWS)
            for index in range(0, len(unread), _TEXTS):
                await self._read(world, mind, unread[index : index + _TEXTS])
            start += _ROWS

    async def _read(self, world: World, mind: Mind, memories: Sequence[Memory]) -> None:
        analyses = await asyncio.to_thread(
            lambda: [read(said(memory)) for memory in memories]
        )
        async with world.writing as token:
            if world.minds.get(mind.soul.id) is not mind:
                return
            put = tuple(
                new
                for memory, analysis in zip(memories, analyses, strict=True)
                if (new := reread(memory, mind.soul.name, analysis)) != memory
                and mind.memories.get(memory.id) == memory
            )
            if put:
                change = await world.linker.with_mentions(
                    token, mind, MindChange(put_memories=put)
                )
                await world.carry_out(token, mind, Steps([change]))


def reread(memory: Memory, soul_name: str, analysis: TextAnalysis) -> Memory:
    """The memory with what its text tells, where it had nothing of that, and with feelings where they belong:
    those of others were once written down as the soul's own. What the user wrote there stays.
    """
    if not (memory.terms or memory.names):
        memory = replace(memory, terms=analysis.terms, names=analysis.names)
    analysed = memory.situation
    if not _has_feelings_of_others(memory) or analysed.emotions != every_feeling(
        memory
    ):
        return memory
    participants = with_feelings(analysed.participants, soul_name, analysis)
    own = own_feelings(participants, False, soul_name, analysis)
    return replace(
        memory, situation=replace(analysed, participants=participants, emotions=own)
    )


def every_feeling(memory: Memory) -> tuple[Emotion, ...]:
    """The feelings in the text, whoever has them."""
    return tuple(Emotion(*emotion) for emotion in feelings(said(memory)))


def _has_feelings_of_others(memory: Memory) -> bool:
    """Whether somebody else speaks, and yet the soul feels something."""
    first = next(iter(memory.situation.participants), None)
    others = first is not None and first.kind is ParticipantKind.OTHER
    return memory.origin is Origin.CHAT and others and bool(memory.situation.emotions)


def _unread(mind: Mind, start: int, stop: int) -> list[Memory]:
    """The texts in these rows that tell of nothing so far, or give the soul what another feels; a model's
    words do not count as said.
    """
    kinds = mind.columns.kind[start : min(stop, mind.size)]
    unread = []
    for row in start + np.flatnonzero(np.isin(kinds, _KINDS)):
        key = mind.frame().rows.id(int(row))
        memory = mind.memories.get(key) if key is not None else None
        if memory is None or memory.kind not in TEXTS or memory.origin is Origin.MODEL:
            continue
        if not (memory.terms or memory.names) or _has_feelings_of_others(memory):
            unread.append(memory)
    return unread
