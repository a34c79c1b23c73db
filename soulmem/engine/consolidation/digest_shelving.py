"""Has the store keep digests in less room: they seldom change, and each day adds one for ever."""

from __future__ import annotations

from collections.abc import Iterable

from soulmem.domain.ids import MemoryId
from soulmem.engine.consolidation.digest_plan import digests_of
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World


class DigestShelving:
    """Moves digests without links onto the shelf. Callers must not hold `World.writing`."""

    def __init__(self, services: Services) -> None:
        self._store = services.store
        self._compute = services.compute
        self._attempts = services.attempts

    async def run_idle(self, worlds: Iterable[World]) -> None:
        """In Idle: shelve the digests of every open soul. Of partly loaded souls the links are not all known."""
        await self._attempts.with_minds("shelving", worlds, self._shelve)

    async def _shelve(self, world: World, mind: Mind) -> None:
        if not mind.residency.whole:
            return
        async with world.writing:
            if world.minds.get(mind.soul.id) is mind:
                digests = await self._compute.run(_unlinked_digests, mind)
                await self._store.shelve(world.owner, mind.soul.id, digests)


@compute_only
def _unlinked_digests(mind: Mind) -> list[MemoryId]:
    """Digests that nothing protects and that have no edges."""
    return [
        memory.id
        for memory in digests_of(mind)
        if not (memory.permanent or memory.locked or mind.edges_of(memory.id))
    ]
