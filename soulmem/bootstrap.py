"""Builds the engine and its HTTP application from the settings: adapters are chosen here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from aiohttp import web

from soulmem.adapters import packaged_encoder, sentence_transformer
from soulmem.adapters.backup_folder import BackupFolder, Rotation
from soulmem.adapters.client_llm import MODEL as CLIENT
from soulmem.adapters.client_llm import ClientDesk, ClientParams
from soulmem.adapters.disk_files import make_private
from soulmem.adapters.folder_spool import FolderSpool
from soulmem.adapters.folder_traces import FolderTraces
from soulmem.adapters.hub_address import HubAddress
from soulmem.adapters.litellm_endpoint import LitellmEndpoint
from soulmem.adapters.model_choice_file import JsonModelChoice
from soulmem.adapters.model_fetcher import FOLDER, SettingsFetcher, forbidden
from soulmem.adapters.snapshot_folder import SnapshotFolder
from soulmem.adapters.surreal.kept import KeptStore
from soulmem.adapters.surreal.store import SurrealStore
from soulmem.adapters.system_clock import MovableClock, SystemClock
from soulmem.adapters.token_files import TokenFolder
from soulmem.config.settings import (
    ConsolidationSettings,
    EmbedderSettings,
    LlmEndpoint,
    LlmSettings,
    Settings,
    SpreadingSettings,
    StoreSettings,
)
from soulmem.consolidation.short_term import MarkParams
from soulmem.domain.llm import ModelChoice, ModelUse
from soulmem.engine.consolidation.consolidator import ConsolidationParams
from soulmem.engine.digests.digest_writer import DigestWork
from soulmem.engine.engine import Engine
from soulmem.engine.llm.model_choice import ChoosableModels
from soulmem.engine.llm.retry import RetryParams
from soulmem.engine.llm.sources import LlmSources
from soulmem.engine.llm.usage import UsageLimits
from soulmem.engine.params import EngineParams
from soulmem.engine.recall.context import RecallParams
from soulmem.engine.recall.line_matches import prepare_recalls
from soulmem.engine.recall.ranking import RankingParams
from soulmem.engine.upkeep.closing import ClosingParams
from soulmem.engine.vectors.embedder import ModelSource
from soulmem.engine.wiring import Ports, wire_engine
from soulmem.engine.world.edge_loader import LoadingParams
from soulmem.governance.bin_time import BinParams
from soulmem.kernels.spread import SpreadParams
from soulmem.kernels.warm import installed_cache, warm
from soulmem.ports.embedder import Embedder
from soulmem.retrieval.association import AssociationParams
from soulmem.server.app import create_app

STORE_FOLDER = "store"  # inside the data folder
JOBS_FOLDER = "jobs"  # data of unfinished jobs
TRACES_FOLDER = "traces"  # traces of the latest recalls
IMAGES_FOLDER = "images"  # snapshots of large souls; may be deleted at any time
TOKENS_FOLDER = "tokens"  # token states of texts; may be deleted while SoulMem is stopped
BACKUPS_FOLDER = "backups"  # copies of the store
MODELS_FOLDER = "models"  # embedding models that were unpacked from packages
HUB_FILE = "hub"  # the user's address of the model hub
MODEL_FILE = "model.json"  # the user's choice of the model for memory work
# Compiled kernels, if the installation has none; may be deleted at any time.
KERNELS_FOLDER = "kernels"

_OWN = frozenset((STORE_FOLDER, JOBS_FOLDER, TRACES_FOLDER, IMAGES_FOLDER, TOKENS_FOLDER)) | {
    *(BACKUPS_FOLDER, KERNELS_FOLDER, MODELS_FOLDER, HUB_FILE),
    *("model", "token", "damaged"),
}

_FALLBACK = ModelSource(packaged_encoder.PACKAGE, lambda: True, packaged_encoder.load)


def build(settings: Settings, *, test_mode: bool = False) -> tuple[Engine, web.Application]:
    """A wired engine and the application that serves, starts and stops it.

    What older versions left readable for other accounts is made private first.
    """
    make_private(settings.data, _OWN)
    make_private(backups_of(settings).folder, {"soulmem"})
    engine = build_engine(settings, test_mode=test_mode)
    app = create_app(engine, settings.server, test_mode=test_mode)
    return engine, app


def build_engine(settings: Settings, *, test_mode: bool = False) -> Engine:
    """An engine over the settings' store and model that is not started yet."""
    fetcher = model_fetcher(settings)
    model, fallback = _models(settings.embedder, fetcher)
    timeout = settings.llm.timeout_seconds
    desk = ClientDesk(replace(ClientParams(), answer=timeout, lease=timeout / 2))
    models = _choosable(settings, desk)
    choice = models.file.read()
    params = EngineParams(
        soul=settings.soul.as_settings(settings.prompt, settings.digest),
        idle_after=settings.idle.after_seconds,
        settle_after=settings.idle.settle_seconds,
        closing=ClosingParams(after=60 * settings.idle.close_after_minutes),
        consolidation=_consolidation(settings, _chosen(settings.llm, choice)),
        digests=DigestWork(highlight_minutes=settings.digest.highlight_minutes),
        bin=BinParams(days=settings.bin.days, review=settings.bin.review),
        rest_by_itself=not test_mode,
        daily_backups=settings.backup.daily + settings.backup.weekly > 0,
        recall=replace(
            RecallParams(),
            budget_tokens=settings.recall.budget_tokens,
            max_items=settings.recall.max_items,
            time_budget_ms=settings.recall.time_budget_ms,
            fires_from=settings.recall.fires_from,
            window_turns=settings.consolidation.window_turns,
        ),
        ranking=_ranking(settings.spreading),
        loading=replace(
            LoadingParams(),
            resident_edges=settings.graph.resident_edges,
            release_after=settings.graph.release_after_turns,
        ),
    )
    kept = (
        None if settings.store.url else KeptStore(settings.data, STORE_FOLDER, backups_of(settings))
    )
    store = kept or _served_store(settings.store)
    clock = MovableClock() if test_mode else SystemClock()
    return wire_engine(
        Ports(
            store=store,
            clock=clock,
            model=model,
            fallback=fallback,
            fetcher=fetcher,
            params=params,
            advance=clock.advance if isinstance(clock, MovableClock) else None,
            warm=partial(_make_ready, _kernel_cache(settings.data)),
            spool=FolderSpool(settings.data / JOBS_FOLDER),
            traces=FolderTraces(settings.data / TRACES_FOLDER),
            backups=kept,
            images=SnapshotFolder(settings.data / IMAGES_FOLDER),
            tokens=TokenFolder(settings.data / TOKENS_FOLDER),
            judges_lines=True,
            llm=models.sources(choice),
            models=models,
        )
    )


def _served_store(settings: StoreSettings) -> SurrealStore:
    """The store on a server."""
    return SurrealStore(
        settings.url,
        user=settings.user or None,
        password=settings.password or None,
        database=settings.database,
    )


def _ranking(settings: SpreadingSettings) -> RankingParams:
    """The parameters of ranking with these of spreading activation."""
    spreading = replace(
        AssociationParams(base=settings.base),
        spread=SpreadParams(
            start=settings.start,
            threshold=settings.threshold,
            transmission=settings.transmission,
            rounds=settings.rounds,
            delta=settings.delta,
        ),
    )
    ranking = RankingParams()
    return replace(ranking, expansion=replace(ranking.expansion, spreading=spreading))


def _make_ready(cache: Path) -> None:
    """Compile the kernels and read the files that recalls need."""
    warm(cache)
    prepare_recalls()


def _kernel_cache(data: Path) -> Path:
    """The folder of compiled kernels: that of the installation, else one in the data folder."""
    installed = installed_cache()
    return installed if installed.is_dir() else data / KERNELS_FOLDER


def _consolidation(every: Settings, archivist: LlmEndpoint | None) -> ConsolidationParams:
    settings = every.consolidation
    marks = MarkParams(turns=settings.window_turns, least=settings.messages)
    limits = _limits(settings, archivist)
    return ConsolidationParams(marks, limits, RetryParams(more=settings.messages))


def _limits(settings: ConsolidationSettings, archivist: LlmEndpoint | None) -> UsageLimits:
    """How much of this model idle work may use in an hour."""
    is_client = archivist is not None and archivist.model == CLIENT
    return UsageLimits(
        calls=settings.client_calls_per_hour if is_client else settings.calls_per_hour,
        tokens=settings.tokens_per_hour,
        nodes=settings.memories_per_hour,
        minutes=settings.minutes_per_hour,
    )


def backups_of(settings: Settings) -> BackupFolder:
    """The folder of the store's backups, and how many are kept."""
    folder = (
        Path(settings.backup.folder) if settings.backup.folder else settings.data / BACKUPS_FOLDER
    )
    return BackupFolder(
        folder.expanduser(), Rotation(settings.backup.daily, settings.backup.weekly)
    )


def _chosen(settings: LlmSettings, choice: ModelChoice) -> LlmEndpoint | None:
    """The model for memory work by the user's choice; None where there is none."""
    if choice.use is ModelUse.SETTINGS:
        return settings.archivist
    if choice.use is ModelUse.NONE:
        return None
    if choice.use is ModelUse.CLIENT:
        return LlmEndpoint("", CLIENT, "")
    return LlmEndpoint(choice.base_url.rstrip("/"), choice.model.strip(), choice.api_key)


def _llms(settings: LlmSettings, desk: ClientDesk, wanted: LlmEndpoint | None) -> LlmSources:
    """The archivist's language model: an endpoint, or the client's connection."""
    timeout = settings.timeout_seconds
    if wanted is None or wanted.model == CLIENT:
        archivist = None if wanted is None else desk.llm
        return LlmSources(archivist=archivist, desk=desk, context_tokens=settings.context_tokens)
    endpoint = LitellmEndpoint(wanted.base_url, wanted.model, wanted.api_key, timeout)
    return LlmSources(
        archivist=lambda _owner: endpoint,
        desk=desk,
        context_tokens=settings.context_tokens,
        stop=(endpoint.stop,),
    )


def _choosable(settings: Settings, desk: ClientDesk) -> ChoosableModels:
    """The models that the user can choose while SoulMem runs."""
    llm, spending = settings.llm, settings.consolidation
    return ChoosableModels(
        file=JsonModelChoice(settings.data / MODEL_FILE),
        sources=lambda choice: _llms(llm, desk, _chosen(llm, choice)),
        limits=lambda choice: _limits(spending, _chosen(llm, choice)),
    )


def model_fetcher(settings: Settings) -> SettingsFetcher | None:
    """The fetcher of the embedding model in the settings; None where no download is wanted."""
    embedder = settings.embedder
    if embedder.model in ("none", "fallback"):
        return None
    return SettingsFetcher(
        embedder.model,
        HubAddress(settings.data / HUB_FILE, embedder.hub),
        settings.data / MODELS_FOLDER / FOLDER,
        embedder.offline,
    )


def _models(
    settings: EmbedderSettings, fetcher: SettingsFetcher | None
) -> tuple[ModelSource | None, ModelSource | None]:
    """The wanted model, and the one used until it is loaded."""
    name = settings.model
    if fetcher is None:
        return None, None if name == "none" else _FALLBACK
    unpacked = fetcher.unpacked if name == sentence_transformer.DEFAULT_MODEL else None
    load = partial(
        sentence_transformer.load,
        name,
        query_prompt=None if settings.query_prompt == "auto" else settings.query_prompt,
        max_tokens=settings.max_tokens,
        batch=settings.batch,
        threads=settings.threads or None,
        hub=fetcher.hub,
        unpacked=unpacked,
    )
    at_hand = partial(sentence_transformer.is_on_disk, name, unpacked=unpacked)
    return ModelSource(
        name,
        at_hand,
        partial(_local, name, at_hand, load) if settings.offline else load,
    ), _FALLBACK


def _local(name: str, at_hand: Callable[[], bool], load: Callable[[], Embedder]) -> Embedder:
    """The model if it is on disk. Raises ModelUnavailable."""
    if not at_hand():
        raise forbidden(name)
    return load()
