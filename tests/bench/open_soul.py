"""How a large soul opens and answers: `python -m tests.bench.open_soul FOLDER`, as `large_soul` wrote it.

It is opened twice, each time by a process of its own: from rows, and from the image that the first left in
`FOLDER-images`. Tells the seconds until it is open, the longest step of the event loop meanwhile, what memory
grew by, and how long recalls take without embedding. `--json OUT` writes the same as one object.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from soulmem.adapters.image_folder import ImageFolder
from soulmem.adapters.surreal import SurrealStore
from soulmem.adapters.system_clock import SystemClock
from soulmem.domain.ids import DEFAULT_OWNER
from soulmem.engine.engine import Engine
from soulmem.engine.requests import RecallRequest
from tests.bench.large_soul import SOUL, BagEmbedder, Writer
from tests.fakes.spool import FakeSpool

_ASKED = 200
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


async def measure(folder: str) -> dict[str, float]:
    """Open the soul and ask it."""
    embedder = BagEmbedder()
    engine = Engine(
        SurrealStore(f"surrealkv://{folder}"),
        SystemClock(),
        model=embedder.source(),
        fallback=None,
        spool=FakeSpool(),
        images=ImageFolder(Path(f"{folder}-images")),
    )
    lag = Lag()
    watch = asyncio.create_task(lag.watch())
    gc.collect()
    before, began, cpu = resident(), time.perf_counter(), time.process_time()
    await engine.start()
    first = None
    while True:
        answer = await engine.recall(
            DEFAULT_OWNER, RecallRequest(SOUL, query="sha ri ton 勃啨", time_budget_ms=300)
        )
        if answer.memories and first is None:
            first = time.perf_counter() - began
        if SOUL in (await engine._world(DEFAULT_OWNER)).minds:
            break
        await asyncio.sleep(1.0)  # as somebody who writes would ask, not to keep it from opening
    out = {
        "open_s": time.perf_counter() - began,
        "open_cpu_s": time.process_time() - cpu,
        "first_answer_s": first or 0.0,
        "loop_lag_ms": lag.worst,
    }
    await engine.run_idle()  # every text has its vector, and the store gives back what it read
    await asyncio.sleep(_SETTLED)
    gc.collect()
    out["rss_mb"] = resident() - before
    lag.worst = 0.0
    write = Writer(11)
    took: list[float] = []
    busy: list[float] = []
    for number in range(_ASKED):
        query = "\n".join(write.line(3 * number + i) for i in range(2))
        used = time.process_time()
        answer = await engine.recall(DEFAULT_OWNER, RecallRequest(SOUL, query=query))
        busy.append(1000 * (time.process_time() - used))
        took.append(answer.took_ms.total - answer.took_ms.embed)
    out |= {f"recall_p{p}_ms": float(np.percentile(took, p)) for p in (50, 95)}
    out["recall_cpu_p50_ms"] = float(np.percentile(busy, 50))
    out["recall_lag_ms"] = lag.worst
    watch.cancel()
    began, cpu = time.perf_counter(), time.process_time()
    await engine.stop()
    out["stop_s"], out["stop_cpu_s"] = time.perf_counter() - began, time.process_time() - cpu
    return out


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--once", action="store_true", help="open it as it is, in this process")
    given = parser.parse_args()
    if given.once:
        print(json.dumps(asyncio.run(measure(given.folder))))
        return
    shutil.rmtree(f"{given.folder}-images", ignore_errors=True)
    found = {}
    for how in ("rows", "image"):
        command = [sys.executable, "-m", "tests.bench.open_soul", given.folder, "--once"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found[how] = json.loads(done.stdout)
    for name in found["rows"]:
        print(f"{name:20s}" + "".join(f" {found[how][name]:10.2f} {how}" for how in found))
    if given.json:
        given.json.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    _main()
