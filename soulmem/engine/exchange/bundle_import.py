"""How does a bundle become memory? Step by step, each stored as a whole; the soul is read anew after it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from soulmem.domain.audit import Action, Actor, AuditEntry
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory, Origin
from soulmem.engine.exchange.bundle_plan import Here, Plan, Step, plan
from soulmem.engine.exchange.bundle_renaming import renamed
from soulmem.engine.learning.learner import Learner
from soulmem.engine.runtime.jobs import JobRun
from soulmem.engine.vectors.embedder import Embedding
from soulmem.engine.world.audit import Hand
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import ChatLog, World
from soulmem.governance.audit_values import memory_values
from soulmem.ports.store import RANK_GAP
from soulmem.transfer.bundle import Bundle, read_bundle


class BundleImport:
    """Takes bundles in."""

    def __init__(
        self,
        services: Services,
        *,
        learner: Learner,
        embedding: Embedding,
    ) -> None:
        self._world = services.world_of
        self._store = services.store
        self._learner = learner
        self._embedding = embedding
        self._auditor = services.auditor

    async def take_in(self, run: JobRun, data: bytes) -> dict[str, Any]:
        """Add what is not there; what that adds, or of a dry run would add."""
        world = await self._world(run.owner)
        world.soul(run.soul)
        bundle = await asyncio.to_thread(read_bundle, data)
        bundle = await asyncio.to_thread(renamed, bundle, run.soul, dict(world.heads))
        await self._learner.drain()
        async with world.writing:
            here = await self._here(world, run.soul, bundle)
        made = await asyncio.to_thread(plan, bundle, here)
        if not run.arguments["dry_run"]:
            await self._carry_out(run, world, bundle, made)
        return _told(bundle, made)

    async def _carry_out(
        self, run: JobRun, world: World, bundle: Bundle, made: Plan
    ) -> None:
        done, total = 0, sum(step.lines for step in made.steps)
        for step in made.steps:
            run.tell(done, total, "lines")
            async with world.writing:
                await self._store_step(world, run, step, bundle)
            done += step.lines
        if made.steps:
            await world.mind(
                run.soul
            )  # which mends what a chat tells and the bundle did not hold
            self._embedding.wake()
        run.tell(done, total, "lines")

    async def _store_step(
        self, world: World, run: JobRun, step: Step, bundle: Bundle
    ) -> None:
        """Store it and let everybody whom it concerns be read anew. The caller holds `writing`."""
        chat, soul = step.chat, run.soul
        messages = bundle.messages[chat.id] if chat else []
        if chat is not None and not await self._is_as_expected(world, step, bundle):
            return  # its client has told it meanwhile: that is the truth
        audit = [
            await self._entry(run, memory)
            for memory in step.memories
            if memory.origin is Origin.USER
        ]
        await self._store.commit(
            replace(step.change(world.owner, messages), audit=audit)
        )
        if step.soul is not None:
            world.souls[soul] = step.soul
        for one in {soul, *(chat.souls if chat else ()), *(chat.cast if chat else ())}:
            world.let_go(one)
        if chat is not None:
            said = messages[: step.stop]
            world.keep_log(
                ChatLog.of(chat, said, [(at + 1) * RANK_GAP for at in range(len(said))])
            )

    async def _entry(self, run: JobRun, memory: Memory) -> AuditEntry:
        """That a memory came with the bundle; what chats tell comes and goes with them."""
        hand = Hand(Actor.IMPORT, source=run.record.job)
        return await self._auditor.entry(
            run.owner,
            run.soul,
            hand,
            Action.CREATE,
            memory.id,
            None,
            memory_values(memory),
        )

    async def _is_as_expected(self, world: World, step: Step, bundle: Bundle) -> bool:
        assert step.chat is not None
        if step.start < 0:
            head = world.heads.get(step.chat.id)
            return head is None or head.state is not step.chat.state
        log = await world.log(step.chat.id)
        return (
            log is not None
            and list(log.messages) == bundle.messages[step.chat.id][: step.start]
        )

    async def _here(self, world: World, soul: SoulId, bundle: Bundle) -> Here:
        """What is stored. The caller holds `writing`."""
        messages = {}
        for chat in bundle.chats:
            log = await world.log(chat)
            if log is not None:
                messages[chat] = log.messages
        memories = await self._memory_ids(world, soul)
        recalls = await self._store.recalls(world.owner, soul)
        return Here(
            soul=world.souls[soul],
            memories=memories,
            edges=await self._store.edges_known(world.owner, list(bundle.edges)),
            recalls={record.trace for record in recalls.records},
            derivations={
                one.id for one in await self._store.derivations(world.owner, soul)
            },
            chats=dict(world.heads),
            messages=messages,
            foreign=await self._foreign(world, soul, bundle.memories.keys() - memories),
        )

    async def _foreign(
        self, world: World, soul: SoulId, wanted: set[MemoryId]
    ) -> set[MemoryId]:
        """Those of these ids that memories of the owner's other souls have: they must not be overwritten."""
        found: set[MemoryId] = set()
        for other in [one for one in world.souls if one != soul] if wanted else ():
            found |= wanted & await self._memory_ids(world, other)
        return found

    async def _memory_ids(self, world: World, soul: SoulId) -> set[MemoryId]:
        mind = world.minds.get(soul)
        if mind is not None:
            return set(mind.memories)
        pages = self._store.memory_pages(world.owner, soul)
        return {memory.id async for page in pages for memory in page}


def _told(bundle: Bundle, made: Plan) -> dict[str, Any]:
    steps = made.steps
    return {
        "chats": len({step.chat.id for step in steps if step.chat}),
        "messages": sum(step.stop - max(step.start, 0) for step in steps if step.chat),
        "memories": sum(len(step.memories) for step in steps),
        "edges": sum(len(step.edges) for step in steps),
        "known": made.known,
        "of_other_souls": made.foreign,
        "chats_kept": list(made.kept_chats),
        "whole": bundle.whole,
        "broken": [{"line": one.number, "reason": one.reason} for one in bundle.broken],
    }
