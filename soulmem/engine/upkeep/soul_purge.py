"""Purges whole souls when their time in the bin is over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from soulmem.domain import change_reasons
from soulmem.domain.audit import Action, Actor, AuditQuery
from soulmem.domain.dialogue import Chat, ChatState
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.llm_usage import SoulLlmUsage
from soulmem.domain.soul import Soul, SoulSettings, SoulState
from soulmem.engine.world.attempts import Piece
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.governance.retention import BinParams
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
                purge = Change(
                    world.owner, drop_memories=piece, purge_audit=piece, by=Actor.USER
                )
                await self.services.store.commit(purge)
            records = (await self.services.store.recalls(world.owner, soul.id)).records
            derived = await self.services.store.derivations(world.owner, soul.id)
            # Entries of lessons hold what was asked as a vector.
            asked = AuditQuery(soul.id, action=Action.LEARN)
            lessons = await self.services.auditor.every(world.owner, asked)
            chats = [
                await self._emptied(world, head)
                for head in _exclusive_chats(world, soul.id)
            ]
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
        if soul in (*head.souls, *head.cast)
        and not any(map(is_kept, (*head.souls, *head.cast)))
    ]
