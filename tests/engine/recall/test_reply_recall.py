"""A sync and the recall for the next reply in one call answer as two calls would."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from soulmem.domain.dialogue import Role, SentMessage, text_hash
from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.engine.api.requests import RecallRequest, SyncAnswer, SyncRequest
from soulmem.engine.api.results import Recalled
from soulmem.engine.recall.reply_recall import ReplyRecall
from tests.engine.stage import ME, Stage

SOUL, CHAT = SoulId("s1"), ChatId("c1")
LINES = (
    "I hid the brass key under the third step.",
    "*She nods.* Under the third step, then.",
    *(f"We walked on for another mile, number {n}." for n in range(30)),
    "Where is the brass key?",
)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    await stage.start()
    await stage.engine.souls.put(ME, SOUL, "Mira", None, None)
    yield stage
    await stage.stop()


def chat_until(count: int) -> SyncRequest:
    messages = [
        SentMessage(
            SlotId(f"m{n}"),
            text_hash(text),
            Role.CHARACTER if n % 2 else Role.USER,
            "Mira" if n % 2 else "Al",
            text=text,
        )
        for n, text in enumerate(LINES[:count])
    ]
    return SyncRequest(CHAT, (SOUL,), messages)


def question(**more: Any) -> RecallRequest:
    return RecallRequest(SOUL, chat=CHAT, context_from=SlotId("m20"), time_budget_ms=60_000, **more)


async def test_it_recalls_what_a_recall_after_the_sync_recalls(stage: Stage) -> None:
    engine = stage.engine
    await engine.chats.sync(ME, chat_until(len(LINES) - 1))
    synced, recalled = await engine.replies.recall(ME, chat_until(len(LINES)), question())
    assert (synced.applied, synced.added) == (True, 1)
    assert recalled is not None
    again = await engine.recaller.recall(ME, question())
    assert [m.id for m in recalled.memories] == [m.id for m in again.memories]
    assert "brass key" in recalled.memories[0].text


async def test_what_vanishes_at_once_is_held_and_nothing_is_recalled(
    stage: Stage,
) -> None:
    engine = stage.engine
    await engine.chats.sync(ME, chat_until(len(LINES)))
    synced, recalled = await engine.replies.recall(ME, chat_until(5), question())
    assert synced.held == len(LINES) - 5
    assert recalled is None


class Steps:
    """Notes what is done in which order."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.read_done = asyncio.Event()
        self.asked: list[RecallRequest] = []

    async def sync(self, owner: str, request: SyncRequest) -> SyncAnswer:
        await asyncio.sleep(0.02)
        self.done.append("sync")
        return SyncAnswer(added=1)

    async def read(self, texts: list[str]) -> None:
        self.done.append(f"read {texts}")
        await self.read_done.wait()

    async def recall(self, owner: str, request: RecallRequest) -> Recalled:
        self.done.append("recall")
        self.asked.append(request)
        return None  # type: ignore[return-value]


async def test_the_newest_message_is_embedded_while_the_chat_is_stored() -> None:
    steps = Steps()
    steps.read_done.set()
    replies = ReplyRecall(
        sync=steps.sync, recall=steps.recall, read=steps.read, time_budget_ms=1000
    )
    await replies.recall(ME, chat_until(3), question())
    assert steps.done == [f"read {[LINES[2]]}", "sync", "recall"]
    steps.done.clear()
    await replies.recall(ME, chat_until(3), question(query="the key?"))
    assert steps.done[0] == "read ['the key?']"


async def test_a_slow_model_costs_only_its_share_of_the_time() -> None:
    steps = Steps()
    replies = ReplyRecall(sync=steps.sync, recall=steps.recall, read=steps.read, time_budget_ms=200)
    await replies.recall(ME, chat_until(3), replace(question(), time_budget_ms=None))
    assert steps.done == [f"read {[LINES[2]]}", "sync", "recall"]
    (request,) = steps.asked
    assert request.time_budget_ms is not None
    assert 1 <= request.time_budget_ms <= 60, "of 200 ms"
    steps.read_done.set()
