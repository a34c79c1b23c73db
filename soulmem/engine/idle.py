"""The Idle work in its order, and the work at the start."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from soulmem.domain.ids import DEFAULT_OWNER
from soulmem.engine.consolidation.consolidator import Consolidator
from soulmem.engine.consolidation.digest_shelving import DigestShelving
from soulmem.engine.consolidation.digests import DigestWriter
from soulmem.engine.consolidation.homonyms import HomonymWork
from soulmem.engine.consolidation.joining import Joiner
from soulmem.engine.consolidation.linking import CoRecallLinker
from soulmem.engine.consolidation.rewording import Rewording
from soulmem.engine.consolidation.stated_names import StatedNames
from soulmem.engine.consolidation.streams import Streams
from soulmem.engine.learning.learner import Learner
from soulmem.engine.llm.persistence import UsagePersistence
from soulmem.engine.runtime.compiling import KernelCompilation
from soulmem.engine.runtime.garbage import spare_the_collector
from soulmem.engine.runtime.jobs import Jobs
from soulmem.engine.runtime.store_opening import StoreOpening
from soulmem.engine.sync.chat_writer import ChatWriter
from soulmem.engine.upkeep.backups import BackupSchedule
from soulmem.engine.upkeep.bin_purge import BinPurge
from soulmem.engine.upkeep.closing import SoulClosing
from soulmem.engine.upkeep.forgetting import ForgettingWork
from soulmem.engine.upkeep.rereading import Rereader
from soulmem.engine.upkeep.topics import Topics
from soulmem.engine.vectors.embedder import EmbeddingService
from soulmem.engine.world.services import Services
from soulmem.engine.world.snapshots import SnapshotKeeper
from soulmem.engine.world.worlds import Worlds


@dataclass(frozen=True, kw_only=True)
class Startup:
    """Opens the store, then all souls, and resumes interrupted jobs."""

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
        """Open every active soul and resume interrupted jobs."""
        self.warming.start()
        for world in self.worlds.all():
            await world.open_souls()
        self.learner.start(self.worlds.minds)
        spare_the_collector()
        await self.jobs.resume()


@dataclass(frozen=True, kw_only=True)
class IdleWork:
    """All work that runs while no requests come."""

    services: Services
    worlds: Worlds
    store_opening: StoreOpening
    writer: ChatWriter
    learner: Learner
    rereader: Rereader
    joiner: Joiner
    co_recall_linker: CoRecallLinker
    homonyms: HomonymWork
    stated_names: StatedNames
    forgetting: ForgettingWork
    shelving: DigestShelving
    topics: Topics
    bin: BinPurge
    closing: SoulClosing
    embedding: EmbeddingService
    snapshots: SnapshotKeeper
    backups: BackupSchedule
    consolidator: Consolidator
    rewording: Rewording
    digest_writer: DigestWriter
    streams: Streams
    settle_after: timedelta  # age at which an unchanged last message counts as settled

    async def run(self) -> None:
        """Run all of it once: settle, learn, tidy, embed, back up, consolidate."""
        await self.store_opening.ready()
        await self.closing.open_due(self.worlds.all())
        for world in self.worlds.all():
            await self.writer.settle_due(world, self.settle_after)
            self.learner.teach_settled(world)
        await self.learner.drain()
        await self.learner.refresh_working_memory(self.worlds.minds())
        await self.rereader.run_idle(self.worlds.all())
        source = (
            f"idle-{self.services.clock.now():%Y%m%dT%H%M%S}"  # to undo the round by
        )
        await self.joiner.run_idle(self.worlds.all(), source)
        await self.co_recall_linker.run_idle(self.worlds.all(), source)
        await self.digest_writer.run_idle(self.worlds.all())
        await self.streams.run_idle(self.worlds.all())
        await self.homonyms.run_idle(self.worlds.all())
        await self.stated_names.run_idle(self.worlds.all())
        await self.forgetting.run_idle(self.worlds.all())
        await self.shelving.run_idle(self.worlds.all())
        await self.topics.run_idle(self.worlds.all())
        await self.services.loader.run_idle(self.worlds.minds())
        await self.bin.run_idle(self.worlds.all())
        await self.embedding.wait_pending()
        await self.embedding.switch_model()
        await self.embedding.drop_unused_states()
        if all(world.is_fully_open() for world in self.worlds.all()):
            await self.embedding.drop_unused_vectors()
        await self.snapshots.run_idle(self.worlds.all())
        await self.services.store.maintain()
        await self.services.store.compact()
        await self.backups.run_idle()
        await self._consolidate()  # late, as a language model may take long
        await self._close_unused()
        spare_the_collector()

    async def go_on(self) -> None:
        """Later in the same quiet time: consolidation that waited, and souls that nobody uses by now."""
        if self.consolidator.is_due():
            await self._consolidate()
        await self._close_unused()

    async def _close_unused(self) -> None:
        """Close souls, but not while consolidation waits for the next hour: it goes on in open souls."""
        if not self.consolidator.waits_for_room:
            await self.closing.run_idle(self.worlds.all())

    async def _consolidate(self) -> None:
        if await self.consolidator.run_idle(self.worlds.all()):
            await self.embedding.wait_pending()
        await self.rewording.run_idle(self.worlds.all())
        await self.digest_writer.word_idle(self.worlds.all())
