"""Closes souls that nobody uses, so that only what is in use takes memory and open files.

A closed soul is opened again by the next request for it. Once a day, closed souls are
opened for the Idle work of that round: bins are emptied and digests made in time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from soulmem.domain.ids import SoulId
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.jobs import Jobs
from soulmem.engine.runtime.write_lock import WriteToken
from soulmem.engine.vectors.embedder import EmbeddingService
from soulmem.engine.world.attempts import Piece
from soulmem.engine.world.services import Services
from soulmem.engine.world.snapshots import SnapshotKeeper
from soulmem.engine.world.world import World
from soulmem.kernels.memory_release import release_free_memory


@dataclass(frozen=True, slots=True)
class ClosingParams:
    """When souls are closed."""

    # Seconds without use; 0: never. Longer than the pauses of an evening with one
    # character, as a large soul takes a second to open.
    after: float = 1800.0
    look_after: float = 86_400.0  # seconds closed until the next Idle work on the soul


@dataclass(kw_only=True, eq=False)
class SoulClosing:
    """Closes souls in Idle. Callers must not hold `World.writing`."""

    services: Services
    embedding: EmbeddingService
    snapshots: SnapshotKeeper
    jobs: Jobs
    params: ClosingParams

    async def open_due(self, worlds: Iterable[World]) -> None:
        """Open all closed souls if one has been closed for a day, or the embedding model is to be changed.

        All at once, as vectors that nobody needs are found only where every soul is open.
        """
        worlds, least = list(worlds), self.params.look_after
        is_due = any(world.use.closed_for(least) for world in worlds)
        for world in worlds:
            if is_due or self.embedding.has_better_model:
                world.use.none_closed()
            await self.services.attempts.open_souls(world)

    async def run_idle(self, worlds: Iterable[World]) -> int:
        """Close the souls that nobody used for a while; returns how many.

        A soul is left open while a job works on it, texts are being embedded, or
        repairs of it wait for disk space.
        """
        closed = 0
        for world in worlds:
            for mind in list(world.minds.values()):
                if self._may_close(world, mind):
                    closed += bool(
                        await self.services.attempts.carry_out(
                            Piece("closing", world.owner, mind.soul.id),
                            partial(self._save_and_close, world, mind),
                            name=mind.soul.name,
                        )
                    )
        if closed:
            await self.services.store.maintain()
            await self.services.compute.run(release_free_memory)
        return closed

    async def _save_and_close(self, world: World, mind: Mind) -> bool:
        await self.snapshots.update(world, mind, last=True)
        return await self._close(world, mind)

    def _may_close(self, world: World, mind: Mind) -> bool:
        soul, after = mind.soul.id, self.params.after
        return (
            after > 0
            and world.use.unused_for(soul) >= after
            and world.minds.get(soul) is mind
            and soul not in world.pending_writes
            and self.embedding.is_quiet
            and not self.jobs.is_working_on(world.owner, soul)
        )

    async def _close(self, world: World, mind: Mind) -> bool:
        """Close the soul unless it was used meanwhile; a request that comes now waits, and opens it again."""
        async with world.writing as token:
            if not self._may_close(world, mind):
                return False
            await self._release(token, world, mind.soul.id)
        return True

    async def _release(self, token: WriteToken, world: World, soul: SoulId) -> None:
        world.close(token, soul)
        await self.embedding.tokens.release(world.owner, soul)
        await world.release_logs(world.unread_chats())
