"""Linking in Idle: what kept replies recalled together is linked, without a language model (Hebb).

The region that is gone over is what was recalled of late, the worthiest of it: by
importance, recalls and recency.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from soulmem.consolidation.rehearsal import (
    RehearsalParams,
    pairs_to_link,
    rehearsal_worth,
)
from soulmem.domain import change_reasons
from soulmem.domain.audit import Actor
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryState, Origin
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World


@compute_only
def worthiest(
    mind: Mind, rows: NDArray[np.int64], extra: int, params: RehearsalParams
) -> list[MemoryId]:
    """The worthiest of the memories at these rows, best first, at most `params.memories`.

    `extra` are turns of a moved clock.
    """
    ages = mind.exchange_ages(None, extra, rows).astype(np.float64)
    uses = mind.recalls.uses(mind.size)[rows].astype(np.int64)
    value = rehearsal_worth(mind.columns.importance[rows], uses, ages, params)
    best = np.lexsort((rows, -value))[: params.memories]
    return mind.ids_at(rows[best].tolist())


_REASON = str(change_reasons.TOGETHER)


# Replies that recalled both of two memories which are linked; one may be chance.
_LEAST = 2
# Turns in which these replies lie: a new link that nothing uses falls below the floor in 208, and is not made
# again for what made it once.
_WITHIN = 200
_REHEARSAL = RehearsalParams()
_MEMORIES = 16  # of one recall that are linked with each other, the best first


@dataclass(kw_only=True, eq=False)
class CoRecallLinker:
    """Links memories. Callers must not hold `World.writing`."""

    services: Services

    def __post_init__(self) -> None:
        # The newest recall of a mind when it was last looked at.
        self._seen: WeakKeyDictionary[Mind, str] = WeakKeyDictionary()

    async def run_idle(self, worlds: Iterable[World], source: str) -> None:
        """In Idle: link what was recalled together, where there are recalls since the last time.

        `source` is the round, by which it is undone.
        """
        await self.services.attempts.with_minds(
            "linking", worlds, partial(self._link_new, source=source)
        )

    async def _link_new(self, world: World, mind: Mind, source: str) -> None:
        newest = await self.services.compute.run(_newest_recall, mind)
        if newest is not None and self._seen.get(mind) != newest:
            await self._link(world, mind, source)
            self._seen[mind] = newest

    async def _link(self, world: World, mind: Mind, source: str) -> None:
        extra = self.services.clock.extra_turns
        together = await self.services.compute.run(_recalled, mind, extra)
        keys = frozenset[MemoryId]().union(*together)
        if not keys:
            return
        await self.services.loader.complete(world.owner, mind, sorted(keys))
        current_time = self.services.clock.now()
        author = ChangeAuthor(Actor.ENGINE, source=source, reason=_REASON)
        async with world.writing as token:
            if world.minds.get(mind.soul.id) is mind:
                await self.services.auditor.carry_out_made(
                    token,
                    world,
                    mind,
                    lambda current: _links(current, together, current_time, extra),
                    author,
                )


@compute_only
def _newest_recall(mind: Mind) -> str | None:
    """The trace of the newest recall of a kept reply."""
    records = mind.recalls.records()
    return records[-1].trace if records else None


@compute_only
def _recalled(mind: Mind, extra: int) -> list[frozenset[MemoryId]]:
    """For each recent recall of a kept reply the memories of the region that it brought."""
    since = mind.lived_turns(extra) - _WITHIN
    together = []
    for record in mind.recalls.records():
        if record.stamp.turn >= since:
            brought = [t.memory for t in record.trails if _is_used(mind, t.memory)]
            together.append(frozenset(brought[:_MEMORIES]))
    recalled = sorted(frozenset[MemoryId]().union(*together))
    rows = np.asarray([mind.row_of(mind.memories[key]) for key in recalled], np.int64)
    region = frozenset(worthiest(mind, rows, extra, _REHEARSAL))
    return [brought & region for brought in together]


def _is_used(mind: Mind, key: MemoryId) -> bool:
    memory: Memory | None = mind.memories.get(key)
    return memory is not None and memory.state is MemoryState.ACTIVE


@compute_only
def _links(
    mind: Mind,
    together: Sequence[frozenset[MemoryId]],
    current_time: datetime,
    extra: int,
) -> MindChange | None:
    """New links between memories that were recalled together often enough and are not linked yet."""
    recalled_keys = frozenset[MemoryId]().union(*together)
    keys = {key for key in recalled_keys if key in mind.memories}
    joined = {frozenset((e.source, e.target)) for e in mind.edges.between(keys)}
    frequency = {}
    for key in keys:
        usage = mind.recalls.usage(key)
        if usage is not None:
            frequency[key] = usage.frequency()
    recalled = [brought & keys for brought in together]
    edges = tuple(
        Edge(
            soul=mind.soul.id,
            source=source,
            target=target,
            kind=EdgeKind.ASSOCIATES,
            origin=Origin.CHAT,
            touched=current_time,
            strength=_REHEARSAL.strength_after(recalls),
            at_turn=float(mind.lived_turns(extra)),
        )
        for (source, target), recalls in pairs_to_link(
            recalled, frequency, joined, _REHEARSAL, least=_LEAST
        ).items()
    )
    return MindChange(put_edges=edges) if edges else None
