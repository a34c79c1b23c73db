"""SurrealDB inside this process."""

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
from soulmem.domain.errors import StoreError, StoreLocked
from soulmem.engine.runtime.garbage import give_back

_LOCK_PAUSES = (0.3, 0.7)  # seconds between attempts on a folder that is in use

_CLOSING = 3.0  # seconds after which the engine has let go of what it held

# Exit codes of a process that broke down: SIGILL, SIGABRT, SIGBUS, SIGSEGV, and what Windows has for them.
_BREAKDOWNS = (-4, -6, -7, -10, -11, 3, 0xC000001D, 0xC0000005, 0xC0000409)

# The process that opens a store first was seen to wait for ever on a lock of the engine's own, once in some
# thousand times. It is ended after so many seconds and one for so many bytes (merging writes some 30 MB a
# second), and tried again; without it SoulMem opens the store itself, only less smoothly.
_TIDY = Path(__file__).with_name("tidy.py")
_TIDY_SECONDS, _TIDY_SPEED, _TIDY_TRIES = 20.0, 8_000_000, 2


class EmbeddedLink:
    """The engine inside this process: the native handle that is under the SDK's connection."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._folder = folder_of(url)
        self.place = str(self._folder or url)
        self._handle: Any = None
        self._written = 0
        self._held = 0
        self._opened: int | None = (
            None  # the lock file that was opened, by its number on the disk
        )

    async def open(self) -> None:
        if self._handle is not None:
            return
        self._handle = await self._patiently()
        self._held = 0
        self._opened = await asyncio.to_thread(self._lock_file)
        try:
            await self._call(messages.message("use", [NAMESPACE, DATABASE]))
        except StoreError:
            await self.close()
            raise

    async def _patiently(self) -> Any:
        """A handle; waits a little for a SoulMem that is just closing."""
        for pause in (*_LOCK_PAUSES, None):
            try:
                handle = await asyncio.to_thread(_construct, self._url, self._folder)
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
            # A disk that is full or gone makes the farewell fail; the folder is let go all the same.
            with contextlib.suppress(RuntimeError):
                await handle.close()
            asyncio.get_running_loop().call_later(_CLOSING, _give_back_in_a_thread)

    async def run(self, work: Work) -> list[Statement]:
        statements: list[Statement] = await self._call(
            await messages.query_message(work, self.place)
        )
        return statements

    def written(self) -> int:
        return self._written

    def held(self) -> int:
        return self._held

    def pass_over(self, amount: int) -> None:
        self._held += amount

    def is_in_place(self) -> bool:
        return self._handle is None or self._lock_file() == self._opened

    def _lock_file(self) -> int | None:
        if self._folder is None:
            return None
        with contextlib.suppress(OSError):
            return (self._folder / "LOCK").stat().st_ino
        return None

    def log_size(self) -> int:
        return folder_size(self._folder / "wal") if self._folder else 0

    def free(self) -> int:
        return shutil.disk_usage(self._folder).free if self._folder else sys.maxsize

    async def _call(self, request: bytes) -> Any:
        if self._handle is None:
            raise StoreError(f"the store in {self.place} is closed")
        self._written += len(request)
        try:
            response = await self._handle.execute(request)
        except RuntimeError as error:
            raise translate(str(error), self.place) from error
        self._held += len(response)
        return await messages.result(response, self.place)


def _give_back_in_a_thread() -> None:
    with contextlib.suppress(
        RuntimeError
    ):  # the loop is being closed: the process ends anyway
        asyncio.get_running_loop().run_in_executor(None, give_back)


def folder_of(url: str) -> Path | None:
    """The folder of a `surrealkv://` url; None for one that keeps nothing on this disk."""
    scheme, _, rest = url.partition("://")
    return Path(rest.partition("?")[0]) if scheme == "surrealkv" else None


def folder_size(folder: Path) -> int:
    """Bytes of the files right in `folder`; 0 when there is none."""
    size = 0
    with contextlib.suppress(FileNotFoundError):
        for file in folder.iterdir():
            with contextlib.suppress(FileNotFoundError):
                size += file.stat().st_size
    return size


def _construct(url: str, folder: Path | None) -> Any:
    """Open the store. In a worker thread: the imports and the engine's constructor take their time."""
    from surrealdb_embedded import AsyncEmbeddedDB

    messages.load()
    if folder is not None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if (folder / "manifest").exists():
            _tidy(url, folder)
    return AsyncEmbeddedDB(url)


def _tidy(url: str, folder: Path) -> None:
    """Let another process prepare the store; RuntimeError when the engine aborts that process."""
    quiet = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # of Windows
    command = [sys.executable, "-I", str(_TIDY), url, str(folder)]
    size = sum(folder_size(part) for part in folder.iterdir() if part.is_dir())
    patience = _TIDY_SECONDS + size / _TIDY_SPEED
    for _ in range(_TIDY_TRIES):
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run(
                command,
                capture_output=True,
                check=False,
                creationflags=quiet,
                timeout=patience,
            )
            if (
                done.returncode in _BREAKDOWNS
            ):  # any other failure opening will put into words
                raise RuntimeError("the engine breaks down on it")
            return
