"""Repairs of opened souls that are in memory but not stored yet, because the disk is
full or read-only.
"""

from __future__ import annotations

import logging

from soulmem.domain.errors import StoreFull, StoreReadOnly
from soulmem.domain.ids import SoulId
from soulmem.engine.runtime.write_lock import WriteToken
from soulmem.ports.store import Change, Store

log = logging.getLogger(__name__)


class PendingWrites:
    """Changes that wait for disk space, by soul, in order."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: dict[SoulId, list[Change]] = {}

    def __contains__(self, soul: SoulId) -> bool:
        return soul in self._waiting

    async def commit(self, token: WriteToken, soul: SoulId, change: Change) -> None:
        """Store the repair of a soul that is being opened, or keep it until it can be stored."""
        waiting = self._waiting.get(soul, [])
        if not waiting:
            try:
                await self._store.commit(change)
                return
            except (StoreFull, StoreReadOnly) as error:
                log.warning(
                    "soul %s is read as it should be, and mended later: %s",
                    soul,
                    error.message,
                )
        self._waiting[soul] = [*waiting, change]

    async def catch_up(self, token: WriteToken, soul: SoulId) -> None:
        """Store the waiting changes before any other change of the soul. Raises StoreError."""
        while waiting := self._waiting.get(soul, []):
            await self._store.commit(waiting[0])
            if len(waiting) > 1:
                self._waiting[soul] = waiting[1:]
            else:
                del self._waiting[soul]

    def forget(self, soul: SoulId) -> None:
        """Drop the waiting changes of a soul that is unloaded: opening it repairs it again."""
        self._waiting.pop(soul, None)
