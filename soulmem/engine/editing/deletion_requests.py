"""Deletions that tools request: the user confirms each, and only then the memory goes into the bin."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta

from soulmem.domain.audit import Action, Actor
from soulmem.domain.deletions import Deletion, DeletionState
from soulmem.domain.errors import Conflict, NotFound
from soulmem.domain.ids import Owner, SoulId, new_id
from soulmem.domain.memories import Memory
from soulmem.domain.phrases import phrase
from soulmem.engine.editing.memory_editor import MemoryEditor
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.governance.protection import check_unprotected
from soulmem.ports.store import Change

EXPIRES = timedelta(days=7)  # without an answer the request expires; mission table S1-20


@dataclass(kw_only=True, eq=False)
class DeletionRequests:
    """The deletion requests of all owners."""

    services: Services
    memories: MemoryEditor

    def __post_init__(self) -> None:
        self._deciding = asyncio.Lock()

    async def ask(self, world: World, memory: Memory, author: ChangeAuthor) -> Deletion:
        """Request a deletion. Raises Forbidden for a protected memory."""
        check_unprotected(memory)
        asked = Deletion(
            new_id("d"),
            memory.soul,
            memory.id,
            author.actor,
            author.reason,
            memory.text,
            self.services.clock.now(),
        )
        source_author = replace(author, source=asked.id)
        entry = await self.services.auditor.entry(
            world.owner, memory.soul, source_author, Action.ASK, memory.id
        )
        await self.services.store.commit(Change(world.owner, put_deletions=[asked], audit=[entry]))
        self._publish(world.owner, asked)
        return asked

    async def list(self, owner: Owner, soul: SoulId | None) -> list[Deletion]:
        """All requests, newest first, of one soul or all. Raises NotFound for the soul."""
        world = await self.services.world_of(owner)
        if soul is not None:
            world.soul(soul)
        deletions = await self.services.store.deletions(owner)
        return [
            self._with_present_state(deletion)
            for deletion in reversed(deletions)
            if soul in (None, deletion.soul)
        ]

    async def decide(self, owner: Owner, request: str, *, confirmed: bool) -> Deletion:
        """Carry out the user's decision, once per request.

        Raises NotFound for an unknown request or memory, Conflict for a request that
        was decided or has expired, and Forbidden for a memory that was made permanent
        or locked since.
        """
        await self.services.world_of(owner)  # waits until the store is open
        async with self._deciding:
            request_found = next(
                (
                    stored_deletion
                    for stored_deletion in await self.services.store.deletions(owner)
                    if stored_deletion.id == request
                ),
                None,
            )
            if request_found is None:
                raise NotFound(
                    phrase(
                        "no_deletion",
                        "no deletion '{request}' was asked for",
                        request=request,
                    ),
                    field="request",
                )
            asked = self._with_present_state(request_found)
            if asked.state is not DeletionState.AWAITING:
                raise Conflict(
                    phrase(
                        "deletion_decided",
                        "deletion '{request}' is decided already",
                        request=request,
                    ),
                    field="request",
                )
            user = ChangeAuthor(Actor.USER, source=request, reason=asked.reason)
            if confirmed:
                view = await self.memories.get(owner, asked.memory)
                check_unprotected(view.memory)
                await self.memories.delete(owner, asked.memory, None, user)
            state = DeletionState.CONFIRMED if confirmed else DeletionState.REJECTED
            decided = replace(asked, state=state, decided=self.services.clock.now())
            entries = []
            if not confirmed:
                entries = [
                    await self.services.auditor.entry(
                        owner, asked.soul, user, Action.REJECT, asked.memory
                    )
                ]
            await self.services.store.commit(
                Change(owner, put_deletions=[decided], audit=entries, by=Actor.USER)
            )
            self._publish(owner, decided)
            return decided

    def _publish(self, owner: Owner, deletion: Deletion) -> None:
        details = {
            "request": deletion.id,
            "soul": deletion.soul,
            "memory": deletion.memory,
            "state": deletion.state.value,
        }
        self.services.auditor.events.publish("deletion", owner, **details)

    def _with_present_state(self, asked: Deletion) -> Deletion:
        """The request with its present state: unanswered ones expire."""
        if (
            asked.state is DeletionState.AWAITING
            and self.services.clock.now() - asked.requested >= EXPIRES
        ):
            return replace(asked, state=DeletionState.EXPIRED)
        return asked
