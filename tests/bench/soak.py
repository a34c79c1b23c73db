"""Does a sidecar stay well through hours of mixed load: no error, no growth, no slower recall?

`python -m tests.bench.soak --minutes 60` starts one sidecar over an empty folder and plays several chats at
once: syncs with edits, swipes, deletions and branches, deleted chats, recalls, edits by hand, jobs. It prints
one JSON object and ends with 1 when there was an error or a limit was passed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any

import aiohttp
import psutil

from soulmem.domain.dialogue import text_hash

WORDS = (
    "ring",
    "river",
    "Kaelith",
    "lantern",
    "noon",
    "rain",
    "Tovan",
    "harbour",
    "oath",
    "mill",
    "wolf",
    "silver",
)
WARM_UP = 0.2  # of the time; what is measured is measured after it
MAX_MESSAGES = 400  # of a chat; a longer one is left, and another begun
# of a player, the current one included: what is stored stays alike, so growth is a leak
KEPT_CHATS = 3
RSS_GROWTH = 0.10  # line C of the plan
WAL_LIMIT = 48 << 20  # bytes; the connection is recycled at half of it
SHARES = {
    "sync": 40,
    "recall": 30,
    "edit": 20,
    "read": 8,
    "job": 2,
}  # per cent of operations


@dataclass
class Tally:
    """What was done, what went wrong, and what was measured on the way."""

    began: float
    until: float
    done: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    recalls: list[tuple[float, float]] = field(default_factory=list)  # when, seconds
    rss: list[tuple[float, int]] = field(default_factory=list)  # when, bytes
    wal: list[int] = field(default_factory=list)  # bytes

    @property
    def over(self) -> bool:
        return time.monotonic() >= self.until


class Player:
    """One client: its soul, the chat it is in, and the memories it made by hand."""

    def __init__(
        self,
        number: int,
        http: aiohttp.ClientSession,
        url: str,
        tally: Tally,
        pace: float,
    ) -> None:
        self.soul = f"s{number}"
        self._http, self._url, self._tally, self._pace = http, url, tally, pace
        self._chance = random.Random(number)
        self._chats = 0
        self._slots = 0
        self._messages: list[dict[str, Any]] = []
        self._kept: list[str] = []
        self._made: list[str] = []

    async def play(self) -> None:
        """Until the time is over, an operation each `pace` seconds, or as fast as it goes."""
        await self._ask("PUT", f"/souls/{self.soul}", {"name": f"Mira {self.soul}"})
        await self._new_chat()
        works: dict[str, Callable[[], Awaitable[None]]] = {
            "sync": self._sync,
            "recall": self._recall,
            "edit": self._edit,
            "read": self._read,
            "job": self._job,
        }
        while not self._tally.over:
            start = time.monotonic()
            kind = self._chance.choices(list(SHARES), list(SHARES.values()))[0]
            await works[kind]()
            self._tally.done[kind] += 1
            await asyncio.sleep(max(0.0, self._pace - (time.monotonic() - start)))

    async def _new_chat(self) -> None:
        """Begin another chat; the oldest of this player's is deleted, and the bin emptied."""
        self._chats += 1
        self._messages = []
        self._kept.append(self._chat)
        if len(self._kept) > KEPT_CHATS:
            self._tally.done["delete chat"] += 1
            await self._ask("DELETE", f"/chats/{self._kept.pop(0)}")
            await self._run("purge", {"confirm": "purge"})  # else its memories stay for a week

    @property
    def _chat(self) -> str:
        return f"c{self._chats}-{self.soul}"

    def _line(self) -> dict[str, Any]:
        self._slots += 1
        said = " ".join(self._chance.choices(WORDS, k=self._chance.randint(4, 25)))
        role = ("user", "character")[self._slots % 2]
        text = f"{said} {self._slots}."
        return {
            "slot": f"m{self._slots}",
            "hash": text_hash(text),
            "role": role,
            "speaker": "Al",
            "text": text,
        }

    async def _sync(self) -> None:
        """The chat goes on, as a rule; now and then something in it changes, or a branch is made."""
        whim = self._chance.random()
        if len(self._messages) > MAX_MESSAGES:
            await self._new_chat()
        parent = None
        if whim < 0.05 and len(self._messages) > 10:  # an edit or a swipe
            at = self._chance.choice(
                [self._chance.randrange(len(self._messages)), len(self._messages) - 1]
            )
            self._messages[at] = {**self._line(), "slot": self._messages[at]["slot"]}
        elif whim < 0.08 and len(self._messages) > 10:
            del self._messages[self._chance.randrange(len(self._messages))]
        elif whim < 0.09 and len(self._messages) > 30:
            old, shared = self._chat, self._messages[: self._chance.randint(10, 30)]
            parent = {"chat": old, "fork_slot": shared[-1]["slot"]}
            await self._new_chat()
            self._messages = list(shared)
        self._messages.append(self._line())
        body = {
            "souls": [self.soul],
            "messages": self._messages,
            "confirm_removal": True,
        }
        await self._ask(
            "PUT",
            f"/chats/{self._chat}",
            body if parent is None else {**body, "parent": parent},
        )

    async def _recall(self) -> None:
        if not self._messages:
            return
        began = time.monotonic()
        asked = " ".join(self._chance.choices(WORDS, k=3))
        body = {
            "soul": self.soul,
            "chat": self._chat,
            "query": asked,
            "slot": "next",
            "swipe": 0,
        }
        await self._ask("POST", "/recall", body)
        self._tally.recalls.append((time.monotonic(), time.monotonic() - began))

    async def _edit(self) -> None:
        """Notes are made, changed, thrown away and fetched back; some forty stay."""
        if len(self._made) < 40:
            body = {
                "soul": self.soul,
                "kind": "note",
                "text": f"note: {self._line()['text']}",
            }
            told = await self._ask("POST", "/memories", body)
            self._made += [told["id"]] if told else []
            return
        key = self._chance.choice(self._made)
        if self._chance.random() < 0.8:
            await self._ask("PATCH", f"/memories/{key}", {"text": f"note: {self._line()['text']}"})
        else:
            await self._ask("DELETE", f"/memories/{key}")
            await self._ask("POST", f"/memories/{key}/restore", {})

    async def _read(self) -> None:
        path = self._chance.choice(
            [
                "/memories?limit=50&soul=",
                "/audit?limit=50&soul=",
                "/timeline?limit=50&soul=",
            ]
        )
        await self._ask("GET", path + self.soul)

    async def _job(self) -> None:
        await self._run(self._chance.choice(["topics", "consolidate", "forget", "digest"]), {})

    async def _run(self, kind: str, arguments: dict[str, str]) -> None:
        told = await self._ask(
            "POST", "/jobs", {"kind": kind, "soul": self.soul, "arguments": arguments}
        )
        while told and not self._tally.over:
            view = await self._ask("GET", f"/jobs/{told['job']}")
            if view is None or view["state"] not in ("queued", "running"):
                if view is not None and view["state"] != "done":
                    self._tally.errors[f"job {kind} {view['state']}: {view.get('error')}"] += 1
                return
            await asyncio.sleep(0.2)

    async def _ask(self, method: str, path: str, body: Any = None) -> Any:
        """The answer; None for an error, which is counted."""
        try:
            async with self._http.request(method, self._url + path, json=body) as answer:
                told = await answer.json()
                if answer.status < 400:
                    return told
                self._tally.errors[
                    f"{method} {path.split('/')[1]} {answer.status} {told.get('message')}"
                ] += 1
        except (aiohttp.ClientError, asyncio.TimeoutError) as error:
            self._tally.errors[f"{method} {path.split('/')[1]} {type(error).__name__}"] += 1
        return None


async def watch(process: psutil.Process, folder: Path, tally: Tally) -> None:
    """Look at memory and at the write-ahead log every two seconds."""
    while not tally.over:
        tally.rss.append((time.monotonic(), process.memory_info().rss))
        tally.wal.append(await asyncio.to_thread(_wal, folder))
        await asyncio.sleep(2)


def _wal(folder: Path) -> int:
    return sum(_size(path) for wal in folder.rglob("wal") for path in wal.iterdir())


def _size(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_size
    return 0  # gone meanwhile


def report(tally: Tally) -> dict[str, Any]:
    """The figures; `failed` names what passed its limit."""
    span = tally.until - tally.began
    warm = tally.began + WARM_UP * span
    first = [rss for at, rss in tally.rss if warm <= at < warm + 0.1 * span]
    last = [rss for at, rss in tally.rss if at >= tally.until - 0.1 * span]
    growth = (sum(last) / len(last)) / (sum(first) / len(first)) - 1 if first and last else 0.0
    quarters = []
    for number in range(4):
        start = tally.began + number * span / 4
        took = [seconds * 1000 for at, seconds in tally.recalls if start <= at < start + span / 4]
        cuts = quantiles(took, n=100) if len(took) > 1 else [0.0] * 99
        sizes = [rss for at, rss in tally.rss if start <= at < start + span / 4]
        quarters.append(
            {
                "recalls": len(took),
                "p50_ms": round(cuts[49], 1),
                "p99_ms": round(cuts[98], 1),
                "rss_mib": _mib(sizes),
            }
        )
    done = sum(tally.done.values())
    failed = [
        *(["errors"] if tally.errors else []),
        *(["rss"] if growth > RSS_GROWTH else []),
        *(["wal"] if max(tally.wal, default=0) > WAL_LIMIT else []),
    ]
    return {
        "minutes": round(span / 60, 1),
        "operations": done,
        "operations_per_hour": round(done / span * 3600),
        "by_kind": dict(tally.done),
        "errors": dict(tally.errors.most_common(20)),
        "rss_mib": {"warm": _mib(first), "end": _mib(last), "growth": round(growth, 3)},
        "wal_mib_most": round(max(tally.wal, default=0) / 2**20, 1),
        "by_quarter": quarters,
        "failed": failed,
    }


def _mib(values: list[int]) -> float:
    return round(sum(values) / len(values) / 2**20, 1) if values else 0.0


async def soak(minutes: float, players: int, per_hour: int, folder: Path) -> dict[str, Any]:
    """Play for so long, at `per_hour` operations an hour of all players together (0: as fast as it goes)."""
    command = [
        sys.executable,
        "-m",
        "soulmem",
        "serve",
        "--port",
        "0",
        "--json",
        "--data",
        str(folder),
    ]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        url = json.loads(await process.stdout.readline())["url"]
        began = time.monotonic()
        tally = Tally(began, began + minutes * 60)
        pace = players * 3600 / per_hour if per_hour else 0.0
        timeout = aiohttp.ClientTimeout(total=60)
        async with aiohttp.ClientSession(timeout=timeout) as http:
            clients = [Player(number, http, url, tally, pace) for number in range(players)]
            watching = watch(psutil.Process(process.pid), folder, tally)
            await asyncio.gather(watching, *(client.play() for client in clients))
        if process.returncode is not None:
            tally.errors[f"the sidecar ended with {process.returncode}"] += 1
        return report(tally)
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


def main() -> int:
    """Read the command line, play, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--players", type=int, default=3)
    parser.add_argument(
        "--per-hour",
        type=int,
        default=36_000,
        help="operations an hour; 0: as many as go",
    )
    parser.add_argument("--data", type=Path, help="an empty folder (default: a temporary one)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.data or Path(temporary)
        told = asyncio.run(soak(given.minutes, given.players, given.per_hour, folder))
    print(json.dumps(told, indent=2))
    return 1 if told["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
