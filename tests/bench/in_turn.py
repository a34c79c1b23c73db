"""Does a sidecar stay level while many souls are used in turn, beside one of 100,000 memories?

`python -m tests.bench.in_turn --minutes 20` writes the large soul into a folder, starts a sidecar on it,
gives fifty more souls a chat each, waits until all has its vectors, and then goes from soul to soul: a swipe, a
recall, the overview, a search, and the last two of the large soul as well. After each round of all souls it is
quiet until those that nobody uses are closed, so that every soul is opened and closed again and again. What is
stored stays alike, so growth is a leak. Prints one JSON object and ends with 1 if a limit was passed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any
from urllib.parse import quote

import aiohttp
import psutil

from soulmem.adapters.surreal.kept import KeptStore
from soulmem.bootstrap import STORE_FOLDER, backups_of
from soulmem.config.load import load
from soulmem.domain.dialogue import text_hash
from tests.bench.large_soul import SOUL, BagEmbedder, Size, Writer, write_soul

MESSAGES = 100  # of a soul's chat
WARM_UP = 0.25  # of the time; what is measured is measured after it
RSS_GROWTH = 0.10
MORE = 5  # open files and threads: so many more are none of those that come and go
SILENCE = 1.0  # seconds
_CLOSES_AFTER = 0.25  # minutes
_QUIET = 600.0  # seconds at most behind each round: until most souls are closed
_READY = 3600.0  # seconds within which all has its vectors


@dataclass(frozen=True, slots=True)
class Look:
    """What the process takes at a moment."""

    at: float  # monotonic seconds
    rss: int  # bytes
    files: int
    threads: int


@dataclass
class Tally:
    """What was measured."""

    looks: list[Look] = field(default_factory=list)
    took: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: Counter[str] = field(default_factory=Counter)
    closed: int = 0  # the most souls that were closed at once
    rounds: int = 0

    async def watch(self, process: psutil.Process) -> None:
        """Look every two seconds, until cancelled."""
        while True:
            with process.oneshot():
                look = Look(
                    time.monotonic(),
                    process.memory_info().rss,
                    process.num_fds(),
                    process.num_threads(),
                )
            self.looks.append(look)
            await asyncio.sleep(2)


class Client:
    """Asks the sidecar, and keeps how long each kind of request took."""

    def __init__(self, http: aiohttp.ClientSession, url: str, tally: Tally) -> None:
        self._http, self._url, self._tally = http, url, tally

    async def ask(self, kind: str, method: str, path: str, body: Any = None) -> Any:
        """The answer; None for an error, which is counted."""
        began = time.monotonic()
        try:
            async with self._http.request(method, f"{self._url}/{path}", json=body) as answer:
                found = await answer.json()
                if answer.status >= 400:
                    self._tally.errors[f"{kind} {answer.status} {found}"[:200]] += 1
                    return None
                return found
        except (aiohttp.ClientError, asyncio.TimeoutError) as error:
            self._tally.errors[f"{kind} {type(error).__name__}"] += 1
            return None
        finally:
            self._tally.took[kind].append(time.monotonic() - began)

    async def health(self) -> dict[str, Any]:
        """The health report; empty after an error."""
        return await self.ask("health", "GET", "health") or {}

    async def listen(self) -> None:
        """Ask for health all the time, until cancelled."""
        while True:
            found = await self.health()
            closed = found.get("souls", {}).get("closed", 0)
            self._tally.closed = max(self._tally.closed, closed)
            await asyncio.sleep(0.1)

    async def wait_until_closed(self, souls: int) -> None:
        """Wait until so many souls are closed, but not for ever."""
        until = time.monotonic() + _QUIET
        while time.monotonic() < until:
            found = await self.health()
            if found.get("souls", {}).get("closed", 0) >= souls:
                return
            await asyncio.sleep(0.5)

    async def wait_until_ready(self) -> None:
        """Wait until every text has its vector. Raises TimeoutError."""
        until = time.monotonic() + _READY
        while True:
            found = await self.health()
            if found.get("status") == "ok" and not found.get("pending"):
                return
            if not found or time.monotonic() > until:
                raise TimeoutError(f"not ready: {found or self._tally.errors}")
            await asyncio.sleep(1)


class Player:
    """One soul with one chat."""

    def __init__(self, number: int, client: Client) -> None:
        self.soul = f"s{number}"
        self._client = client
        self._write = Writer(number)
        self._chance = random.Random(number)
        self._lines = [self._line(n) for n in range(MESSAGES)]
        self._swipes = 0

    def _line(self, number: int) -> dict[str, Any]:
        text = self._write.line(number)
        role, speaker = ("user", "Al") if number % 2 else ("character", "Mira")
        return {
            "slot": f"{self.soul}-{number}",
            "hash": text_hash(text),
            "role": role,
            "speaker": speaker,
            "text": text,
        }

    async def begin(self) -> None:
        """Make the soul and its chat."""
        path = f"souls/{self.soul}"
        await self._client.ask("soul", "PUT", path, {"name": f"Mira {self.soul}"})
        await self._sync("first sync")

    async def play(self) -> None:
        """A swipe, a recall, the overview and a search; the last two of the large soul as well."""
        self._swipes += 1
        self._lines[-1] = self._line(MESSAGES - 1) | {"swipe": self._swipes}
        await self._sync("swipe")
        asked = {"soul": self.soul, "chat": f"chat-{self.soul}", "query": self._cue()}
        await self._client.ask("recall", "POST", "recall", asked)
        for soul, whose in ((self.soul, "own"), (SOUL, "large")):
            q = quote(self._cue())
            await self._client.ask(f"overview, {whose}", "GET", f"overview?soul={soul}")
            search = f"memories?soul={soul}&limit=30&match=meaning&q={q}"
            await self._client.ask(f"search, {whose}", "GET", search)

    def _cue(self) -> str:
        return str(self._chance.choice(self._lines)["text"])[:30]

    async def _sync(self, kind: str) -> None:
        body = {"souls": [self.soul], "messages": self._lines}
        await self._client.ask(kind, "PUT", f"chats/chat-{self.soul}", body)


@asynccontextmanager
async def sidecar(folder: Path) -> AsyncIterator[tuple[psutil.Process, str]]:
    """A sidecar that soon closes souls, and its address."""
    command = (sys.executable, "-m", "soulmem", "serve", "--port", "0", "--json")
    process = await asyncio.create_subprocess_exec(
        *command,
        *("--data", str(folder)),
        stdout=asyncio.subprocess.PIPE,
        env={
            **os.environ,
            "SOULMEM_IDLE_AFTER_SECONDS": "2",
            "SOULMEM_IDLE_CLOSE_AFTER_MINUTES": str(_CLOSES_AFTER),
        },
    )
    assert process.stdout is not None
    try:
        url = json.loads(await process.stdout.readline())["url"]
        yield psutil.Process(process.pid), url
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


async def write_large(folder: Path, nodes: int) -> None:
    """The large soul, in the store of a data folder, unless there is one from an earlier run."""
    if (folder / STORE_FOLDER).exists():
        return
    settings = load(overrides={"store.data": str(folder)})
    store = KeptStore(folder, STORE_FOLDER, backups_of(settings))
    await store.open()
    try:
        await write_soul(store, Size(nodes, 2 * nodes), BagEmbedder())
    finally:
        await store.close()


async def run(minutes: float, souls: int, nodes: int, folder: Path) -> dict[str, Any]:
    """Write, wait, and go from soul to soul for so long."""
    tally = Tally()
    await write_large(folder, nodes)
    _tell("the large soul is written")
    timeout = aiohttp.ClientTimeout(total=120)
    async with (
        sidecar(folder) as (process, url),
        aiohttp.ClientSession(timeout=timeout) as http,
    ):
        client = Client(http, url, tally)
        await client.wait_until_ready()
        _tell("it has its vectors")
        players = [Player(number, client) for number in range(souls)]
        for player in players:
            await player.begin()
        await client.wait_until_ready()
        tally.took.clear()
        began = time.monotonic()
        until = began + 60 * minutes
        watching = [asyncio.create_task(work) for work in (tally.watch(process), client.listen())]
        while time.monotonic() < until:
            for player in players:
                await player.play()
                if time.monotonic() > until:
                    break
            tally.rounds += 1
            _tell(f"{tally.rounds} rounds, {tally.looks[-1]}")
            await client.wait_until_closed(souls // 2)
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)
        if not process.is_running():
            tally.errors["the sidecar ended"] += 1
    return report(tally, began)


def _tell(what: str) -> None:
    print(time.strftime("%H:%M:%S"), what, file=sys.stderr, flush=True)


def report(tally: Tally, began: float) -> dict[str, Any]:
    """The figures; `failed` names what passed its limit."""
    span = tally.looks[-1].at - began
    first, last = (
        [look for look in tally.looks if a * span <= look.at - began <= b * span]
        for a, b in ((WARM_UP, WARM_UP + 0.25), (0.75, 1.0))
    )
    rss = [mean(look.rss for look in part) / 2**20 for part in (first, last)]
    files, threads = (
        [max(getattr(look, name) for look in part) for part in (first, last)]
        for name in ("files", "threads")
    )
    silence = max(tally.took["health"])
    limits = {
        "errors": bool(tally.errors),
        "rss": rss[1] > (1 + RSS_GROWTH) * rss[0],
        "files": files[1] > files[0] + MORE,
        "threads": threads[1] > threads[0] + MORE,
        "silence": silence > SILENCE,
        "closed": not tally.closed,
    }
    return {
        "minutes": round(span / 60, 1),
        "rounds": tally.rounds,
        "closed_at_once": tally.closed,
        "rss_mib": {
            "warm": round(rss[0]),
            "end": round(rss[1]),
            "growth": round(rss[1] / rss[0] - 1, 3),
            "most": round(max(look.rss for look in tally.looks) / 2**20),
        },
        "files": files,
        "threads": threads,
        "health_silent_s": round(silence, 2),
        "ms": {kind: _cuts(took) for kind, took in sorted(tally.took.items())},
        "errors": dict(tally.errors.most_common(20)),
        "failed": [name for name, passed in limits.items() if passed],
    }


def _cuts(took: Sequence[float]) -> dict[str, float]:
    """Count, median, 99 % quantile and most, in milliseconds."""
    order = sorted(took)
    named = {"p50": order[len(order) // 2], "p99": order[len(order) * 99 // 100]}
    named["most"] = order[-1]
    return {"n": len(took), **{k: round(1000 * v, 1) for k, v in named.items()}}


def main() -> int:
    """Read the command line, run, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--souls", type=int, default=50)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--data", type=Path, help="an empty folder, or that of an earlier run")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.data or Path(temporary)
        figures = asyncio.run(run(given.minutes, given.souls, given.nodes, folder))
    print(json.dumps(figures, indent=2))
    return 1 if figures["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
