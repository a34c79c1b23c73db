"""How far the messages before the newest one speak in a query."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallQuery
from soulmem.engine.runtime.worker import compute_only
from soulmem.kernels.arrays import Float32s

_COMPARED = 64  # memories that show what nearness is usual
_FEW = 16  # vectors too few to tell
# Standard deviations above the nearness of memories up to which the older messages have no share, and from which
# they have their full one: they are on one topic with the newest.
_OFF_TOPIC = 1.0
_ON_TOPIC = 3.0


@compute_only
def with_continuity(mind: Mind, query: RecallQuery, vectors: Float32s | None) -> RecallQuery:
    """The query with the shares of older messages lowered where the newest one is about something else.

    Without it a line that points at something new is drowned by what was talked of before; with the older
    messages left out a talk that goes on about one thing loses what it is about.

    vectors  float32[parts, dim]  a unit row per part, or None
    """
    parts = query.embed_parts
    if len(parts) < 2 or vectors is None or not query.messages:
        return query
    if parts[-1][0] != query.messages[-1].text.strip():  # an intent, or a blank line
        return query
    factor = _continuity(mind, vectors)
    return replace(
        query,
        embed_parts=_scaled(query.embed_parts, factor),
        word_parts=_scaled(query.word_parts, factor),
    )


def _continuity(mind: Mind, vectors: Float32s) -> float:
    """0..1: how much nearer the newest message is to an older one than to what the soul remembers."""
    table = mind.vector_queue.text_vectors
    if table is None or table.dim != vectors.shape[1]:
        return 1.0
    step = max(1, mind.size // _COMPARED)
    usual = table.rows(np.arange(0, mind.size, step)) @ vectors[-1]
    usual = usual[~np.isnan(usual)]
    if usual.size < _FEW:
        return 1.0
    nearest = float((vectors[:-1] @ vectors[-1]).max())
    above = (nearest - float(usual.mean())) / max(float(usual.std()), 1e-6)
    return float(np.clip((above - _OFF_TOPIC) / (_ON_TOPIC - _OFF_TOPIC), 0.0, 1.0))


def _scaled(parts: tuple[tuple[str, float], ...], factor: float) -> tuple[tuple[str, float], ...]:
    """The parts with the shares of all but the last times `factor`; the shares sum to 1 again."""
    raw = [share * factor for _, share in parts[:-1]] + [parts[-1][1]]
    total = sum(raw)
    return tuple((text, share / total) for (text, _), share in zip(parts, raw, strict=True))
