"""When recalls teach: once the reply they were for is settled, behind the caller's back."""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from soulmem.consolidation.plasticity import PlasticityParams
from soulmem.conversation.episodes import settled_count
from soulmem.domain.audit import Action, Actor
from soulmem.domain.errors import SoulMemError
from soulmem.domain.ids import ChatId, Owner
from soulmem.domain.soul import SoulState
from soulmem.domain.usage import Trail
from soulmem.engine.api.requests import RecallRequest, RecallType
from soulmem.engine.api.results import Recalled
from soulmem.engine.learning import working_memory
from soulmem.engine.learning.plasticity_update import Lesson, NotedRecall, Reply, learn
from soulmem.engine.learning.working_memory import WorkingMemoryParams
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.runtime.write_lock import WriteToken
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import ChatLog, World
from soulmem.governance.audit_values import edge_difference
from soulmem.governance.undoing import EDGES
from soulmem.ports.store import Change

log = logging.getLogger(__name__)

_PENDING = 256  # recalls whose reply is not settled yet; of more, the oldest are replies that never came


@dataclass(frozen=True, slots=True)
class LearningParams:
    """How use changes what is remembered."""

    plasticity: PlasticityParams = field(default_factory=PlasticityParams)
    working_memory: WorkingMemoryParams = field(default_factory=WorkingMemoryParams)


class Learner:
    """Keeps recalls until their reply is settled, then lets them teach.

    `noted`, `settled` and `start` return at once; they belong to the event loop.
    """

    def __init__(
        self,
        services: Services,
        *,
        params: LearningParams | None = None,
    ) -> None:
        self._store = services.store
        self._compute = services.compute
        self._clock = services.clock
        self._auditor = services.auditor
        self._params = params or LearningParams()
        self._pending: OrderedDict[Reply, NotedRecall] = OrderedDict()
        self._telling: set[asyncio.Task[None]] = set()
        self._lessons: set[asyncio.Task[None]] = set()
        self._loading: asyncio.Task[None] | None = None
        self._has_graphs = False

    def noted(
        self,
        world: World,
        request: RecallRequest,
        answer: Recalled,
        flows: Callable[[], Mapping[str, float]] | None = None,
    ) -> None:
        """A recall was answered. `flows` computes the flow, >= 0, by edge that its walk went over.

        Of several recalls for the same reply the last one counts.
        """
        if request.type is RecallType.QUIET or request.chat is None:
            return
        if request.slot is None or request.swipe is None:
            return
        reply = Reply(
            world.owner, request.soul, request.chat, request.slot, request.swipe
        )
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
        )
        if flows is not None:  # the reply does not wait for it
            self._telling.add(
                task := asyncio.create_task(self._tell(reply, noted, flows))
            )
            task.add_done_callback(self._telling.discard)
        while len(self._pending) > _PENDING:
            self._pending.popitem(last=False)

    async def _tell(
        self, reply: Reply, noted: NotedRecall, flows: Callable[[], Mapping[str, float]]
    ) -> None:
        walked = await self._compute.run(flows)
        if self._pending.get(reply) is noted:
            self._pending[reply] = replace(noted, walked=walked)

    def settled(self, world: World, chat: ChatId | None = None) -> None:
        """Messages of the chat, or of any, may have been settled: what was recalled for them teaches soon."""
        waiting = {reply.chat for reply in self._pending if reply.owner == world.owner}
        for chat_id in waiting if chat is None else waiting & {chat}:
            task = asyncio.create_task(self._teach_all(world, chat_id))
            self._lessons.add(task)
            task.add_done_callback(self._lessons.discard)

    async def drain(self, seconds: float | None = None) -> None:
        """Returns when the lessons that have begun are stored, or time is up: then they go on."""
        if self._lessons:
            await asyncio.wait(self._lessons, timeout=seconds)

    def start(self, minds: Callable[[], Iterable[Mind]]) -> None:
        """Load the graph library in the background, then give each mind of `minds()` its working memory."""
        self._loading = asyncio.create_task(self._load(minds))

    async def stop(self) -> None:
        """Finish what has begun."""
        await asyncio.gather(*self._telling, return_exceptions=True)
        await self.drain()
        if self._loading is not None:
            await asyncio.gather(self._loading, return_exceptions=True)

    async def adopt(self, owner: Owner, mind: Mind) -> None:
        """A mind was opened: it gets its records, what was drafted for it, and its working memory if the
        library is there.
        """
        stored = await self._store.recalls(owner, mind.soul.id)
        await self._compute.run(mind.recalls.put, stored.usages, stored.records)
        await self._compute.run(
            mind.opinions.put, await self._store.opinions(owner, mind.soul.id)
        )
        await self._compute.run(
            mind.load_derivations, await self._store.derivations(owner, mind.soul.id)
        )
        await self.look_round([mind])

    async def look_round(self, minds: Iterable[Mind]) -> None:
        """What is new enters working memory, what is cold leaves it."""
        for mind in list(minds) if self._has_graphs else ():
            await self._compute.run(self._look_round, mind)

    async def _load(self, minds: Callable[[], Iterable[Mind]]) -> None:
        await asyncio.to_thread(importlib.import_module, "networkx")
        self._has_graphs = True
        await self.look_round(minds())

    def _look_round(self, mind: Mind) -> None:
        extra = self._clock.extra_turns
        working_memory.wake(mind, self._params.working_memory)
        working_memory.look_round(
            mind, mind.lived_turns(extra), extra, self._params.working_memory
        )

    async def _teach_all(self, world: World, chat: ChatId) -> None:
        """Every lesson that the chat allows now; one that cannot be stored waits for the next time."""
        await asyncio.gather(*self._telling, return_exceptions=True)
        async with world.writing as token:
            chat_log = await world.log(chat)
            due = self._due(world, chat_log) if chat_log is not None else []
            for reply, noted in due:
                try:
                    await self._teach(token, world, reply, noted)
                except SoulMemError as error:
                    log.warning(
                        "what a recall teaches could not be stored: %s", error.message
                    )
                    self._pending.setdefault(reply, noted)

    def _due(self, world: World, chat_log: ChatLog) -> list[tuple[Reply, NotedRecall]]:
        """Take out the recalls whose reply is settled; those for the swipe that was kept teach."""
        count = settled_count(chat_log.head, chat_log.messages)
        out = []
        for reply in [
            r
            for r in self._pending
            if r.owner == world.owner and r.chat == chat_log.head.id
        ]:
            position = chat_log.index.get(reply.slot, count)
            if position < count:
                noted = self._pending.pop(reply)
                if chat_log.messages[position].swipe == reply.swipe:
                    out.append((reply, noted))
        return out

    async def _teach(
        self, token: WriteToken, world: World, reply: Reply, noted: NotedRecall
    ) -> None:
        soul = world.souls.get(reply.soul)
        if soul is None or soul.state is not SoulState.ACTIVE:
            return
        mind = await world.mind_while_writing(token, reply.soul)
        learned = await self._compute.run(self._learn, mind, reply, noted)
        if learned is None:
            return
        audit_values = await self._compute.run(_told, mind, learned)
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
            )
        )
        await self._compute.run(self._take, mind, learned)

    def _learn(self, mind: Mind, reply: Reply, noted: NotedRecall) -> Lesson | None:
        turn = mind.lived_turns(self._clock.extra_turns)
        return learn(
            mind, reply, noted, self._clock.now(), turn, self._params.plasticity
        )

    @compute_only
    def _take(self, mind: Mind, learned: Lesson) -> None:
        """Take over what has been stored."""
        mind.put_edge_weights(learned.edges)
        mind.recalls.put(learned.usages, [learned.record], learned.surplus)
        working_memory.recalled(mind, learned.record, self._params.working_memory)


@compute_only
def _told(mind: Mind, learned: Lesson) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the lesson does to edges, as they were and as they become."""
    edge_pairs = ((mind.edges.get(edge.id), edge) for edge in learned.edges)
    pairs = {
        new.id: edge_difference(old, new)
        for old, new in edge_pairs
        if old is not None and old != new
    }
    return (
        {EDGES: {key: was for key, (was, _) in pairs.items()}},
        {EDGES: {key: after for key, (_, after) in pairs.items()}},
    )
