"""What the digests of a year cost: `python -m tests.bench.year [--days 300] [--json OUT] [--page FILE]`.

The same messages, lines of the two demo chats, are written into two souls, by a process each: over many days
that have ended, so that each day, week and month has its digest, and within this hour, which leaves none. For
both it prints

    load_s        until all messages are written
    idle_s        of all work in quiet times until every text has its vector and every period its digest
    idle_step_ms  the longest time that the event loop did not come round meanwhile
    open_s        until the soul is open once more, by a new engine on the same folder, without its image
    recall_p50_ms, recall_p95_ms   without embedding, 200 lines; `asked_p50_ms` of questions about times
    rss_mb        memory of the process at the end

and how many digests of each length there are, and for how many of the questions a digest was recalled. The
encoder is the packaged one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np

from soulmem.adapters import packaged_encoder
from soulmem.adapters.surreal import SurrealStore
from soulmem.adapters.system_clock import SystemClock
from soulmem.domain.dialogue import SentMessage
from soulmem.domain.ids import DEFAULT_OWNER, ChatId, SoulId
from soulmem.domain.memories import MemoryKind
from soulmem.domain.soul import SoulSettings
from soulmem.engine.api.requests import RecallRequest, SyncRequest
from soulmem.engine.engine import Engine
from soulmem.engine.mind.mind import Mind
from soulmem.engine.vectors.embedder import ModelSource
from soulmem.engine.wiring import Ports, wire_engine
from soulmem.kernels.warm import warm
from soulmem.language import keywords
from tests.bench.ingest import talk
from tests.bench.open_soul import Lag, resident
from tests.bench.page import command_line, figure, origin, publish, table
from tests.fakes.spool import FakeSpool

_SOUL = SoulId("year")
_A_DAY = 20  # messages
_PIECE = 500  # messages written at once
_RECALLS = 200
_QUESTIONS = (
    "What happened last month?",
    "What did we do last week?",
    "Do you remember three months ago?",
    "上个月发生了什么？",
    "上周我们做了什么？",
    "还记得三个月前吗？",
)


def messages(days: int, *, is_spread: bool, now: datetime) -> list[SentMessage]:
    """The messages, over so many days that have ended or within this hour."""
    said = talk(days * _A_DAY)
    start = now - (timedelta(days=days) if is_spread else timedelta(minutes=30))
    pause = (now - start) / (len(said) + _A_DAY)
    return [replace(message, sent_at=start + number * pause) for number, message in enumerate(said)]


def engine_on(folder: Path) -> Engine:
    """An engine as it is installed, with the packaged encoder."""
    return wire_engine(
        Ports(
            store=SurrealStore(f"surrealkv://{folder}"),
            clock=SystemClock(),
            model=None,
            fallback=ModelSource("packaged", lambda: True, packaged_encoder.load),
            warm=lambda: warm(None),
            spool=FakeSpool(),
        )
    )


async def open_mind(engine: Engine) -> Mind:
    """The soul, once it is open."""
    while True:
        mind = (await engine.worlds.of(DEFAULT_OWNER)).minds.get(_SOUL)
        if mind is not None:
            return mind
        await asyncio.sleep(0.05)


def digest_counts(mind: Mind) -> dict[str, float]:
    """How many digests of each length there are."""
    counts: Counter[str] = Counter()
    for memory in mind.memories.values():
        if memory.situation.period:
            counts[memory.situation.period] += 1
    return {f"digests_{period}": float(n) for period, n in sorted(counts.items())}


async def recall_ms(engine: Engine, query: str) -> tuple[float, bool]:
    """How long a recall takes without embedding, and whether a digest is in the answer."""
    request = RecallRequest(_SOUL, query=query, budget_tokens=1200, time_budget_ms=5000)
    answer = await engine.recaller.recall(DEFAULT_OWNER, request)
    kinds = {memory.kind for memory in answer.memories}
    ms = answer.took_ms.total - answer.took_ms.embed
    return ms, MemoryKind.DIGEST in kinds


async def live(folder: Path, days: int, *, is_spread: bool) -> dict[str, float]:
    """Write the messages and rest until nothing is left to do."""
    lag = Lag()
    watch = asyncio.create_task(lag.watch())
    engine = engine_on(folder)
    await engine.start()
    await engine.souls.put(DEFAULT_OWNER, _SOUL, "Mia", (), SoulSettings())
    sent = messages(days, is_spread=is_spread, now=datetime.now(timezone.utc))
    began = time.perf_counter()
    for start in range(0, len(sent), _PIECE):
        piece = sent[: start + _PIECE]
        request = SyncRequest(ChatId("life"), (_SOUL,), piece)
        await engine.chats.sync(DEFAULT_OWNER, request)
    loaded = time.perf_counter()
    lag.worst = 0.0
    mind = await open_mind(engine)
    count = -1
    while count != len(mind.memories):  # a round of rest makes a limited number
        count = len(mind.memories)
        await engine.idle.run()
    idle = time.perf_counter()
    watch.cancel()
    out = {
        "messages": float(len(sent)),
        "load_s": loaded - began,
        "idle_s": idle - loaded,
        "idle_step_ms": lag.worst,
    }
    out |= digest_counts(mind)
    await engine.stop()
    return out


async def ask(folder: Path) -> dict[str, float]:
    """Open the soul once more, and ask it."""
    lag = Lag()
    watch = asyncio.create_task(lag.watch())
    # Compiled code and dictionaries are loaded once for all souls.
    await asyncio.to_thread(warm, None)
    await asyncio.to_thread(keywords.prepare)
    lag.worst = 0.0
    engine, began = engine_on(folder), time.perf_counter()
    await engine.start()
    await open_mind(engine)
    out = {"open_s": time.perf_counter() - began, "open_step_ms": lag.worst}
    lines = [message.text or "" for message in talk(_RECALLS)]
    took = [(await recall_ms(engine, line))[0] for line in lines]
    out |= {f"recall_p{p}_ms": float(np.percentile(took, p)) for p in (50, 95)}
    asked = [await recall_ms(engine, query) for query in _QUESTIONS]
    out["asked_p50_ms"] = float(np.median([ms for ms, _ in asked]))
    out["told_by_digests"] = float(sum(is_told for _, is_told in asked))
    out["rss_mb"] = resident()
    watch.cancel()
    await engine.stop()
    return out


def apart(step: str, folder: Path, days: int, *, is_spread: bool) -> dict[str, float]:
    """What a process of its own measures."""
    own = [sys.executable, "-m", "tests.bench.year", "--days", str(days)]
    command = [*own, "--step", step, "--folder", str(folder)]
    command += ["--spread"] if is_spread else []
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return measured


def compare(days: int) -> dict[str, dict[str, float]]:
    """Both lives, one after the other."""
    out = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, is_spread in (("with digests", True), ("without", False)):
            place = Path(folder) / name.replace(" ", "-")
            measured = apart("live", place, days, is_spread=is_spread)
            out[name] = measured | apart("ask", place, days, is_spread=is_spread)
    return out


def report(lives: dict[str, dict[str, float]]) -> str:
    """All figures of both lives side by side."""
    rows = [
        [f"`{name}`", *(figure(life.get(name, 0.0)) for life in lives.values())]
        for name in lives["with digests"]
    ]
    return table(["", *lives], rows)


def _main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=300)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--step", choices=("live", "ask"), help="in this process")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--spread", action="store_true")
    options = parser.parse_args(arguments)
    if options.step == "live":
        step = live(options.folder, options.days, is_spread=options.spread)
        print(json.dumps(asyncio.run(step)))
    elif options.step == "ask":
        print(json.dumps(asyncio.run(ask(options.folder))))
    else:
        lives = compare(options.days)
        source = origin(command_line("tests.bench.year"), ("numpy", "surrealdb"))
        publish(options.page, "year", report(lives), source)
        if options.json:
            options.json.write_text(json.dumps(lives), encoding="utf-8")


if __name__ == "__main__":
    _main()
