"""Undo brings back nothing that went with its chat since."""

from __future__ import annotations

from datetime import datetime, timezone

from soulmem.domain.ids import ChatId, SoulId
from soulmem.domain.memories import MemoryState
from tests.engine.stage import ME, Stage, line, lines

LONG_AGO = datetime(2000, 1, 1, tzinfo=timezone.utc)
TOLD = "Jonas lost the silver ring of his grandmother at the harbour."


async def test_a_telling_whose_chat_is_deleted_stays_away_when_joining_is_undone(
    stage: Stage,
) -> None:
    shown = [line("a1", TOLD), *lines(6, start=1), line("a2", TOLD), *lines(2, start=7)]
    await stage.sync("c1", shown)
    await stage.close("c1")
    await stage.engine.idle.run()
    merged = await stage.listed(MemoryState.MERGED)
    assert [memory.text for memory in merged] == [f"Al: {TOLD}"]
    await stage.engine.chats.delete(ME, ChatId("c1"))
    await stage.engine.history.undo(ME, SoulId("s1"), since=LONG_AGO, change=None, job=None)
    mind = await stage.mind()
    tellings = [m for m in mind.memories.values() if m.text == f"Al: {TOLD}"]
    assert [m.state for m in tellings] == [MemoryState.RETRACTED] * 2
    fingerprint = await stage.fingerprint()
    await stage.restart()
    assert await stage.fingerprint() == fingerprint
