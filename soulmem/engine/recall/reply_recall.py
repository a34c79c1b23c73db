"""ReplyRecall: takes over the chat as it is now and recalls for its next reply, in one call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from soulmem.domain.ids import Owner
from soulmem.engine.api.requests import RecallRequest, SyncAnswer, SyncRequest
from soulmem.engine.api.results import Recalled
from soulmem.engine.recall.recall_task import TimeBudget
from soulmem.language.story.leaving_out import story_text

Sync = Callable[[Owner, SyncRequest], Awaitable[SyncAnswer]]
Recall = Callable[[Owner, RecallRequest], Awaitable[Recalled]]
Read = Callable[[list[str]], Awaitable[object]]  # gives texts their vectors

_READING_SHARE = 0.8  # of the time left after the sync, that vectors are waited for


class ReplyRecall:
    """A sync and the recall behind it. The newest message is embedded while the sync is stored."""

    def __init__(self, *, sync: Sync, recall: Recall, read: Read, time_budget_ms: int) -> None:
        """time_budget_ms  of a request that names none; the sync is part of it"""
        self._sync = sync
        self._recall = recall
        self._read = read
        self._time_budget_ms = time_budget_ms
        # What is late goes on: its vector is needed for the memory of the message as well.
        self._reading: set[asyncio.Task[object]] = set()

    async def recall(
        self, owner: Owner, sync: SyncRequest, request: RecallRequest
    ) -> tuple[SyncAnswer, Recalled | None]:
        """What the sync did, and the memories for the next reply.

        No memories where the sync was not applied: the chat that the recall is about is not there.
        Raises what a sync and a recall raise.
        """
        milliseconds = request.time_budget_ms or self._time_budget_ms
        budget = TimeBudget(milliseconds / 1000)
        reading = self._read_ahead(sync, request)
        answer = await self._sync(owner, sync)
        if not answer.applied or answer.held is not None:
            return answer, None
        if reading is not None:
            seconds = max(0.0, _READING_SHARE * budget.left)
            await asyncio.wait([reading], timeout=seconds)
        left = max(1, round(1000 * budget.left))
        return answer, await self._recall(owner, replace(request, time_budget_ms=left))

    def _read_ahead(self, sync: SyncRequest, request: RecallRequest) -> asyncio.Task[object] | None:
        """Embeds the query of the recall, as far as it is known before the sync."""
        text = request.query
        if text is None and sync.messages:
            newest = sync.messages[-1]
            shown = newest.text if newest.story is None else newest.story
            text = shown and story_text(shown).text
        if not text:
            return None
        reading = asyncio.ensure_future(self._read([text]))
        self._reading.add(reading)
        reading.add_done_callback(self._reading.discard)
        return reading
