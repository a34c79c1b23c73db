"""Writes changes of chats: the store first, then the minds of the souls in them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from soulmem.conversation.sync import ranks_for, reconcile, settled_tail
from soulmem.domain.audit import Action, AuditEntry
from soulmem.domain.dialogue import Chat, ChatState, Message, Version
from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.domain.memories import MemoryState
from soulmem.domain.sequences import Grown, common_ends
from soulmem.domain.soul import Soul, SoulState
from soulmem.engine.api.requests import SyncAnswer, SyncRequest
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.propagation.linker import Steps, with_reawakened
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.runtime.write_lock import WriteToken
from soulmem.engine.sync.store_changes import (
    rewritten_messages,
    store_change,
    united_changes,
)
from soulmem.engine.views.word_concepts import stale_topics
from soulmem.engine.world.attempts import Piece
from soulmem.engine.world.audit import BY_USER
from soulmem.engine.world.message_log import remembered_parts
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import ChatLog, World
from soulmem.ports.store import RANK_GAP, Change, ChatChange

_READ_AT_ONCE = 50  # texts analysed at once: about 10 ms
_PIECE = 200  # memories applied at once: a recall in between waits about 20 ms


@dataclass(frozen=True, slots=True)
class _MindStep:
    """What a change of a chat means for one mind."""

    mind: Mind
    change: MindChange
    is_linked: bool  # the change includes mentions and their consequences


@dataclass(frozen=True, slots=True)
class _Step:
    """A computed change of one chat: what to store, and what to apply to each mind."""

    log: ChatLog
    chat: ChatChange
    minds: tuple[_MindStep, ...]
    moved: tuple[ChatId, ...]  # chats whose tree gets another root


@dataclass(eq=False)
class ChatWriter:
    """Writes changes of chats: the store first, then the minds."""

    services: Services

    async def sync(self, world: World, request: SyncRequest) -> SyncAnswer:
        """Apply the chat as its client shows it; see `PUT /v1/chats/{chat}`."""
        async with world.writing as token:
            for soul in request.souls:
                world.soul(soul, "souls")
            old = await world.log(request.chat) or ChatLog(
                Chat(request.chat, request.souls, created=self.services.clock.now())
            )
            ancestors = await world.ancestors(replace(old.head, parent=request.parent))
            present_souls: list[SoulId] = []
            for message in request.messages:
                present_souls.extend(message.present or ())
            world.last_sync.update(dict.fromkeys(request.souls, time.monotonic()))
            minds = await _minds(
                token,
                world,
                [*request.souls, *old.head.souls, *old.head.cast, *present_souls],
            )
            async with _read_ahead(world, _unread(old, request)):
                answer, step = await self.services.compute.run(
                    self._sync_step, world, old, request, ancestors, minds
                )
            if step is not None:
                await self._carry_out(token, world, step)
            return answer

    async def close(self, world: World, chat: ChatId) -> None:
        """Settle the last message of a chat that was left."""
        async with world.writing as token:
            await self._settle(token, world, chat)

    async def settle_due(self, world: World, after: timedelta) -> None:
        """Settle last messages that are unchanged for `after`."""
        current_time = self.services.clock.now()
        for head in list(world.heads.values()):
            if (
                head.state is ChatState.ACTIVE
                and head.tail_since is not None
                and current_time - head.tail_since >= after
            ):
                await self.services.attempts.carry_out(
                    Piece("settling", world.owner, next(iter(head.souls), None), head.id),
                    partial(self.close, world, head.id),
                )

    async def delete_chat(self, world: World, chat: ChatId) -> None:
        """Put the chat into the bin and retract what only it supports."""
        async with world.writing as token:
            world.head(chat)
            old = await world.log(chat)
            if old is not None:
                new = replace(old, head=replace(old.head, state=ChatState.BIN, quarantine=None))
                await self._write(
                    token,
                    world,
                    old,
                    new,
                    retract=True,
                    audit=await self._deletion_entries(world, old.head),
                )
                await world.release_logs([chat])

    async def change_soul(self, token: WriteToken, world: World, mind: Mind, new: Soul) -> None:
        """Store and apply the soul's new names or settings, and their effects on memories."""
        old = mind.soul
        if remembered_parts(new) != remembered_parts(old):
            await self._change_remembered(
                token, world, mind, replace(new, name=old.name, names=old.names)
            )
        if new != mind.soul:
            steps = Steps([])
            if (new.name, new.names) != (old.name, old.names):
                steps = await world.linker.steps(token, mind, MindChange(), new)
            await world.carry_out(token, mind, steps, new)

    async def _change_remembered(
        self, token: WriteToken, world: World, mind: Mind, new: Soul
    ) -> None:
        """Derive all chats of the soul again after a setting changed that says what it remembers of them."""
        changes = [Change(world.owner, souls=[new])]
        async with self._stored_after(world, changes, {new.id}):
            await self.services.compute.run(mind.set_soul, new)
            for head in list(world.heads.values()):
                log = await world.log(head.id) if new.id in head.cast else None
                if log is not None:
                    changes.append(
                        await self._derive(token, world, mind, log, world.family(head.id))
                    )
        world.souls[new.id] = new
        await self._drop_topics(token, world, mind)

    async def _settle(self, token: WriteToken, world: World, chat: ChatId) -> None:
        log = await world.log(chat)
        if log is None or not log.messages:
            return
        last = log.messages[-1].version
        if log.head.settled_tail != last or log.head.tail_since is not None:
            await self._write(
                token,
                world,
                log,
                replace(log, head=replace(log.head, settled_tail=last, tail_since=None)),
            )

    @compute_only
    def _sync_step(
        self,
        world: World,
        old: ChatLog,
        request: SyncRequest,
        ancestors: Sequence[ChatLog],
        minds: Sequence[Mind],
    ) -> tuple[SyncAnswer, _Step | None]:
        """The answer to a sync, and the step to carry out, if any."""

        def known_text(version: Version) -> str | None:
            return next((t for log in ancestors if (t := log.text(version)) is not None), None)

        reconciled = reconcile(
            old.messages,
            request.messages,
            request.base,
            confirmed=request.confirm_removal or old.head.state is ChatState.BIN,
            known_text=known_text,
            digest_of=old.digests.of,
            index=old.index,
        )
        if reconciled.hold is not None:
            answer = SyncAnswer(applied=False, held=len(reconciled.hold.vanished))
            held_log = replace(old, head=replace(old.head, quarantine=reconciled.hold))
            return (
                answer,
                None
                if old.head.quarantine == reconciled.hold
                else self._step(world, old, held_log, minds),
            )
        if reconciled.needs_text:
            return SyncAnswer(needs_text=reconciled.needs_text, applied=False), None
        new = self._next_log(old, request, reconciled.messages)
        answer = SyncAnswer(
            added=len(reconciled.added),
            changed=len(reconciled.changed),
            removed=len(reconciled.removed),
        )
        if new.head == old.head and new.messages is old.messages and request.chat in world.heads:
            return answer, None
        return answer, self._step(
            world,
            old,
            new,
            minds,
            reconciled.added | reconciled.changed,
            reconciled.removed,
        )

    def _next_log(self, old: ChatLog, request: SyncRequest, messages: Grown[Message]) -> ChatLog:
        head = old.head
        tail = settled_tail(old.messages, old.index, messages, head.settled_tail)
        last = messages[-1].version if messages else None
        same_tail = (
            bool(old.messages)
            and old.messages[-1].version == last
            and head.state is ChatState.ACTIVE
        )
        since = head.tail_since if same_tail else self.services.clock.now()
        prefix, suffix = common_ends(old.messages, messages)
        window = messages[prefix : len(messages) - suffix]
        cast = dict.fromkeys((*request.souls, *head.cast))
        for message in window:
            cast.update(dict.fromkeys(message.present or ()))
        next_head = replace(
            head,
            souls=request.souls,
            cast=tuple(cast),
            title=request.title,
            persona=request.persona,
            parent=request.parent,
            settled_tail=tail,
            tail_since=None if tail is not None or last is None else since,
            quarantine=None,
            state=ChatState.ACTIVE,
        )
        if prefix == len(messages) == len(old.messages):
            return replace(old, head=next_head)
        ranks = ranks_for(old.messages, old.ranks, messages, RANK_GAP)
        if prefix == len(old.messages):  # the usual case: messages were appended
            return old.continued(next_head, messages, ranks)
        return ChatLog.of(next_head, messages, ranks, old)

    @compute_only
    def _step(
        self,
        world: World,
        old: ChatLog,
        new: ChatLog,
        minds: Sequence[Mind],
        changed: Collection[SlotId] = (),
        removed: Collection[SlotId] = (),
        *,
        retract: bool = False,
    ) -> _Step:
        """What the new log means for the store and for every mind."""
        chat = new.head.id
        heads = world.heads | {chat: new.head}
        family = world.family(chat, heads)
        mind_steps = []
        for mind in minds:
            change = world.compare(mind, new, family, changed, retract=retract)
            linked = world.linker.with_mentions_at_once(mind, change)
            if linked is not None:
                change = with_reawakened(mind, linked)
            mind_steps.append(_MindStep(mind, change, linked is not None))
        chat_change = ChatChange(new.head, rewritten_messages(old, new), removed)
        moved = [c for c in world.heads if c != chat and world.family(c) != world.family(c, heads)]
        return _Step(new, chat_change, tuple(mind_steps), tuple(moved))

    async def _write(
        self,
        token: WriteToken,
        world: World,
        old: ChatLog,
        new: ChatLog,
        *,
        retract: bool = False,
        audit: Sequence[AuditEntry] = (),
    ) -> None:
        """Store and apply a change of the chat's head alone."""
        minds = await _minds(token, world, [*old.head.souls, *old.head.cast])
        step = await self.services.compute.run(self._step, world, old, new, minds, retract=retract)
        await self._carry_out(token, world, step, audit)

    async def _deletion_entries(self, world: World, head: Chat) -> list[AuditEntry]:
        """Audit entries on the deletion of the chat, one per soul in it."""
        was, after = {"state": ChatState.ACTIVE.value}, {"state": ChatState.BIN.value}
        souls = [soul for soul in dict.fromkeys((*head.souls, *head.cast)) if soul in world.souls]
        where = [(world.owner, soul, BY_USER, Action.BIN, head.id) for soul in souls]
        return [
            await self.services.auditor.entry(*entry_values, was, after) for entry_values in where
        ]

    async def _carry_out(
        self,
        token: WriteToken,
        world: World,
        step: _Step,
        audit: Sequence[AuditEntry] = (),
    ) -> None:
        """Store the step, then apply it to the minds."""
        linked = []
        for mind_step in step.minds:
            if not mind_step.is_linked:
                change = await self._linked(token, world, mind_step.mind, mind_step.change)
                mind_step = _MindStep(mind_step.mind, change, True)
            linked.append(mind_step)
        changes = [mind_step.change for mind_step in linked]
        stored = store_change(world.owner, step.chat, changes, audit)
        if step.moved:
            await self._move(token, world, replace(step, minds=tuple(linked)), stored)
            return
        await self.services.store.commit(stored)
        world.keep_log(step.log)
        for mind_step in linked:
            mind, change = mind_step.mind, mind_step.change
            for piece in change.batches(_PIECE):
                await self.services.compute.run(mind.apply, piece)
            if change.drop_memories or any(
                m.state is not MemoryState.ACTIVE for m in change.put_memories
            ):
                await self._drop_topics(token, world, mind)

    async def _drop_topics(self, token: WriteToken, world: World, mind: Mind) -> None:
        """Drop topics that contain words of removed texts at once, not in the next Idle."""
        stale = await self.services.compute.run(stale_topics, mind)
        if stale:
            await world.carry_out(token, mind, Steps([MindChange(drop_memories=tuple(stale))]))

    async def _linked(
        self, token: WriteToken, world: World, mind: Mind, change: MindChange
    ) -> MindChange:
        """The change with mentions and with the forgotten memories that it brings back."""
        return await self.services.compute.run(
            with_reawakened, mind, await world.linker.with_mentions(token, mind, change)
        )

    async def _move(self, token: WriteToken, world: World, step: _Step, stored: Change) -> None:
        """Store a step after which other chats' trees have another root, and so other episode ids."""
        heads = world.heads | {step.log.head.id: step.log.head}
        changes, touched = (
            [stored],
            {mind_step.mind.soul.id for mind_step in step.minds},
        )
        async with self._stored_after(world, changes, touched):
            for mind_step in step.minds:
                await self.services.compute.run(mind_step.mind.apply, mind_step.change)
            for chat in step.moved:
                log = await world.log(chat)
                if log is None:
                    continue
                for mind in await _minds(token, world, [*log.head.souls, *log.head.cast]):
                    touched.add(mind.soul.id)
                    changes.append(
                        await self._derive(token, world, mind, log, world.family(chat, heads))
                    )
        world.keep_log(step.log)
        for mind in [world.minds[soul] for soul in touched if soul in world.minds]:
            await self._drop_topics(token, world, mind)

    async def _derive(
        self, token: WriteToken, world: World, mind: Mind, log: ChatLog, family: ChatId
    ) -> Change:
        """Apply the chat to the mind again; returns what is to be stored."""
        stories = await self.services.compute.run(log.remembered, mind.soul)
        async with _read_ahead(world, [m.text for m in stories]):
            change = await self.services.compute.run(world.compare, mind, log, family)
        change = await self._linked(token, world, mind, change)
        await self.services.compute.run(mind.apply, change)
        return change.to_store_change(world.owner)

    @asynccontextmanager
    async def _stored_after(
        self, world: World, changes: Sequence[Change], souls: Collection[SoulId]
    ) -> AsyncIterator[None]:
        """Commits the `changes` that the body collects as one.

        Each change depends on the mind after the previous one, so the minds go first.
        When the store refuses, the minds of `souls` are unloaded and read again later.
        """
        try:
            yield
            await self.services.store.commit(united_changes(changes))
        except BaseException:
            for soul in souls:
                world.unload(soul)
            raise


def _unread(old: ChatLog, request: SyncRequest) -> list[str]:
    """Texts of the request that the chat did not have before, as its prompt shows them."""
    return [
        m.text if m.story is None else m.story
        for m in request.messages
        if m.text is not None and old.text(Version(m.slot, m.hash)) is None
    ]


@asynccontextmanager
async def _read_ahead(world: World, texts: Sequence[str]) -> AsyncIterator[None]:
    """Analyse the texts in a separate thread, a few at a time, for use in the body."""
    try:
        for start in range(0, len(texts), _READ_AT_ONCE):
            await asyncio.to_thread(world.readings.ahead, texts[start : start + _READ_AT_ONCE])
        yield
    finally:
        world.readings.forget()


async def _minds(token: WriteToken, world: World, souls: Iterable[SoulId]) -> list[Mind]:
    """Open minds of the active souls among these."""
    existing = [s for s in dict.fromkeys(souls) if s in world.souls]
    return [
        await world.mind_while_writing(token, s)
        for s in existing
        if world.souls[s].state is SoulState.ACTIVE
    ]
