"""One owner's souls and chats, loaded when first needed and kept equal to the store."""

from __future__ import annotations

import asyncio
import logging
import re
import traceback
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from soulmem.conversation.episodes import episode_of, settled_count
from soulmem.conversation.text_analysis import TextAnalyses
from soulmem.domain.dialogue import Chat, ChatState
from soulmem.domain.errors import SoulMemError, StoreDamaged, no_chat, no_soul
from soulmem.domain.ids import ChatId, MemoryId, Owner, SlotId, SoulId
from soulmem.domain.memories import Memory, Place
from soulmem.domain.phrases import Wording
from soulmem.domain.soul import Soul, SoulSettings, SoulState
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.propagation.linker import Linker, Steps
from soulmem.engine.runtime.worker import Worker, compute_only
from soulmem.engine.runtime.write_lock import WriteLock, WriteToken
from soulmem.engine.world.chat_delta import compare, missing_parts
from soulmem.engine.world.edge_loader import EdgeLoader
from soulmem.engine.world.episode_keys import EpisodeKeys
from soulmem.engine.world.message_log import ChatLog as ChatLog
from soulmem.engine.world.message_log import EpisodeMessages
from soulmem.engine.world.pending_writes import PendingWrites
from soulmem.engine.world.soul_use import SoulUse
from soulmem.graph.branches import Branch
from soulmem.graph.name_search import Glance
from soulmem.ports.clock import Clock
from soulmem.ports.store import Change, Store

log = logging.getLogger(__name__)

_PIECE = 200  # memories applied at once: about 20 ms on the compute thread


_TOKENISED_AT_ONCE = 50  # memories tokenised at once: about 20 ms when they are long
_NO_WORD = re.compile(r"[\W_]+")


# Fills a new mind from the store, or returns another one, made from a snapshot.
OpenMind = Callable[[WriteToken, "World", Mind], Awaitable[Mind]]


@dataclass(kw_only=True, eq=False)
class World:
    """Souls, chats and minds of one owner. Every writer holds `writing`."""

    owner: Owner
    store: Store
    compute: Worker
    clock: Clock
    loader: EdgeLoader
    open_mind: OpenMind
    on_new_mind: Callable[[Mind], Awaitable[None]]
    on_mind_gone: Callable[[Mind], None]
    soul_defaults: SoulSettings

    def __post_init__(self) -> None:
        self.souls: dict[SoulId, Soul] = {}
        self.heads: dict[ChatId, Chat] = {}
        # what stands in the store and cannot be read: it is left out, and nothing of it is written
        self.unreadable: dict[SoulId, StoreDamaged] = {}
        self._unreadable_chats: dict[ChatId, StoreDamaged] = {}
        self.minds: dict[SoulId, Mind] = {}
        # partly filled minds of souls that are being opened, and of how many memories, where that is known
        self.opening: dict[SoulId, Mind] = {}
        self.expected: dict[SoulId, int] = {}
        self.last_sync: dict[SoulId, float] = {}  # monotonic seconds
        self.use = SoulUse()
        self.writing = WriteLock()
        self.readings = TextAnalyses()
        self.linker = Linker(
            compute=self.compute,
            clock=self.clock,
            complete=partial(self.loader.complete, self.owner),
        )
        self.pending_writes = PendingWrites(self.store)
        self._logs: dict[ChatId, ChatLog] = {}
        self._message_counts: dict[ChatId, int] = {}  # of chats that are not loaded
        self._ahead: set[asyncio.Task[None]] = set()  # souls that are being opened
        self._keys = EpisodeKeys()

    async def load(self) -> None:
        """Read souls and heads of chats from the store, without the souls that cannot be read."""
        souls = {soul.id: soul for soul in await self.store.souls(self.owner)}
        for damage in await self.store.damages(self.owner):
            if damage.chat is not None:
                chat_error = StoreDamaged(damage.what, damage.chat)
                self._unreadable_chats[damage.chat] = chat_error
            for key in damage.souls:
                known = souls.pop(key, None)
                name = damage.name if known is None else known.name
                if key not in self.unreadable:
                    self.unreadable[key] = StoreDamaged(damage.what, name or key)
        for soul in souls.values():
            self.souls[soul.id] = replace(soul, settings=soul.settings.over(self.soul_defaults))
        self.heads = {c.id: c for c in await self.store.chats(self.owner)}

    def notes(self) -> list[Wording]:
        """For the user: what cannot be read."""
        errors = (*self._unreadable_chats.values(), *self.unreadable.values())
        return list({error.what: error.wording for error in errors}.values())

    def check_readable(self, soul: SoulId) -> None:
        """Raises StoreDamaged for a soul that is stored and cannot be read."""
        if soul in self.unreadable:
            raise self.unreadable[soul].again()

    def check_whole(self, mind: Mind, orphans: int) -> None:
        """Raises StoreDamaged where a chat that cannot be read may be one of the soul's.

        orphans  how many of its memories belong to no chat that can be read
        """
        for chat, error in self._unreadable_chats.items():
            heads = self.heads.values()
            own = (head for head in heads if mind.soul.id in (*head.souls, *head.cast))
            forked = any(head.parent and head.parent.chat == chat for head in own)
            if orphans or forked:
                raise error.again()

    def soul(self, soul: SoulId, field: str = "soul") -> Soul:
        """The active soul of that id. Raises NotFound, and StoreDamaged where it cannot be read."""
        self.check_readable(soul)
        stored_soul = self.souls.get(soul)
        if stored_soul is None or stored_soul.state is SoulState.BIN:
            raise no_soul(soul, field)
        return stored_soul

    def head(self, chat: ChatId, field: str = "chat") -> Chat:
        """The active chat of that id. Raises NotFound, and StoreDamaged where it cannot be read."""
        if chat in self._unreadable_chats:
            raise self._unreadable_chats[chat].again()
        chat_head = self.heads.get(chat)
        if chat_head is None or chat_head.state is ChatState.BIN:
            raise no_chat(chat, field)
        return chat_head

    def family(self, chat: ChatId, heads: dict[ChatId, Chat] | None = None) -> ChatId:
        """The root of the chat's tree of branches; a parent that was never sent counts as a root."""
        heads = self.heads if heads is None else heads
        way = [chat]
        while (head := heads.get(chat)) is not None and head.parent is not None:
            chat = head.parent.chat
            if chat in way:
                # a cycle of parents: its smallest id is the root of all its members
                return min(way[way.index(chat) :])
            way.append(chat)
        return chat

    async def log(self, chat: ChatId) -> ChatLog | None:
        """The chat with its messages; None when it is unknown. Raises StoreDamaged where it cannot be read."""
        if chat in self._unreadable_chats:
            raise self._unreadable_chats[chat].again()
        head = self.heads.get(chat)
        if head is None:
            return None
        if chat not in self._logs:
            ranked = await self.store.messages(self.owner, chat)
            self._logs.setdefault(
                chat,
                ChatLog.of(head, [r.message for r in ranked], [r.rank for r in ranked]),
            )
        return self._logs[chat]

    async def message_count(self, chat: ChatId) -> int:
        """Number of messages of a chat, which are not loaded for that."""
        if chat in self._logs:
            return len(self._logs[chat].messages)
        counts = self._message_counts
        if chat not in counts:
            counts[chat] = await self.store.message_count(self.owner, chat)
        return counts[chat]

    def keep_log(self, log: ChatLog) -> None:
        """Replace the chat's log in memory with one that has been stored."""
        self.heads[log.head.id] = log.head
        self._logs[log.head.id] = log
        self._message_counts.pop(log.head.id, None)

    def loaded_log(self, chat: ChatId) -> ChatLog | None:
        """The chat if its messages are in memory; `log` loads them."""
        return self._logs.get(chat)

    def unread_chats(self) -> list[ChatId]:
        """The chats whose messages are in memory and which no open soul is in."""
        return [
            chat
            for chat, log in self._logs.items()
            if self.minds.keys().isdisjoint((*log.head.souls, *log.head.cast))
        ]

    async def release_logs(self, chats: Iterable[ChatId]) -> None:
        """Release messages from memory; `log` reads them again."""
        for chat in chats:
            self._logs.pop(chat, None)
            self._message_counts.pop(chat, None)
        await self.compute.run(self._keys.clear)

    def souls_to_open(self) -> list[Soul]:
        """The active souls that were not closed for want of use."""
        return [
            soul
            for soul in self.souls.values()
            if soul.state is SoulState.ACTIVE and not self.use.is_closed(soul.id)
        ]

    async def open_soul(self, soul: SoulId) -> None:
        """Open the soul if it is not open, and store its repairs."""
        if soul not in self.minds:
            await self.mind(soul)
            # the store's caches of reading the soul are not needed any more
            await self.store.maintain()
        if soul in self.pending_writes:
            async with self.writing as token:
                await self.pending_writes.catch_up(token, soul)

    def is_fully_open(self) -> bool:
        """Whether every soul that is not purged is open."""
        souls = [soul.id for soul in self.souls.values() if soul.name]
        return not self.unreadable and all(soul in self.minds for soul in souls)

    async def ancestors(self, chat: Chat) -> list[ChatLog]:
        """Logs of the parents of a branch, nearest first."""
        out: list[ChatLog] = []
        seen = {chat.id}
        fork = chat.parent
        while fork is not None and fork.chat not in seen:
            seen.add(fork.chat)
            log = await self.log(fork.chat)
            if log is None:
                break
            out.append(log)
            fork = log.head.parent
        return out

    def holds(self, chat: ChatId, place: Place) -> bool:
        """Whether the branch of `chat` contains the place of a memory of one timeline."""
        if place.chat == chat:
            return True
        log = self._logs.get(chat)
        return (
            log is not None
            and place.slot in log.index
            and self.family(chat) == self.family(place.chat)
        )

    @compute_only
    def branch_of(self, mind: Mind, log: ChatLog, family: ChatId) -> tuple[Branch, EpisodeMessages]:
        """The soul's episodes of the chat as a branch, with the messages behind them."""
        soul = mind.soul
        if log.head.state is ChatState.BIN or soul.state is SoulState.BIN:
            return Branch(log.head.id, family, ()), EpisodeMessages((), ())
        known = self._keys.of(soul, log, family)
        keys = known.keys
        count = settled_count(log.head, log.messages)
        hold = log.head.quarantine
        held_ids: frozenset[MemoryId] = frozenset()
        if hold is not None:
            keyed_messages = zip(keys[:count], log.messages, strict=False)
            held_ids = frozenset(
                key for key, m in keyed_messages if key is not None and m.slot in hold.vanished
            )
        unsettled = sum(key is not None for key in keys[count:])
        order = known.order.first(len(known.order) - unsettled)
        return Branch(log.head.id, family, order, held_ids), EpisodeMessages(
            keys, log.remembered(soul)
        )

    @compute_only
    def compare(
        self,
        mind: Mind,
        log: ChatLog,
        family: ChatId,
        changed: Iterable[SlotId] = (),
        *,
        retract: bool = False,
    ) -> MindChange:
        """The effects of the given state of the chat on the mind."""
        branch, drafts = self.branch_of(mind, log, family)
        current_time = self.clock.now()
        return compare(
            mind,
            branch,
            self._draft(mind, drafts, family, current_time),
            [key for slot in changed if (key := drafts.key(log.index.get(slot))) is not None],
            current_time,
            retract=retract,
        )

    def _draft(
        self,
        mind: Mind,
        drafts: EpisodeMessages,
        family: ChatId,
        current_time: datetime,
    ) -> Callable[[MemoryId], Memory]:
        soul = mind.soul

        def draft(key: MemoryId) -> Memory:
            message = drafts.message(key)
            return episode_of(
                soul.id,
                soul.name,
                family,
                message,
                current_time,
                self.readings.of(message.text),
            )

        return draft

    async def mind(self, soul: SoulId) -> Mind:
        """The soul's mind; opened when it is not yet. The caller must not hold `writing`."""
        self.use.note(soul)
        if soul not in self.minds:
            async with self.writing as token:
                return await self._opened(token, soul)
        return self.minds[soul]

    async def mind_while_writing(self, token: WriteToken, soul: SoulId) -> Mind:
        """As `mind`, for a caller that is about to write.

        Raises StoreError while repairs of the soul cannot be stored.
        """
        mind = await self._opened(token, soul)
        await self.pending_writes.catch_up(token, soul)
        return mind

    async def _opened(self, token: WriteToken, soul: SoulId) -> Mind:
        self.use.note(soul)
        mind = self.minds.get(soul)
        if mind is None:
            mind = await self._open(token, self.souls[soul])
            self.minds[soul] = mind
            self.use.not_closed(soul)
        return mind

    def open_ahead(self, souls: Iterable[SoulId]) -> None:
        """Begin to open those of the souls that are closed: a request for them will come."""
        for soul in souls:
            if self.use.is_closed(soul) and soul not in self.opening:
                task = asyncio.create_task(self._open_in_background(soul))
                self._ahead.add(task)
                task.add_done_callback(self._ahead.discard)

    async def _open_in_background(self, soul: SoulId) -> None:
        try:
            await self.mind(soul)
        except SoulMemError as error:  # the request itself will meet and tell it
            log.warning("soul %s could not be opened: %s", soul, error.message)

    async def carry_out(
        self, token: WriteToken, mind: Mind, steps: Steps, soul: Soul | None = None
    ) -> None:
        """Store and apply the steps in order, `soul` with the first.

        When the store refuses a later step the mind is unloaded: opened again, it
        continues from the last stored step.
        """
        token.check()
        changes = steps.changes or ([MindChange()] if soul is not None else [])
        for number, change in enumerate(changes):
            try:
                await self._commit(
                    token,
                    mind,
                    change.to_store_change(self.owner, [soul] if soul and not number else []),
                )
            except BaseException:
                if number:
                    self.unload(mind.soul.id)
                raise
            if soul is not None and not number:
                await self._take_soul(token, mind, soul)
            for piece in change.batches(_PIECE):
                await self.compute.run(mind.apply, piece)
        if steps.names is not None:
            await self.compute.run(mind.set_names, steps.names)

    async def _commit(self, token: WriteToken, mind: Mind, change: Change) -> None:
        if mind.soul.id in self.opening:
            await self.pending_writes.commit(token, mind.soul.id, change)
        else:
            await self.pending_writes.catch_up(token, mind.soul.id)
            await self.store.commit(change)

    async def _take_soul(self, token: WriteToken, mind: Mind, soul: Soul) -> None:
        self.souls[soul.id] = soul
        before = mind.soul.known_names()
        if await self.compute.run(mind.set_soul, soul):
            words = await asyncio.to_thread(_differing_words, before, soul.known_names())
            memories = list(mind.memories)
            for start in range(0, len(memories), _TOKENISED_AT_ONCE):
                await self.compute.run(
                    _index_words,
                    mind,
                    memories[start : start + _TOKENISED_AT_ONCE],
                    words,
                )

    def unload(self, soul: SoulId) -> None:
        """Unload the soul's mind; the store has everything."""
        self.pending_writes.forget(soul)
        self.use.not_closed(soul)
        mind = self.minds.pop(soul, None)
        if mind is not None:
            self.on_mind_gone(mind)

    def close(self, token: WriteToken, soul: SoulId) -> None:
        """Release the soul's memory until it is next asked for; the store has everything.

        Raises KeyError for a soul that is not open.
        """
        token.check()
        pending = self.minds[soul].vector_queue.pending_memory_count()
        self.unload(soul)
        self.use.closed(soul, pending)

    async def _open(self, token: WriteToken, soul: Soul) -> Mind:
        self.opening[soul.id] = mind = self._with_clock(Mind(soul))
        try:
            mind = self._with_clock(await self.open_mind(token, self, mind))
            await self.on_new_mind(mind)
            await self.loader.warm_up(self.owner, mind)
        except StoreDamaged as error:
            raise StoreDamaged(error.what, soul.name) from error
        except SoulMemError:
            raise
        except Exception as error:  # rows that can be read and do not fit together
            # What an exception says may quote a chat.
            places = "".join(traceback.format_tb(error.__traceback__))
            log.error("soul %s: %s\n%s", soul.id, type(error).__name__, places)
            raise StoreDamaged(type(error).__name__, soul.name) from error
        finally:
            del self.opening[soul.id]
        return mind

    def _with_clock(self, mind: Mind) -> Mind:
        """The mind, set to read this world's clock."""
        mind.time.wall_clock = lambda: self.clock.now().timestamp()
        return mind

    @compute_only
    def expect(self, mind: Mind, log: ChatLog) -> None:
        """Preload the chat's branch into a mind that is being opened."""
        mind.preload_branch(self.branch_of(mind, log, self.family(log.head.id))[0])

    @compute_only
    def put_branch(self, mind: Mind, log: ChatLog) -> None:
        """Apply the chat's branch to a mind."""
        branch = self.branch_of(mind, log, self.family(log.head.id))[0]
        mind.apply(MindChange(branch=branch))

    @compute_only
    def missing_of_chat(self, mind: Mind, log: ChatLog) -> MindChange:
        """The parts of the chat that should be stored for the soul and are not."""
        branch, drafts = self.branch_of(mind, log, self.family(log.head.id))
        current_time = self.clock.now()
        return missing_parts(
            mind,
            branch,
            self._draft(mind, drafts, branch.family, current_time),
            current_time,
        )

    async def repair(self, token: WriteToken, mind: Mind, change: MindChange) -> None:
        """Store and apply a repair of an interrupted change."""
        if change != MindChange():
            await self._commit_and_apply(
                token, mind, await self.linker.with_mentions(token, mind, change)
            )

    async def _commit_and_apply(self, token: WriteToken, mind: Mind, change: MindChange) -> None:
        edge_ids = [edge.id for edge in change.put_edges]
        existing = {key for key in edge_ids if key in mind.edges}
        stored = set(existing)  # only missing edges are written
        if not mind.residency.whole:
            stored |= await self.store.edges_known(self.owner, edge_ids)
        fix = Change(
            owner=self.owner,
            put_memories=change.put_memories,
            drop_memories=change.drop_memories,
            put_edges=[e for e in change.put_edges if e.id not in stored],
            drop_edges=change.drop_edges,
        )
        if fix:
            await self._commit(token, mind, fix)
        kept = []
        for edge in change.put_edges:
            if edge.id in existing:
                kept.append(mind.edges[edge.id])
            elif edge.id not in stored:
                kept.append(edge)
        await self.compute.run(
            mind.apply,
            MindChange(
                change.put_memories,
                change.drop_memories,
                tuple(kept),
                change.drop_edges,
                change.branch,
            ),
        )


def _differing_words(before: Sequence[str], after: Sequence[str]) -> Glance:
    """Words of names that were added or removed."""
    words: list[str] = []
    for name in set(before).symmetric_difference(after):
        words.extend(_NO_WORD.split(name))
    return Glance(words)


def _index_words(mind: Mind, memories: Sequence[MemoryId], words: Glance) -> None:
    """Tokenise again the memories that may contain one of `words`."""
    mind.index_words(
        m for m in memories if (memory := mind.memories.get(m)) and words.may_hold(memory.text)
    )
