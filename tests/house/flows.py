"""Counts how far three flows travel through the code: a message, a recall, a consolidation.

    python -m tests.house.flows

Runs them on fakes and counts the files of soulmem that they enter, the calls that go from one file or room
into another, and the functions handed to another thread. It prints one line a flow.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import soulmem
from tests.engine.evenings import talk
from tests.engine.model_stage import ModelStage
from tests.engine.stage import Stage, line

ROOT = str(Path(soulmem.__file__).parent)


@dataclass
class Route:
    """What one flow entered. `hand_offs` are calls of `ThreadPoolExecutor.submit`."""

    files: set[str] = field(default_factory=set)
    file_switches: int = 0
    room_switches: int = 0
    calls: int = 0
    hand_offs: int = 0

    def line(self, name: str) -> str:
        """As a row of text."""
        in_engine = sum(file.startswith("engine/") for file in self.files)
        return (
            f"{name:14} files {len(self.files)} ({in_engine} of engine),"
            f" file switches {self.file_switches}, room switches {self.room_switches},"
            f" calls {self.calls}, hand-offs {self.hand_offs}"
        )


def place(frame: FrameType | None) -> str | None:
    """The file of a frame below soulmem/; None outside of it."""
    if frame is None or not frame.f_code.co_filename.startswith(ROOT):
        return None
    return frame.f_code.co_filename[len(ROOT) + 1 :]


def room(file: str) -> str:
    """`engine/recall` of engine/recall/recaller.py, `graph` of graph/row_numbers.py."""
    parts = file.split("/")
    return "/".join(parts[:-1][:2])


class Tracer:
    """Watches all threads that start after it; counts while a route is open."""

    def __init__(self) -> None:
        self.route: Route | None = None
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def _note(self, frame: FrameType, event: str, _argument: object) -> None:
        route = self.route
        if route is None or event != "call":
            return
        file = place(frame)
        if file is None:
            return
        route.files.add(file)
        route.calls += 1
        caller = place(frame.f_back)
        if caller is not None and caller != file:
            route.file_switches += 1
            route.room_switches += room(caller) != room(file)

    async def follow(self, work: Callable[[], Awaitable[Any]]) -> Route:
        """The route of some asynchronous work."""
        route = Route()
        original = ThreadPoolExecutor.submit

        def submit(pool: ThreadPoolExecutor, *arguments: Any, **named: Any) -> Any:
            route.hand_offs += 1
            return original(pool, *arguments, **named)

        with patch.object(ThreadPoolExecutor, "submit", submit):
            self.route = route
            try:
                await work()
            finally:
                self.route = None
        return route


async def main() -> None:
    """Print the three rows."""
    tracer = Tracer()
    stage = Stage()
    await stage.start()
    await stage.soul()
    said = talk("en")
    await stage.sync("c1", said)
    await stage.engine.idle.run()
    longer = [*said, line("m900", "Did Petra ever come back to the harbour?")]
    message = await tracer.follow(lambda: stage.sync("c1", longer))
    recall = await tracer.follow(lambda: stage.recall("What did Quentin promise?", "c1"))
    await stage.stop()
    model = ModelStage()
    await model.start()
    await model.soul()
    await model.sync("c1", said)
    await model.close("c1")
    await model.engine.learner.drain()
    consolidation = await tracer.follow(model.rest)
    await model.stop()
    print(message.line("message"))
    print(recall.line("recall"))
    print(consolidation.line("consolidation"))


if __name__ == "__main__":
    asyncio.run(main())
