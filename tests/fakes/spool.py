"""A spool of dictionaries."""

from __future__ import annotations

from soulmem.domain.errors import StoreError
from soulmem.ports.spool import JobRecord


class FakeSpool:
    """Keeps jobs for as long as it lives; `failure` is raised by the next write."""

    def __init__(self) -> None:
        self.kept: dict[str, JobRecord] = {}
        self.payloads: dict[str, bytes] = {}
        self.failure: StoreError | None = None

    async def records(self) -> list[JobRecord]:
        return list(self.kept.values())

    async def put(self, record: JobRecord, payload: bytes | None = None) -> None:
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure
        self.kept[record.job] = record
        if payload is not None:
            self.payloads[record.job] = payload

    async def payload(self, job: str) -> bytes:
        return self.payloads.get(job, b"")

    async def drop_payload(self, job: str) -> None:
        self.payloads.pop(job, None)

    async def drop(self, job: str) -> None:
        self.kept.pop(job, None)
        self.payloads.pop(job, None)
