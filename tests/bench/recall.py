"""How long does a recall take, beside the embedding of its question?

    python -m tests.bench.recall [--quick] [--keep FOLDER] [--json OUT] [--page docs/benchmarks.md]

Whole recalls by an engine on a real store, in this process; the embedder is a fake, its time is not counted.
In turn with it a plain peer answers the same questions: cosines by numpy and words by bm25s, no graph, no
branch, no blocks.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

for _name in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
):
    os.environ.setdefault(_name, "1")  # before numpy is imported

import psutil  # noqa: E402

from soulmem.adapters.surreal import SurrealStore  # noqa: E402
from soulmem.adapters.system_clock import SystemClock  # noqa: E402
from soulmem.domain.ids import DEFAULT_OWNER, ChatId  # noqa: E402
from soulmem.engine.api.requests import RecallRequest  # noqa: E402
from soulmem.engine.api.results import Timings  # noqa: E402
from soulmem.engine.engine import Engine  # noqa: E402
from soulmem.engine.params import EngineParams  # noqa: E402
from soulmem.engine.wiring import Ports, wire_engine  # noqa: E402
from soulmem.kernels.warm import warm  # noqa: E402
from tests.bench.large_soul import SOUL, BagEmbedder, Writer  # noqa: E402
from tests.bench.page import command_line, figure, origin, put, table  # noqa: E402
from tests.bench.plain_search import PlainSearch  # noqa: E402
from tests.fakes.spool import FakeSpool  # noqa: E402

_REPEATS = 200  # questions
_FIRST = 5  # not counted
_PATIENCE = 600.0  # seconds a soul may take to wake up
_PARTS = ("all", "search", "walk", "assemble")


@dataclass(frozen=True, slots=True)
class Soul:
    """Whose memory is asked; three fifths of its nodes are messages."""

    name: str
    nodes: int
    edges: int


SOULS = (
    Soul("5k messages", 8_334, 41_670),
    Soul("100k nodes, 500k edges", 100_000, 500_000),
)


@dataclass(frozen=True, slots=True)
class Row:
    """Milliseconds at the 50th and 95th of 100; `part` is all, search, walk or assemble."""

    soul: str
    method: str  # soulmem or plain
    part: str
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class Opening:
    """What it takes to have the soul at hand."""

    soul: str
    port_s: float  # until the store is open and requests are taken
    awake_s: float  # until a recall answers from the whole soul
    rss_mb: float  # more than before


def written(soul: Soul, keep: Path | None, scratch: Path) -> Path:
    """The soul's data folder; made in a process of its own, so that this one's memory stays clean."""
    folder = (keep or scratch) / f"{soul.nodes}-{soul.edges}"
    if not folder.exists():
        subprocess.run(
            [
                *(sys.executable, "-m", "tests.bench.large_soul", str(folder)),
                *("--nodes", str(soul.nodes), "--edges", str(soul.edges)),
            ],
            check=True,
        )
    return folder


def questions(count: int) -> Iterator[str]:
    """Lines as the soul's chats hold them; every second one names a concept."""
    write = Writer(seed=99)
    names = Writer(seed=7)
    known = [names.name(n) for n in range(500)]
    for n in range(count):
        line = write.line(n)
        yield f"{line} {known[n % len(known)]}" if n % 2 else line


async def measure(soul: Soul, folder: Path, count: int) -> tuple[Opening, list[Row]]:
    """Open, ask, and ask the peer the same."""
    embedder = BagEmbedder()
    process = psutil.Process()
    before = process.memory_info().rss
    began = time.perf_counter()
    engine = wire_engine(
        Ports(
            store=SurrealStore(f"surrealkv://{folder}"),
            clock=SystemClock(),
            model=embedder.source(),
            fallback=None,
            params=EngineParams(rest_by_itself=False),
            warm=lambda: warm(None),
            spool=FakeSpool(),
        )
    )
    await engine.start()
    if (error := await engine.opened()) is not None:
        raise error
    ready = time.perf_counter() - began
    chat = (await engine.chats.list(DEFAULT_OWNER, SOUL))[-1][0].id
    await _awake(engine, chat)
    opening = Opening(
        soul.name,
        ready,
        time.perf_counter() - began,
        (process.memory_info().rss - before) / 2**20,
    )
    world = await engine.worlds.of(DEFAULT_OWNER)
    mind = await world.mind(SOUL)
    peer = await asyncio.to_thread(PlainSearch, [m.text for m in mind.memories.values()], embedder)
    ours: list[Timings] = []
    theirs: list[float] = []
    for n, question in enumerate(questions(count + _FIRST)):
        request = RecallRequest(SOUL, chat, query=question, time_budget_ms=60_000)
        answer = await engine.recaller.recall(DEFAULT_OWNER, request)
        if not answer.memories:
            raise RuntimeError(f"nothing came to mind for {question!r}")
        took = await asyncio.to_thread(peer.seconds, question)
        if n >= _FIRST:
            ours.append(answer.took_ms)
            theirs.append(1000 * took)
    await engine.stop()
    parts = {
        "all": [t.total - t.embed for t in ours],
        **{part: [float(getattr(t, part)) for t in ours] for part in _PARTS[1:]},
    }
    rows = [row(soul, "soulmem", part, parts[part]) for part in _PARTS]
    return opening, [*rows, row(soul, "plain", "all", theirs)]


async def _awake(engine: Engine, chat: ChatId) -> None:
    """Returns once a recall answers in full, with every vector at hand and walks compiled."""
    end = time.monotonic() + _PATIENCE
    request = RecallRequest(SOUL, chat, query="who are you?", time_budget_ms=1000)
    while time.monotonic() < end:
        health = engine.health()
        if (
            not health.pending and health.kernels == "ok"
        ):  # asking meanwhile would slow the embedding down
            answer = await engine.recaller.recall(DEFAULT_OWNER, request)
            if answer.memories and not answer.timed_out and not engine.health().pending:
                return
        await asyncio.sleep(0.1)
    raise TimeoutError(f"the soul was not awake after {_PATIENCE:.0f} s")


def row(soul: Soul, method: str, part: str, ms: Sequence[float]) -> Row:
    """Two percentiles; of n figures the 95th is the one that 5 % exceed."""
    ordered = sorted(ms)
    at = [ordered[min(len(ordered) - 1, int(len(ordered) * share))] for share in (0.5, 0.95)]
    return Row(soul.name, method, part, *at)


def report(openings: Sequence[Opening], rows: Sequence[Row], count: int) -> str:
    """Both tables and where they come from."""
    lines = [[r.soul, r.method, r.part, figure(r.p50_ms), figure(r.p95_ms)] for r in rows]
    opened = [[o.soul, figure(o.port_s), figure(o.awake_s), figure(o.rss_mb)] for o in openings]
    return "\n\n".join(
        [
            table(["soul", "who", "part", "p50, ms", "p95, ms"], lines),
            table(
                ["soul", "store open, s", "recall answers in full, s", "memory, MB"],
                opened,
            ),
            f"{count} questions each, embedding not counted, wall time. "
            + origin(
                command_line("tests.bench.recall"),
                ("numpy", "scipy", "numba", "bm25s", "surrealdb"),
            ),
        ]
    )


async def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description="Recall from end to end")
    parser.add_argument("--quick", action="store_true", help="only the small soul")
    parser.add_argument("--questions", type=int, default=_REPEATS)
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FOLDER",
        help="make the souls there, or find them there",
    )
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there")
    parser.add_argument("--page", type=Path, metavar="FILE", help="put the tables on that page")
    asked = parser.parse_args()
    openings, rows = [], []
    with tempfile.TemporaryDirectory() as scratch:
        for soul in SOULS[:1] if asked.quick else SOULS:
            folder = await asyncio.to_thread(written, soul, asked.keep, Path(scratch))
            opening, found = await measure(soul, folder, asked.questions)
            openings.append(opening)
            rows += found
    text = report(openings, rows, asked.questions)
    print(text)
    if asked.json:
        asked.json.write_text(
            json.dumps([asdict(r) for r in rows] + [asdict(o) for o in openings], indent=1),
            encoding="utf-8",
        )
    if asked.page:
        put(asked.page, "recall", text)


if __name__ == "__main__":
    asyncio.run(main())
