"""Builds the health report of the sidecar."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from soulmem.domain.errors import StoreError
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.llm_usage import LlmUsage
from soulmem.domain.phrases import Wording
from soulmem.engine.api.results import EmbedderHealth, Health, Opening
from soulmem.engine.llm.sources import LlmHealth
from soulmem.engine.mind.mind import Mind
from soulmem.engine.vectors.embedder import NO_MODEL
from soulmem.engine.world.world import World
from soulmem.ports.store import StoreHealth


def left_out(mind: Mind) -> list[MemoryId]:
    """Permanent memories that the last recall had no room for, if they are still permanent."""
    rows = [(key, mind.row(key)) for key in mind.omitted_permanent]
    columns = mind.columns
    return [
        key
        for key, row in rows
        if row is not None and columns.permanent[row] and columns.in_use[row]
    ]


def opening_of(worlds: Iterable[World]) -> Iterator[Opening]:
    """The souls that are being opened, and how far they are."""
    for world in worlds:
        for soul, mind in world.opening.items():
            read, stored = len(mind.memories), world.expected.get(soul)
            total = None if stored is None else max(read, stored)
            yield Opening(soul, mind.soul.name, read, total)


def _pending(minds: Iterable[Mind]) -> int:
    """How many memories of these minds have no vector yet."""
    return sum(mind.vector_queue.pending_memory_count() for mind in minds)


def health_of(
    *,
    opened: bool,
    error: StoreError | None,
    store: StoreHealth,
    embedder: EmbedderHealth,
    phase: str,
    kernels: str,
    llm: LlmHealth,
    spent: LlmUsage,
    minds: Sequence[Mind],
    souls_closed: int,
    closed_pending: int,
    worlds: Sequence[World],
    notes: Sequence[Wording],
) -> Health:
    """The health report.

    Nothing is pending where the user wants no embedding model: all is found by words.
    `opened`: the store is open, or cannot be because of `error`; `souls_closed`:
    for want of use, with `closed_pending` memories without a vector; `notes` come from the services.
    """
    left_out_souls = [note for world in worlds for note in world.notes()]
    troubles = (
        error is not None,
        embedder.state == "error",
        not store.writable,
        bool(store.losses),
        bool(left_out_souls),
    )
    status = "degraded" if any(troubles) else "ok"
    if not opened or embedder.state == "loading":
        status = "starting"
    return Health(
        status=status,
        phase=phase,
        store_state="error" if error is not None or store.is_gone else "ok",
        store_detail=error.wording if error is not None else store.detail,
        embedder=embedder,
        kernels=kernels,
        llm_state=llm.state,
        llm_model=llm.model,
        spent=spent,
        pending=0 if embedder.state == NO_MODEL else closed_pending + _pending(minds),
        souls_open=len(minds),
        souls_closed=souls_closed,
        core_left_out=_core_left_out(minds),
        opening=tuple(opening_of(worlds)),
        notes=(
            *([error.wording] if error is not None else ()),
            *store.losses,
            *left_out_souls,
            *notes,
        ),
    )


def _core_left_out(minds: Sequence[Mind]) -> tuple[tuple[SoulId, MemoryId], ...]:
    out: list[tuple[SoulId, MemoryId]] = []
    for mind in minds:
        out.extend((mind.soul.id, key) for key in left_out(mind))
    return tuple(out)
