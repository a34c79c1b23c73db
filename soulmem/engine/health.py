"""How is the sidecar, in one answer?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from soulmem.domain.errors import StoreError
from soulmem.engine.answers import EmbedderHealth, Health
from soulmem.engine.llms import LlmHealth
from soulmem.engine.mind import Mind
from soulmem.ports.store import StoreHealth


def health_of(
    *,
    opened: bool,
    error: StoreError | None,
    store: StoreHealth,
    embedder: EmbedderHealth,
    phase: str,
    kernels: str,
    llm: LlmHealth,
    minds: Iterable[Mind],
    notes: Sequence[str],
) -> Health:
    """`opened`: the store is open, or cannot be because of `error`; `notes` are what the parts say."""
    if not opened or embedder.state == "loading":
        status = "starting"
    elif error is not None or embedder.state == "error" or not store.writable:
        status = "degraded"
    else:
        status = "ok"
    return Health(
        status=status,
        phase=phase,
        store_state="error" if error is not None else "ok",
        store_detail=error.message if error is not None else store.detail,
        embedder=embedder,
        kernels=kernels,
        llm_state=llm.state,
        llm_model=llm.model,
        pending=sum(mind.embedded.pending() for mind in minds),
        notes=(*([error.message] if error is not None else ()), *notes),
    )
