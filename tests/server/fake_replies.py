"""What a recall answers, and sync and recall in one call over the fakes of both."""

from __future__ import annotations

from unittest.mock import AsyncMock

from soulmem.domain.ids import ChatId, MemoryId, SlotId
from soulmem.domain.memories import Place
from soulmem.engine.api.results import (
    Block,
    BlockItem,
    PathStep,
    Recalled,
    RecalledMemory,
    Timings,
)
from soulmem.engine.recall.reply_recall import Recall, ReplyRecall, Sync


def fake_replies(sync: Sync, recall: Recall) -> ReplyRecall:
    """What answers `POST /v1/chats/{chat}/recall`."""
    return ReplyRecall(sync=sync, recall=recall, read=AsyncMock(), time_budget_ms=1500)


def a_recalled() -> Recalled:
    """One memory in one block."""
    memory = RecalledMemory(
        id=MemoryId("m1"),
        kind="episode",
        text="It rained.",
        score=1.5,
        hops=0,
        permanent=False,
        fired=None,
        why="rain -> that day",
        path=(PathStep(MemoryId("m1"), "that day", None),),
        sources=(Place(ChatId("c1"), SlotId("k1")),),
        age_turns=3,
        visibility=1.0,
    )
    block = Block(
        "episodes",
        "in_chat",
        4,
        "system",
        "Memories:\nIt rained.",
        5,
        (BlockItem(memory.id, "It rained.", 3),),
    )
    took = Timings(1.0, 0.5, 0.25, 0.0, 0.25)
    return Recalled("t1", (memory,), (block,), 5, False, took, withheld=3)
