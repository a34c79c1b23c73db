"""What the pages of the memory window ask of the sidecar, with a soul of any size.

    python -m tests.bench.window_routes FOLDER        # on a copy of what tests.bench.large_soul wrote

For each request the CPU time of the whole process, in milliseconds: the first time, again, and right behind a new
message, when nothing that is kept from before is of the present state (the median of `--rounds`). `loop` is the
longest step of the event loop in CPU time. `--json OUT` writes the same as one object, `--page FILE` puts the
table there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from soulmem.adapters.surreal import SurrealStore
from soulmem.config.settings import ServerSettings
from soulmem.domain.ids import DEFAULT_OWNER, ChatId
from soulmem.engine.api.requests import SyncRequest
from soulmem.engine.engine import Engine
from soulmem.server.app import create_app
from tests.bench.large_soul import SOUL, Writer
from tests.bench.live_soul import said
from tests.bench.open_soul import engine_on
from tests.bench.page import figure, origin, publish, table

_HABITS = 60
_CHAT = ChatId("live")
_PAUSE = 0.5  # seconds, until what follows a message is done
Client = TestClient[web.Request, web.Application]
Ask = Callable[[], Awaitable[None]]


@dataclass(slots=True)
class LoopSteps:
    """The longest step of the event loop, in milliseconds of its thread's CPU."""

    longest: float = 0.0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Look at each step of the main thread's loop meanwhile."""
        plain = asyncio.Handle._run

        def timed(handle: asyncio.Handle) -> None:
            began = time.thread_time()
            plain(handle)
            if threading.current_thread() is threading.main_thread():
                self.longest = max(self.longest, 1000 * (time.thread_time() - began))

        with mock.patch.object(asyncio.Handle, "_run", timed):
            yield


@dataclass(slots=True)
class Figures:
    """Milliseconds of CPU of one request."""

    first: float = 0.0
    again: list[float] = field(default_factory=list)
    changed: list[float] = field(default_factory=list)
    size: int = 0  # bytes of the answer
    loop: float = 0.0


class Window:
    """The requests of the pages, by name."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.person = ""
        self.memory = ""
        self.day: dict[str, str] = {}
        self.size = 0

    async def get(self, path: str, **query: Any) -> Any:
        """The answer to a GET."""
        params = {k: str(v) for k, v in ({"soul": SOUL} | query).items() if v}
        async with self._client.get(f"/v1/{path}", params=params) as answer:
            body = await answer.read()
            assert answer.status == 200, body[:300]
        self.size = len(body)
        return json.loads(body)

    async def post(self, path: str, body: dict[str, Any]) -> Any:
        """The answer to a POST."""
        async with self._client.post(f"/v1/{path}", json=body) as answer:
            got = await answer.read()
            assert answer.status in (200, 201), got[:300]
        self.size = len(got)
        return json.loads(got)

    async def prepare(self) -> None:
        """Habits, and whom and what the other requests are about."""
        for number in range(_HABITS):
            when = await self._made("abstract_episode", f"case number {number}")
            start = {"from": when, "kind": "triggers"}
            trigger = await self._made("trigger", f"case number {number}", start)
            fires = {"from": trigger, "kind": "fires", "probability": 0.6}
            await self._made("action", f"deed number {number}", fires)
        self.person = (await self.get("people"))["people"][0]["concept"]
        newest = await self.get("memories", kind="episode", limit=1)
        self.memory = newest["memories"][0]["id"]
        lived = (await self.get("density", by="day", texts="true"))["periods"]
        self.day = {end: lived[len(lived) // 2][end] for end in ("from", "to")}

    async def _made(self, kind: str, text: str, *edges: dict[str, Any]) -> str:
        body = {"soul": SOUL, "kind": kind, "text": text, "edges": list(edges)}
        made: str = (await self.post("memories", body))["id"]
        return made

    def requests(self) -> dict[str, Ask]:
        """By page and what is asked for."""
        get = self.get
        page = {"limit": 30, "reads": "true"}
        texts = {"texts": "true"}
        line = Writer(11).line(1)
        preview = {"soul": SOUL, "chat": None, "query": line, "type": "preview"}
        return {
            "window: souls": lambda: get("souls", soul=""),
            "window: chats": lambda: get("chats"),
            "overview": lambda: get("overview"),
            "overview: example": lambda: get("fading", turns=900, forgetting=1, limit=30),
            "overview: example later": lambda: get(
                "fading", turns=300, forgetting=1, memory=self.memory
            ),
            "forgetting": lambda: get("fading", turns=500, limit=30),
            "story: days": lambda: get("density", by="day", **texts),
            "story: a day": lambda: get("memories", **page, **texts, **self.day),
            "story: digests": lambda: get(
                "memories", kind="digest", period="day", reads="true", **self.day
            ),
            "story: by strength": lambda: get("memories", sort="strength", **page, **texts),
            "story: search": lambda: get("memories", q=line[:30], match="meaning", **page),
            "story: search in vain": lambda: get("memories", q="zxqvv", match="meaning", **page),
            "story: one": lambda: get(f"memories/{self.memory}", soul=""),
            "story: a hub": lambda: get(f"memories/{self.person}", soul=""),
            "recall now": lambda: self.post("recall", preview),
            "people": lambda: get("people"),
            "people: facts": lambda: get(
                "memories", kind="fact", about=self.person, sort="strength", limit=40
            ),
            "people: scenes": lambda: get("memories", kind="episode", about=self.person, **page),
            "habits": lambda: get("habits", limit=1000),
            "graph": lambda: get("graph", limit=60, layout="true"),
            "graph: somebody": lambda: get(
                "graph", limit=60, layout="true", center=self.person, hops=2
            ),
            "check": lambda: get("jobs"),
            "facts": lambda: get("memories", kind="fact", limit=1000),
        }


async def measure(folder: str, rounds: int) -> dict[str, Figures]:
    """Open the soul, let it rest, and ask."""
    engine = engine_on(SurrealStore(f"surrealkv://{folder}"), folder)
    app = create_app(engine, ServerSettings(token="x" * 20), test_mode=False)
    steps, figures = LoopSteps(), dict[str, Figures]()
    async with TestClient(TestServer(app)) as client:
        mind = None
        while mind is None:
            await asyncio.sleep(0.5)
            mind = (await engine.worlds.of(DEFAULT_OWNER)).minds.get(SOUL)
        await engine.idle.run()
        window = Window(client)
        await window.prepare()
        await engine.idle.run()
        talk = _Talk(engine)
        with steps.watched():
            for name, ask in window.requests().items():
                found = figures[name] = Figures()
                steps.longest = 0.0
                found.first = await _cpu(ask)
                found.again = [await _cpu(ask) for _ in range(rounds)]
                found.loop = steps.longest
                for _ in range(rounds):
                    await talk.go_on()
                    steps.longest = 0.0  # the message's own steps are not the question
                    found.changed.append(await _cpu(ask))
                    found.loop = max(found.loop, steps.longest)
                found.size = window.size
    return figures


class _Talk:
    """A chat that goes on, a line at a time."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lines = [said(Writer(5), 0)]
        self._write = Writer(5)

    async def go_on(self) -> None:
        self._lines.append(said(self._write, len(self._lines)))
        await self._engine.chats.sync(DEFAULT_OWNER, SyncRequest(_CHAT, (SOUL,), self._lines))
        await asyncio.sleep(_PAUSE)


async def _cpu(ask: Ask) -> float:
    began = time.process_time()
    await ask()
    return 1000 * (time.process_time() - began)


def report(figures: Mapping[str, Figures]) -> str:
    """The table."""
    head = [
        "request",
        "first, ms",
        "again, ms",
        "behind a message, ms",
        "loop, ms",
        "kB",
    ]
    rows = [
        [
            name,
            figure(found.first),
            figure(statistics.median(found.again)),
            figure(statistics.median(found.changed)),
            figure(found.loop),
            figure(found.size / 1e3),
        ]
        for name, found in figures.items()
    ]
    return table(head, rows)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        copy = f"{scratch}/store"
        shutil.copytree(given.folder, copy)
        if (images := Path(f"{given.folder}-images")).is_dir():
            shutil.copytree(images, f"{copy}-images")
        figures = asyncio.run(measure(copy, given.rounds))
    source = origin("python -m tests.bench.window_routes FOLDER", ("numpy", "aiohttp"))
    publish(given.page, "window_routes", report(figures), source)
    if given.json is not None:
        found = {name: asdict(figures_of) for name, figures_of in figures.items()}
        given.json.write_text(json.dumps(found, indent=1), "utf-8")


if __name__ == "__main__":
    _main()
