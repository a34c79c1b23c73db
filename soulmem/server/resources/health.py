"""Route of the health report: GET /v1/health."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from soulmem import __version__
from soulmem.engine.api.results import Health
from soulmem.server.common_types import (
    NoBody,
    NoQuery,
    PhraseResponse,
    ResponseBody,
    phrase_response,
)
from soulmem.server.replies import Reply
from soulmem.server.routes import Call, route

API_MAJOR, API_MINOR = 1, 5


class ApiVersion(ResponseBody, frozen=True):
    """Version of the HTTP interface."""

    major: int = API_MAJOR
    minor: int = API_MINOR


class StoreHealthResponse(ResponseBody, frozen=True):
    """`state` is ok or error."""

    state: str
    detail: str
    detail_phrase: PhraseResponse | UnsetType = UNSET


class EmbedderHealthResponse(ResponseBody, frozen=True):
    """`state` is loading, ok, error, or none without any model; `fallback`: the packaged model replaces the
    chosen one.
    """

    state: str
    model: str | None
    dim: int | None
    fallback: bool
    prompt: str | None


class KernelsHealthResponse(ResponseBody, frozen=True):
    """`state` is warming or ok."""

    state: str


class LlmHealthResponse(ResponseBody, frozen=True):
    """`state` is off, ok or error. Calls and tokens are of the last hour, for all souls together."""

    state: str
    model: str | None
    calls_this_hour: int
    tokens_this_hour: int


class CoreResponse(ResponseBody, frozen=True):
    """A permanent memory that did not fit into the last recall of its soul."""

    soul: str
    memory: str


class SoulsHealthResponse(ResponseBody, frozen=True):
    """How many souls are in memory, and how many left it as nobody used them for a while."""

    open: int
    closed: int


class OpeningResponse(ResponseBody, frozen=True):
    """A soul that is being opened: recall answers with the `memories` read so far; `of` is their total or null."""

    soul: str
    name: str
    memories: int
    of: int | None


class HealthResponse(ResponseBody, frozen=True):
    """State of the sidecar. `pending`: messages that are not searchable yet. `bin_days`: days until something
    in the bin is erased. `note_phrases`: one for each note, null where it has none.
    """

    status: str
    version: str
    api: ApiVersion
    phase: str
    store: StoreHealthResponse
    embedder: EmbedderHealthResponse
    kernels: KernelsHealthResponse
    llm: LlmHealthResponse
    pending: int
    souls: SoulsHealthResponse
    bin_days: float
    core_left_out: list[CoreResponse]
    opening: list[OpeningResponse]
    notes: list[str]
    note_phrases: list[PhraseResponse | None]


def health_response(health: Health, bin_days: float) -> HealthResponse:
    """The engine's health with the versions added."""
    embedder = health.embedder
    return HealthResponse(
        status=health.status,
        version=__version__,
        api=ApiVersion(),
        phase=health.phase,
        store=StoreHealthResponse(
            state=health.store_state,
            detail=str(health.store_detail),
            detail_phrase=phrase_response(health.store_detail),
        ),
        embedder=EmbedderHealthResponse(
            state=embedder.state,
            model=embedder.model,
            dim=embedder.dim,
            fallback=embedder.fallback,
            prompt=embedder.prompt,
        ),
        kernels=KernelsHealthResponse(state=health.kernels),
        llm=LlmHealthResponse(
            state=health.llm_state,
            model=health.llm_model,
            calls_this_hour=health.spent.calls,
            tokens_this_hour=health.spent.prompt_tokens + health.spent.answer_tokens,
        ),
        pending=health.pending,
        souls=SoulsHealthResponse(open=health.souls_open, closed=health.souls_closed),
        bin_days=bin_days,
        core_left_out=[
            CoreResponse(soul=soul, memory=memory) for soul, memory in health.core_left_out
        ],
        opening=[
            OpeningResponse(soul=o.soul, name=o.name, memories=o.memories, of=o.of)
            for o in health.opening
        ],
        notes=[str(note) for note in health.notes],
        note_phrases=[phrase_response(note) or None for note in health.notes],
    )


# Clients ask every few seconds. That does not count as use, or the sidecar would never be idle.
@route("GET", "/v1/health", query=NoQuery, body=None, response=HealthResponse, is_use=False)
async def read_health(call: Call[NoQuery, NoBody]) -> Reply[HealthResponse]:
    """State of the sidecar; available from its first second on."""
    return Reply(lambda: health_response(call.engine.health(), call.engine.bin.days))


ROUTES = (read_health,)
