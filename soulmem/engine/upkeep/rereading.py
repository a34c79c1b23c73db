"""Analyses stored texts again that an older version left without terms, names or feelings; in Idle."""

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
from soulmem.engine.world.attempts import Attempts
from soulmem.engine.world.world import World
from soulmem.graph.association import MEMORY_KINDS
from soulmem.language.feelings import feelings

_ROWS = 500  # rows examined at once: about 10 ms
_TEXTS = 50  # texts analysed and written at once
_KINDS = tuple(MEMORY_KINDS.index(kind) for kind in TEXTS)


class Rereader:
    """Looks through every soul once. Callers must not hold `World.writing`."""

    def __init__(self, compute: Worker, attempts: Attempts) -> None:
        self._compute = compute
        self._attempts = attempts
        self._done: WeakSet[Mind] = WeakSet()

    async def run_idle(self, worlds: Iterable[World]) -> None:
        """Analyse the unread texts of open souls that were not looked through yet.

        Partly loaded souls are skipped: linking a text needs all edges.
        """
        await self._attempts.with_minds("rereading", worlds, self._look_through)

    async def _look_through(self, world: World, mind: Mind) -> None:
        if mind in self._done or not mind.residency.whole:
            return
        start = 0
        while start < mind.size:
            unread = await self._compute.run(_unread, mind, start, start + _ROWS)
            for index in range(0, len(unread), _TEXTS):
                await self._read(world, mind, unread[index : index + _TEXTS])
            start += _ROWS
        self._done.add(mind)

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
    """The memory with its terms and names, where it had none, and with feelings
    assigned to speakers.

    Older versions assigned feelings of others to the soul. What the user wrote stays.
    """
    if not (memory.terms or memory.names):
        memory = replace(memory, terms=analysis.terms, names=analysis.names)
    analysed = memory.situation
    if not _has_feelings_of_others(memory) or analysed.emotions != all_feelings(memory):
        return memory
    participants = with_feelings(analysed.participants, soul_name, analysis)
    own = own_feelings(participants, False, soul_name, analysis)
    return replace(
        memory, situation=replace(analysed, participants=participants, emotions=own)
    )


def all_feelings(memory: Memory) -> tuple[Emotion, ...]:
    """All feelings in the text, of any participant."""
    return tuple(Emotion(*emotion) for emotion in feelings(said(memory)))


def _has_feelings_of_others(memory: Memory) -> bool:
    """Whether another participant speaks and the soul has feelings."""
    first = next(iter(memory.situation.participants), None)
    others = first is not None and first.kind is ParticipantKind.OTHER
    return memory.origin is Origin.CHAT and others and bool(memory.situation.emotions)


def _unread(mind: Mind, start: int, stop: int) -> list[Memory]:
    """Texts in these rows without terms and names, or with feelings of others; texts of
    a model are left out.
    """
    kinds = mind.columns.kind[start : min(stop, mind.size)]
    unread = []
    frame = mind.frame()
    for row in start + np.flatnonzero(np.isin(kinds, _KINDS)):
        key = frame.rows.id(int(row))
        memory = mind.memories.get(key) if key is not None else None
        if memory is None or memory.kind not in TEXTS or memory.origin is Origin.MODEL:
            continue
        if not (memory.terms or memory.names) or _has_feelings_of_others(memory):
            unread.append(memory)
    return unread
