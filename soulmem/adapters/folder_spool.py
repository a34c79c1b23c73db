"""A job spool in a folder: one JSON file for each job, and a file with its payload."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from soulmem.adapters.disk_files import folder_error, replace_file
from soulmem.domain.foreign_json import read_json
from soulmem.domain.ids import Owner, SoulId
from soulmem.domain.phrases import Wording
from soulmem.ports.spool import JobRecord


class FolderSpool:
    """Jobs in a folder, which is created with the first one. Files that are not records are not touched."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def records(self) -> list[JobRecord]:
        """See `Spool`."""
        return await asyncio.to_thread(self._records)

    async def put(self, record: JobRecord, payload: bytes | None = None) -> None:
        """See `Spool`. The payload is written first, so that no record lacks it."""
        await asyncio.to_thread(self._put, record, payload)

    async def payload(self, job: str) -> bytes:
        """See `Spool`."""
        return await asyncio.to_thread(self._payload, job)

    async def drop_payload(self, job: str) -> None:
        """See `Spool`."""
        await asyncio.to_thread(self._unlink, f"{job}.data")

    async def drop(self, job: str) -> None:
        """See `Spool`."""
        await asyncio.to_thread(self._unlink, f"{job}.json")
        await asyncio.to_thread(self._unlink, f"{job}.data")

    def _records(self) -> list[JobRecord]:
        records = []
        for path in sorted(self._folder.glob("*.json")):  # ids sort by creation time
            with suppress(OSError, ValueError, KeyError, TypeError):
                records.append(_record(read_json(path.read_bytes())))
        return records

    def _put(self, record: JobRecord, payload: bytes | None) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if payload is not None:
                replace_file(self._folder / f"{record.job}.data", payload)
            row = json.dumps(_row(record)).encode()
            replace_file(self._folder / f"{record.job}.json", row)
        except OSError as error:
            if payload is not None:
                self._unlink(f"{record.job}.data")
            raise folder_error(self._folder, error) from error

    def _payload(self, job: str) -> bytes:
        try:
            return (self._folder / f"{job}.data").read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise folder_error(self._folder, error) from error

    def _unlink(self, name: str) -> None:
        with suppress(OSError):  # a file that cannot be removed does no harm
            (self._folder / name).unlink()


def _row(record: JobRecord) -> dict[str, Any]:
    return {
        "job": record.job,
        "owner": record.owner,
        "soul": record.soul,
        "kind": record.kind,
        "state": record.state,
        "arguments": dict(record.arguments),
        "result": record.result,
        "error": msgspec.to_builtins(record.error),
    }


def _record(row: dict[str, Any]) -> JobRecord:
    return JobRecord(
        job=str(row["job"]),
        owner=Owner(row["owner"]),
        soul=SoulId(row["soul"]),
        kind=str(row["kind"]),
        state=str(row["state"]),
        arguments=dict(row["arguments"]),
        result=row["result"],
        error=msgspec.convert(row["error"], Wording | None),
    )
