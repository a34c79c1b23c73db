"""How health is told."""

from __future__ import annotations

from soulmem import __version__
from soulmem.engine.api.results import Health
from soulmem.server.answers.common import Answer

API_MAJOR, API_MINOR = 1, 1


class ApiVersion(Answer, frozen=True):
    """The contract this sidecar speaks."""

    major: int = API_MAJOR
    minor: int = API_MINOR


class StoreHealthAnswer(Answer, frozen=True):
    """`state` is ok or error."""

    state: str
    detail: str


class EmbedderHealthAnswer(Answer, frozen=True):
    """`state` is loading, ok or error; `fallback` while the packaged model stands in."""

    state: str
    model: str | None
    dim: int | None
    fallback: bool
    prompt: str | None


class KernelsHealthAnswer(Answer, frozen=True):
    """`state` is warming or ok."""

    state: str


class LlmHealthAnswer(Answer, frozen=True):
    """`state` is off, ok or error; calls and tokens are those of the last hour, of all souls together."""

    state: str
    model: str | None
    calls_this_hour: int
    tokens_this_hour: int


class CoreAnswer(Answer, frozen=True):
    """A permanent memory that the last recall of its soul had no room for."""

    soul: str
    memory: str


class HealthAnswer(Answer, frozen=True):
    """How the sidecar is; `pending` counts messages not yet searchable, `bin_days` is how long anything lies
    in the bin before it goes for good.
    """

    status: str
    version: str
    api: ApiVersion
    phase: str
    store: StoreHealthAnswer
    embedder: EmbedderHealthAnswer
    kernels: KernelsHealthAnswer
    llm: LlmHealthAnswer
    pending: int
    bin_days: float
    core_left_out: list[CoreAnswer]
    notes: list[str]


def health_answer(health: Health, bin_days: float) -> HealthAnswer:
    """The engine's health with the versions added."""
    embedder = health.embedder
    return HealthAnswer(
        status=health.status,
        version=__version__,
        api=ApiVersion(),
        phase=health.phase,
        store=StoreHealthAnswer(state=health.store_state, detail=health.store_detail),
        embedder=EmbedderHealthAnswer(
            state=embedder.state,
            model=embedder.model,
            dim=embedder.dim,
            fallback=embedder.fallback,
            prompt=embedder.prompt,
        ),
        kernels=KernelsHealthAnswer(state=health.kernels),
        llm=LlmHealthAnswer(
            state=health.llm_state,
            model=health.llm_model,
            calls_this_hour=health.spent.calls,
            tokens_this_hour=health.spent.prompt_tokens + health.spent.answer_tokens,
        ),
        pending=health.pending,
        bin_days=bin_days,
        core_left_out=[
            CoreAnswer(soul=soul, memory=memory)
            for soul, memory in health.core_left_out
        ],
        notes=list(health.notes),
    )
