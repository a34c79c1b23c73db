"""How does a backup take the place of the store? What stood there is moved aside and stays as it is."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from soulmem.adapters.backup_folder import BackupFolder
from soulmem.adapters.surreal.kept import is_locked
from soulmem.adapters.surreal.store import SurrealStore
from soulmem.domain.errors import NotFound, StoreBroken, StoreError, StoreLocked

_LETTING_GO = 10.0  # seconds the engine has to close its files after it was told to
_LOOK = 0.1


@dataclass(frozen=True, slots=True)
class Restored:
    """What was done. `passed_over` are newer backups that could not be read, with the reason."""

    backup: Path
    souls: int
    aside: Path | None  # where the files are that stood there; None: there were none
    passed_over: Sequence[tuple[Path, str]] = ()


async def restore_store(
    data: Path, name: str, backups: BackupFolder, chosen: Path | None = None
) -> Restored:
    """Let `chosen`, or the newest backup that can be read, be the store in `data / name`.

    It is opened before it takes the place. Raises StoreLocked while a SoulMem has the store open, NotFound
    without any backup, StoreBroken when none can be read, StoreFull or another StoreError.
    """
    store, fresh = data / name, data / f"{name}.new"
    if await asyncio.to_thread(is_locked, store):
        raise StoreLocked(
            f"SoulMem is running on {data}: stop it first, then restore again"
        )
    existing = await asyncio.to_thread(backups.all)
    candidates = (
        [chosen] if chosen is not None else [candidate.path for candidate in existing]
    )
    if not candidates:
        raise NotFound(f"there is no backup in {backups.folder}")
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
    """Unpack the backup and see whether it opens; how many souls it holds."""
    await asyncio.to_thread(shutil.rmtree, fresh, ignore_errors=True)
    await asyncio.to_thread(backups.unpack, backup, fresh)
    if not await asyncio.to_thread((fresh / "manifest").is_dir):
        raise StoreBroken(
            f"the backup {backup} is damaged (it holds no store): choose another"
        )
    store = SurrealStore(f"surrealkv://{fresh}")
    await store.open()
    try:
        souls = 0
        for owner in await store.owners():
            for soul in await store.souls(owner):
                async for _ in store.memory_pages(owner, soul.id):
                    pass  # every row can be read
                souls += 1
    finally:
        await store.close()
    for _ in range(int(_LETTING_GO / _LOOK)):
        if not await asyncio.to_thread(is_locked, fresh):
            break
        await asyncio.sleep(_LOOK)
    return souls


def _exchange(store: Path, fresh: Path) -> Path | None:
    """Move the store aside, and `fresh` to its place; where the old one is now."""
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
            f"{store} could not be exchanged: {error.strerror or error}"
        ) from error
    return aside
