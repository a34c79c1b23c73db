"""Schedules backups of the store: once a day in Idle, and on request."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from soulmem.domain.errors import StoreError, Unprocessable
from soulmem.domain.phrases import Wording, phrase
from soulmem.engine.runtime.jobs import JobKind, JobRun
from soulmem.engine.world.services import Services
from soulmem.ports.backups import Backups

log = logging.getLogger(__name__)

_INTERVAL = timedelta(days=1)
_NOT_SUPPORTED = phrase(
    "backups_by_server",
    "this store keeps no backups: a server's own tools do, and a file of each soul can be exported",
)


@dataclass(kw_only=True, eq=False)
class BackupSchedule:
    """Makes backups. A failed one becomes a note for the user and stops nothing else."""

    services: Services
    backups: Backups | None
    daily: bool = True

    def __post_init__(self) -> None:
        self._note: Wording | None = None

    def job_kinds(self) -> tuple[JobKind, ...]:
        """The jobs that this service runs."""
        return (JobKind("backup", self._work),)

    def notes(self) -> list[Wording]:
        """Why the last backup was not made, if it failed."""
        return [] if self._note is None else [self._note]

    async def run_idle(self) -> None:
        """Make today's backup, unless there is one. One with a date in the future does not count."""
        if self.backups is None or not self.daily:
            return
        current_time = self.services.clock.now()
        try:
            last = await self.backups.last(current_time)
            if last is None or current_time - last >= _INTERVAL:
                await self._make(self.backups)
        except StoreError as error:
            log.warning("%s", error.message)

    async def _work(self, run: JobRun) -> dict[str, Any]:
        if self.backups is None:
            raise Unprocessable(_NOT_SUPPORTED)
        run.report(0, 1, "backups")
        path = await self._make(self.backups)
        run.report(1, 1, "backups")
        return {"file": path}

    async def _make(self, backups: Backups) -> str:
        try:
            path = await backups.make(self.services.clock.now())
        except StoreError as error:
            self._note = error.wording
            raise
        self._note = None
        return path
