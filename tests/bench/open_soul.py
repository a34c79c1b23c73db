"""How a large soul opens and answers: `python -m tests.bench.open_soul FOLDER`, as `large_soul` wrote it.

It is opened three times, each time by a process of its own: from rows, from the image that the first left in
`FOLDER-images`, and from that with what another one stored before it was killed. Tells the seconds until it
is open, the longest step of the event loop meanwhile, what memory grew by, and how long recalls take without
embedding. `graph_mb` is what memory grows by when the soul is opened, more than when the same store is opened
without it, each in a process that has compiled code and dictionaries already; `idle_mb` the same after all
Idle work, `used_mb` after the recalls as well, with all that walks made ready, `left_mb` after the soul was
closed as one that nobody uses, which is opened again within `again_s`. `index_mb` of it are the indices of
words and terms, which are no graph. Each is the least of three: in one run of four the engine of the store
takes 64 MB more when it opens, with or without the soul.
With `--image` only the image is opened, which this very code must have left there. `--json OUT` writes the
same as one object, `--page FILE` puts the table there. `total_mb` is all memory of the process without a model,
`files` how many it has open, both after all Idle work.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import numpy as np

from soulmem.adapters.snapshot_folder import SnapshotFolder
from soulmem.adapters.surreal import SurrealStore
from soulmem.adapters.surreal.process_scan import forgo_process_scan
from soulmem.adapters.system_clock import SystemClock
from soulmem.domain.dialogue import Role, SentMessage, text_hash
from soulmem.domain.ids import DEFAULT_OWNER, ChatId, SlotId
from soulmem.engine.api.requests import RecallRequest, SyncRequest
from soulmem.engine.engine import Engine
from soulmem.engine.mind.mind import Mind
from soulmem.engine.wiring import Ports, wire_engine
from soulmem.engine.world.soul_use import SoulUse
from soulmem.engine.world.world import World
from soulmem.kernels.warm import installed_cache, warm
from soulmem.language import keywords
from soulmem.ports.store import Store
from tests.bench.large_soul import SOUL, BagEmbedder, Writer
from tests.bench.page import figure, origin, publish, table
from tests.fakes.spool import FakeSpool

_ASKED = 200
_RUNS = 3
_BEFORE_KILL = 60  # messages
_SETTLED = 4.0  # seconds after which the engine of the store has let go of what it held


class Lag:
    """The longest time that the event loop did not come round, in milliseconds."""

    def __init__(self) -> None:
        self.worst = 0.0

    async def watch(self) -> None:
        """Look for ever."""
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.002)
            self.worst = max(self.worst, 1000 * (time.perf_counter() - began) - 2)


def resident() -> float:
    """Megabytes of this process in RAM."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 1e6


def open_files() -> float:
    """Files, sockets and the like that this process has open."""
    return float(len(list(Path("/proc/self/fd").iterdir())))


def engine_on(store: Store, folder: str) -> Engine:
    """An engine as it is installed, but with vectors that need no model."""
    return wire_engine(
        Ports(
            store=store,
            clock=SystemClock(),
            model=BagEmbedder().source(),
            fallback=None,
            warm=lambda: warm(installed_cache()),
            spool=FakeSpool(),
            images=SnapshotFolder(Path(f"{folder}-images")),
        )
    )


async def measure_memory(folder: str, how: str) -> dict[str, float]:
    """What memory grows by: with the store open and no soul (`closed`), or with the soul."""
    await asyncio.to_thread(warm, installed_cache())
    await asyncio.to_thread(keywords.prepare)
    gc.collect()
    before = resident()
    store = SurrealStore(f"surrealkv://{folder}")
    engine = engine_on(store, folder)
    if how == "closed":
        with mock.patch.object(World, "souls_to_open", new=mock.Mock(return_value=[])):
            await engine.start()
            await engine.opened()
            await engine.souls.list(DEFAULT_OWNER)
            await store.maintain()
            out = {"closed_mb": await _settled() - before}
            await engine.stop()
        return out
    await engine.start()
    mind = None
    while mind is None:
        await asyncio.sleep(0.5)
        mind = (await engine.worlds.of(DEFAULT_OWNER)).minds.get(SOUL)
    out = {"graph_mb": await _settled() - before}
    await engine.idle.run()
    out["idle_mb"] = await _settled() - before
    for query in _queries():
        await engine.recaller.recall(DEFAULT_OWNER, RecallRequest(SOUL, query=query))
    out["used_mb"] = await _settled() - before
    packed = mind.terms.incidence.packed()
    terms = (packed.keys, packed.rows, packed.counts, packed.terms, packed.salience)
    arrays = [*mind.words.packed().values(), *terms]
    out["index_mb"] = sum(array.nbytes for array in arrays) / 1e6
    del mind, packed, terms, arrays
    return out | await _measure_closing(engine, before)


async def _measure_closing(engine: Engine, before: float) -> dict[str, float]:
    """What is left of the soul in memory when it was closed, and how long it takes to open again."""
    world = await engine.worlds.of(DEFAULT_OWNER)
    with mock.patch.object(SoulUse, "unused_for", return_value=float("inf")):
        if not await engine.idle.closing.run_idle([world]):
            raise RuntimeError("the soul does not close")
    left = await _settled() - before
    began = time.perf_counter()
    await world.mind(SOUL)
    again = time.perf_counter() - began
    await engine.stop()
    return {"left_mb": left, "again_s": again}


def _queries() -> list[str]:
    """What is asked, two lines each."""
    write = Writer(11)
    return ["\n".join(write.line(3 * number + i) for i in range(2)) for number in range(_ASKED)]


async def _settled() -> float:
    await asyncio.sleep(_SETTLED)
    gc.collect()
    return resident()


async def measure(folder: str) -> dict[str, float]:
    """Open the soul and ask it."""
    engine = engine_on(SurrealStore(f"surrealkv://{folder}"), folder)
    lag = Lag()
    watch = asyncio.create_task(lag.watch())
    gc.collect()
    before, began, cpu = resident(), time.perf_counter(), time.process_time()
    await engine.start()
    opening = asyncio.create_task(_opened(engine))
    first: float | None = None
    while first is None or not opening.done():
        answer = await engine.recaller.recall(
            DEFAULT_OWNER,
            RecallRequest(SOUL, query="sha ri ton 勃啨", time_budget_ms=300),
        )
        if answer.memories and first is None:
            first = time.perf_counter() - began
        # As somebody who writes would ask, not to keep it from opening
        await asyncio.wait([opening], timeout=1.0)
    mind, opened, used = await opening
    out = {
        "open_s": opened - began,
        "open_cpu_s": used - cpu,
        "from_image": float(mind in engine.snapshots._kept),
        "first_answer_s": first,
        "loop_lag_ms": lag.worst,
    }
    await engine.idle.run()  # every text has its vector, and the store gives back what it read
    await asyncio.sleep(_SETTLED)
    gc.collect()
    out["rss_mb"] = resident() - before
    out["total_mb"] = resident()
    out["files"] = open_files()
    lag.worst = 0.0
    took: list[float] = []
    busy: list[float] = []
    for query in _queries():
        used = time.process_time()
        answer = await engine.recaller.recall(DEFAULT_OWNER, RecallRequest(SOUL, query=query))
        busy.append(1000 * (time.process_time() - used))
        took.append(answer.took_ms.total - answer.took_ms.embed)
    out |= {f"recall_p{p}_ms": float(np.percentile(took, p)) for p in (50, 95)}
    out["recall_cpu_p50_ms"] = float(np.percentile(busy, 50))
    out["recall_lag_ms"] = lag.worst
    gc.collect()
    out["rss_used_mb"] = resident() - before
    watch.cancel()
    began, cpu = time.perf_counter(), time.process_time()
    await engine.stop()
    out["stop_s"], out["stop_cpu_s"] = (
        time.perf_counter() - began,
        time.process_time() - cpu,
    )
    return out


async def _opened(engine: Engine) -> tuple[Mind, float, float]:
    """The soul's mind, once it is open; the clock and the processor time then, in seconds."""
    mind = await (await engine.worlds.of(DEFAULT_OWNER)).mind(SOUL)
    return mind, time.perf_counter(), time.process_time()


async def live_and_die(folder: str) -> None:
    """Open the soul, go on with a chat, and end without any goodbye."""
    engine = engine_on(SurrealStore(f"surrealkv://{folder}"), folder)
    await engine.start()
    await (await engine.worlds.of(DEFAULT_OWNER)).mind(SOUL)
    write, me = Writer(12), f"{os.getpid()}"
    messages = []
    for number in range(_BEFORE_KILL):
        role, text = (Role.USER, Role.CHARACTER)[number % 2], write.line(number)
        slot = SlotId(f"{me}-{number}")
        messages.append(SentMessage(slot, text_hash(text), role, "Mira", text=text))
    await engine.chats.sync(DEFAULT_OWNER, SyncRequest(ChatId(me), (SOUL,), messages))
    os.kill(os.getpid(), signal.SIGKILL)


def _apart(folder: str, *how: str) -> dict[str, float]:
    """What a process of its own measures."""
    command = [sys.executable, "-m", "tests.bench.open_soul", folder, *how]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _least(folder: str, how: str) -> dict[str, float]:
    """Of what several processes measured the least."""
    runs = [_apart(folder, "--memory", how) for _ in range(_RUNS)]
    return {name: min(run[name] for run in runs) for name in runs[0]}


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--image", action="store_true", help="only from the image that is there")
    parser.add_argument("--once", action="store_true", help="open it as it is, in this process")
    parser.add_argument("--killed", action="store_true", help="open it, go on, and be killed")
    parser.add_argument(
        "--memory",
        choices=("closed", "soul"),
        help="what memory grows by, in this process",
    )
    given = parser.parse_args()
    if given.killed:
        asyncio.run(live_and_die(given.folder))
    if given.once or given.memory:
        measured = (
            measure_memory(given.folder, given.memory) if given.memory else measure(given.folder)
        )
        forgo_process_scan()  # as `soulmem serve` does
        print(json.dumps(asyncio.run(measured)))
        return
    if not given.image:
        shutil.rmtree(f"{given.folder}-images", ignore_errors=True)
    found = {
        how: _apart(given.folder, "--once")
        for how in (["image"] if given.image else ["rows", "image"])
    }
    die = [sys.executable, "-m", "tests.bench.open_soul", given.folder, "--killed"]
    subprocess.run(die, check=False)
    found["image, after a kill"] = _apart(given.folder, "--once")
    memory, closed = (_least(given.folder, how) for how in ("soul", "closed"))
    for how in set(found) & {"rows", "image"}:
        values = found[how]
        values |= {
            name: memory[name] - closed["closed_mb"]
            for name in ("graph_mb", "idle_mb", "used_mb", "left_mb")
        }
        values |= {name: memory[name] for name in ("index_mb", "again_s")}
    rows = [
        [f"`{name}`", *(figure(v[name]) if name in v else "" for v in found.values())]
        for name in found["image"]
    ]
    text = table(["", *(f"from {how}" for how in found)], rows)
    source = origin("python -m tests.bench.open_soul FOLDER", ("numpy", "surrealdb"))
    publish(given.page, "open_soul", text, source)
    if given.json:
        given.json.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    _main()
