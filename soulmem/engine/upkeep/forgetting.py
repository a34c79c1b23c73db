"""Chooses memories to forget, also those beyond what a soul keeps, and moves them into the bin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from soulmem.domain.audit import Actor
from soulmem.domain.derivations import Work
from soulmem.domain.digests import Period
from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.domain.memories import DERIVED, Memory, MemoryKind, MemoryState
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.jobs import JobKind, JobRun
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.upkeep.prunable import (
    PRUNING,
    due_texts,
    is_kept,
    still_due,
    tellings,
    turns_unused,
    unlinked_concepts,
    unprotected_rows,
)
from soulmem.engine.views.concept_activation import memory_strengths
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.graph.columns import ORIGINS
from soulmem.kernels.arrays import Bools, Float32s, Int64s
from soulmem.retrieval.weights import MemoryFactors, WeightParams, memory_weight

_EPISODE = MEMORY_KINDS.index(MemoryKind.EPISODE)
_DERIVED = [ORIGINS.index(origin) for origin in DERIVED]


@compute_only
def least_weighted(mind: Mind, extra: int, most: int) -> list[MemoryId]:
    """At most `most` of the messages beyond those that the soul keeps, the least weight first.

    What was recalled within `unused` turns comes last, as a recall of late lowers the weight (refractory), and
    what was told several times: it stands for the others.
    Anchors are not looked at. About 100 ms for 100,000 messages; a soul within its limit takes 1 ms.
    """
    searched = _searched_messages(mind)
    over = int(np.count_nonzero(searched)) - mind.soul.settings.keep
    if over <= 0:
        return []
    rows = np.flatnonzero(searched & _may_leave(mind))
    weight = _weights(mind, rows, extra)
    weight[_recalled_of_late(mind, rows, extra)] += 1.0
    weight[tellings(mind)[rows] > 1] += 1.0
    least = np.argsort(weight, kind="stable")[: min(over, most)]
    return mind.ids_at(rows[least].tolist())


@compute_only
def still_surplus(mind: Mind, keys: Sequence[MemoryId]) -> list[Memory]:
    """Those of these messages that are present, unprotected and not kept by an anchor or recalls of late.

    No more than are too many now.
    """
    searched = _searched_messages(mind)
    over = int(np.count_nonzero(searched)) - mind.soul.settings.keep
    may = searched & _may_leave(mind)
    out: list[Memory] = []
    for key in keys:
        row, memory = mind.row(key), mind.memories.get(key)
        if len(out) >= over or row is None or memory is None or not may[row]:
            continue
        if not is_kept(mind, memory):
            out.append(memory)
    return out


def _searched_messages(mind: Mind) -> Bools:
    """Rows of episodes from chats that are searched, bool[rows]."""
    n, columns = mind.size, mind.columns
    from_chats = np.isin(columns.origin[:n], _DERIVED) & (columns.kind[:n] == _EPISODE)
    return np.asarray(from_chats & columns.searched[:n])


def _may_leave(mind: Mind) -> Bools:
    """Rows that nothing protects, that say nothing of importance, and whose day a digest tells; bool[rows]."""
    light = mind.columns.importance[: mind.size] < PRUNING.importance
    return unprotected_rows(mind) & light & rows_of_digested_days(mind)


def _weights(mind: Mind, rows: Int64s, extra: int) -> Float32s:
    """The weight of each of these memories, 0..1, with no tag asked for; see `retrieval.weights`."""
    columns = mind.columns
    factors = MemoryFactors(
        importance=columns.importance[rows].astype(np.float64),
        feeling=columns.feeling[rows].astype(np.float64),
        retention=memory_strengths(mind, rows, extra),
        uses=mind.recalls.uses(mind.size)[rows].astype(np.float64),
        since_use=mind.recalls.since_use(rows, mind.lived_turns(extra)),
        content=np.zeros(rows.size),
        feedback=mind.opinions.scores(rows),
    )
    return memory_weight(factors, WeightParams().of_soul(mind.soul.settings.weights))


def _recalled_of_late(mind: Mind, rows: Int64s, extra: int) -> Int64s:
    """Places in `rows` of what was recalled within `unused` turns."""
    recalled = np.flatnonzero(mind.recalls.uses(mind.size)[rows])
    unused = turns_unused(mind, rows[recalled], extra)
    return recalled[unused < PRUNING.unused]


@compute_only
def rows_of_digested_days(mind: Mind) -> Bools:
    """The rows of messages whose day has a digest in use, bool[rows]. 20 ms for 50,000 messages."""
    told = np.zeros(mind.size, np.bool_)
    for derivation in mind.derivations:
        if derivation.work is not Work.DIGEST:
            continue
        digest = mind.memories.get(MemoryId(derivation.products[0].id))
        if digest is None or digest.state is not MemoryState.ACTIVE:
            continue
        if digest.situation.period == Period.DAY:
            rows = [mind.row(key) for key in derivation.read]
            told[[row for row in rows if row is not None]] = True
    return told


_LITTLE = "it says little, and was not recalled for long"
_UNLINKED = "no link holds it any more, and nothing named or recalled it for long"
_SURPLUS = "it weighed least of more messages than are kept ({keep}), and a digest tells its day"
_IDLE = "forget"  # source of what is forgotten in Idle
_PIECE = 200  # memories examined at once: about 20 ms
_MOST = 4000  # memories of one reason in one run: some seconds of Idle

# Of memories that may be forgotten, those that still may and should be when their turn comes
Check = Callable[[Mind, Sequence[MemoryId]], list[Memory]]


@dataclass(kw_only=True, eq=False)
class ForgettingWork:
    """Moves forgotten memories into the bin. Callers must not hold `World.writing`."""

    services: Services

    def job_kinds(self) -> tuple[JobKind, ...]:
        """The jobs that this service runs."""
        return (JobKind("forget", self._job),)

    async def run_idle(self, worlds: Iterable[World]) -> None:
        """In Idle: forget what is due in every open soul."""
        await self.services.attempts.with_minds("forgetting", worlds, self._forget)

    async def forget(self, owner: Owner, soul: SoulId, job: str = _IDLE) -> int:
        """Forget what is due in a soul; returns how many memories. Raises NotFound.

        job  the source of the changes in the audit; undoing that source brings the memories back
        """
        world = await self.services.world_of(owner)
        world.soul(soul)
        return await self._forget(world, await world.mind(soul), job)

    async def _job(self, run: JobRun) -> dict[str, int]:
        job = run.record.job
        return {"forgotten": await self.forget(run.owner, run.soul, job)}

    async def _forget(self, world: World, mind: Mind, source: str = _IDLE) -> int:
        """Forget what is due; returns how many memories.

        Partly loaded souls are skipped: the links of their memories are not all known.
        """
        if mind.soul.settings.forgetting <= 0.0 or not mind.residency.whole:
            return 0
        extra = self.services.clock.extra_turns
        due = partial(still_due, extra=extra)
        much = _SURPLUS.format(keep=mind.soul.settings.keep)
        run = self.services.compute.run
        texts = await run(due_texts, mind, extra)
        by = partial(ChangeAuthor, Actor.ENGINE, source)
        count = await self._bin(world, mind, texts[:_MOST], due, by(_LITTLE))
        concepts = await run(unlinked_concepts, mind, extra)
        count += await self._bin(world, mind, concepts[:_MOST], due, by(_UNLINKED))
        light = await run(least_weighted, mind, extra, _MOST)
        return count + await self._bin(world, mind, light, still_surplus, by(much))

    async def _bin(
        self,
        world: World,
        mind: Mind,
        suspected: Sequence[MemoryId],
        check: Check,
        author: ChangeAuthor,
    ) -> int:
        """Put those of the suspected memories into the bin that the check leaves; returns how many."""
        count = 0
        for start in range(0, len(suspected), _PIECE):
            piece = suspected[start : start + _PIECE]
            async with world.writing as token:
                # Unloaded, or opened again
                if world.minds.get(mind.soul.id) is not mind:
                    return count
                due = await self.services.compute.run(check, mind, piece)
                if due:
                    joined = await self.services.compute.run(_joined, mind, due)
                    put = tuple(map(_forgotten, (*due, *joined)))
                    change = MindChange(put_memories=put)
                    await self.services.auditor.carry_out(token, world, mind, change, author)
                    alone = await self.services.compute.run(_unlinked, mind, put)
                    await self.services.store.shelve(world.owner, mind.soul.id, alone)
                    count += len(due)
        return count


@compute_only
def _joined(mind: Mind, memories: Iterable[Memory]) -> list[Memory]:
    """The tellings that these memories stand for: they are forgotten with them."""
    keys = (key for memory in memories for key in mind.tellings.merged(memory.id))
    return mind.memories.many(keys)


@compute_only
def _unlinked(mind: Mind, memories: Iterable[Memory]) -> list[MemoryId]:
    """Those of these memories that are messages and have no edges."""
    episodes = (m.id for m in memories if m.kind is MemoryKind.EPISODE)
    return [key for key in episodes if not mind.edges_of(key)]


def _forgotten(memory: Memory) -> Memory:
    revision = memory.revision + 1
    return replace(memory, state=MemoryState.FORGOTTEN, revision=revision)
