"""Replaces the store by a backup. The old files are moved aside and kept."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from soulmem.adapters.backup_folder import BackupFolder
from soulmem.adapters.surreal.lock import is_locked, released
from soulmem.adapters.surreal.store import SurrealStore
from soulmem.domain.errors import NotFound, StoreBroken, StoreError, StoreLocked
from soulmem.domain.phrases import phrase


@dataclass(frozen=True, slots=True)
class Restored:
    """Result of a restore. `passed_over`: newer backups that could not be read, with the reasons."""

    backup: Path
    souls: int
    aside: Path | None  # folder with the old files; None: there were none
    passed_over: Sequence[tuple[Path, str]] = ()


async def restore_store(
    data: Path, name: str, backups: BackupFolder, chosen: Path | None = None
) -> Restored:
    """Replace the store in `data / name` by `chosen`, or by the newest readable backup.

    The backup is opened as a test before it replaces the store. Raises StoreLocked while SoulMem has the store
    open, NotFound without any backup, StoreBroken if none can be read, StoreFull or another StoreError.
    """
    store, fresh = data / name, data / f"{name}.new"
    if await asyncio.to_thread(is_locked, store):
        raise StoreLocked(
            phrase(
                "restore_running",
                "SoulMem is running on {data}: stop it first, then restore again",
                data=data,
            )
        )
    existing = await asyncio.to_thread(backups.all)
    candidates = [chosen] if chosen is not None else [candidate.path for candidate in existing]
    if not candidates:
        raise NotFound(phrase("no_backup", "there is no backup in {folder}", folder=backups.folder))
    passed_over: list[tuple[Path, str]] = []
    for backup in candidates:
        try:
            souls = await _prepared(backups, backup, fresh)
        except StoreBroken as error:
            await asyncio.to_thread(shutil.rmtree, fresh, ignore_errors=True)
            passed_over.append((backup, error.message))
            continue
        except BaseException:
            await asyncio.to_thread(shutil.rmtree, fresh, ignore_errors=True)
            raise
        aside = await asyncio.to_thread(_exchange, store, fresh)
        return Restored(backup, souls, aside, passed_over)
    raise StoreBroken("; ".join(dict.fromkeys(reason for _, reason in passed_over)))


async def _prepared(backups: BackupFolder, backup: Path, fresh: Path) -> int:
    """Unpack the backup and read all of it as a test. Returns its number of souls."""
    await asyncio.to_thread(shutil.rmtree, fresh, ignore_errors=True)
    await asyncio.to_thread(backups.unpack, backup, fresh)
    if not await asyncio.to_thread((fresh / "manifest").is_dir):
        raise StoreBroken(
            phrase(
                "backup_empty",
                "the backup {backup} is damaged (it contains no store): choose another",
                backup=backup,
            )
        )
    store = SurrealStore(f"surrealkv://{fresh}")
    await store.open()
    try:
        souls = 0
        for owner in await store.owners():
            for soul in await store.souls(owner):
                async for _ in store.memory_pages(owner, soul.id):
                    pass  # raises if a row cannot be read
                souls += 1
    finally:
        await store.close()
    await released(fresh)
    return souls


def _exchange(store: Path, fresh: Path) -> Path | None:
    """Move the store aside and `fresh` to its place. Returns where the old store is."""
    aside = None
    try:
        if store.exists():
            stamp = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
            aside = store.with_name(f"{store.name}.aside-{stamp}")
            store.rename(aside)
        fresh.rename(store)
    except OSError as error:
        if aside is not None and not store.exists():
            aside.rename(store)
        raise StoreError(
            phrase(
                "store_unreplaced",
                "{store} could not be replaced: {error}",
                store=store,
                error=error.strerror or error,
            )
        ) from error
    return aside
