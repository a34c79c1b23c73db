"""How do a message in play and a recall grow with what a soul knows? `python -m tests.bench.slope`.

    python -m tests.bench.slope [--sizes 1000,100000] [--keep FOLDER] [--json OUT] [--page docs/benchmarks.md]

Souls of `large_soul` of several sizes, all lines of each in one chat, which goes on. Each turn a message of the
user is synced, a recall asked for it, another with nothing said since, and the answer synced. The figures are
CPU time, of a whole part that of the process with all threads, of a step that of its thread: the clock would
measure what else runs. The last column is the slope of a line through the medians, both axes logarithmic: 0 is
flat, 1 grows like the soul. Each size is printed as soon as it is measured.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar
from unittest import mock

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before numpy is imported

import numpy as np  # noqa: E402

from soulmem.adapters.surreal import SurrealStore  # noqa: E402
from soulmem.domain.dialogue import (  # noqa: E402
    Base,
    Message,
    Role,
    SentMessage,
    digest,
    text_hash,
)
from soulmem.domain.ids import DEFAULT_OWNER, SlotId  # noqa: E402
from soulmem.engine.api.requests import RecallRequest, SyncRequest  # noqa: E402
from soulmem.engine.mind.mind import Mind  # noqa: E402
from soulmem.engine.recall import context, recaller  # noqa: E402
from soulmem.engine.recall.walks import Walks  # noqa: E402
from soulmem.engine.sync.chat_writer import ChatWriter  # noqa: E402
from tests.bench.large_soul import SOUL, Writer  # noqa: E402
from tests.bench.open_soul import engine_on  # noqa: E402
from tests.bench.page import command_line, figure, origin, put, table  # noqa: E402

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
# Measured whole, by name in the results.
PARTS = {
    "sync": "a message",
    "recall": "the recall behind it",
    "still_recall": "a recall with nothing said before",
}
# Of the sync and the recall behind it: what it does, where it is called.
STEPS: dict[str, tuple[object, str]] = {
    "compare with the stored chat": (ChatWriter, "_sync_step"),
    "take it into the memory": (Mind, "apply"),
    "what the chat may know": (recaller, "build_context"),
    "cosines": (context, "_cosines"),
    "text scores": (recaller, "score_texts"),
    "climb and walk": (recaller, "climb"),
    "links of it": (Walks, "refresh"),
    "ranking": (recaller, "rank"),
    "answer": (recaller, "assemble"),
}
_EDGES = 5  # of each memory
_TURNS = 40
_FIRST = 5  # turns that are not counted
_PAUSE = 0.2  # seconds; nobody writes faster

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Row:
    """Median CPU time in milliseconds of each of PARTS and STEPS that took any."""

    memories: int
    took: Mapping[str, float]


class StepTimes:
    """CPU time of each of STEPS since the last `taken`, in milliseconds."""

    def __init__(self, patches: ExitStack) -> None:
        self._took = defaultdict[str, float](float)
        for name, (place, function) in STEPS.items():
            timed = self._timed(name, getattr(place, function))
            patches.enter_context(mock.patch.object(place, function, timed))

    def taken(self) -> dict[str, float]:
        """By name; steps that were not called are left out."""
        took, self._took = self._took, defaultdict[str, float](float)
        return dict(took)

    def _timed(self, name: str, function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            began = time.thread_time()
            try:
                return function(*args, **kwargs)
            finally:
                self._took[name] += 1000 * (time.thread_time() - began)

        return call


def written(size: int, keep: Path) -> Path:
    """The data folder of a soul of that size; made in a process of its own where it is missing."""
    folder = keep / f"one-chat-{size}"
    if not folder.exists():
        subprocess.run(
            [
                *(sys.executable, "-m", "tests.bench.large_soul", str(folder)),
                *("--nodes", str(size), "--edges", str(_EDGES * size), "--one-chat"),
            ],
            check=True,
        )
    return folder


async def measure(folder: Path) -> dict[str, float]:
    """`Row.took` of the soul in this folder, which is changed."""
    with ExitStack() as patches:
        return await _measure(folder, StepTimes(patches))


async def _measure(folder: Path, steps: StepTimes) -> dict[str, float]:
    engine = engine_on(SurrealStore(f"surrealkv://{folder}"), str(folder))
    await engine.start()
    await (await engine.worlds.of(DEFAULT_OWNER)).mind(SOUL)
    await engine.idle.run()
    chat = (await engine.chats.list(DEFAULT_OWNER, SOUL))[0][0].id
    _, told = await engine.chats.get(DEFAULT_OWNER, chat)
    write, took = Writer(5), defaultdict[str, list[float]](list)

    async def sync(number: int) -> float:
        base = Base(len(told), digest(told))
        sent = _said(write, number, told[-1])
        used = await _cpu(
            engine.chats.sync(DEFAULT_OWNER, SyncRequest(chat, (SOUL,), (sent,), base=base))
        )
        told.append(_stored(sent))
        return used

    async def recall(reply: int) -> float:
        request = RecallRequest(
            SOUL, chat=chat, slot=SlotId(f"live-{reply}"), swipe=0, time_budget_ms=5000
        )
        return await _cpu(engine.recaller.recall(DEFAULT_OWNER, request))

    for turn in range(_TURNS):
        steps.taken()
        took["sync"].append(await sync(2 * turn))
        took["recall"].append(await recall(2 * turn + 1))
        for step, milliseconds in steps.taken().items():
            took[step].append(milliseconds)
        await asyncio.sleep(_PAUSE)  # lessons of the last reply are learned
        took["still_recall"].append(await recall(2 * turn + 1))
        await sync(2 * turn + 1)
        await asyncio.sleep(_PAUSE)
    await engine.stop()
    return {name: float(np.median(times[_FIRST:])) for name, times in took.items()}


async def _cpu(work: Awaitable[T]) -> float:
    """Milliseconds of CPU time of this process that the work takes."""
    began = time.process_time()
    await work
    return 1000 * (time.process_time() - began)


def _said(write: Writer, number: int, last: Message) -> SentMessage:
    """The next line, which names a concept now and then."""
    text = write.line(number) + (f" {write.name(number)}" if number % 4 == 0 else "")
    role, speaker = (Role.CHARACTER, "Mira") if number % 2 else (Role.USER, "Al")
    at = None if last.sent_at is None else last.sent_at + timedelta(minutes=7)
    slot = SlotId(f"live-{number}")
    return SentMessage(slot, text_hash(text), role, speaker, at, text=text)


def _stored(m: SentMessage) -> Message:
    return Message(m.slot, m.hash, m.role, m.speaker, m.text or "", sent_at=m.sent_at)


def slopes(rows: Sequence[Row]) -> dict[str, float]:
    """By part and step the power of the size that the times follow; least squares of the logarithms.

    Of what one of the sizes did not do there is none.
    """
    sizes = np.log([row.memories for row in rows])
    out = {}
    for name in (*PARTS, *STEPS):
        times = [row.took.get(name, 0.0) for row in rows]
        if len(rows) > 1 and min(times) > 0:
            out[name] = float(np.polyfit(sizes, np.log(times), 1)[0])
    return out


def report(rows: Sequence[Row], slope: Mapping[str, float]) -> str:
    """The table with the slopes beside it, and where it comes from."""
    lines = []
    for name, told in (PARTS | {step: f"- {step}" for step in STEPS}).items():
        times = [row.took.get(name) for row in rows]
        shown = ["" if each is None else figure(each) for each in times]
        lines.append([told, *shown, f"{slope[name]:.2f}" if name in slope else ""])
    head = ["CPU, ms", *(f"{row.memories:,}" for row in rows), "slope"]
    return "\n\n".join(
        [
            table(head, lines),
            f"Medians of {_TURNS - _FIRST} turns. "
            + origin(
                command_line("tests.bench.slope"),
                ("numpy", "numba", "surrealdb"),
            ),
        ]
    )


def measured(size: int, keep: Path) -> Row:
    """One row, measured on a copy of the soul by a process of its own."""
    folder = written(size, keep)
    with tempfile.TemporaryDirectory(dir=keep) as apart:
        copy = Path(apart) / folder.name
        shutil.copytree(folder, copy)
        command = [sys.executable, "-m", "tests.bench.slope", "--once", str(copy)]
        # What goes wrong there is told here.
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    row = Row(size, json.loads(done.stdout.splitlines()[-1]))
    print(json.dumps(asdict(row)), flush=True)
    return row


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description="Growth with the size of a soul")
    parser.add_argument(
        "--sizes",
        type=lambda told: tuple(map(int, told.split(","))),
        default=SIZES,
        help="numbers of memories, separated by commas",
    )
    parser.add_argument("--keep", type=Path, help="make the souls there, or find them there")
    parser.add_argument("--once", type=Path, help="measure the soul there, as it is")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there")
    parser.add_argument("--page", type=Path, metavar="FILE", help="put the table on that page")
    asked = parser.parse_args()
    if asked.once:
        print(json.dumps(asyncio.run(measure(asked.once))))
        return
    with tempfile.TemporaryDirectory() as scratch:
        rows = [measured(size, asked.keep or Path(scratch)) for size in asked.sizes]
    slope = slopes(rows)
    text = report(rows, slope)
    print(text)
    if asked.json:
        asked.json.write_text(
            json.dumps({"rows": [asdict(row) for row in rows], "slope": slope}),
            encoding="utf-8",
        )
    if asked.page:
        put(asked.page, "slope", text)


if __name__ == "__main__":
    main()
