"""How are texts read that were stored before anybody looked for concepts and names? In quiet moments."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from weakref import WeakSet

import numpy as np

from soulmem.conversation.episodes import said
from soulmem.conversation.reading import read
from soulmem.domain.edges import TEXTS
from soulmem.domain.memories import Memory, Origin
from soulmem.engine.changes import MindChange
from soulmem.engine.linker import Steps
from soulmem.engine.mind import Mind
from soulmem.engine.worker import Worker
from soulmem.engine.world import World
from soulmem.graph.association import MEMORY_KINDS

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
            for at in range(0, len(unread), _TEXTS):
                await self._read(world, mind, unread[at : at + _TEXTS])
            start += _ROWS

    async def _read(self, world: World, mind: Mind, memories: Sequence[Memory]) -> None:
        told = await asyncio.to_thread(lambda: [read(said(memory)) for memory in memories])
        async with world.writing:
            if world.minds.get(mind.soul.id) is not mind:
                return
            put = tuple(
                replace(memory, terms=one.terms, names=one.names)
                for memory, one in zip(memories, told, strict=True)
                if (one.terms or one.names) and mind.memories.get(memory.id) == memory
            )
            if put:
                change = await world.linker.linked(mind, MindChange(put_memories=put))
                await world.carry_out(mind, Steps([change]))


def _unread(mind: Mind, start: int, stop: int) -> list[Memory]:
    """The texts in these rows that tell of nothing so far; a model's words do not count as said."""
    kinds = mind.columns.kind[start : min(stop, mind.size)]
    found = []
    for row in start + np.flatnonzero(np.isin(kinds, _KINDS)):
        key = mind.frame().rows.id(int(row))
        memory = mind.memories.get(key) if key is not None else None
        if memory is None or memory.kind not in TEXTS or memory.origin is Origin.MODEL:
            continue
        if not (memory.terms or memory.names):
            found.append(memory)
    return found
