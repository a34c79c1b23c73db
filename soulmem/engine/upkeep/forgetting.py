"""Chooses memories to forget and moves them into the bin, from where they can come back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from soulmem.domain.audit import Actor
from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.runtime.jobs import JobKind, JobRun
from soulmem.engine.upkeep.prunable import (
    due_texts,
    still_due,
    unlinked_concepts,
)
from soulmem.engine.upkeep.surplus import least_weighted, still_surplus
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World

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
                    await self.services.auditor.carry_out(
                        token, world, mind, change, author
                    )
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
