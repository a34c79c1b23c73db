"""Everything SoulMem can do, behind one door: the HTTP server and the tests talk to this."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from soulmem.domain.dialogue import Chat, ChatState, Message
from soulmem.domain.errors import StoreError, Unprocessable
from soulmem.domain.ids import DEFAULT_OWNER, ChatId, MemoryId, Owner, SoulId
from soulmem.domain.soul import KnownName, SettingsChange, Soul, SoulSettings, SoulState
from soulmem.engine.api.requests import (
    Activity,
    MemoryFilter,
    MemoryPatch,
    NewMemory,
    RecallRequest,
    SyncAnswer,
    SyncRequest,
)
from soulmem.engine.api.results import (
    GraphView,
    Health,
    MemoryView,
    Page,
    Recalled,
    Trace,
)
from soulmem.engine.consolidation.consolidator import Consolidator
from soulmem.engine.editing.history import Governor
from soulmem.engine.editing.memory_editor import Keeper
from soulmem.engine.exchange.bundle_export import BundleExport
from soulmem.engine.exchange.bundle_import import BundleImport
from soulmem.engine.exchange.chat_import import ChatImport
from soulmem.engine.exchange.import_jobs import ImportJobs
from soulmem.engine.exchange.lore_import import LoreImport
from soulmem.engine.health import health_of
from soulmem.engine.learning.learner import Learner
from soulmem.engine.llm.sources import LlmAccess, LlmSources
from soulmem.engine.mind.mind import Mind
from soulmem.engine.params import EngineParams as EngineParams
from soulmem.engine.recall.recaller import Recaller
from soulmem.engine.recall.traces import Traces
from soulmem.engine.runtime.compiling import Warming
from soulmem.engine.runtime.events import Events
from soulmem.engine.runtime.garbage import spare_the_collector
from soulmem.engine.runtime.jobs import Jobs
from soulmem.engine.runtime.lifecycle import Lifecycle
from soulmem.engine.runtime.store_opening import StoreOpening
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.sync.chats import Observer
from soulmem.engine.sync.souls import Souls
from soulmem.engine.upkeep.backups import BackupKeeper
from soulmem.engine.upkeep.forgetting import Forgetter
from soulmem.engine.upkeep.rereading import Rereader
from soulmem.engine.upkeep.topics import Topics
from soulmem.engine.vectors.embedder import Embedding, ModelSource
from soulmem.engine.world.audit import Auditor
from soulmem.engine.world.edge_loader import Loader
from soulmem.engine.world.fingerprint import fingerprint
from soulmem.engine.world.snapshots import ImageKeeper
from soulmem.engine.world.world import World
from soulmem.ports.backups import Backups
from soulmem.ports.clock import Clock
from soulmem.ports.images import Images
from soulmem.ports.llm import Llm
from soulmem.ports.spool import Spool
from soulmem.ports.store import Store
from soulmem.ports.traces import TraceLog

log = logging.getLogger(__name__)


class Engine:
    """Souls, chats, memories and recall of all owners of one store."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        model: ModelSource | None,
        fallback: ModelSource | None,
        params: EngineParams | None = None,
        advance: Callable[[float, int], None] | None = None,
        warm: Callable[[], object] | None = None,
        spool: Spool,
        traces: TraceLog | None = None,
        images: Images | None = None,
        backups: Backups | None = None,
        llm: LlmSources | Llm | None = None,
    ) -> None:
        self._params = params or EngineParams()
        self._store = store
        self._clock = clock
        self._advance = advance
        self._warming = Warming(warm)
        self._compute = Worker("soulmem-compute")
        self._embedding = Embedding(store, self._compute, model, fallback)
        self._rereader = Rereader(self._compute)
        self.events = Events()
        auditor = Auditor(
            store,
            self._compute,
            clock,
            self.events,
            kept := Traces(traces, self._compute),
        )
        self._observer = Observer(store, self._compute, clock, auditor)
        self._loader = Loader(store, self._compute, clock, self._params.loading)
        self._images = ImageKeeper(images, store, self._compute, self._params.images)
        p = self._params
        self._souls = Souls(store, clock, self._observer, self._images, auditor, p.soul)
        self._learner = Learner(
            store, self._compute, clock, auditor, self._params.learning
        )
        tools = self._compute, self._embedding, self._learner, self._loader, clock
        self._recaller = Recaller(*tools, p.recall, kept, p.ranking, p.walking)
        self._keeper = Keeper(
            auditor, self._compute, clock, self._loader, self._recaller.search
        )
        self.jobs = Jobs(spool, self.get_soul, self.events)
        self._backups = BackupKeeper(backups, self.jobs, clock, daily=p.daily_backups)
        self._lifecycle = Lifecycle(
            p.idle_after, self.run_idle, self._go_on_resting, self.events
        )
        busy, wake = self._lifecycle.is_generating, self._embedding.wake
        self.llms = LlmAccess(llm, busy, self.events)
        doing = self.llms, self._compute, clock, auditor, busy, wake
        self.consolidator = Consolidator(
            *doing, p.consolidation, self._embedding.reading
        )
        governed = (
            self._loader,
            self._keeper,
            self._recaller,
            self._learner,
            self.jobs,
            self.consolidator,
        )
        self.governor = Governor(
            self._world, store, self._compute, clock, auditor, *governed, p.bin
        )
        lore = LoreImport(
            self._world, self._compute, clock, self._loader, self._observer, auditor
        )
        bundles = BundleImport(
            self._world, store, self._learner, self._embedding, auditor
        )
        self.imports = ImportJobs(
            self.jobs, ChatImport(self, self._compute), lore, bundles, self._embedding
        )
        self.exports = BundleExport(self._world, store, clock, self._learner)
        self.forgetting = Forgetter(
            self._world, auditor, self._compute, clock, self.jobs
        )
        self._topics = Topics(self._world, self._compute, clock, self.jobs, auditor)
        self._worlds: dict[Owner, World] = {}
        self._opening = asyncio.Lock()
        self._store_opening = StoreOpening(self._open, self._begin)
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Begin to open the store and to load the model; returns at once."""
        self._tasks = [asyncio.create_task(self._store_opening.run())]
        self._embedding.start()
        if self._params.rest_by_itself:
            self._lifecycle.start()

    async def opened(self) -> StoreError | None:
        """Returns once the store is open, or with the reason why it cannot be."""
        return await self._store_opening.tried()

    async def stop(self) -> None:
        """Finish what is being written, then close the store."""
        for asking in (self._lifecycle, self.llms, self.jobs, self._embedding):
            await asking.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writing in (
            self._learner,
            self._recaller.traces,
            self._loader,
            self.governor.bookkeeper,
        ):
            await writing.stop()
        for world in self._worlds.values():
            async with world.writing:
                pass  # a write under way ends first
        await self._images.rest(self._worlds.values(), last=True)
        await self._store.close()
        self._compute.stop()

    def touched(self) -> None:
        """A request came: rest later."""
        self._lifecycle.touched()

    def unsaved(self) -> str | None:
        """Why not all may be stored that was said; None when it is."""
        error, store = self._store_opening.error, self._store.health()
        return (
            error.message
            if error is not None
            else None
            if store.writable
            else store.detail
        )

    def health(self) -> Health:
        """How everything is, now."""
        speaking = (
            self._embedding,
            self._warming,
            self.governor.bin,
            self._backups,
            self.llms,
        )
        return health_of(
            opened=self._store_opening.is_done,
            error=self._store_opening.error,
            store=self._store.health(),
            embedder=self._embedding.health(),
            phase=self._lifecycle.phase.value,
            kernels=self._warming.state,
            llm=self.llms.health(),
            spent=self.consolidator.usage.this_hour(self._clock.now()),
            minds=self._minds(),
            notes=[note for part in speaking for note in part.notes()],
        )

    async def put_soul(
        self,
        owner: Owner,
        soul: SoulId,
        name: str,
        names: tuple[KnownName, ...] | None,
        settings: SoulSettings | SettingsChange | None,
    ) -> tuple[Soul, bool]:
        """See `Souls.put`."""
        return await self._souls.put(
            await self._world(owner), soul, name, names, settings
        )

    async def get_soul(self, owner: Owner, soul: SoulId) -> Soul:
        """The soul. Raises NotFound."""
        return (await self._world(owner)).soul(soul, "soul")

    async def list_souls(
        self, owner: Owner, state: SoulState = SoulState.ACTIVE
    ) -> list[Soul]:
        """Souls in use, or those in the bin that can still be had back."""
        world = await self._world(owner)
        return [s for s in world.souls.values() if s.state is state and s.name]

    async def delete_soul(
        self, owner: Owner, soul: SoulId, confirm: str | None
    ) -> None:
        """Into the bin, when `confirm` is the soul's name. Its memories stay with it."""
        await self._souls.bin(await self._world(owner), soul, confirm)

    async def fingerprint(self, owner: Owner, soul: SoulId) -> str:
        """What equal surviving chats have in common."""
        world = await self._world(owner)
        world.soul(soul)
        mind = await world.mind(soul)
        for strand in list(mind.lineages):
            await world.log(strand.chat)
        async with self._loader.everything(owner, mind):
            return await self._compute.run(fingerprint, world, mind)

    async def sync_chat(self, owner: Owner, request: SyncRequest) -> SyncAnswer:
        """Take over a chat as its client shows it."""
        world = await self._world(owner)
        answer = await self._observer.sync(world, request)
        self._learner.settled(world, request.chat)
        self._embedding.wake()
        return answer

    async def get_chat(self, owner: Owner, chat: ChatId) -> tuple[Chat, list[Message]]:
        """A chat and its messages, in order. Raises NotFound."""
        world = await self._world(owner)
        head = world.head(chat, "chat")
        log = await world.log(chat)
        return head, list(log.messages) if log is not None else []

    async def list_chats(
        self, owner: Owner, soul: SoulId | None
    ) -> list[tuple[Chat, int]]:
        """Chats in use with their message counts; of one soul, or all."""
        world = await self._world(owner)
        if soul is not None:
            world.soul(soul)
        out = []
        for head in list(world.heads.values()):
            if head.state is ChatState.ACTIVE and (
                soul is None or soul in head.cast or soul in head.souls
            ):
                log = await world.log(head.id)
                out.append((head, len(log.messages) if log is not None else 0))
        return out

    async def delete_chat(self, owner: Owner, chat: ChatId) -> None:
        """The chat, and what only it supports, to the bin. Raises NotFound."""
        await self._observer.delete_chat(await self._world(owner), chat)

    async def activity(self, owner: Owner, chat: ChatId, state: Activity) -> None:
        """What the client does: background work keeps out of the way; closing settles. Raises NotFound."""
        world = await self._world(owner)
        world.head(chat)
        self._lifecycle.generating(
            owner, chat, state in (Activity.GENERATING, Activity.TYPING)
        )
        if state is Activity.CLOSED:
            await self._observer.close(world, chat)
            self._learner.settled(world, chat)
            self._embedding.wake()

    async def recall(self, owner: Owner, request: RecallRequest) -> Recalled:
        """See `Recaller.recall`."""
        return await self._recaller.recall(await self._world(owner), request)

    async def trace(self, owner: Owner, trace_id: str) -> Trace:
        """How an answer came about. Raises NotFound."""
        return await self._recaller.traces.find(await self._world(owner), trace_id)

    async def create_memory(self, owner: Owner, new: NewMemory) -> MemoryView:
        """Make a memory by hand."""
        view = await self._keeper.create(await self._world(owner), new)
        self._embedding.wake()
        return view

    async def list_memories(self, owner: Owner, wanted: MemoryFilter) -> Page:
        """One page of a soul's memories."""
        return await self._keeper.list(await self._world(owner), wanted)

    async def get_memory(self, owner: Owner, memory: MemoryId) -> MemoryView:
        """A memory with everything that belongs to it."""
        await self._learner.drain()
        return await self._keeper.get(await self._world(owner), memory)

    async def patch_memory(
        self, owner: Owner, memory: MemoryId, patch: MemoryPatch
    ) -> MemoryView:
        """Change a memory by hand."""
        view = await self._keeper.patch(await self._world(owner), memory, patch)
        self._embedding.wake()
        return view

    async def delete_memory(
        self, owner: Owner, memory: MemoryId, confirm: str | None
    ) -> None:
        """Into the bin."""
        await self._keeper.bin(await self._world(owner), memory, confirm)

    async def restore_memory(self, owner: Owner, memory: MemoryId) -> MemoryView:
        """Out of the bin."""
        return await self._keeper.restore(await self._world(owner), memory)

    async def graph(
        self, owner: Owner, soul: SoulId, center: MemoryId | None, hops: int, limit: int
    ) -> GraphView:
        """A part of the soul's graph."""
        return await self._keeper.graph(
            owner, await self._mind(owner, soul), center, hops, limit
        )

    async def timeline(
        self,
        owner: Owner,
        soul: SoulId,
        start: datetime | None,
        end: datetime | None,
        limit: int,
        cursor: str | None,
    ) -> Page:
        """Memories of a span of time, oldest first."""
        return await self._keeper.timeline(
            await self._mind(owner, soul), start, end, limit, cursor
        )

    async def advance_clock(self, seconds: float, turns: int) -> None:
        """Move the clock; only where one that moves was given."""
        if self._advance is None:
            raise Unprocessable("this clock cannot be moved: start with --test-mode")
        self._advance(seconds, turns)

    async def run_idle(self) -> None:
        """The Idle work, now: settle, give texts their vectors, take a better model, tidy the store."""
        await self._store_opening.ready()
        for world in list(self._worlds.values()):
            await self._observer.settle_due(
                world, timedelta(seconds=self._params.settle_after)
            )
            self._learner.settled(world)
        await self._learner.drain()
        await self._learner.look_round(self._minds())
        await self._rereader.rest(list(self._worlds.values()))
        await self.forgetting.rest(list(self._worlds.values()))
        await self._topics.rest(list(self._worlds.values()))
        await self._loader.rest(self._minds())
        await self.governor.bin.rest(list(self._worlds.values()))
        await self._embedding.drain()
        await self._embedding.take_better_model()
        if all(world.is_awake() for world in self._worlds.values()):
            await self._embedding.forget_unused()
        await self._images.rest(list(self._worlds.values()))
        await self._store.maintain()
        await self._backups.rest()
        await self._consolidate()  # last: a model may let us wait
        spare_the_collector()

    async def _consolidate(self) -> None:
        if await self.consolidator.run_idle(list(self._worlds.values())):
            await self._embedding.drain()

    async def _go_on_resting(self) -> None:
        """In the same quiet moment: what had to wait for a language model."""
        if self.consolidator.is_due():
            await self._consolidate()

    async def _open(self) -> None:
        await self._store.open()
        for owner in dict.fromkeys([DEFAULT_OWNER, *await self._store.owners()]):
            await self._new_world(owner)
        await self.governor.bookkeeper.open(self._clock.now())

    async def _begin(self) -> None:
        self._warming.start()
        for world in list(self._worlds.values()):
            await world.awake()
        self._learner.start(self._minds)
        spare_the_collector()
        await self.jobs.resume()

    async def _world(self, owner: Owner) -> World:
        await self._store_opening.ready()
        found = self._worlds.get(owner)
        if found is None:
            async with self._opening:
                found = self._worlds.get(owner) or await self._new_world(owner)
        return found

    async def _new_world(self, owner: Owner) -> World:
        world = World(
            owner,
            self._store,
            self._compute,
            self._clock,
            self._loader,
            self._images,
            on_new_mind=partial(self._adopt, owner),
            on_mind_gone=self._embedding.release,
            soul_defaults=self._params.soul,
        )
        await world.load()
        self._worlds[owner] = world
        return world

    async def _adopt(self, owner: Owner, mind: Mind) -> None:
        await self._learner.adopt(owner, mind)
        await self._embedding.adopt(mind)

    def _minds(self) -> list[Mind]:
        return [
            mind for world in self._worlds.values() for mind in world.minds.values()
        ]

    async def _mind(self, owner: Owner, soul: SoulId) -> Mind:
        world = await self._world(owner)
        return await world.mind(world.soul(soul).id)
