"""How do the books and what is parked survive a restart? Stored as they change, read once at the start."""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime

from soulmem.domain.books import SoulBooks
from soulmem.domain.errors import SoulMemError
from soulmem.domain.ids import Owner, SoulId
from soulmem.engine.llm.retry import Deferrals
from soulmem.engine.llm.usage import UsageLedger
from soulmem.ports.store import Store

log = logging.getLogger(__name__)


class UsagePersistence:
    """Keeps a ledger and what is parked. On the event loop alone; nobody waits for a write."""

    def __init__(self, store: Store, ledger: UsageLedger, parking: Deferrals) -> None:
        self._store = store
        self._ledger = ledger
        self._deferrals = parking
        self._changed: dict[tuple[Owner, SoulId], None] = {}
        self._task: asyncio.Task[None] | None = None

    async def open(self, now: datetime) -> None:
        """Read what is stored, and store what changes from now on. Raises StoreError."""
        for owner in await self._store.owners():
            for books in await self._store.books(owner):
                # A clock that was set back must not let the hour of tomorrow count until then.
                late = ((at, spent) for at, spent in books.late if at <= now)
                self._ledger.take(owner, books.soul, books.totals, late)
                self._deferrals.take(owner, books.soul, books.parked)
        self._ledger.on_change = self._deferrals.on_change = self._note

    async def stop(self) -> None:
        """Store what has not been yet."""
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    def _note(self, owner: Owner, soul: SoulId) -> None:
        self._changed[owner, soul] = None
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._save())

    async def _save(self) -> None:
        while self._changed:
            owner, soul = next(iter(self._changed))
            del self._changed[owner, soul]
            totals, late = (
                self._ledger.totals(owner, soul),
                self._ledger.late(owner, soul),
            )
            books = SoulBooks(
                soul, totals, late, tuple(self._deferrals.of(owner, soul))
            )
            try:
                await self._store.put_books(owner, books)
            except (
                SoulMemError
            ) as error:  # a full disk; they are written whole with the next call
                log.warning(
                    "the books of a soul could not be stored: %s", error.message
                )
