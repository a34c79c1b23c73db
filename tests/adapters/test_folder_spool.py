"""Does a folder keep jobs and what they work on, and say why when it cannot?"""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from soulmem.adapters.folder_spool import FolderSpool
from soulmem.domain.errors import StoreError, StoreFull
from soulmem.domain.ids import Owner, SoulId
from soulmem.domain.phrases import phrase
from soulmem.ports.spool import JobRecord

RECORD = JobRecord(
    "j01", Owner("me"), SoulId("s1"), "import", "queued", {"name": "夜.jsonl", "n": 3}
)


async def test_what_is_put_is_there_for_the_next_spool(tmp_path: Path) -> None:
    spool = FolderSpool(tmp_path / "data" / "jobs")
    assert await spool.records() == []
    assert await spool.payload("j01") == b""
    await spool.put(RECORD, b"\x00words")
    done = replace(RECORD, job="j02", state="done", result={"added": 3}, error=None)
    await spool.put(done)
    later = FolderSpool(tmp_path / "data" / "jobs")
    assert await later.records() == [RECORD, done]
    assert await later.payload("j01") == b"\x00words"
    await later.put(replace(RECORD, state="failed", error="no"))
    assert await later.payload("j01") == b"\x00words"
    await later.drop_payload("j01")
    assert await later.payload("j01") == b""
    await later.drop("j01")
    await later.drop("j01")
    assert await later.records() == [done]


async def test_why_a_job_failed_keeps_its_code_and_values(tmp_path: Path) -> None:
    inner = phrase("inner", "no {what}", what="room")
    failed = replace(RECORD, error=phrase("outer", "it failed: {why}", why=inner))
    await FolderSpool(tmp_path).put(failed)
    assert await FolderSpool(tmp_path).records() == [failed]


async def test_what_is_no_record_is_left_alone(tmp_path: Path) -> None:
    spool = FolderSpool(tmp_path)
    await spool.put(RECORD, b"words")
    for name, text in (
        ("a.json", "{"),
        ("b.json", "[]"),
        ("c.json", '{"job": "c"}'),
        ("d.txt", "x"),
    ):
        (tmp_path / name).write_text(text)
    (tmp_path / "j00.json.0a1b2c3d").write_text("{}")  # a write that a crash broke off
    assert await spool.records() == [RECORD]
    assert (tmp_path / "d.txt").exists()


async def test_a_full_disk_is_said_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_handle: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    spool = FolderSpool(tmp_path)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreFull, match=r"is full: free some space"):
        await spool.put(RECORD, b"words")
    monkeypatch.undo()
    assert await spool.records() == []
    assert await spool.payload("j01") == b""


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "jobs").write_text("in the way")
    with pytest.raises(StoreError, match=r"jobs cannot be used: make it writable"):
        await FolderSpool(tmp_path / "jobs").put(RECORD)
