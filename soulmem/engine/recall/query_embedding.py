"""QueryEmbedding: the vectors and token states of a query, as far as there is time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from soulmem.engine.recall.context import Floats, RecallQuery
from soulmem.engine.vectors.embedder import EmbeddingService
from soulmem.engine.vectors.world_background import Usual
from soulmem.ports.embedder import TokenStates

_SHARE = 0.8  # of the time left, that is waited


@dataclass(frozen=True, slots=True)
class EmbeddedQuery:
    """What embedding a query gave.

    vectors       float32[parts, dim]  a unit row per part, None without a model
    part_vectors  the same per sub-question
    tokens        token states of each part, if there are any
    usual         what plain lines say of the last part
    lines         vectors of plain lines by language, where there are no token states
    late          whether time ran out
    """

    vectors: Floats | None = None
    part_vectors: Floats | None = None
    tokens: tuple[TokenStates, ...] = ()
    usual: Usual | None = None
    lines: Mapping[str, Floats] = field(default_factory=dict)
    late: bool = False


class QueryEmbedding:
    """Embeds queries. What is late is finished all the same: the next turn needs the same vectors."""

    def __init__(self, embedding: EmbeddingService) -> None:
        self._embedding = embedding
        self._asking: set[asyncio.Task[EmbeddedQuery]] = set()

    async def embed(self, query: RecallQuery, seconds: float) -> EmbeddedQuery:
        """The vectors and token states of a query for which so much time is left."""
        asking = asyncio.create_task(self._read(query))
        self._asking.add(asking)
        asking.add_done_callback(self._asking.discard)
        waited = max(0.0, _SHARE * seconds)
        try:
            return await asyncio.wait_for(asyncio.shield(asking), waited)
        except asyncio.TimeoutError:
            return EmbeddedQuery(late=True)

    async def _read(self, query: RecallQuery) -> EmbeddedQuery:
        count = len(query.embed_parts)
        parts = [text for text, _ in query.embed_parts]
        vectors = await self._embedding.embed_query([*parts, *query.sub_questions])
        if vectors is None:
            return EmbeddedQuery()
        states = await self._embedding.query_states(parts) or []
        own, of_parts = vectors[:count], vectors[count:]
        if not states:
            lines = self._embedding.world_vectors(parts[-1])
            return EmbeddedQuery(own, of_parts, lines=lines)
        usual = await self._embedding.usual(states[-1], parts[-1])
        return EmbeddedQuery(own, of_parts, tuple(states), usual)
