"""Import of a bundle into a soul, in steps that are each stored as a whole; the soul is read again afterwards."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

from soulmem.domain.audit import Action, Actor, AuditEntry
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.engine.exchange.bundle_plan import (
    BundlePlan,
    Step,
    StoredState,
    plan_import,
)
from soulmem.engine.exchange.bundle_renaming import bundle_for
from soulmem.engine.learning.learner import Learner
from soulmem.engine.runtime.jobs import JobRun
from soulmem.engine.vectors.embedder import EmbeddingService
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import ChatLog, World
from soulmem.governance.audit_values import memory_values
from soulmem.ports.store import RANK_GAP
from soulmem.transfer.bundle import Bundle, read_bundle


@dataclass(kw_only=True, eq=False)
class BundleImport:
    """Imports bundles."""

    services: Services
    learner: Learner
    embedding: EmbeddingService

    async def take_in(self, run: JobRun, data: bytes) -> dict[str, Any]:
        """Add what is not stored yet, unless this is a dry run; the counts of what is added."""
        world = await self.services.world_of(run.owner)
        world.soul(run.soul)
        bundle = await asyncio.to_thread(read_bundle, data)
        bundle = await asyncio.to_thread(bundle_for, bundle, run.soul, dict(world.heads))
        await self.learner.drain()
        async with world.writing:
            stored = await self._stored(world, run.soul, bundle)
        plan = await asyncio.to_thread(plan_import, bundle, stored)
        if not run.arguments["dry_run"]:
            await self._carry_out(run, world, bundle, plan)
        return _result(bundle, plan)

    async def _carry_out(self, run: JobRun, world: World, bundle: Bundle, plan: BundlePlan) -> None:
        done, total = 0, sum(step.lines for step in plan.steps)
        for step in plan.steps:
            run.report(done, total, "lines")
            async with world.writing:
                await self._store_step(world, run, step, bundle)
            done += step.lines
        if plan.steps:
            # Opening the soul makes the episodes of chats that the bundle lacks.
            await world.mind(run.soul)
            self.embedding.wake()
        run.report(done, total, "lines")

    async def _store_step(self, world: World, run: JobRun, step: Step, bundle: Bundle) -> None:
        """Store a step and drop the loaded state that it concerns. The caller holds `writing`."""
        chat, soul = step.chat, run.soul
        messages = bundle.messages[chat.id] if chat else []
        if chat is not None and not await self._is_as_planned(world, step, bundle):
            return  # its client has synced it meanwhile, and the client is right
        audit = [
            await self._entry(run, memory)
            for memory in step.memories
            if memory.origin is Origin.USER
        ]
        await self.services.store.commit(replace(step.change(world.owner, messages), audit=audit))
        if step.soul is not None:
            world.souls[soul] = step.soul
        concerned = {soul}
        if chat is not None:
            concerned.update(chat.souls, chat.cast)
        for key in concerned:
            world.unload(key)
        if chat is not None:
            ranks = [(index + 1) * RANK_GAP for index in range(step.stop)]
            world.keep_log(ChatLog.of(chat, messages[: step.stop], ranks))

    async def _entry(self, run: JobRun, memory: Memory) -> AuditEntry:
        """Audit entry of a memory that came with the bundle. Memories of chats have none."""
        author = ChangeAuthor(Actor.IMPORT, source=run.record.job)
        return await self.services.auditor.entry(
            run.owner,
            run.soul,
            author,
            Action.CREATE,
            memory.id,
            None,
            memory_values(memory),
        )

    async def _is_as_planned(self, world: World, step: Step, bundle: Bundle) -> bool:
        """Whether the step's chat is stored as the plan assumes."""
        assert step.chat is not None
        if step.start < 0:
            head = world.heads.get(step.chat.id)
            return head is None or head.state is not step.chat.state
        log = await world.log(step.chat.id)
        if log is None:
            return False
        return list(log.messages) == bundle.messages[step.chat.id][: step.start]

    async def _stored(self, world: World, soul: SoulId, bundle: Bundle) -> StoredState:
        """The stored state. The caller holds `writing`."""
        messages = {}
        for chat in bundle.chats:
            log = await world.log(chat)
            if log is not None:
                messages[chat] = log.messages
        memories = await self._memory_ids(world, soul)
        recalls = await self.services.store.recalls(world.owner, soul)
        derivations = await self.services.store.derivations(world.owner, soul)
        return StoredState(
            soul=world.souls[soul],
            memories=memories,
            edges=await self.services.store.edges_known(world.owner, list(bundle.edges)),
            recalls={record.trace for record in recalls.records},
            derivations={derivation.id for derivation in derivations},
            chats=dict(world.heads),
            messages=messages,
            foreign=await self._foreign(world, soul, bundle.memories.keys() - memories),
            forgotten=await self._forgotten(world, soul),
        )

    async def _forgotten(self, world: World, soul: SoulId) -> set[MemoryId]:
        """The forgotten episodes of the soul, which take no edges."""
        ids: set[MemoryId] = set()
        async for page in self.services.store.memory_pages(world.owner, soul):
            episodes = (m for m in page if m.kind is MemoryKind.EPISODE)
            ids.update(m.id for m in episodes if m.state is MemoryState.FORGOTTEN)
        return ids

    async def _foreign(self, world: World, soul: SoulId, wanted: set[MemoryId]) -> set[MemoryId]:
        """Those of the ids that memories of the owner's other souls have: they must not be overwritten."""
        foreign: set[MemoryId] = set()
        if wanted:
            for other in [*world.souls, *world.unreadable]:
                if other != soul:
                    foreign |= wanted & await self._memory_ids(world, other)
        return foreign

    async def _memory_ids(self, world: World, soul: SoulId) -> set[MemoryId]:
        mind = world.minds.get(soul)
        if mind is not None:
            return set(mind.memories)
        ids: set[MemoryId] = set()
        async for page in self.services.store.memory_pages(world.owner, soul):
            ids.update(memory.id for memory in page)
        return ids


def _result(bundle: Bundle, plan: BundlePlan) -> dict[str, Any]:
    """The result of the job."""
    steps = plan.steps
    chat_steps = [step for step in steps if step.chat]
    return {
        "chats": len({step.chat.id for step in chat_steps if step.chat}),
        "messages": sum(step.stop - max(step.start, 0) for step in chat_steps),
        "memories": sum(len(step.memories) for step in steps),
        "edges": sum(len(step.edges) for step in steps),
        "known": plan.existing,
        "of_other_souls": plan.foreign,
        "chats_kept": list(plan.kept_chats),
        "whole": bundle.whole,
        "broken": [{"line": broken.number, "reason": broken.reason} for broken in bundle.broken],
    }
