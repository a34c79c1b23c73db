"""What the user asks about changes: what was done, to which memory, at what price, and to undo it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

from soulmem.domain.audit import AuditQuery
from soulmem.domain.errors import NotFound, Unprocessable
from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.domain.opinions import Verdict
from soulmem.domain.soul import SoulState
from soulmem.engine.consolidation.consolidator import Consolidator, UsageReport
from soulmem.engine.consolidation.digests import DigestWriter
from soulmem.engine.consolidation.on_request import ConsolidationJobs
from soulmem.engine.consolidation.replay import ReplayJob
from soulmem.engine.editing.deletion_requests import Deletions
from soulmem.engine.editing.memory_editor import Keeper
from soulmem.engine.editing.undo import Undo, Undone
from soulmem.engine.learning.feedback import Judge, Judged
from soulmem.engine.learning.learner import Learner
from soulmem.engine.llm.persistence import UsagePersistence
from soulmem.engine.llm.probe import ModelTest
from soulmem.engine.recall.recaller import Recaller
from soulmem.engine.runtime.jobs import Jobs
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.tools.dispatch import Tools
from soulmem.engine.upkeep.bin_purge import Bin
from soulmem.engine.world.audit import Auditor, AuditPage
from soulmem.engine.world.edge_loader import Loader
from soulmem.engine.world.world import World
from soulmem.governance.retention import BinParams
from soulmem.ports.clock import Clock
from soulmem.ports.store import Store


class Governor:
    """The audit of all owners and undoing by it; the tools, the deletions they ask for, and the bin."""

    def __init__(
        self,
        world_of: Callable[[Owner], Awaitable[World]],
        store: Store,
        compute: Worker,
        clock: Clock,
        auditor: Auditor,
        loader: Loader,
        keeper: Keeper,
        recaller: Recaller,
        learner: Learner,
        jobs: Jobs,
        consolidator: Consolidator,
        params: BinParams,
    ) -> None:
        self._world_of = world_of
        self._auditor = auditor
        self.deletions = Deletions(world_of, store, clock, auditor, keeper)
        digester = DigestWriter(compute, consolidator.llm_calls)
        doing = store, compute, auditor, keeper, recaller, self.deletions, digester
        self.tools = Tools(world_of, *doing, params.review)
        self.bin_days = params.days  # how long anything lies in the bin
        self.bin = Bin(world_of, store, compute, clock, auditor, jobs, params)
        ModelTest(jobs, consolidator.llm_calls)
        ConsolidationJobs(jobs, world_of, learner, digester, consolidator)
        ReplayJob(jobs, world_of, compute, clock, auditor, loader, consolidator)
        self.bookkeeper = UsagePersistence(
            store, consolidator.usage, consolidator.deferrals
        )
        self._consolidator = consolidator
        self._traces = recaller.traces
        self._judge = Judge(store, compute, clock, auditor, loader)
        self._undo = Undo(store, compute, clock, auditor, loader)

    async def audit(
        self,
        owner: Owner,
        soul: SoulId,
        since: datetime | None,
        limit: int,
        cursor: str | None,
    ) -> AuditPage:
        """Entries of a soul, the newest first. Raises NotFound."""
        world = await self._world_of(owner)
        world.soul(soul)
        return await self._auditor.page_with_undone(
            owner, AuditQuery(soul, since=since, before=cursor, limit=limit)
        )

    async def history(
        self, owner: Owner, memory: MemoryId, limit: int, cursor: str | None
    ) -> AuditPage:
        """What was done to a memory, the newest first; also to one that is purged. Raises NotFound."""
        await self._world_of(owner)
        page = await self._auditor.page_with_undone(
            owner, AuditQuery(target=memory, before=cursor, limit=limit)
        )
        if not page.entries and cursor is None:
            await self._known(owner, memory)
        return page

    async def undo(
        self,
        owner: Owner,
        soul: SoulId,
        *,
        since: datetime | None,
        change: str | None,
        job: str | None,
    ) -> Undone:
        """Revert automatic changes: all since a moment, one, or those of a job.

        Raises NotFound, Unprocessable unless exactly one of the three is given.
        """
        if sum(one is not None for one in (since, change, job)) != 1:
            raise Unprocessable(
                "say what to undo: exactly one of `since`, `change` and `job`",
                field="since",
            )
        world = await self._world_of(owner)
        world.soul(soul)
        return await self._undo.undo(world, soul, since=since, change=change, job=job)

    async def books(self, owner: Owner, soul: SoulId) -> UsageReport:
        """What language models cost for a soul, and what waits for one. Raises NotFound."""
        world = await self._world_of(owner)
        world.soul(soul)
        return await self._consolidator.usage_report(world, soul)

    async def feedback(
        self, owner: Owner, trace: str, memory: MemoryId, verdict: Verdict
    ) -> Judged:
        """Take the user's word about a memory that a recall brought. Raises NotFound, Unprocessable."""
        world = await self._world_of(owner)
        return await self._judge.judge(
            world, await self._traces.find(world, trace), memory, verdict
        )

    async def _known(self, owner: Owner, memory: MemoryId) -> None:
        """Raises NotFound for a memory that no soul has."""
        world = await self._world_of(owner)
        for soul in list(world.souls.values()):
            if (
                soul.state is SoulState.ACTIVE
                and memory in (await world.mind(soul.id)).memories
            ):
                return
        raise NotFound(f"no memory {memory!r}", field="id")
