"""What the engine asks of the place where jobs wait: records and what they work on, kept over a restart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from soulmem.domain.ids import Owner, SoulId


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job as it is kept; `arguments` and `result` hold what JSON can say."""

    job: str
    owner: Owner
    soul: SoulId
    kind: str
    state: str  # queued, running, done, failed, cancelled
    arguments: Mapping[str, Any] = field(default_factory=dict)
    result: Any = None
    error: str | None = None


class Spool(Protocol):
    """Jobs and their payloads. Every method may raise StoreError; a failed write changed nothing."""

    async def records(self) -> list[JobRecord]:
        """Every job that is kept, oldest first."""

    async def put(self, record: JobRecord, payload: bytes | None = None) -> None:
        """Keep a job durably, with what it works on if that is given."""

    async def payload(self, job: str) -> bytes:
        """What the job works on; empty when there is nothing."""

    async def drop_payload(self, job: str) -> None:
        """It is no longer needed."""

    async def drop(self, job: str) -> None:
        """Forget the job altogether; an unknown one is ignored."""
