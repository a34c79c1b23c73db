"""What a recall costs in play, right behind what was just said: `python -m tests.bench.live_soul FOLDER`.

The large soul of `large_soul` lives on, on a copy: each turn a message of the user is synced, a recall asked
for it, and the answer synced. `still_recall` are recalls with nothing said between them. `sync` is the time
that taking over the user's message takes, `recall` that of the recall without embedding, and `ground` what of
it makes the soul's edges ready for walks again. `--json OUT` writes the same as one object, `--page FILE` puts the
table there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import tempfile
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from unittest import mock

import numpy as np

from soulmem.adapters.surreal import SurrealStore
from soulmem.domain.dialogue import Role, SentMessage, text_hash
from soulmem.domain.ids import DEFAULT_OWNER, ChatId, SlotId
from soulmem.engine.api.requests import RecallRequest, SyncRequest
from soulmem.engine.recall.walk_graph import WalkGraph
from soulmem.engine.recall.walks import Walks
from tests.bench.large_soul import SOUL, Writer
from tests.bench.open_soul import engine_on
from tests.bench.page import figure, origin, publish, table

_TURNS = 60
_PAUSE = 0.3  # seconds; nobody writes faster
_NOW = datetime(2026, 11, 1, 9, tzinfo=timezone.utc)
_CHAT = ChatId("live")


class GroundTime:
    """How long walks took to be made ready, in milliseconds."""

    def __init__(self) -> None:
        self.last = 0.0
        self._refresh = Walks.refresh

    def refresh(self, walks: Walks, extra_turns: int) -> WalkGraph:
        """As `Walks.refresh`."""
        began = time.perf_counter()
        ground = self._refresh(walks, extra_turns)
        self.last = max(self.last, 1000 * (time.perf_counter() - began))
        return ground


def said(write: Writer, number: int) -> SentMessage:
    """A line that names a concept now and then."""
    text = write.line(number) + (f" {write.name(number)}" if number % 4 == 0 else "")
    role, speaker = (Role.CHARACTER, "Mira") if number % 2 else (Role.USER, "Al")
    at = _NOW + timedelta(minutes=number)
    return SentMessage(SlotId(f"l{number}"), text_hash(text), role, speaker, at, text=text)


async def measure(folder: str) -> dict[str, float]:
    """Open the soul, let it rest, and live on."""
    engine, ground = (
        engine_on(SurrealStore(f"surrealkv://{folder}"), folder),
        GroundTime(),
    )
    await engine.start()
    mind = None
    while mind is None:
        await asyncio.sleep(0.5)
        mind = (await engine.worlds.of(DEFAULT_OWNER)).minds.get(SOUL)
    await engine.idle.run()
    write, lines = Writer(5), list[SentMessage]()
    took = {name: list[float]() for name in ("still_recall", "sync", "recall", "ground")}

    async def sync(number: int) -> float:
        lines.append(said(write, number))
        began = time.perf_counter()
        await engine.chats.sync(DEFAULT_OWNER, SyncRequest(_CHAT, (SOUL,), lines))
        return 1000 * (time.perf_counter() - began)

    async def recall(reply: int) -> float:
        ground.last = 0.0
        request = RecallRequest(
            SOUL, chat=_CHAT, slot=SlotId(f"l{reply}"), swipe=0, time_budget_ms=5000
        )
        answer = await engine.recaller.recall(DEFAULT_OWNER, request)
        return answer.took_ms.total - answer.took_ms.embed

    with mock.patch.object(Walks, "refresh", lambda walks, extra: ground.refresh(walks, extra)):
        for turn in range(_TURNS):
            took["sync"].append(await sync(2 * turn))
            took["recall"].append(await recall(2 * turn + 1))
            took["ground"].append(ground.last)
            took["still_recall"].append(await recall(2 * turn + 1))
            await sync(2 * turn + 1)
            await asyncio.sleep(_PAUSE)
    await engine.stop()
    return {
        f"{name}_p{p}_ms": float(np.percentile(values, p))
        for name, values in took.items()
        for p in (50, 95)
    }


_ROWS = {
    "sync": "a message is taken over",
    "recall": "the recall behind it",
    "ground": "`links`",
    "still_recall": "a recall with nothing said before",
}


def report(found: dict[str, float]) -> str:
    """The table."""
    rows = [
        [told, *(figure(found[f"{name}_p{p}_ms"]) for p in (50, 95))]
        for name, told in _ROWS.items()
    ]
    return table(["", "p50, ms", "p95, ms"], rows)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder.parent) as apart:
        copy = Path(apart) / given.folder.name
        shutil.copytree(given.folder, copy)
        if (images := Path(f"{given.folder}-images")).is_dir():
            shutil.copytree(images, f"{copy}-images")
        found = asyncio.run(measure(str(copy)))
    source = origin("python -m tests.bench.live_soul FOLDER", ("numpy", "surrealdb"))
    publish(given.page, "live_soul", report(found), source)
    if given.json:
        given.json.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    _main()
