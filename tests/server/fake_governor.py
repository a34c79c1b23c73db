"""The parts of the fake engine that keep the user sovereign: one entry, one deletion, one opinion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

from soulmem.domain.audit import Action, Actor, AuditEntry
from soulmem.domain.deletions import Deletion, DeletionState
from soulmem.domain.derivations import Work
from soulmem.domain.errors import NotFound
from soulmem.domain.ids import ChatId, MemoryId, Owner, SoulId
from soulmem.domain.llm_usage import Deferred
from soulmem.domain.opinions import Opinion, Verdict
from soulmem.engine.consolidation.consolidator import UsageReport
from soulmem.engine.editing.undo import UndoResult
from soulmem.engine.learning.feedback import FeedbackResult
from soulmem.engine.llm.usage import LlmUsage, UsageLimits
from soulmem.engine.world.audit import AuditPage

NOW = datetime(2024, 3, 1, 12, 0, tzinfo=timezone.utc)


class FakeGovernor:
    """An audit of one entry, and undoing that always finds it."""

    def __init__(self, called: Callable[[str, Any], None]) -> None:
        self._called = called
        self.days = 7.0

    async def audit(
        self,
        owner: Owner,
        soul: SoulId,
        since: datetime | None,
        limit: int,
        cursor: str | None,
    ) -> AuditPage:
        self._called("audit", (owner, soul, since, limit, cursor))
        return AuditPage([an_entry()], "c0")

    async def of_memory(
        self, owner: Owner, memory: MemoryId, limit: int, cursor: str | None
    ) -> AuditPage:
        self._called("history", (owner, memory, limit, cursor))
        return AuditPage([an_entry()], None)

    async def undo(
        self,
        owner: Owner,
        soul: SoulId,
        *,
        since: datetime | None,
        change: str | None,
        job: str | None,
    ) -> UndoResult:
        self._called("undo", (owner, soul, since, change, job))
        return UndoResult(("c1",), ("m1",), 2, (("m2", "text"),))

    async def usage_report(self, owner: Owner, soul: SoulId) -> UsageReport:
        self._called("books", soul)
        if soul == "s9":
            raise NotFound(f"no soul {soul!r}", field="soul")
        spent = LlmUsage(3, 1, 900, 120, 4.5, 7)
        parked = Deferred(ChatId("c1"), Work.SUMMARY, "it babbles", 2, 40, NOW)
        return UsageReport({"consolidation": spent}, spent, UsageLimits(), [parked], None, 4, 0.1)

    async def give(
        self, owner: Owner, trace: str, memory: MemoryId, verdict: Verdict
    ) -> FeedbackResult:
        self._called("feedback", (owner, trace, memory, verdict))
        return FeedbackResult(
            Opinion(memory, SoulId("s1"), 0.35, "0123456789abcdef", (ChatId("c1"),)),
            2,
            "c9",
        )


class FakeTools:
    """Tools that answer with what they were asked, and one deletion."""

    def __init__(self, called: Callable[[str, Any], None]) -> None:
        self._called = called

    async def call(
        self,
        owner: Owner,
        name: str,
        soul: str,
        actor: Actor,
        arguments: dict[str, Any],
        *,
        for_reply: bool = False,
    ) -> dict[str, Any]:
        self._called("call_tool", (owner, name, soul, actor, arguments))
        if for_reply:
            self._called("for_reply", name)
        return {"said": arguments}

    async def list(self, owner: Owner, soul: SoulId | None) -> list[Deletion]:
        self._called("list_deletions", (owner, soul))
        return [a_deletion()]

    async def decide(self, owner: Owner, request: str, *, confirmed: bool) -> Deletion:
        self._called("decide", (owner, request, confirmed))
        return replace(a_deletion(), state=DeletionState.CONFIRMED, decided=NOW)


def a_deletion() -> Deletion:
    """One that waits."""
    return Deletion("d1", SoulId("s1"), MemoryId("m1"), Actor.LEAD, "tidy", "rain", NOW)


def an_entry() -> AuditEntry:
    """What an archivist did to a memory."""
    before, after = {"text": "rain"}, {"text": "sun"}
    return AuditEntry(
        "c1",
        SoulId("s1"),
        NOW,
        Actor.ARCHIVIST,
        Action.CHANGE,
        "m1",
        before,
        after,
        "j1",
        "asked",
    )
