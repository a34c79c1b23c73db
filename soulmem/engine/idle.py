"""The order of the work in Idle, and what happens once the store is open."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from soulmem.domain.ids import DEFAULT_OWNER
from soulmem.engine.consolidation.consolidator import Consolidator
from soulmem.engine.learning.learner import Learner
from soulmem.engine.llm.persistence import UsagePersistence
from soulmem.engine.runtime.compiling import KernelCompilation
from soulmem.engine.runtime.garbage import spare_the_collector
from soulmem.engine.runtime.jobs import Jobs
from soulmem.engine.runtime.store_opening import StoreOpening
from soulmem.engine.sync.chat_writer import ChatWriter
from soulmem.engine.upkeep.backups import BackupSchedule
from soulmem.engine.upkeep.bin_purge import BinPurge
from soulmem.engine.upkeep.forgetting import ForgettingWork
from soulmem.engine.upkeep.rereading import Rereader
from soulmem.engine.upkeep.topics import Topics
from soulmem.engine.vectors.embedder import EmbeddingService
from soulmem.engine.world.services import Services
from soulmem.engine.world.snapshots import SnapshotKeeper
from soulmem.engine.world.worlds import Worlds


@dataclass(frozen=True, kw_only=True)
class Startup:
    """Opens the store, then wakes every soul and resumes interrupted jobs."""

    services: Services
    worlds: Worlds
    usage_persistence: UsagePersistence
    warming: KernelCompilation
    learner: Learner
    jobs: Jobs

    async def open(self) -> None:
        """Open the store and load the worlds in it. Raises StoreError."""
        await self.services.store.open()
        owners = [DEFAULT_OWNER, *await self.services.store.owners()]
        for owner in dict.fromkeys(owners):
            await self.worlds.load(owner)
        await self.usage_persistence.open(self.services.clock.now())

    async def begin(self) -> None:
        """Open every soul in use and take up what was interrupted."""
        self.warming.start()
        for world in self.worlds.all():
            await world.awake()
        self.learner.start(self.worlds.minds)
        spare_the_collector()
        await self.jobs.resume()


@dataclass(frozen=True, kw_only=True)
class IdleWork:
    """Everything that is done while nobody asks for anything."""

    services: Services
    worlds: Worlds
    store_opening: StoreOpening
    writer: ChatWriter
    learner: Learner
    rereader: Rereader
    forgetting: ForgettingWork
    topics: Topics
    bin: BinPurge
    embedding: EmbeddingService
    snapshots: SnapshotKeeper
    backups: BackupSchedule
    consolidator: Consolidator
    settle_after: timedelta  # a last message that stood so long counts as settled

    async def run(self) -> None:
        """Do all of it, once: settle, learn, tidy, embed, back up, consolidate."""
        await self.store_opening.ready()
        for world in self.worlds.all():
            await self.writer.settle_due(world, self.settle_after)
            self.learner.settled(world)
        await self.learner.drain()
        await self.learner.look_round(self.worlds.minds())
        await self.rereader.rest(self.worlds.all())
        await self.forgetting.rest(self.worlds.all())
        await self.topics.rest(self.worlds.all())
        await self.services.loader.rest(self.worlds.minds())
        await self.bin.rest(self.worlds.all())
        await self.embedding.wait_pending()
        await self.embedding.switch_model()
        if all(world.is_awake() for world in self.worlds.all()):
            await self.embedding.drop_unused_vectors()
        await self.snapshots.rest(self.worlds.all())
        await self.services.store.maintain()
        await self.backups.rest()
        await self._consolidate()  # last: a language model may let us wait
        spare_the_collector()

    async def go_on(self) -> None:
        """Later in the same quiet time: consolidation that had to wait for a language model."""
        if self.consolidator.is_due():
            await self._consolidate()

    async def _consolidate(self) -> None:
        if await self.consolidator.run_idle(self.worlds.all()):
            await self.embedding.wait_pending()
