"""Joining: tellings of one event become one memory, with all their evidence, without a language model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np

from soulmem.consolidation.tellings import (
    Fit,
    Telling,
    comparable_texts,
    events_of,
    no_vectors,
)
from soulmem.conversation.episodes import spoken
from soulmem.domain import change_reasons
from soulmem.domain.audit import Actor
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.propagation.released_tellings import with_centre
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.vectors.encoder import EncodedTexts, SituationEncoder
from soulmem.engine.views.alike_tellings import Partners, may_be_joined, telling_of
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.graph.arcs import MEMORY_KINDS

_EPISODE = MEMORY_KINDS.index(MemoryKind.EPISODE)
_PIECE = 40  # texts compared at once: some 10 ms on the compute thread
_REASON = str(change_reasons.TOLD_AGAIN)


@dataclass(frozen=True, slots=True)
class Joined:
    """What a run did: memories that were merged, and that came back."""

    merged: int = 0
    released: int = 0


class Joiner:
    """Unites tellings. Callers must not hold `World.writing`."""

    def __init__(self, services: Services, *, encoder: SituationEncoder) -> None:
        self._compute = services.compute
        self._attempts = services.attempts
        self._auditor = services.auditor
        self._encoder = encoder

    async def run_idle(self, worlds: Iterable[World], source: str) -> None:
        """In Idle: compare what came or changed in every open soul since the last time.

        `source` is the round, by which it is undone.
        """
        await self._attempts.with_minds("joining", worlds, partial(self.join, source=source))

    async def join(self, world: World, mind: Mind, source: str = "") -> Joined:
        """Unite the tellings among what was not compared yet; `source` is the job or round that asks."""
        merged = released = 0
        while keys := await self._compute.run(_next_to_compare, mind):
            groups = await self._compute.run(_groups, mind, keys)
            await self._compute.run(_set_compared, mind, _without(keys, groups))
            for group in groups:
                parts = await self._parts(mind, group)
                await self._compute.run(_set_compared, mind, _without(group, parts))
                for part in parts:
                    change = await self._join_part(world, mind, part, source)
                    await self._compute.run(_set_compared, mind, part)
                    states = [memory.state for memory in change.put_memories]
                    merged += states.count(MemoryState.MERGED)
                    released += states.count(MemoryState.ACTIVE)
        return Joined(merged, released)

    async def _parts(self, mind: Mind, keys: Sequence[MemoryId]) -> list[list[MemoryId]]:
        """These texts in parts: no text may tell the same as one of another part.

        Without the lock of the world and a few texts at a time, so that a recall need not wait for many of them.
        """
        tellings: list[Telling] = []
        for start in range(0, len(keys), _PIECE):
            piece = keys[start : start + _PIECE]
            tellings += await self._compute.run(_tellings, mind, piece)
        return await self._compute.run(_parts_of, mind, keys, tellings)

    async def _join_part(
        self, world: World, mind: Mind, keys: Sequence[MemoryId], source: str
    ) -> MindChange:
        """Join the texts that tell the same; returns the change."""
        texts = await self._compute.run(_texts, mind, keys)
        encoded = await self._encoder.encode(texts.values())
        fit = no_vectors if encoded is None else await self._fit_of(encoded, texts)
        author = ChangeAuthor(Actor.ENGINE, source=source, reason=_REASON)
        async with world.writing as token:
            if world.minds.get(mind.soul.id) is not mind:
                return MindChange()
            change = await self._auditor.carry_out_made(
                token,
                world,
                mind,
                lambda current: _change(current, keys, fit),
                author,
            )
        return change or MindChange()

    async def _fit_of(self, encoded: EncodedTexts, texts: Mapping[MemoryId, str]) -> Fit:
        keys = list(texts)
        place = {key: index for index, key in enumerate(keys)}
        rows = encoded.rows(texts.values())
        centred = await self._compute.run(encoded.calibration.centred, rows)

        def fit(first: Telling, other: Telling) -> float:
            here, there = place.get(first.key), place.get(other.key)
            if here is None or there is None:
                return float("nan")
            return float(centred[here] @ centred[there])

        return fit


@compute_only
def _next_to_compare(mind: Mind) -> list[MemoryId]:
    """Episodes that were not compared yet, in pieces."""
    columns, n = mind.columns, mind.size
    due = ~columns.compared[:n] & (columns.kind[:n] == _EPISODE)
    rows = np.flatnonzero(due & (columns.created[:n] != 0))[:_PIECE]
    return mind.ids_at(rows.tolist())


def _without(keys: Iterable[MemoryId], lists: Iterable[Iterable[MemoryId]]) -> list[MemoryId]:
    """Those of the keys that are in none of the lists."""
    listed = set(chain.from_iterable(lists))
    return [key for key in keys if key not in listed]


@compute_only
def _set_compared(mind: Mind, keys: Iterable[MemoryId]) -> None:
    """Compare these no more until they change."""
    for key in keys:
        row = mind.row(key)
        if row is not None:
            mind.columns.compared[row] = True


@compute_only
def _groups(mind: Mind, keys: Sequence[MemoryId]) -> list[list[MemoryId]]:
    """Texts to be compared with each other: each with its partners, and with whatever these are joined with.

    Texts that are in two groups make one of them. A text without a partner is in none.
    """
    partners = Partners(mind)
    group_of: dict[MemoryId, dict[MemoryId, None]] = {}
    for key in keys:
        memory = mind.memories.get(key)
        if memory is None:
            continue
        near = _joined_with(mind, [key])
        if may_be_joined(mind, memory):
            near |= _joined_with(mind, partners.of(mind.row_of(memory)))
        if len(near) < 2:
            continue
        touched = (group_of[other] for other in near if other in group_of)
        for group in {id(group): group for group in touched}.values():
            near |= group
        group_of.update(dict.fromkeys(near, near))
    groups = {id(group): group for group in group_of.values()}
    return [list(group) for group in groups.values()]


def _joined_with(mind: Mind, keys: Iterable[MemoryId]) -> dict[MemoryId, None]:
    """These memories, and all that are joined with one of them."""
    out: dict[MemoryId, None] = {}
    for key in keys:
        centre = mind.tellings.centre(key) or key
        out.update(dict.fromkeys((key, centre, *mind.tellings.merged(centre))))
    return out


@compute_only
def _tellings(mind: Mind, keys: Iterable[MemoryId]) -> list[Telling]:
    """Those of these memories that may be joined, as tellings."""
    memories = (mind.memories.get(key) for key in keys)
    return [
        telling_of(mind, memory)
        for memory in memories
        if memory is not None and may_be_joined(mind, memory)
    ]


@compute_only
def _parts_of(
    mind: Mind,
    keys: Iterable[MemoryId],
    tellings: Iterable[Telling],
) -> list[list[MemoryId]]:
    """See `Joiner._parts`: as many texts that may tell the same as there are, else `_PIECE` at most."""
    joined = ((key, centre) for key in keys if (centre := mind.tellings.centre(key)))
    parts: list[list[MemoryId]] = []
    for texts in comparable_texts(tellings, joined):
        if parts and len(parts[-1]) + len(texts) <= _PIECE:
            parts[-1] += texts
        else:
            parts.append(texts)
    return parts


@compute_only
def _texts(mind: Mind, keys: Iterable[MemoryId]) -> dict[MemoryId, str]:
    """The tellings of these memories; ids of no memory are left out."""
    memories = (mind.memories.get(key) for key in keys)
    return {memory.id: spoken(memory) for memory in memories if memory is not None}


@compute_only
def _change(mind: Mind, keys: Sequence[MemoryId], fit: Fit) -> MindChange | None:
    """What to write so that those of the memories that tell the same are joined, and no others."""
    memories = [m for m in map(mind.memories.get, keys) if m is not None]
    tellings = _tellings(mind, keys)
    centres = [t.key for t in tellings if mind.tellings.merged(t.key)]
    centre_of: dict[MemoryId, MemoryId] = {}
    for event in events_of(tellings, centres, fit):
        centre_of.update(dict.fromkeys(event.others, event.centre))
    put: list[Memory] = []
    for memory in memories:
        if memory.state in (MemoryState.ACTIVE, MemoryState.MERGED):
            new = with_centre(memory, centre_of.get(memory.id))
            if new is not memory:
                put.append(new)
    return MindChange(put_memories=tuple(put)) if put else None
