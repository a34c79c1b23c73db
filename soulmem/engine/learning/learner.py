"""Lets recalls teach in the background, once the replies they were for are settled."""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from soulmem.consolidation.plasticity import PlasticityParams
from soulmem.conversation.episodes import settled_count
from soulmem.domain.audit import Action, Actor
from soulmem.domain.ids import ChatId, Owner
from soulmem.domain.soul import SoulState
from soulmem.domain.usage import Trail
from soulmem.engine.api.requests import RecallRequest, RecallType
from soulmem.engine.api.results import Recalled
from soulmem.engine.learning import working_memory_upkeep
from soulmem.engine.learning.plasticity_update import Lesson, NotedRecall, Reply, learn
from soulmem.engine.learning.reply_feedback import (
    ReplyContext,
    reply_context,
    signs,
)
from soulmem.engine.learning.vector_update import QueryVector, apply_vector_update
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.runtime.write_lock import WriteToken
from soulmem.engine.world.attempts import Piece
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import ChatLog, World
from soulmem.governance.audit_values import edge_difference, state_values
from soulmem.governance.undoing import EDGES, FADING, VECTORS
from soulmem.ports.store import Change

log = logging.getLogger(__name__)

_PENDING = 256  # recalls that wait for their reply to settle; beyond that the oldest are dropped

_END = object()  # what `next` returns after the last step


class Learner:
    """Keeps recalls until their reply is settled, then applies what they teach.

    `note_recall`, `teach_settled` and `start` return at once and run on the event loop.
    """

    def __init__(self, services: Services) -> None:
        self._store = services.store
        self._compute = services.compute
        self._attempts = services.attempts
        self._clock = services.clock
        self._auditor = services.auditor
        self._pending: OrderedDict[Reply, NotedRecall] = OrderedDict()
        self._flow_tasks: set[asyncio.Task[None]] = set()
        self._lessons: set[asyncio.Task[None]] = set()
        self._loading: asyncio.Task[None] | None = None
        self._has_graphs = False

    def note_recall(
        self,
        world: World,
        request: RecallRequest,
        answer: Recalled,
        flows: Callable[[], Mapping[str, float]] | None = None,
        query: QueryVector | None = None,
    ) -> None:
        """Keep an answered recall. `flows` computes the flow, >= 0, by edge of its walk;
        `query` is what memory vectors learn.

        Of several recalls for the same reply the last one counts.
        """
        teaches_nothing = request.type in (RecallType.QUIET, RecallType.PREVIEW)
        if teaches_nothing or request.chat is None:
            return
        if request.slot is None or request.swipe is None:
            return
        reply = Reply(world.owner, request.soul, request.chat, request.slot, request.swipe)
        trails = []
        for memory in answer.memories:
            via = tuple(step.id for step in memory.path[:-1])
            trails.append(Trail(memory.id, via, memory.edges))
        self._pending[reply] = noted = NotedRecall(
            trace=answer.trace,
            recalled_at=self._clock.now(),
            trails=tuple(trails),
            core=frozenset(m.id for m in answer.memories if m.permanent),
            walked={},
            query=query,
            slowing={m.id: m.slowing for m in answer.memories},
        )
        if flows is not None:  # computed after the answer was sent
            self._flow_tasks.add(task := asyncio.create_task(self._add_flows(reply, noted, flows)))
            task.add_done_callback(self._flow_tasks.discard)
        while len(self._pending) > _PENDING:
            self._pending.popitem(last=False)

    async def _add_flows(
        self, reply: Reply, noted: NotedRecall, flows: Callable[[], Mapping[str, float]]
    ) -> None:
        walked = await self._compute.run(flows)
        if self._pending.get(reply) is noted:
            self._pending[reply] = replace(noted, walked=walked)

    def teach_settled(self, world: World, chat: ChatId | None = None) -> None:
        """Begin the lessons of the chat, or of all chats: messages of it may have been settled."""
        waiting = {reply.chat for reply in self._pending if reply.owner == world.owner}
        for chat_id in waiting if chat is None else waiting & {chat}:
            task = asyncio.create_task(self._teach_all(world, chat_id))
            self._lessons.add(task)
            task.add_done_callback(self._lessons.discard)

    async def drain(self, seconds: float | None = None) -> None:
        """Wait until the lessons under way are stored, or for `seconds`; then they continue."""
        if self._lessons:
            await asyncio.wait(self._lessons, timeout=seconds)

    def start(self, minds: Callable[[], Iterable[Mind]]) -> None:
        """Load the graph library in the background, then build the working memory of
        each of `minds()`.
        """
        self._loading = asyncio.create_task(self._load(minds))

    async def stop(self) -> None:
        """Wait until everything under way has ended."""
        await asyncio.gather(*self._flow_tasks, return_exceptions=True)
        await self.drain()
        if self._loading is not None:
            await asyncio.gather(self._loading, return_exceptions=True)

    async def adopt(self, owner: Owner, mind: Mind) -> None:
        """Load recall records, opinions, fading, memory vectors and derivations of a newly opened mind.

        Its working memory is built too, once the graph library is loaded.
        """
        stored = await self._store.recalls(owner, mind.soul.id)
        await self._compute.run(mind.recalls.put, stored.usages, stored.records)
        await self._compute.run(mind.opinions.put, await self._store.opinions(owner, mind.soul.id))
        await self._compute.run(mind.fading.put, await self._store.fading(owner, mind.soul.id))
        await self._compute.run(
            mind.edge_vectors.put, await self._store.edge_vectors(owner, mind.soul.id)
        )
        await self._compute.run(
            mind.load_derivations, await self._store.derivations(owner, mind.soul.id)
        )
        await self.refresh_working_memory([mind])

    async def refresh_working_memory(self, minds: Iterable[Mind]) -> None:
        """Update the working memories: new memories enter, cold ones leave."""
        for mind in list(minds) if self._has_graphs else ():
            await self.refresh(mind)

    async def refresh(self, mind: Mind) -> None:
        """Update the working memory of one mind."""
        if not self._has_graphs:
            return
        steps = working_memory_upkeep.refresh(mind, self._clock)
        while await self._compute.run(next, steps, _END) is not _END:
            pass  # a recall may run between two steps

    async def _load(self, minds: Callable[[], Iterable[Mind]]) -> None:
        await asyncio.to_thread(importlib.import_module, "networkx")
        self._has_graphs = True
        await self.refresh_working_memory(minds())

    async def _teach_all(self, world: World, chat: ChatId) -> None:
        """Carry out all lessons that are due in the chat; one that cannot be stored is
        tried again later.
        """
        await asyncio.gather(*self._flow_tasks, return_exceptions=True)
        async with world.writing as token:
            chat_log = await world.log(chat)
            due = self._due(world, chat_log) if chat_log is not None else []
            for reply, noted, context in due:
                piece = Piece("lessons", world.owner, reply.soul, str(reply.slot))
                teach = partial(self._teach, token, world, reply, noted, context)
                if await self._attempts.carry_out(piece, teach) is None:
                    self._pending.setdefault(reply, noted)

    def _due(
        self, world: World, chat_log: ChatLog
    ) -> list[tuple[Reply, NotedRecall, ReplyContext]]:
        """Remove and return the recalls whose reply is settled, those for another swipe left out."""
        count = settled_count(chat_log.head, chat_log.messages)
        out = []
        for reply in [
            r for r in self._pending if r.owner == world.owner and r.chat == chat_log.head.id
        ]:
            position = chat_log.index.get(reply.slot, count)
            if position < count:
                noted = self._pending.pop(reply)
                if chat_log.messages[position].swipe == reply.swipe:
                    context = reply_context(chat_log.stories, position)
                    out.append((reply, noted, context))
        return out

    async def _teach(
        self,
        token: WriteToken,
        world: World,
        reply: Reply,
        noted: NotedRecall,
        context: ReplyContext,
    ) -> bool:
        """Store and apply what the recall teaches; whether there was anything."""
        soul = world.souls.get(reply.soul)
        if soul is None or soul.state is not SoulState.ACTIVE:
            return False
        mind = await world.mind_while_writing(token, reply.soul)
        learned = await self._compute.run(self._learn, mind, reply, noted, context)
        if learned is None:
            return False
        audit_values = await self._compute.run(_audit_values, mind, learned)
        author = ChangeAuthor(Actor.ENGINE, source=reply.chat)
        entry = await self._auditor.entry(
            world.owner, reply.soul, author, Action.LEARN, noted.trace, *audit_values
        )
        await self._store.commit(
            Change(
                owner=world.owner,
                audit=[entry],
                put_edges=learned.edges,
                put_usages=learned.usages,
                put_recalls=[learned.record],
                drop_recalls=learned.surplus,
                put_edge_vectors=learned.vectors.put,
                drop_edge_vectors=learned.vectors.drop,
                put_fading=learned.fading,
            )
        )
        await self._compute.run(self._take, mind, learned)
        return True

    def _learn(
        self, mind: Mind, reply: Reply, noted: NotedRecall, context: ReplyContext
    ) -> Lesson | None:
        turn = mind.lived_turns(self._clock.extra_turns)
        recalled = [t.memory for t in noted.trails if mind.row(t.memory) is not None]
        noted = replace(noted, signs=signs(mind, recalled, context))
        return learn(mind, reply, noted, self._clock.now(), turn, PlasticityParams())

    @compute_only
    def _take(self, mind: Mind, learned: Lesson) -> None:
        """Apply a stored lesson."""
        mind.put_edge_weights(learned.edges)
        apply_vector_update(mind, learned.vectors)
        mind.fading.put(learned.fading)
        mind.recalls.put(learned.usages, [learned.record], learned.surplus)
        working_memory_upkeep.recalled(mind, learned.record)


@compute_only
def _audit_values(mind: Mind, learned: Lesson) -> tuple[dict[str, Any], dict[str, Any]]:
    """Audit values of the lesson's edges and fading, before and after."""
    edge_pairs = ((mind.edges.get(edge.id), edge) for edge in learned.edges)
    pairs = {
        new.id: edge_difference(old, new)
        for old, new in edge_pairs
        if old is not None and old != new
    }
    before: dict[str, Any] = {EDGES: {key: was for key, (was, _) in pairs.items()}}
    after: dict[str, Any] = {EDGES: {key: new for key, (_, new) in pairs.items()}}
    if learned.fading:
        records = {record.memory: record for record in learned.fading}
        before[FADING] = {key: state_values(mind.fading.of(key)) for key in records}
        after[FADING] = {key: state_values(new) for key, new in records.items()}
    if vectors := learned.vectors.audit_values():
        after[VECTORS] = vectors
    return before, after
