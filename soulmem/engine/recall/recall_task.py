"""A recall that is being answered, and what it computes first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.engine.api.requests import RecallRequest
from soulmem.engine.learning.vector_update import QueryVector, query_vector
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.activation import TermActivation
from soulmem.engine.recall.climb import Baseline
from soulmem.engine.recall.context import (
    RecallContext,
    RecallQuery,
    TextScores,
    unit_query,
)
from soulmem.engine.recall.late_interaction import QueryTokens
from soulmem.engine.recall.pushes import PushMoment
from soulmem.engine.recall.query_embedding import EmbeddedQuery
from soulmem.engine.recall.sub_questions import SubQuestion
from soulmem.engine.recall.vector_expansion import VectorMatch
from soulmem.engine.world.world import World

Floats = NDArray[np.float32]


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
    def vectors(self) -> Floats | None:
        """A unit row per part of the query, or None."""
        return self.embedded.vectors

    def query_tokens(self, query: RecallQuery) -> QueryTokens | None:
        """The token states with the shares of `query`, which has the same parts."""
        tokens = self.embedded.tokens
        if len(tokens) != len(query.embed_parts) or not tokens:
            return None
        shares = [share for _, share in query.embed_parts]
        parts = tuple(zip(tokens, shares, strict=True))
        return QueryTokens(parts, self.embedded.usual)


@dataclass(frozen=True, slots=True)
class PreparedRecall:
    """What a recall computes before it expands. Valid for this revision of the mind."""

    context: RecallContext
    scores: TextScores
    sub_questions: tuple[SubQuestion, ...]
    match: VectorMatch
    baseline: Baseline
    activation_result: Callable[[], TermActivation | None]  # computes once
    revision: tuple[int, ...]


def asked_vector(task: RecallTask) -> QueryVector | None:
    """What memory vectors learn of the query; None without its vector."""
    if task.vectors is None:
        return None
    asked = unit_query(task.query.embed_parts, task.vectors)
    return query_vector(asked, task.mind.vector_queue.model)
