"""What the tests of the embedded store share: handles, processes to kill, a small disk."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from soulmem.adapters.surreal import SurrealStore

REPOSITORY = Path(__file__).parents[2]


@contextlib.asynccontextmanager
async def opened(url: str) -> AsyncIterator[SurrealStore]:
    store = SurrealStore(url)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


async def child(command: str, url: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.adapters.surreal_child", command, url),
        stdout=asyncio.subprocess.PIPE,
        cwd=REPOSITORY,
    )


async def killed_while_writing(url: str, commits: int, pause: float) -> int:
    """Number of the last commit that a process acknowledged before it was killed."""
    process = await child("write", url)
    assert process.stdout is not None
    last = -1
    while last < commits:
        last = int(await process.stdout.readline())
    await asyncio.sleep(pause)  # into the middle of whatever it does then
    process.kill()
    rest = (await process.stdout.read()).split(b"\n")[:-1]
    await process.wait()
    return int(rest[-1]) if rest else last


async def settled(folder: Path) -> None:
    """Wait until the engine, which tidies up after close() answered, has let go of the files."""
    for _ in range(100):
        if not any(str(folder) in name for name in open_files()):
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"{folder} is still in use")


def open_files() -> list[str]:
    if not os.path.isdir("/proc/self/fd"):
        return []
    paths = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            paths.append(os.readlink(f"/proc/self/fd/{number}"))
    return paths


class SmallDisk:
    """A disk of its own in memory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def remount(self, options: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{options}", self.folder], check=True)

    def fill(self) -> None:
        """Leave not a byte."""
        with (
            contextlib.suppress(OSError),
            (self.folder / "ballast").open("wb", buffering=0) as file,
        ):
            while True:
                file.write(bytes(4096))


def counted(store: SurrealStore) -> list[str]:
    """A list that grows with each time the store's link really opens or closes."""
    calls: list[str] = []
    link = store._connection._link
    plain_open, plain_close = link.open, link.close

    async def count_open() -> None:
        if link._handle is None:  # type: ignore[attr-defined]
            calls.append("open")
        await plain_open()

    async def count_close() -> None:
        calls.append("close")
        await plain_close()

    link.open, link.close = count_open, count_close  # type: ignore[method-assign]
    return calls
