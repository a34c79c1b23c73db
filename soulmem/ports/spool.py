"""Port: jobs and their payloads, kept over a restart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from soulmem.domain.ids import Owner, SoulId
from soulmem.domain.phrases import Wording


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A stored job; `arguments` and `result` hold JSON values."""

    job: str
    owner: Owner
    soul: SoulId
    kind: str
    state: str  # queued, running, done, failed, cancelled
    arguments: Mapping[str, Any] = field(default_factory=dict)
    result: Any = None
    error: Wording | None = None


class Spool(Protocol):
    """Stored jobs. Every method may raise StoreError; a failed write changes nothing."""

    async def records(self) -> list[JobRecord]:
        """All stored jobs, oldest first."""

    async def put(self, record: JobRecord, payload: bytes | None = None) -> None:
        """Store a job durably, with its payload if given."""

    async def payload(self, job: str) -> bytes:
        """Payload of the job; empty when there is none."""

    async def drop_payload(self, job: str) -> None:
        """Delete the job's payload."""

    async def drop(self, job: str) -> None:
        """Delete the job; an unknown one is ignored."""
