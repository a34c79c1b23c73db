"""The engine: one record of all services, with start, stop and health."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from soulmem.domain.errors import StoreError, Unprocessable
from soulmem.domain.phrases import Wording, phrase
from soulmem.engine.api.results import Health
from soulmem.engine.consolidation.consolidator import Consolidator
from soulmem.engine.digests.streams import Streams
from soulmem.engine.editing.deletion_requests import DeletionRequests
from soulmem.engine.editing.history import History
from soulmem.engine.editing.memory_editor import MemoryEditor
from soulmem.engine.editing.namesakes import Namesakes
from soulmem.engine.editing.overviews import Overviews
from soulmem.engine.exchange.bundle_export import BundleExport
from soulmem.engine.exchange.import_jobs import ImportJobs
from soulmem.engine.health import health_of
from soulmem.engine.idle import IdleWork
from soulmem.engine.learning.feedback import FeedbackService
from soulmem.engine.learning.learner import Learner
from soulmem.engine.llm.model_choice import ModelChooser
from soulmem.engine.llm.persistence import UsagePersistence
from soulmem.engine.llm.sources import LlmAccess
from soulmem.engine.mind.mind import Mind
from soulmem.engine.params import EngineParams
from soulmem.engine.recall.pushes import Roulette
from soulmem.engine.recall.recaller import Recaller
from soulmem.engine.recall.reply_recall import ReplyRecall
from soulmem.engine.runtime.compiling import KernelCompilation
from soulmem.engine.runtime.events import Events
from soulmem.engine.runtime.jobs import Jobs
from soulmem.engine.runtime.lifecycle import Lifecycle
from soulmem.engine.runtime.store_opening import StoreOpening
from soulmem.engine.sync.chats import ChatService
from soulmem.engine.sync.souls import SoulService
from soulmem.engine.tools.dispatch import Tools
from soulmem.engine.upkeep.backups import BackupSchedule
from soulmem.engine.upkeep.purging import BinPurge
from soulmem.engine.vectors.embedder import EmbeddingService
from soulmem.engine.vectors.model_fetching import ModelFetching
from soulmem.engine.world.services import Services
from soulmem.engine.world.snapshots import SnapshotKeeper
from soulmem.engine.world.world import World
from soulmem.engine.world.worlds import Worlds


@dataclass(frozen=True, kw_only=True)
class Engine:
    """Souls, chats, memories and recall of all owners of one store; made by `wiring.wire_engine`."""

    params: EngineParams
    services: Services
    worlds: Worlds
    # services for clients
    souls: SoulService
    chats: ChatService
    memories: MemoryEditor
    overviews: Overviews
    namesakes: Namesakes
    recaller: Recaller
    replies: ReplyRecall
    roulette: Roulette
    feedback: FeedbackService
    history: History
    deletions: DeletionRequests
    streams: Streams
    tools: Tools
    jobs: Jobs
    imports: ImportJobs
    exports: BundleExport
    llms: LlmAccess
    model_choice: ModelChooser
    events: Events
    # background services
    store_opening: StoreOpening
    lifecycle: Lifecycle
    idle: IdleWork
    warming: KernelCompilation
    embedding: EmbeddingService
    fetching: ModelFetching
    learner: Learner
    consolidator: Consolidator
    usage_persistence: UsagePersistence
    bin: BinPurge
    backups: BackupSchedule
    snapshots: SnapshotKeeper
    advance: Callable[[float, int], None] | None  # moves the clock in test mode
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    async def start(self) -> None:
        """Begin to open the store and to load the model; returns at once."""
        self.tasks.append(asyncio.create_task(self.store_opening.run()))
        self.embedding.start()
        if self.params.rest_by_itself:
            self.lifecycle.start()

    async def opened(self) -> StoreError | None:
        """Wait for the first attempt to open the store; returns the error if it failed."""
        return await self.store_opening.tried()

    async def stop(self) -> None:
        """Wait for writes under way, then close the store."""
        await self.lifecycle.stop()
        self.idle.stop()
        await self.llms.stop()
        await self.jobs.stop()
        await self.embedding.stop()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await self.learner.stop()
        await self.recaller.walk_renewal.stop()
        await self.recaller.traces.stop()
        await self.services.loader.stop()
        await self.usage_persistence.stop()
        for world in self.worlds.all():
            async with world.writing:
                pass  # a write under way ends first
        await self.services.attempts.with_minds("snapshot", self.worlds.all(), self._save_snapshot)
        await self.services.store.close()
        self.services.compute.stop()

    async def _save_snapshot(self, world: World, mind: Mind) -> None:
        await self.snapshots.update(world, mind, last=True)

    def touched(self) -> None:
        """Note a request: Idle work waits."""
        self.lifecycle.touched()

    def unsaved(self) -> str | None:
        """Why new data may not be stored; None when the store is writable."""
        error, store = self.store_opening.error, self.services.store.health()
        if error is not None:
            return error.message
        return None if store.writable else str(store.detail)

    def health(self) -> Health:
        """The state of every part."""
        notes: list[Wording] = []
        for part in (
            self.services.attempts,
            self.embedding,
            self.warming,
            self.bin,
            self.backups,
            self.llms,
        ):
            notes.extend(part.notes())
        current_time = self.services.clock.now()
        return health_of(
            opened=self.store_opening.is_done,
            error=self.store_opening.error,
            store=self.services.store.health(),
            embedder=self.embedding.health(),
            phase=self.lifecycle.phase.value,
            kernels=self.warming.state,
            llm=self.llms.health(),
            spent=self.consolidator.usage.this_hour(current_time),
            minds=self.worlds.minds(),
            souls_closed=sum(len(w.use) for w in self.worlds.all()),
            closed_pending=sum(w.use.pending() for w in self.worlds.all()),
            worlds=self.worlds.all(),
            notes=notes,
        )

    async def advance_clock(self, seconds: float, turns: int) -> None:
        """Move the clock. Raises Unprocessable for a clock that cannot be moved."""
        if self.advance is None:
            raise Unprocessable(
                phrase("clock_fixed", "this clock cannot be moved: start with --test-mode")
            )
        self.advance(seconds, turns)
