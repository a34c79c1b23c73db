"""The Idle work in its order, and the work at the start."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from soulmem.domain.ids import DEFAULT_OWNER
from soulmem.engine.consolidation.consolidator import Consolidator
from soulmem.engine.consolidation.joined_tellings import Joiner
from soulmem.engine.consolidation.linking import CoRecallLinker
from soulmem.engine.consolidation.rewording import Rewording
from soulmem.engine.digests.digest_writer import DigestShelving, DigestWriter
from soulmem.engine.digests.streams import Streams
from soulmem.engine.learning.learner import Learner
from soulmem.engine.llm.persistence import UsagePersistence
from soulmem.engine.mind.mind import Mind
from soulmem.engine.names.homonyms import HomonymWork
from soulmem.engine.names.stated_names import StatedNames
from soulmem.engine.runtime.compiling import KernelCompilation
from soulmem.engine.runtime.garbage import spare_the_collector
from soulmem.engine.runtime.jobs import Jobs
from soulmem.engine.runtime.store_opening import StoreOpening
from soulmem.engine.sync.chat_writer import ChatWriter
from soulmem.engine.upkeep.backups import BackupSchedule
from soulmem.engine.upkeep.closing import SoulClosing
from soulmem.engine.upkeep.forgetting import ForgettingWork
from soulmem.engine.upkeep.purging import BinPurge
from soulmem.engine.upkeep.topics import Topics
from soulmem.engine.vectors.embedder import EmbeddingService
from soulmem.engine.world.attempts import Piece
from soulmem.engine.world.services import Services
from soulmem.engine.world.snapshots import SnapshotKeeper
from soulmem.engine.world.world import World
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
        self.warming.start()  # meanwhile another process prepares the store
        await self.services.store.open()
        owners = [DEFAULT_OWNER, *await self.services.store.owners()]
        for owner in dict.fromkeys(owners):
            await self.worlds.load(owner)
        await self.usage_persistence.open(self.services.clock.now())

    async def begin(self) -> None:
        """Open every active soul and resume interrupted jobs."""
        for world in self.worlds.all():
            await self.services.attempts.open_souls(world)
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
    rounds: set[asyncio.Task[Any]] = field(default_factory=set)  # under way

    async def run(self) -> None:
        """Run all of it once: settle, learn, tidy, embed, back up, consolidate.

        What fails of it is noted, and the rest goes on. Raises StoreError if the store cannot be opened.
        """
        await self.store_opening.ready()
        attempts, task = self.services.attempts, asyncio.current_task()
        assert task is not None
        self.rounds.add(task)
        try:
            attempts.begin_round()
            for part, work in self.parts().items():
                await attempts.carry_out(Piece(part), work)
            attempts.end_round()
        finally:
            self.rounds.discard(task)
        spare_the_collector()

    def stop(self) -> None:
        """End all rounds under way: the services that they need are about to stop."""
        for task in self.rounds:
            task.cancel()

    def parts(self) -> dict[str, Callable[[], Awaitable[object]]]:
        """The parts of a round in their order."""
        worlds, minds = self.worlds.all, self.services.attempts.with_minds
        # to undo the round by
        source = f"idle-{self.services.clock.now():%Y%m%dT%H%M%S}"
        return {
            "openings": lambda: self.closing.open_due(worlds()),
            "settlings": self._settle,
            "memories": lambda: minds(
                "working_memory", worlds(), lambda _, mind: self.learner.refresh(mind)
            ),
            "joinings": lambda: self.joiner.run_idle(worlds(), source),
            "links": lambda: self.co_recall_linker.run_idle(worlds(), source),
            "periods": lambda: self.digest_writer.run_idle(worlds()),
            "streams": lambda: self.streams.run_idle(worlds()),
            "namesakes": lambda: self.homonyms.run_idle(worlds()),
            "aliases": lambda: self.stated_names.run_idle(worlds()),
            "fading": lambda: self.forgetting.run_idle(worlds()),
            "shelves": lambda: self.shelving.run_idle(worlds()),
            "subjects": lambda: self.topics.run_idle(worlds()),
            "edges": lambda: minds(
                "edges_of_soul",
                worlds(),
                lambda _, mind: self.services.loader.release(mind),
            ),
            "bins": lambda: self.bin.run_idle(worlds()),
            "embedding": self.embedding.wait_pending,
            "model": self.embedding.switch_model,
            "states": lambda: minds(
                "token_states",
                worlds(),
                lambda _, mind: self.embedding.tokens.tidy(mind),
            ),
            "vectors": self._drop_unused_vectors,
            "snapshots": lambda: minds("snapshot", worlds(), self._update_snapshot),
            "store": self.services.store.maintain,
            "room": self.services.store.compact,
            "backup": self.backups.run_idle,
            "archivist": self._consolidate,  # late, as a language model may take long
            "closings": self._close_unused,
        }

    async def _settle(self) -> None:
        for world in self.worlds.all():
            await self.writer.settle_due(world, self.settle_after)
            self.learner.teach_settled(world)
        await self.learner.drain()

    async def _drop_unused_vectors(self) -> None:
        if all(world.is_fully_open() for world in self.worlds.all()):
            await self.embedding.drop_unused_vectors()

    async def _update_snapshot(self, world: World, mind: Mind) -> None:
        await self.snapshots.update(world, mind, last=False)

    async def go_on(self) -> None:
        """Later in the same quiet time: what failed, consolidation that waited, souls that nobody uses by now."""
        attempts = self.services.attempts
        if attempts.is_round_due():
            await self.run()
            return
        if self.consolidator.is_due():
            await attempts.carry_out(Piece("archivist"), self._consolidate)
        await attempts.carry_out(Piece("closings"), self._close_unused)

    async def _close_unused(self) -> None:
        """Close souls, but not while consolidation waits for the next hour: it goes on in open souls."""
        if not self.consolidator.waits_for_room:
            await self.closing.run_idle(self.worlds.all())

    async def _consolidate(self) -> None:
        if await self.consolidator.run_idle(self.worlds.all()):
            await self.embedding.wait_pending()
        await self.rewording.run_idle(self.worlds.all())
        await self.digest_writer.word_idle(self.worlds.all())
