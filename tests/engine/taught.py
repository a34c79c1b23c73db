"""A chat whose replies are recalled for: what the tests of learning share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from soulmem.adapters.surreal import SurrealStore
from soulmem.domain.dialogue import Role
from tests.engine.stage import ME, Stage, line
from tests.fakes.store import FakeStore

STORES = ("fake", "surrealkv")
KEY, BREAD = (
    "Al: I hid the silver key under the old bridge.",
    "Al: We bake bread on Sundays.",
)
TALK = [
    line("m1", KEY[4:]),
    line("m2", "I will not tell anyone.", Role.CHARACTER),
    line("m3", BREAD[4:]),
    line("m4", "With raisins, please.", Role.CHARACTER),
    line("m5", "The whales sang all night."),
]
REPLY = line("r1", "Somewhere safe.", Role.CHARACTER)
NEXT = line("m6", "If you say so.")


@asynccontextmanager
async def lived_chat(kind: str, folder: Path) -> AsyncIterator[Stage]:
    """A soul that lived a chat and waits to reply, on a store that outlives its engine: `kind` of STORES."""
    stage = Stage(
        SurrealStore(f"surrealkv://{folder}/data") if kind == "surrealkv" else FakeStore()
    )
    await stage.start()
    await stage.soul()
    await stage.sync("c1", TALK)
    yield stage
    await stage.stop()


async def uses(stage: Stage, text: str = KEY) -> int:
    """How often the memory of that text was recalled."""
    usage = (await stage.engine.memories.get(ME, await stage.find(text))).usage
    return usage.count if usage else 0
