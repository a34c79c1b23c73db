"""The weight of each memory of a soul, independent of a query: the same six factors for rank and roulette.

Compute thread only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from soulmem.domain.ids import ChatId
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.concept_activation import memory_strengths
from soulmem.engine.views.tag_levels import tag_share
from soulmem.kernels.arrays import Float32s, Float64s, Int64s
from soulmem.retrieval.weights import MemoryFactors, WeightParams, memory_weight


@compute_only
def weights_of(
    mind: Mind,
    rows: Int64s,
    params: WeightParams,
    *,
    extra_turns: int,
    chat: ChatId | None = None,
    tags: Sequence[str] = (),
) -> Float32s:
    """The weight of each of these memories, 0..1; see `retrieval.weights`.

    extra_turns  by which the soul's clock was moved
    chat         in which their age is counted
    tags         that are asked for
    """
    factors = MemoryFactors(
        importance=mind.columns.importance[rows].astype(np.float64),
        feeling=mind.columns.feeling[rows].astype(np.float64),
        retention=memory_strengths(mind, rows, extra_turns, chat),
        uses=mind.recalls.uses(mind.size)[rows].astype(np.float64),
        since_use=mind.recalls.since_use(rows, mind.lived_turns(extra_turns)),
        content=_shared_tags(mind, tags, rows),
        feedback=mind.opinions.scores(rows),
    )
    return memory_weight(factors, params.of_soul(mind.soul.settings.weights))


def _shared_tags(mind: Mind, tags: Sequence[str], rows: Int64s) -> Float64s:
    """How much of the requested tags each memory carries, 0..1."""
    wanted = {tag.casefold().strip(): None for tag in tags}
    wanted.pop("", None)
    if not wanted:
        return np.zeros(rows.size)
    memories = (mind.memory_at(row) for row in rows.tolist())
    shares = [tag_share(mind, memory, tuple(wanted)) for memory in memories]
    return np.asarray(shares, np.float64)
