"""How what a client shows of a chat becomes memory: syncs, closing, settling, deletion."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import timedelta

from soulmem.conversation.sync import ranks_for, reconcile, settled_tail
from soulmem.domain.dialogue import Chat, ChatState, Message, Version
from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.domain.sequences import common_ends
from soulmem.domain.soul import SoulState
from soulmem.engine.mind import Mind, MindChange
from soulmem.engine.requests import SyncAnswer, SyncRequest
from soulmem.engine.worker import Worker
from soulmem.engine.world import ChatLog, World
from soulmem.ports.clock import Clock
from soulmem.ports.store import RANK_GAP, Change, ChatChange, RankedMessage, Store


class Observer:
    """Writes what happened in chats: the store first, then the minds."""

    def __init__(self, store: Store, compute: Worker, clock: Clock) -> None:
        self._store = store
        self._compute = compute
        self._clock = clock

    async def sync(self, world: World, request: SyncRequest) -> SyncAnswer:
        """Take over the chat as its client shows it; see `PUT /v1/chats/{chat}`."""
        async with world.writing:
            for soul in request.souls:
                world.soul(soul, "souls")
            old = await world.log(request.chat) or ChatLog(
                Chat(request.chat, request.souls, created=self._clock.now())
            )
            ancestors = await world.ancestors(replace(old.head, parent=request.parent))

            def known_text(version: Version) -> str | None:
                return next((t for log in ancestors if (t := log.text(version)) is not None), None)

            found = await self._compute.run(
                reconcile,
                old.messages,
                request.messages,
                request.base,
                confirmed=request.confirm_removal or old.head.state is ChatState.BIN,
                known_text=known_text,
            )
            if found.hold is not None:
                if old.head.hold != found.hold:
                    await self._write(world, old, replace(old, head=replace(old.head, hold=found.hold)))
                return SyncAnswer(applied=False, held=len(found.hold.vanished))
            if found.needs_text:
                return SyncAnswer(needs_text=found.needs_text, applied=False)
            new = await self._compute.run(self._next_log, old, request, found.messages)
            if new.head != old.head or new.messages != old.messages or request.chat not in world.heads:
                await self._write(world, old, new, found.added | found.changed, found.removed)
            return SyncAnswer(added=len(found.added), changed=len(found.changed), removed=len(found.removed))

    async def close(self, world: World, chat: ChatId) -> None:
        """The chat was left: its last message is settled."""
        async with world.writing:
            await self._settle(world, chat)

    async def settle_due(self, world: World, after: timedelta) -> None:
        """Settle last messages that have stood for `after`."""
        now = self._clock.now()
        for head in list(world.heads.values()):
            if (
                head.state is ChatState.ACTIVE
                and head.tail_since is not None
                and now - head.tail_since >= after
            ):
                async with world.writing:
                    await self._settle(world, head.id)

    async def delete_chat(self, world: World, chat: ChatId) -> None:
        """The chat, and what only it supports, to the bin."""
        async with world.writing:
            world.head(chat)
            old = await world.log(chat)
            if old is not None:
                new = replace(old, head=replace(old.head, state=ChatState.BIN, hold=None))
                await self._write(world, old, new, retract=True)

    async def rederive(self, world: World, mind: Mind) -> None:
        """Read all the soul's chats again, after a setting changed what is remembered.

        The caller holds `writing`.
        """
        for head in list(world.heads.values()):
            log = world.loaded_log(head.id)
            if log is not None and mind.soul.id in head.cast:
                change = await self._compute.run(world.compare, mind, log, world.family(head.id))
                await self._store.commit(_stored(world, change))
                await self._compute.run(mind.apply, change)

    async def _settle(self, world: World, chat: ChatId) -> None:
        log = await world.log(chat)
        if log is None or not log.messages:
            return
        last = log.messages[-1].version
        if log.head.settled_tail != last or log.head.tail_since is not None:
            await self._write(
                world, log, replace(log, head=replace(log.head, settled_tail=last, tail_since=None))
            )

    def _next_log(self, old: ChatLog, request: SyncRequest, messages: tuple[Message, ...]) -> ChatLog:
        head = old.head
        tail = settled_tail(old.messages, old.index, messages, head.settled_tail)
        last = messages[-1].version if messages else None
        same_tail = bool(old.messages) and old.messages[-1].version == last and head.state is ChatState.ACTIVE
        since = head.tail_since if same_tail else self._clock.now()
        prefix, suffix = common_ends(old.messages, messages)
        window = messages[prefix : len(messages) - suffix]
        cast = dict.fromkeys(
            [*request.souls, *head.cast, *(soul for m in window for soul in m.present or ())]
        )
        now = replace(
            head,
            souls=request.souls,
            cast=tuple(cast),
            title=request.title,
            persona=request.persona,
            parent=request.parent,
            settled_tail=tail,
            tail_since=None if tail is not None or last is None else since,
            hold=None,
            state=ChatState.ACTIVE,
        )
        if prefix == len(messages) == len(old.messages):
            return replace(old, head=now)
        ranks = ranks_for(old.messages, old.ranks, messages, RANK_GAP)
        if prefix == len(old.messages):  # the usual case: the chat went on
            index = old.index | {m.slot: i for i, m in enumerate(messages[prefix:], prefix)}
            return ChatLog(now, messages, ranks, index)
        return ChatLog.of(now, messages, ranks)

    async def _write(
        self,
        world: World,
        old: ChatLog,
        new: ChatLog,
        changed: Collection[SlotId] = (),
        removed: Collection[SlotId] = (),
        *,
        retract: bool = False,
    ) -> None:
        """Store the new log with what it means for every soul concerned, then take it over."""
        chat = new.head.id
        heads = world.heads | {chat: new.head}
        family = world.family(chat, heads)
        moved = [c for c in world.heads if c != chat and world.family(c) != world.family(c, heads)]
        minds = [await world.mind_while_writing(s) for s in _concerned(world, old.head, new.head)]
        changes = [
            await self._compute.run(world.compare, mind, new, family, changed, retract=retract)
            for mind in minds
        ]
        await self._store.commit(
            Change(
                owner=world.owner,
                chats=[ChatChange(new.head, _rewritten(old, new), removed)],
                put_memories=[m for c in changes for m in c.put_memories],
                drop_memories=[m for c in changes for m in c.drop_memories],
                put_edges=[e for c in changes for e in c.put_edges],
                drop_edges=[e for c in changes for e in c.drop_edges],
            )
        )
        world.keep_log(new)
        for mind, change in zip(minds, changes, strict=True):
            await self._compute.run(mind.apply, change)
        for other in moved:
            await self._regroup(world, other)

    async def _regroup(self, world: World, chat: ChatId) -> None:
        """A chat whose tree got another root: its episodes are named by the new one."""
        log = await world.log(chat)
        if log is None:
            return
        for soul in _concerned(world, log.head, log.head):
            mind = await world.mind_while_writing(soul)
            change = await self._compute.run(world.compare, mind, log, world.family(chat))
            await self._store.commit(_stored(world, change))
            await self._compute.run(mind.apply, change)


def _concerned(world: World, *heads: Chat) -> list[SoulId]:
    """Souls in use that were or are in the chat."""
    ids: Iterable[SoulId] = dict.fromkeys(s for head in heads for s in (*head.souls, *head.cast))
    return [s for s in ids if s in world.souls and world.souls[s].state is SoulState.ACTIVE]


def _rewritten(old: ChatLog, new: ChatLog) -> list[RankedMessage]:
    """The messages that differ from the stored ones, or stand elsewhere."""
    if old.messages is new.messages:
        return []
    before = list(zip(old.ranks, old.messages, strict=True))
    now = list(zip(new.ranks, new.messages, strict=True))
    prefix, suffix = common_ends(before, now)
    stands = set(before[prefix : len(before) - suffix])
    return [RankedMessage(r, m) for r, m in now[prefix : len(now) - suffix] if (r, m) not in stands]


def _stored(world: World, change: MindChange) -> Change:
    return Change(
        owner=world.owner,
        put_memories=change.put_memories,
        drop_memories=change.drop_memories,
        put_edges=change.put_edges,
        drop_edges=change.drop_edges,
    )
