"""The audit of changes: entries of a soul, the history of a memory, and undo."""

from __future__ import annotations

from datetime import datetime

from soulmem.domain.audit import AuditQuery
from soulmem.domain.errors import Unprocessable, no_memory
from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.domain.phrases import phrase
from soulmem.engine.editing.fact_views import mind_with
from soulmem.engine.editing.undo import Undo, UndoResult
from soulmem.engine.world.audit import AuditPage
from soulmem.engine.world.services import Services


class History:
    """Reads the audit of all owners and undoes changes by it."""

    def __init__(self, services: Services) -> None:
        self._world_of = services.world_of
        self._auditor = services.auditor
        self._undo = Undo(services)

    async def audit(
        self,
        owner: Owner,
        soul: SoulId,
        since: datetime | None,
        limit: int,
        cursor: str | None,
    ) -> AuditPage:
        """Entries of a soul, newest first. Raises NotFound."""
        world = await self._world_of(owner)
        world.soul(soul)
        return await self._auditor.page_with_undone(
            owner, AuditQuery(soul, since=since, before=cursor, limit=limit)
        )

    async def of_memory(
        self, owner: Owner, memory: MemoryId, limit: int, cursor: str | None
    ) -> AuditPage:
        """Entries of a memory, newest first; also of a purged one. Raises NotFound."""
        await self._world_of(owner)
        page = await self._auditor.page_with_undone(
            owner, AuditQuery(target=memory, before=cursor, limit=limit)
        )
        if not page.entries and cursor is None:
            await self._check_exists(owner, memory)
        return page

    async def undo(
        self,
        owner: Owner,
        soul: SoulId,
        *,
        since: datetime | None,
        change: str | None,
        job: str | None,
    ) -> UndoResult:
        """Undo automatic changes: all since a moment, one, or those of a job.

        Raises NotFound, and Unprocessable unless exactly one of the three is given.
        """
        if sum(choice is not None for choice in (since, change, job)) != 1:
            raise Unprocessable(
                phrase(
                    "undo_what",
                    "say what to undo: exactly one of `since`, `change` and `job`",
                ),
                field="since",
            )
        world = await self._world_of(owner)
        world.soul(soul)
        return await self._undo.undo(world, soul, since=since, change=change, job=job)

    async def _check_exists(self, owner: Owner, memory: MemoryId) -> None:
        """Raises NotFound for a memory that no soul has."""
        mind = await mind_with(await self._world_of(owner), memory)
        if memory not in mind.memories:
            raise no_memory(memory, field="id")
