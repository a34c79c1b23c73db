"""Storage of usage and deferred input: read once at the start, written whenever they change."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from datetime import datetime

from soulmem.domain.errors import SoulMemError
from soulmem.domain.ids import Owner, SoulId
from soulmem.domain.llm_usage import SoulLlmUsage
from soulmem.engine.llm.retry import Deferrals
from soulmem.engine.llm.trust import ModelTrust
from soulmem.engine.llm.usage import UsageLedger
from soulmem.ports.store import Store

log = logging.getLogger(__name__)


@dataclass(kw_only=True, eq=False)
class UsagePersistence:
    """Stores a usage ledger, deferrals and the trust in models. Event loop only; it writes in the background."""

    store: Store
    usage: UsageLedger
    deferrals: Deferrals
    trust: ModelTrust

    def __post_init__(self) -> None:
        self._changed: dict[tuple[Owner, SoulId], None] = {}
        self._writer: asyncio.Task[None] | None = None

    async def open(self, current_time: datetime) -> None:
        """Load what is stored, then store every change. Raises StoreError."""
        for owner in await self.store.owners():
            for books in await self.store.llm_usage(owner):
                # After the clock was set back, usage from the future must not count until then.
                past = [entry for entry in books.late if entry[0] <= current_time]
                self.usage.restore(owner, books.soul, books.totals, past)
                self.deferrals.restore(owner, books.soul, books.parked)
                self.trust.restore(owner, books.soul, books.right_answers)
        self.usage.on_change = self.deferrals.on_change = self._mark_changed
        self.trust.on_change = self._mark_changed

    async def stop(self) -> None:
        """Wait until all changes are stored."""
        if self._writer is not None:
            await asyncio.gather(self._writer, return_exceptions=True)

    def _mark_changed(self, owner: Owner, soul: SoulId) -> None:
        self._changed[owner, soul] = None
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._save())

    async def _save(self) -> None:
        while self._changed:
            owner, soul = next(iter(self._changed))
            del self._changed[owner, soul]
            books = SoulLlmUsage(
                soul,
                self.usage.totals(owner, soul),
                self.usage.recent(owner, soul),
                tuple(self.deferrals.of_soul(owner, soul)),
                self.trust.of_soul(owner, soul),
            )
            try:
                await self.store.put_llm_usage(owner, books)
            except SoulMemError as error:
                # For example a full disk: the next change writes the whole record again.
                log.warning("the books of a soul could not be stored: %s", error.message)
