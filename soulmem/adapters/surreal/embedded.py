"""SurrealDB embedded in this process."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from soulmem.adapters.surreal import messages
from soulmem.adapters.surreal.faults import translate
from soulmem.adapters.surreal.link import DATABASE, NAMESPACE, Statement, Work
from soulmem.domain.errors import StoreError, StoreGone, StoreLocked
from soulmem.domain.phrases import phrase
from soulmem.kernels.memory_release import release_free_memory

_LOCK_PAUSES = (0.3, 0.7)  # seconds between attempts to open a folder that is in use

_RELEASE_SECONDS = 3.0  # after closing, until the engine has freed its memory

# Exit codes of a crashed process: SIGILL, SIGABRT, SIGBUS, SIGSEGV, and their equivalents on Windows.
_CRASHES = (-4, -6, -7, -10, -11, 3, 0xC000001D, 0xC0000005, 0xC0000409)

# About once in a thousand times, the process that prepares a store waits forever on a lock inside the engine.
# It is stopped after _TIDY_SECONDS plus one second for each _TIDY_SPEED bytes (merging writes about 30 MB a
# second) and tried again. If that fails too, SoulMem opens the store itself, which blocks it for longer.
_TIDY = Path(__file__).with_name("tidy.py")
_TIDY_SECONDS, _TIDY_SPEED, _TIDY_TRIES = 20.0, 8_000_000, 2


class EmbeddedLink:
    """The engine in this process, through the native handle that the SDK's connection uses."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._folder = folder_of(url)
        self.place = str(self._folder or url)
        self._handle: Any = None
        self._written = 0
        self._held = 0
        self._opened_inode: int | None = None  # of the lock file at opening

    async def open(self) -> None:
        if self._handle is not None:
            return
        if self._opened_inode and not await asyncio.to_thread(self._has_files):
            # The engine would begin an empty store.
            raise StoreGone(
                phrase(
                    "store_gone",
                    "the data folder {place} was moved or deleted while SoulMem was running: nothing"
                    " is stored any more. Put it back, then start SoulMem again",
                    place=self.place,
                )
            )
        self._handle = await self._open_handle()
        self._held = 0
        self._opened_inode = await asyncio.to_thread(self._lock_inode)
        try:
            await self._call(messages.message("use", [NAMESPACE, DATABASE]))
        except StoreError:
            await self.close()
            raise

    async def _open_handle(self) -> Any:
        """A connected handle. Retries for a moment, in case another SoulMem is just closing."""
        for pause in (*_LOCK_PAUSES, None):
            try:
                _, handle = await asyncio.gather(
                    asyncio.to_thread(messages.load),
                    asyncio.to_thread(_construct, self._url, self._folder),
                )
                await handle.connect()
                return handle
            except (RuntimeError, OSError) as error:
                fault = translate(str(error), self.place, opening=True)
                if pause is None or not isinstance(fault, StoreLocked):
                    raise fault from error
            await asyncio.sleep(pause)
        raise AssertionError("the last pause is None")

    async def close(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            # Closing fails on a full or missing disk, but the folder is unlocked all the same.
            with contextlib.suppress(RuntimeError):
                await handle.close()
            loop = asyncio.get_running_loop()
            loop.call_later(_RELEASE_SECONDS, _release_memory_in_a_thread)

    async def run(self, work: Work) -> list[Statement]:
        statements: list[Statement] = await self._call(
            await messages.query_message(work, self.place)
        )
        return statements

    def written(self) -> int:
        return self._written

    def held(self) -> int:
        return self._held

    def count_read(self, amount: int) -> None:
        self._held += amount

    def is_in_place(self) -> bool:
        return self._handle is None or self._lock_inode() == self._opened_inode

    def _lock_inode(self) -> int | None:
        if self._folder is None:
            return None
        with contextlib.suppress(OSError):
            return (self._folder / "LOCK").stat().st_ino
        return None

    def _has_files(self) -> bool:
        return self._folder is None or (self._folder / "manifest").is_dir()

    def log_size(self) -> int:
        return folder_size(self._folder / "wal") if self._folder else 0

    def free(self) -> int:
        return shutil.disk_usage(self._folder).free if self._folder else sys.maxsize

    async def _call(self, request: bytes) -> Any:
        if self._handle is None:
            raise StoreError(
                phrase("store_closed", "the store in {place} is closed", place=self.place)
            )
        self._written += len(request)
        try:
            response = await self._handle.execute(request)
        except RuntimeError as error:
            raise translate(str(error), self.place) from error
        self._held += len(response)
        return await messages.result(response, self.place)


def _release_memory_in_a_thread() -> None:
    # RuntimeError: the loop is being closed, so the process ends anyway.
    with contextlib.suppress(RuntimeError):
        asyncio.get_running_loop().run_in_executor(None, release_free_memory)


def folder_of(url: str) -> Path | None:
    """The folder of a `surrealkv://` URL; None for a URL that stores nothing on this disk."""
    scheme, _, rest = url.partition("://")
    return Path(rest.partition("?")[0]) if scheme == "surrealkv" else None


def folder_size(folder: Path) -> int:
    """Bytes of the files directly in `folder`; 0 if there are none."""
    size = 0
    with contextlib.suppress(FileNotFoundError):
        for file in folder.iterdir():
            with contextlib.suppress(FileNotFoundError):
                size += file.stat().st_size
    return size


def _construct(url: str, folder: Path | None) -> Any:
    """Open the store. Call it in a worker thread: the engine's constructor is slow."""
    from surrealdb_embedded import AsyncEmbeddedDB

    if folder is not None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if (folder / "manifest").exists():
            _tidy(url, folder)
    return AsyncEmbeddedDB(url)


def _tidy(url: str, folder: Path) -> None:
    """Let another process prepare the store. Raises RuntimeError if the engine crashes that process."""
    no_window = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # only exists on Windows
    command = [sys.executable, "-I", str(_TIDY), url, str(folder)]
    size = sum(folder_size(part) for part in folder.iterdir() if part.is_dir())
    timeout = _TIDY_SECONDS + size / _TIDY_SPEED
    for _ in range(_TIDY_TRIES):
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run(
                command,
                capture_output=True,
                check=False,
                creationflags=no_window,
                timeout=timeout,
            )
            # After any other failure, opening the store raises an error that explains it.
            if done.returncode in _CRASHES:
                raise RuntimeError("the engine crashes on it")
            return
