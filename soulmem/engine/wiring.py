"""Builds the engine: every service is made here, and every job is registered here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from soulmem.domain.ids import Owner
from soulmem.engine.consolidation.consolidator import Consolidator
from soulmem.engine.consolidation.joined_tellings import Joiner
from soulmem.engine.consolidation.linking import CoRecallLinker
from soulmem.engine.consolidation.replay import ReplayJob
from soulmem.engine.consolidation.rewording import Rewording
from soulmem.engine.deep.deep_recall import DeepRecall
from soulmem.engine.deep.quiz import Quiz
from soulmem.engine.digests.digest_wording import DigestWording
from soulmem.engine.digests.digest_writer import DigestShelving, DigestWriter
from soulmem.engine.digests.on_request import ConsolidationJobs
from soulmem.engine.digests.streams import Streams
from soulmem.engine.editing.deletion_requests import DeletionRequests
from soulmem.engine.editing.history import History
from soulmem.engine.editing.memory_editor import MemoryEditor
from soulmem.engine.editing.namesakes import Namesakes
from soulmem.engine.editing.overviews import Overviews
from soulmem.engine.engine import Engine
from soulmem.engine.exchange.bundle_export import BundleExport
from soulmem.engine.exchange.bundle_import import BundleImport
from soulmem.engine.exchange.chat_import import ChatImport
from soulmem.engine.exchange.import_jobs import ImportJobs
from soulmem.engine.exchange.lore_import import LoreImport
from soulmem.engine.idle import IdleWork, Startup
from soulmem.engine.learning.feedback import FeedbackService
from soulmem.engine.learning.learner import Learner
from soulmem.engine.learning.ratings import Ratings
from soulmem.engine.llm.model_choice import ChoosableModels, ModelChooser
from soulmem.engine.llm.persistence import UsagePersistence
from soulmem.engine.llm.probe import ModelTest
from soulmem.engine.llm.sources import LlmAccess, LlmSources
from soulmem.engine.mind.mind import Mind
from soulmem.engine.names.homonyms import HomonymWork
from soulmem.engine.names.stated_names import StatedNames
from soulmem.engine.params import EngineParams
from soulmem.engine.recall.pushes import Roulette
from soulmem.engine.recall.recaller import Recaller
from soulmem.engine.recall.reply_recall import ReplyRecall
from soulmem.engine.recall.traces import Traces
from soulmem.engine.runtime.compiling import KernelCompilation
from soulmem.engine.runtime.events import Events
from soulmem.engine.runtime.jobs import JobKind, Jobs
from soulmem.engine.runtime.lifecycle import Lifecycle
from soulmem.engine.runtime.store_opening import StoreOpening
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.sync.chat_writer import ChatWriter
from soulmem.engine.sync.chats import ChatService
from soulmem.engine.sync.souls import SoulService
from soulmem.engine.tools.assistant import Assistant
from soulmem.engine.tools.dispatch import Tools
from soulmem.engine.upkeep.backups import BackupSchedule
from soulmem.engine.upkeep.closing import SoulClosing
from soulmem.engine.upkeep.forgetting import ForgettingWork
from soulmem.engine.upkeep.purging import BinPurge
from soulmem.engine.upkeep.topics import Topics
from soulmem.engine.vectors.embedder import EmbeddingService, ModelSource
from soulmem.engine.vectors.model_fetching import ModelFetching
from soulmem.engine.world.attempts import Attempts
from soulmem.engine.world.audit import Auditor
from soulmem.engine.world.edge_loader import EdgeLoader
from soulmem.engine.world.opening import Opener
from soulmem.engine.world.services import Services
from soulmem.engine.world.snapshots import SnapshotKeeper
from soulmem.engine.world.world import World
from soulmem.engine.world.worlds import Worlds
from soulmem.ports.backups import Backups
from soulmem.ports.clock import Clock
from soulmem.ports.llm import Llm
from soulmem.ports.model_fetching import ModelFetcher
from soulmem.ports.snapshot_store import SnapshotStore
from soulmem.ports.spool import Spool
from soulmem.ports.store import Store
from soulmem.ports.token_store import TokenStore
from soulmem.ports.traces import TraceLog


@dataclass(frozen=True, kw_only=True)
class Ports:
    """The adapters and settings that an engine runs on."""

    store: Store
    clock: Clock
    spool: Spool
    model: ModelSource | None = None  # the embedding model that is wanted
    fallback: ModelSource | None = None  # the model used until the wanted one is loaded
    fetcher: ModelFetcher | None = None  # brings the wanted model when the user asks
    params: EngineParams | None = None
    advance: Callable[[float, int], None] | None = None
    warm: Callable[[], object] | None = None  # compiles the kernels, reads what recalls use
    traces: TraceLog | None = None
    images: SnapshotStore | None = None
    tokens: TokenStore | None = None
    judges_lines: bool = False  # messages matter as the kinds of their lines say
    backups: Backups | None = None
    llm: LlmSources | Llm | None = None
    models: ChoosableModels | None = None  # that the user can choose instead


def wire_engine(ports: Ports) -> Engine:
    """A wired engine that is not started yet."""
    params = ports.params or EngineParams()
    store, clock = ports.store, ports.clock
    compute = Worker("soulmem-compute")
    events = Events()
    traces = Traces(kept=ports.traces, compute=compute)
    auditor = Auditor(store=store, compute=compute, clock=clock, events=events, traces=traces)
    loader = EdgeLoader(store=store, compute=compute, clock=clock, params=params.loading)
    embedding = EmbeddingService(
        store=store,
        compute=compute,
        wanted=ports.model,
        fallback=ports.fallback,
        tokens=ports.tokens,
        judges_lines=ports.judges_lines,
    )
    snapshots = SnapshotKeeper(
        images=ports.images, store=store, compute=compute, params=params.images
    )
    opener = Opener(store=store, compute=compute, loader=loader, images=snapshots)

    def create_world(owner: Owner) -> World:
        async def adopt(mind: Mind) -> None:
            await learner.adopt(owner, mind)
            await embedding.add_mind(owner, mind)

        return World(
            owner=owner,
            store=store,
            compute=compute,
            clock=clock,
            loader=loader,
            open_mind=opener.open,
            on_new_mind=adopt,
            on_mind_gone=embedding.remove_mind,
            soul_defaults=params.soul,
        )

    warming = KernelCompilation(ports.warm)
    store_opening = StoreOpening(lambda: startup.open(), lambda: startup.begin())
    worlds = Worlds(ready=store_opening.ready, create=create_world)
    services = Services(
        store=store,
        compute=compute,
        clock=clock,
        auditor=auditor,
        loader=loader,
        attempts=Attempts(clock),
        world_of=worlds.of,
    )
    lifecycle = Lifecycle(params.idle_after, lambda: idle.run(), lambda: idle.go_on(), events)
    writer = ChatWriter(services)
    souls = SoulService(
        services=services,
        writer=writer,
        images=snapshots,
        tokens=embedding.tokens,
        defaults=params.soul,
    )
    learner = Learner(services)
    chats = ChatService(
        services=services,
        writer=writer,
        on_settled=learner.teach_settled,
        on_new_texts=embedding.wake,
        on_generating=lifecycle.generating,
    )
    streams = Streams(services, minutes=params.digests.highlight_minutes)
    recaller = Recaller(
        services=services,
        embedding=embedding,
        learner=learner,
        params=params.recall,
        traces=traces,
        ranking=params.ranking,
        walking=params.walking,
        catch_up=streams.catch_up,
    )
    memories = MemoryEditor(
        services,
        search=recaller.search,
        drain_learning=learner.drain,
        on_new_texts=embedding.wake,
        judge=embedding.importance,
    )
    llms = LlmAccess(ports.llm, lifecycle.is_generating, events)
    consolidator = Consolidator(
        services,
        llms=llms,
        is_busy=lifecycle.is_generating,
        on_written=embedding.wake,
        params=params.consolidation,
        encoder=embedding.encoder,
    )
    usage_persistence = UsagePersistence(
        store=store,
        usage=consolidator.usage,
        deferrals=consolidator.deferrals,
        trust=consolidator.trust,
    )
    digest_writer = DigestWriter(
        services=services,
        wording=DigestWording(services, llm_calls=consolidator.llm_calls),
        params=params.digests,
    )
    deletions = DeletionRequests(services=services, memories=memories)
    jobs = Jobs(ports.spool, souls.get, events)
    imports = ImportJobs(
        jobs=jobs,
        chats=ChatImport(chats=chats, compute=compute),
        lore=LoreImport(services=services, writer=writer),
        bundles=BundleImport(services=services, learner=learner, embedding=embedding),
        embedding=embedding,
    )
    fetching = ModelFetching(fetcher=ports.fetcher, embedding=embedding, jobs=jobs)
    assistant = Assistant(
        services=services,
        jobs=jobs,
        llm_calls=consolidator.llm_calls,
        context_tokens=llms.context_tokens,
        tools=lambda: tools,
    )
    tools = Tools(
        services=services,
        memories=memories,
        recaller=recaller,
        deletions=deletions,
        digest_writer=digest_writer,
        ratings=Ratings(services),
        assistant=assistant,
        review=params.bin.review,
    )
    joiner = Joiner(services, encoder=embedding.encoder)
    stated_names = StatedNames(services)
    topics = Topics(services=services)
    forgetting = ForgettingWork(services=services)
    purge = BinPurge(services, on_purged=embedding.tokens.tidy, params=params.bin)
    backups = BackupSchedule(services=services, backups=ports.backups, daily=params.daily_backups)
    work_on_request = ConsolidationJobs(
        services=services,
        learner=learner,
        digest_writer=digest_writer,
        consolidator=consolidator,
    )
    _register(
        jobs,
        work_on_request.job_kinds(),
        ReplayJob(
            services=services,
            consolidator=consolidator,
            joiner=joiner,
            stated_names=stated_names,
        ).job_kinds(),
        ModelTest(llm_calls=consolidator.llm_calls, trust=consolidator.trust).job_kinds(),
        DeepRecall(
            services=services,
            recaller=recaller,
            llm_calls=consolidator.llm_calls,
            recall=params.recall,
        ).job_kinds(),
        Quiz(services=services, recaller=recaller, recall=params.recall).job_kinds(),
        assistant.job_kinds(),
        imports.job_kinds(),
        topics.job_kinds(),
        forgetting.job_kinds(),
        purge.job_kinds(),
        backups.job_kinds(),
        fetching.job_kinds(),
    )
    startup = Startup(
        services=services,
        worlds=worlds,
        usage_persistence=usage_persistence,
        warming=warming,
        learner=learner,
        jobs=jobs,
    )
    idle = IdleWork(
        services=services,
        worlds=worlds,
        store_opening=store_opening,
        writer=writer,
        learner=learner,
        joiner=joiner,
        co_recall_linker=CoRecallLinker(services=services),
        homonyms=HomonymWork(services=services, encoder=embedding.encoder),
        stated_names=stated_names,
        forgetting=forgetting,
        shelving=DigestShelving(services),
        topics=topics,
        bin=purge,
        closing=SoulClosing(
            services=services,
            embedding=embedding,
            snapshots=snapshots,
            jobs=jobs,
            params=params.closing,
        ),
        embedding=embedding,
        snapshots=snapshots,
        backups=backups,
        consolidator=consolidator,
        rewording=Rewording(services=services, llm_calls=consolidator.llm_calls),
        digest_writer=digest_writer,
        streams=streams,
        settle_after=timedelta(seconds=params.settle_after),
    )
    return Engine(
        params=params,
        services=services,
        worlds=worlds,
        souls=souls,
        chats=chats,
        memories=memories,
        overviews=Overviews(services),
        namesakes=Namesakes(services, on_new_texts=embedding.wake),
        recaller=recaller,
        replies=ReplyRecall(
            sync=chats.sync,
            recall=recaller.recall,
            read=embedding.embed_query,
            time_budget_ms=params.recall.time_budget_ms,
        ),
        roulette=Roulette(services, weight=params.ranking.weight),
        feedback=FeedbackService(
            services=services, trace_of=recaller.trace, asked_in=recaller.unit_query
        ),
        history=History(services),
        deletions=deletions,
        tools=tools,
        streams=streams,
        jobs=jobs,
        imports=imports,
        exports=BundleExport(services=services, learner=learner),
        llms=llms,
        model_choice=ModelChooser(
            llms=llms,
            usage=consolidator.usage,
            models=ports.models,
            on_changed=consolidator.model_changed,
        ),
        events=events,
        store_opening=store_opening,
        lifecycle=lifecycle,
        idle=idle,
        warming=warming,
        embedding=embedding,
        fetching=fetching,
        learner=learner,
        consolidator=consolidator,
        usage_persistence=usage_persistence,
        bin=purge,
        backups=backups,
        snapshots=snapshots,
        advance=ports.advance,
    )


def _register(jobs: Jobs, *services: tuple[JobKind, ...]) -> None:
    for kinds in services:
        for kind in kinds:
            jobs.register(kind)
