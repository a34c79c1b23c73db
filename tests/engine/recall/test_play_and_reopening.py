"""Does a soul that was played for many messages answer as when it is opened anew?

What recall keeps ready follows each message in place: the walk graph, neighbours, pairs of texts, times, counts of
terms. Opened from rows all of it is made anew, with other row numbers; from the snapshot with the same ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

import pytest
import pytest_asyncio

from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.ids import ChatId, SlotId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import RecallRequest, RecallType
from soulmem.engine.api.results import Recalled
from soulmem.engine.params import EngineParams
from soulmem.engine.recall.walks import WalkingParams
from soulmem.engine.world.snapshots import SnapshotParams
from soulmem.kernels.walk import WalkParams
from soulmem.kernels.warm import installed_cache, warm
from tests.bench.large_soul import SOUL, BagEmbedder, Size, Writer, write_soul
from tests.engine.stage import ME, Stage, line
from tests.examples import sized
from tests.fakes.images import FakeImages
from tests.fakes.store import FakeStore

SIZE = Size(nodes=sized(600, 1_500), edges=sized(3_000, 7_500), chat_lines=sized(150, 300))
CHAT = ChatId("live")
TURNS = sized(10, 100)  # a message and a reply each
QUESTIONS = sized(12, 24)
# Scores differ by less. Sums in another order are 1e-7 of it; the mean of the texts, from which learned directions
# are seen, is computed again once a tenth more texts are there or the soul is opened: 7e-4 of it.
NEAR = 2e-3


@dataclass(frozen=True, slots=True)
class Recollection:
    """What an answer says of one memory."""

    score: float
    text: str
    why: str
    path: tuple[tuple[str, str | None], ...]


Answer = dict[str, Recollection]  # by memory


@pytest.fixture(scope="module")
def written() -> FakeStore:
    """A store with the soul. Compiles the kernels: interpreted, a walk over so many edges takes half a second."""
    warm(installed_cache())
    store = FakeStore()
    asyncio.run(_written(store))
    return store


@pytest_asyncio.fixture
async def played(written: FakeStore) -> AsyncIterator[Stage]:
    """The soul after its messages, with recalls that taught."""
    params = EngineParams(
        rest_by_itself=False,
        images=SnapshotParams(least=0, pause=0.0),
        walking=WalkingParams(walk=WalkParams(l1=1e-7)),
    )
    stage = Stage(written, model=BagEmbedder().source(), params=params, images=FakeImages())
    await stage.start()
    await stage.engine.idle.run()
    names = await known_names(stage)
    write_line, said = await asyncio.to_thread(Writer, 5), list[SentMessage]()
    for turn in range(TURNS):
        stage.clock.advance(60)
        for number in (2 * turn, 2 * turn + 1):
            text = f"{write_line.line(number)} {names[number % len(names)]}"
            role = Role.CHARACTER if number % 2 else Role.USER
            said.append(line(f"l{number}", text, role, sent_at=stage.clock.now()))
            await stage.sync(CHAT, said, souls=[SOUL])
            if role is Role.USER:
                reply = SlotId(f"l{number + 1}")
                await recall(stage, RecallRequest(SOUL, CHAT, reply, 0))
    stage.clock.advance(timedelta(hours=1).total_seconds())
    await stage.close(CHAT)
    await stage.engine.learner.drain()
    await stage.engine.idle.run()
    yield stage
    await stage.stop()


@pytest.mark.slow("each exchange is answered twice, once by an engine that is opened for it")
@pytest.mark.timeout(300)
async def test_it_answers_as_when_it_is_opened_anew(played: Stage) -> None:
    images = played.images
    assert isinstance(images, FakeImages)
    live = await answers(played)
    assert sum(map(len, live)) >= 4 * QUESTIONS
    assert any(len(found.path) > 1 for answer in live for found in answer.values())
    await played.restart()
    assert_alike(await answers(played), live)
    assert images.given == 1
    played.images = FakeImages()  # without a snapshot it is read from its rows
    await played.restart()
    assert_alike(await answers(played), live)


def assert_alike(again: Sequence[Answer], live: Sequence[Answer]) -> None:
    """The same memories with the same reasons, and scores that differ by rounding."""
    for after, before in zip(again, live, strict=True):
        assert after.keys() == before.keys()
        for key, found in after.items():
            was = before[key]
            assert found.score == pytest.approx(was.score, abs=NEAR)
            assert (found.text, found.why) == (was.text, was.why)
            assert found.path == was.path


async def answers(stage: Stage) -> list[Answer]:
    """What comes to mind for lines as the chats hold them, every second with a known name."""
    names, write_line = await known_names(stage), await asyncio.to_thread(Writer, 99)
    out = []
    for number in range(QUESTIONS):
        text = write_line.line(number)
        if number % 2:
            text += f" {names[7 * number % len(names)]}"
        request = RecallRequest(SOUL, CHAT, query=text, type=RecallType.QUIET, restraint=0.0)
        out.append(_recollections(await recall(stage, request)))
    return out


async def recall(stage: Stage, request: RecallRequest) -> Recalled:
    """Ask, and wait for what is done behind the answer."""
    return await stage.engine.recaller.recall(ME, request)


async def known_names(stage: Stage) -> list[str]:
    """Names of all concepts that the soul knows, in an order of their own."""
    mind = await stage.mind(SOUL)

    def names() -> list[str]:
        kept = mind.memories.values()
        return sorted(m.text for m in kept if m.kind is MemoryKind.CONCEPT)

    return await asyncio.to_thread(names)


async def _written(store: FakeStore) -> None:
    await store.open()
    await write_soul(store, SIZE, BagEmbedder())


def _recollections(answer: Recalled) -> Answer:
    return {
        memory.id: Recollection(
            memory.score,
            memory.text,
            memory.why,
            tuple((step.id, step.edge) for step in memory.path),
        )
        for memory in answer.memories
    }
