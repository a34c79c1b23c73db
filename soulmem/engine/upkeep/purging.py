"""Erases for good: memories whose time in the bin is over, and souls that the user deleted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain

import numpy as np

from soulmem.domain import change_reasons
from soulmem.domain.audit import Action, Actor, AuditQuery
from soulmem.domain.dialogue import Chat, ChatState
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.domain.llm_usage import SoulLlmUsage
from soulmem.domain.memories import Memory, MemoryState
from soulmem.domain.phrases import Wording, phrase
from soulmem.domain.soul import Soul, SoulSettings, SoulState
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.propagation.tombstones import recreated_if_purged
from soulmem.engine.runtime.jobs import JobKind, JobRun
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.world.attempts import Piece
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.governance.bin_time import (
    BinParams,
    count_expiring_soon,
    expired,
)
from soulmem.ports.store import Change, ChatChange

_PIECE = 500  # memories or messages purged in one transaction
_PURGE = ChangeAuthor(Actor.ENGINE)


@dataclass(kw_only=True, eq=False)
class SoulPurge:
    """Purges souls in the bin. Callers must not hold `World.writing`."""

    services: Services
    params: BinParams

    async def run_idle(self, world: World) -> None:
        """Purge the souls whose time is over. An empty row stays, so that its id is not used again."""
        for soul in list(world.souls.values()):
            if soul.state is SoulState.BIN and soul.name:
                await self.services.attempts.carry_out(
                    Piece("purge", world.owner, soul.id),
                    partial(self._purge_if_due, world, soul),
                    name=soul.name,
                )

    async def _purge_if_due(self, world: World, soul: Soul) -> None:
        since = await self._since(world, soul)
        if self.services.clock.now() - since >= timedelta(days=self.params.days):
            await self._purge(world, soul)

    async def _since(self, world: World, soul: Soul) -> datetime:
        binned_at = await self.services.auditor.since_binned(world.owner, soul.id)
        if binned_at is not None:
            return binned_at
        author = ChangeAuthor(Actor.ENGINE, reason=str(change_reasons.FOUND_IN_BIN))
        entry = await self.services.auditor.entry(
            world.owner,
            soul.id,
            author,
            Action.BIN,
            soul.id,
            None,
            {"state": SoulState.BIN.value},
        )
        await self.services.store.commit(Change(world.owner, audit=[entry]))
        return entry.moment

    async def _purge(self, world: World, soul: Soul) -> None:
        async with world.writing:
            if world.souls.get(soul.id) != soul:  # restored by the user meanwhile
                return
            keys: list[MemoryId] = []
            async for page in self.services.store.memory_pages(world.owner, soul.id):
                keys += [memory.id for memory in page]
            for start in range(0, len(keys), _PIECE):
                piece = keys[start : start + _PIECE]
                # The user confirmed with the soul's name, so permanent memories are purged too.
                purge = Change(world.owner, drop_memories=piece, purge_audit=piece, by=Actor.USER)
                await self.services.store.commit(purge)
            records = (await self.services.store.recalls(world.owner, soul.id)).records
            derived = await self.services.store.derivations(world.owner, soul.id)
            # Entries of lessons hold what was asked as a vector.
            asked = AuditQuery(soul.id, action=Action.LEARN)
            lessons = await self.services.auditor.every(world.owner, asked)
            chats = [await self._emptied(world, head) for head in _exclusive_chats(world, soul.id)]
            bare = replace(soul, name="", names=(), settings=SoulSettings())
            entry = await self.services.auditor.entry(
                world.owner, soul.id, _PURGE, Action.PURGE, soul.id
            )
            await self.services.store.commit(
                Change(
                    world.owner,
                    souls=[bare],
                    chats=chats,
                    drop_recalls=[record.trace for record in records],
                    drop_derivations=[derivation.id for derivation in derived],
                    purge_audit=[soul.id, *(entry.target for entry in lessons)],
                    audit=[entry],
                    by=Actor.USER,
                )
            )
            await self.services.store.drop_events(world.owner, soul.id)
            await self.services.store.put_llm_usage(world.owner, SoulLlmUsage(soul.id))
            await self.services.auditor.traces.drop(world.owner, soul.id)
            world.souls[soul.id] = bare
            for chat in chats:
                world.heads[chat.chat.id] = chat.chat
        await world.release_logs([chat.chat.id for chat in chats])

    async def _emptied(self, world: World, head: Chat) -> ChatChange:
        messages = await self.services.store.messages(world.owner, head.id)
        empty = replace(
            head,
            title="",
            persona="",
            state=ChatState.BIN,
            quarantine=None,
            settled_tail=None,
            tail_since=None,
        )
        return ChatChange(empty, drop=[ranked.message.slot for ranked in messages])


def _exclusive_chats(world: World, soul: SoulId) -> list[Chat]:
    """Chats that no other kept soul was ever in."""

    def is_kept(other: SoulId) -> bool:
        stored = world.souls.get(other)
        return other != soul and stored is not None and bool(stored.name)

    return [
        head
        for head in world.heads.values()
        if soul in (*head.souls, *head.cast) and not any(map(is_kept, (*head.souls, *head.cast)))
    ]


_BINNED = (MemoryState.BIN, MemoryState.RETRACTED)
_EXPIRED_PIECE = 200  # memories purged in one transaction
_EXPIRY = ChangeAuthor(Actor.ENGINE, action=Action.PURGE)


class BinPurge:
    """The bins of all owners. Callers must not hold `World.writing`."""

    def __init__(
        self,
        services: Services,
        *,
        on_purged: Callable[[Mind], Awaitable[None]],
        params: BinParams | None = None,
    ) -> None:
        """`on_purged` removes what is kept of a mind's texts beside the store."""
        self._world_of = services.world_of
        self._on_purged = on_purged
        self._store = services.store
        self._compute = services.compute
        self._attempts = services.attempts
        self._clock = services.clock
        self._auditor = services.auditor
        self._params = params or BinParams()
        self.days = self._params.days  # days in the bin before a purge
        self._souls = SoulPurge(services=services, params=self._params)
        # Since when memories are in the bin, by soul; closed souls keep theirs.
        self._since: dict[tuple[Owner, SoulId], dict[MemoryId, datetime]] = {}

    def job_kinds(self) -> tuple[JobKind, ...]:
        """The jobs that this service runs."""
        return (JobKind("purge", self._job, arguments=("confirm",)),)

    def notes(self) -> list[Wording]:
        """A warning about memories that will be purged within a day."""
        binned = chain.from_iterable(since.values() for since in self._since.values())
        count = count_expiring_soon(binned, self._clock.now(), self._params)
        if not count:
            return []
        if count == 1:
            return [
                phrase(
                    "bin_one_leaves",
                    "1 memory leaves the bin for good within a day (purge): restore what you want to keep",
                )
            ]
        return [
            phrase(
                "bin_some_leave",
                "{count} memories leave the bin for good within a day (purge): restore what you want to keep",
                count=count,
            )
        ]

    async def run_idle(self, worlds: Sequence[World]) -> None:
        """In Idle: purge what was long enough in the bin."""
        for world in worlds:
            await self._souls.run_idle(world)
            self._forget_purged_souls(world)
        await self._attempts.with_minds("bin", worlds, self._purge_expired)

    async def _purge_expired(self, world: World, mind: Mind) -> None:
        binned = await self._purgeable(world, mind)
        expired_ids = expired(binned, self._clock.now(), self._params)
        for start in range(0, len(expired_ids), _EXPIRED_PIECE):
            piece = expired_ids[start : start + _EXPIRED_PIECE]
            await self._purge(world, mind, piece, _PURGE)
        self._since[world.owner, mind.soul.id] = {
            key: binned_at for key, binned_at in binned.items() if key not in set(expired_ids)
        }

    def _forget_purged_souls(self, world: World) -> None:
        for owner, soul in list(self._since):
            if owner == world.owner and world.souls[soul].state is not SoulState.ACTIVE:
                del self._since[owner, soul]

    async def _job(self, run: JobRun) -> dict[str, int]:
        """Empty a soul's bin on request, whatever the age of its memories."""
        if run.arguments.get("confirm") != "purge":
            raise Unprocessable(
                phrase(
                    "purge_confirm",
                    'what is purged is gone for good: say "confirm": "purge"',
                ),
                field="arguments",
            )
        world = await self._world_of(run.owner)
        mind = await world.mind(run.soul)
        purged = [memory.id for memory in await self._compute.run(_binned, mind)]
        author = ChangeAuthor(Actor.USER, action=Action.PURGE, source=run.record.job)
        count = 0
        for start in range(0, len(purged), _EXPIRED_PIECE):
            run.report(start, len(purged), "memories")
            count += await self._purge(world, mind, purged[start : start + _EXPIRED_PIECE], author)
        await self._on_purged(mind)
        return {"purged": count}

    async def _purgeable(self, world: World, mind: Mind) -> dict[MemoryId, datetime]:
        """The purgeable memories in the soul's bin, with the time since when."""
        binned: dict[MemoryId, datetime] = {}
        known = self._since.get((world.owner, mind.soul.id), {})
        for memory in await self._compute.run(_binned, mind):
            binned_at = known.get(memory.id)
            binned_at = binned_at or await self._auditor.since_binned(world.owner, memory.id)
            binned[memory.id] = binned_at or await self._audit_now(world, memory)
        return binned

    async def _audit_now(self, world: World, memory: Memory) -> datetime:
        """Audit now a memory without an entry about its way into the bin; its time begins now."""
        author = ChangeAuthor(Actor.ENGINE, reason=str(change_reasons.FOUND_IN_BIN))
        entry = await self._auditor.entry(
            world.owner,
            memory.soul,
            author,
            Action.BIN,
            memory.id,
            None,
            {"state": MemoryState.BIN.value},
        )
        await self._store.commit(Change(world.owner, audit=[entry]))
        return entry.moment

    async def _purge(
        self, world: World, mind: Mind, keys: list[MemoryId], author: ChangeAuthor
    ) -> int:
        async with world.writing as token:
            if mind is not world.minds.get(mind.soul.id):
                return 0
            remaining = {memory.id for memory in await self._compute.run(_binned, mind)}
            purged = tuple(key for key in keys if key in remaining)
            if purged:
                change = MindChange(drop_memories=purged, purge_audit=purged)
                await self._auditor.carry_out(token, world, mind, change, author)
            return len(purged)


@compute_only
def _binned(mind: Mind) -> list[Memory]:
    """Memories in the bin that would not come back if they were purged."""
    rows = np.flatnonzero(mind.columns.in_state(mind.size, _BINNED))
    out = mind.memories.many(mind.ids_at(rows.tolist()))
    kept = recreated_if_purged(mind, out)
    return [memory for memory in out if memory.id not in kept]
