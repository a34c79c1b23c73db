"""How did an answer come about? Traces of the last recalls, also of those before a restart.

What is kept on disk names memories by id: their texts are read again when a trace is asked for, so that it
never says more than the memory does. Of the words of a question those leave that are purged.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace

import msgspec

from soulmem.domain.errors import NotFound, SoulMemError
from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.engine.api.results import Trace
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.habit_lines import label
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.world.world import World
from soulmem.ports.traces import TraceLog

log = logging.getLogger(__name__)

_AT_HAND = 500  # kept whole, per sidecar
_SAID = 12  # signs from which on a text is known again inside of another


class Traces:
    """The last traces. On the event loop alone; no recall waits for a write."""

    def __init__(
        self,
        *,
        kept: TraceLog | None,
        compute: Worker,
    ) -> None:
        self._kept = kept
        self._compute = compute
        self._at_hand: OrderedDict[tuple[Owner, str], Trace] = OrderedDict()
        self._waiting: list[tuple[Owner, Trace]] = []
        self._task: asyncio.Task[None] | None = None

    def keep(self, owner: Owner, trace: Trace) -> None:
        """Take a trace in; it is written soon."""
        self._at_hand[owner, trace.id] = trace
        while len(self._at_hand) > _AT_HAND:
            self._at_hand.popitem(last=False)
        if self._kept is None:
            return
        self._waiting.append((owner, trace))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write())

    async def find(self, world: World, key: str) -> Trace:
        """The trace of that id; raises NotFound where none is kept."""
        found = self._at_hand.get((world.owner, key))
        if found is not None:
            return found
        told = (
            await self._kept.find(world.owner, key) if self._kept is not None else None
        )
        trace = None if told is None else await self._compute.run(_read, told)
        if trace is None or SoulId(trace.soul) not in world.souls:
            raise NotFound(
                f"no trace {key!r}: the last 2,000 of each soul are kept", field="trace"
            )
        mind = await world.mind(SoulId(trace.soul))
        return await self._compute.run(_worded, mind, trace)

    async def forget(
        self, owner: Owner, soul: SoulId, gone: Mapping[MemoryId, str]
    ) -> None:
        """Forget what the traces say of these memories, and the traces whose question says their text."""
        await self._written()
        for key, trace in list(self._at_hand.items()):
            if key[0] == owner and trace.soul == soul:
                left = _without(trace, gone)
                if left is None:
                    del self._at_hand[key]
                else:
                    self._at_hand[key] = left
        if self._kept is not None:
            await self._kept.alter(owner, soul, lambda told: _told_without(told, gone))

    async def drop(self, owner: Owner, soul: SoulId) -> None:
        """Forget all traces of the soul."""
        await self._written()
        for key, trace in list(self._at_hand.items()):
            if key[0] == owner and trace.soul == soul:
                del self._at_hand[key]
        if self._kept is not None:
            await self._kept.drop(owner, soul)

    async def stop(self) -> None:
        """Write what has not been yet."""
        await self._written()

    async def _written(self) -> None:
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    async def _write(self) -> None:
        while self._waiting and self._kept is not None:
            owner, trace = self._waiting.pop(0)
            told = await self._compute.run(_told, trace)
            try:
                await self._kept.add(owner, SoulId(trace.soul), trace.id, told)
            except (
                SoulMemError
            ) as error:  # a full disk: the trace is had until the sidecar stops
                log.warning("a trace could not be kept: %s", error.message)


def _told(trace: Trace) -> bytes:
    """The trace without the texts of memories. Computes."""
    answer = trace.answer
    memories = tuple(
        replace(one, text="", path=tuple(replace(step, label="") for step in one.path))
        for one in answer.memories
    )
    bare = replace(
        trace,
        considered=tuple(replace(one, text="") for one in trace.considered),
        answer=replace(answer, memories=memories, blocks=()),
    )
    return msgspec.json.encode(bare)


def _read(told: bytes) -> Trace | None:
    """The trace; None for one that another version wrote. Computes."""
    try:
        return msgspec.json.decode(told, type=Trace)
    except msgspec.MsgspecError:
        return None


def _worded(mind: Mind, trace: Trace) -> Trace:
    """The trace with the texts of its memories as they are now, without those that are gone. Computes."""

    def text(memory: MemoryId) -> str | None:
        return mind.text_of(memory) if mind.row(memory) is not None else None

    considered = []
    for one in trace.considered:
        if (words := text(one.id)) is not None:
            considered.append(replace(one, text=words))
    memories = []
    for found in trace.answer.memories:
        if (words := text(found.id)) is not None:
            steps = (
                replace(step, label=label(text(step.id) or "")) for step in found.path
            )
            memories.append(replace(found, text=words, path=tuple(steps)))
    return replace(
        trace,
        considered=tuple(considered),
        answer=replace(trace.answer, memories=tuple(memories)),
        seeds=tuple(seed for seed in trace.seeds if text(seed[0]) is not None),
    )


def _told_without(told: bytes, gone: Mapping[MemoryId, str]) -> bytes | None:
    trace = _read(told)
    left = None if trace is None else _without(trace, gone)
    if left is None or left == trace:
        return None if left is None else told
    return msgspec.json.encode(left)


def _without(trace: Trace, gone: Mapping[MemoryId, str]) -> Trace | None:
    """The trace without what it says of these memories; None where its question says one of their texts."""
    if any(_says(part, text) for part, _ in trace.query for text in gone.values()):
        return None
    answer, ids = trace.answer, gone.keys()
    memories = tuple(one for one in answer.memories if one.id not in ids)
    if len(memories) < len(answer.memories):
        answer = replace(answer, memories=memories, blocks=())
    return replace(
        trace,
        considered=tuple(one for one in trace.considered if one.id not in ids),
        answer=answer,
        seeds=tuple(seed for seed in trace.seeds if seed[0] not in ids),
    )


def _says(part: str, text: str) -> bool:
    """Whether the one says the other, whole; short words are said everywhere."""
    part, body = part.strip(), text.partition(": ")[2].strip() or text.strip()
    shorter, longer = sorted((part, body), key=len)
    return shorter == longer or (len(shorter) >= _SAID and shorter in longer)
