"""A recall that is being answered, and what it computes first."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from soulmem.engine.api.requests import RecallRequest
from soulmem.engine.api.results import Grade
from soulmem.engine.learning.vector_update import QueryVector, query_vector
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.activation import TermActivation
from soulmem.engine.recall.context import (
    RecallContext,
    RecallQuery,
    TextScores,
    unit_query,
)
from soulmem.engine.recall.decision import Judged, Line
from soulmem.engine.recall.late_interaction import QueryTokens
from soulmem.engine.recall.pushes import PushMoment
from soulmem.engine.recall.query_embedding import EmbeddedQuery
from soulmem.engine.recall.vector_expansion import VectorMatch
from soulmem.engine.world.world import World
from soulmem.kernels.arrays import Float32s


class TimeBudget:
    """The time that a recall has."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._began = time.perf_counter()

    @property
    def spent(self) -> float:
        """Seconds since the recall began."""
        return time.perf_counter() - self._began

    @property
    def left(self) -> float:
        """Seconds until the answer is due; below 0 when it is late."""
        return self.seconds - self.spent


@dataclass(frozen=True, slots=True)
class RecallTask:
    """A recall that is being answered."""

    world: World
    mind: Mind
    request: RecallRequest
    query: RecallQuery
    embedded: EmbeddedQuery
    with_doubted: bool = False  # include memories in doubt
    push: PushMoment | None = None

    @property
    def vectors(self) -> Float32s | None:
        """A unit row per part of the query, or None."""
        return self.embedded.vectors

    def query_tokens(self, query: RecallQuery) -> QueryTokens | None:
        """The token states with the shares of `query`, which has the same parts."""
        tokens = self.embedded.tokens
        if len(tokens) != len(query.embed_parts) or not tokens:
            return None
        shares = [share for _, share in query.embed_parts]
        parts = tuple(zip(tokens, shares, strict=True))
        return QueryTokens(parts)


@dataclass(frozen=True, slots=True)
class PreparedRecall:
    """The state of a recall before it expands. Valid for this revision of the mind."""

    context: RecallContext
    scores: TextScores
    asked_lines: tuple[Line, ...]
    match: VectorMatch
    judged: Judged
    baseline: Grade
    activation_result: Callable[[], TermActivation | None]  # computes once
    revision: tuple[int, ...]


def asked_vector(task: RecallTask) -> QueryVector | None:
    """The query as memory vectors learn it; None without its vector."""
    if task.vectors is None:
        return None
    asked = unit_query(task.query.embed_parts, task.vectors)
    return query_vector(asked, task.mind.vector_queue.model)
