"""What reading a chat costs, from the first thousand messages to the last: `python -m tests.bench.ingest`.

No model: everything but embedding, on a store on disk. A chat in two languages comes in portions as an
import brings them; after each thousand a few messages are said one by one, as in play. A row of the table is
what the thousand before it cost, so a flat column means that a memory's size does not matter.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, timezone
from importlib.resources import files
from pathlib import Path
from statistics import median

from soulmem.adapters.surreal import SurrealStore
from soulmem.adapters.system_clock import SystemClock
from soulmem.domain.dialogue import Base, Message, Role, SentMessage, digest, text_hash
from soulmem.domain.ids import DEFAULT_OWNER, ChatId, SlotId, SoulId
from soulmem.domain.soul import SoulSettings
from soulmem.engine.api.requests import SyncRequest
from soulmem.engine.engine import Engine
from soulmem.engine.params import EngineParams
from soulmem.engine.wiring import Ports, wire_engine
from tests.bench.large_soul import Writer
from tests.bench.open_soul import resident
from tests.bench.page import command_line, origin, publish, table
from tests.fakes.spool import FakeSpool

_SOUL, _CHAT = SoulId("reader"), ChatId("long")
_PORTION = 200  # messages that come at once
_ROW = 1000  # messages of a row of the table
_SHOWN = (1000, 2000, 5000, 10_000, 15_000, 20_000)  # rows that the page shows
_LIVE = 20  # messages said one by one after each row
_BEGAN = datetime(2024, 1, 1, 9, tzinfo=timezone.utc)
_NEW_NAME = 0.1  # of the messages tell of somebody with an invented name


@dataclass(frozen=True, slots=True)
class Row:
    """What the last thousand messages cost."""

    messages: int
    seconds: float  # of the clock
    cpu_s: float
    ms_each: float
    live_ms: float  # a message said in play, median
    rss_mb: float  # that memory grew by


def talk(count: int) -> list[SentMessage]:
    """Messages made of the lines of the demo's chats, two to a message, with invented names between."""
    rng, write = random.Random(5), Writer(5)
    folder = files("soulmem.cli") / "demo_chats"
    tales = [
        json.loads((folder / name).read_text("utf-8"))
        for name in ("lantern_en.json", "inn_zh.json")
    ]
    told = [[m["text"] for m in tale["messages"]] for tale in tales]
    names = [write.english(1)[:-1] for _ in range(count // 40)]
    out = []
    for n in range(count):
        text = " ".join(rng.sample(told[rng.random() < 0.4], 2))
        if rng.random() < _NEW_NAME:
            text += f" Then {rng.choice(names)} came in."
        role, speaker = (Role.USER, "Al") if n % 2 else (Role.CHARACTER, "Mira")
        at = _BEGAN + n * timedelta(minutes=7)
        out.append(
            SentMessage(SlotId(f"m{n}"), text_hash(text), role, speaker, text=text, sent_at=at)
        )
    return out


async def measure(folder: str, count: int) -> list[Row]:
    """Read `count` messages, a whole number of thousands."""
    store = SurrealStore(f"surrealkv://{folder}")
    engine = wire_engine(
        Ports(
            store=store,
            clock=SystemClock(),
            model=None,
            fallback=None,
            spool=FakeSpool(),
            params=EngineParams(rest_by_itself=False),
        )
    )
    await engine.start()
    await engine.souls.put(DEFAULT_OWNER, _SOUL, "Mira", None, SoulSettings())
    said = await asyncio.to_thread(talk, count)
    rows = []
    for start in range(0, count, _ROW):
        gc.collect()
        before, cpu, seconds, done = resident(), time.process_time(), 0.0, start
        while done < start + _ROW - _LIVE:
            stop = min(done + _PORTION, start + _ROW - _LIVE)
            seconds += await _send(engine, said, done, stop)
            done = stop
        used = time.process_time() - cpu
        live = [1000 * await _send(engine, said, at, at + 1) for at in range(done, start + _ROW)]
        gc.collect()
        each = 1000 * seconds / (_ROW - _LIVE)
        rows.append(Row(start + _ROW, seconds, used, each, median(live), resident() - before))
        print(*as_cells(rows[-1]), flush=True)
    await engine.stop()
    return rows


def as_cells(row: Row) -> list[str]:
    """A line of the table."""
    return [
        f"{row.messages:,}",
        f"{row.seconds:.1f}",
        f"{row.cpu_s:.1f}",
        f"{row.ms_each:.2f}",
        f"{row.live_ms:.1f}",
        f"{row.rss_mb:.1f}",
    ]


async def _send(engine: Engine, said: Sequence[SentMessage], start: int, stop: int) -> float:
    """Show the chat up to `stop`, of what is known only the digest; returns the seconds it took."""
    base = Base(start, digest(_stored(m) for m in said[:start])) if start else None
    request = SyncRequest(_CHAT, (_SOUL,), said[start:stop], base=base)
    began = time.perf_counter()
    answer = await engine.chats.sync(DEFAULT_OWNER, request)
    assert answer.applied, answer
    return time.perf_counter() - began


def _stored(m: SentMessage) -> Message:
    return Message(m.slot, m.hash, m.role, m.speaker, m.text or "", sent_at=m.sent_at)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=20_000, help="a whole number of thousands")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(measure(folder, given.messages))
    head = ["messages", "s", "CPU s", "ms each", "ms in play", "MB more"]
    shown = [row for row in rows if row.messages in _SHOWN or row is rows[-1]]
    source = origin(command_line("tests.bench.ingest"), ("numpy", "surrealdb"))
    text = table(head, [as_cells(row) for row in shown])
    publish(given.page, "ingest", text, source)
    if given.json:
        given.json.write_text(json.dumps([asdict(row) for row in rows]), encoding="utf-8")


if __name__ == "__main__":
    _main()
