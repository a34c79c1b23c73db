"""QueryEmbedding: the vectors and token states of a query, as far as there is time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from soulmem.engine.recall.context import RecallQuery
from soulmem.engine.recall.line_matches import background_language
from soulmem.engine.vectors.embedder import EmbeddingService
from soulmem.engine.vectors.world_background import Usual
from soulmem.kernels.arrays import Float32s
from soulmem.ports.embedder import TokenStates

_SHARE = 0.8  # of the time left, that is waited


@dataclass(frozen=True, slots=True)
class EmbeddedQuery:
    """What embedding a query gave.

    vectors       float32[parts, dim]  a unit row per part, None without a model
    line_vectors  the same per asked line
    tokens        token states of each part, if there are any
    line_tokens   the same of each asked line
    usual         what plain lines say of the last part
    line_usual    the same of each asked line
    kinds         float32[1 + lines, KINDS], of the newest text and each asked line; None while not known
    late          whether time ran out
    """

    vectors: Float32s | None = None
    line_vectors: Float32s | None = None
    tokens: tuple[TokenStates, ...] = ()
    line_tokens: tuple[TokenStates, ...] = ()
    usual: Usual | None = None
    line_usual: tuple[Usual | None, ...] = ()
    kinds: Float32s | None = None
    late: bool = False


class QueryEmbedding:
    """Embeds queries. What is late is finished all the same: the next turn needs the same vectors."""

    def __init__(self, embedding: EmbeddingService) -> None:
        self._embedding = embedding
        self._asking: set[asyncio.Task[EmbeddedQuery]] = set()

    async def embed(
        self, query: RecallQuery, seconds: float, shares: Mapping[str, float]
    ) -> EmbeddedQuery:
        """The vectors and token states of a query for which so much time is left.

        shares  of languages among the soul's texts
        """
        asking = asyncio.create_task(self._read(query, shares))
        self._asking.add(asking)
        asking.add_done_callback(self._asking.discard)
        waited = max(0.0, _SHARE * seconds)
        try:
            return await asyncio.wait_for(asyncio.shield(asking), waited)
        except asyncio.TimeoutError:
            return EmbeddedQuery(late=True)

    async def _read(self, query: RecallQuery, shares: Mapping[str, float]) -> EmbeddedQuery:
        count = len(query.embed_parts)
        texts = [*(text for text, _ in query.embed_parts), *query.asked_lines]
        vectors = await self._embedding.embed_query(texts)
        said = [*(text for text, _ in query.word_parts[-1:]), *query.asked_lines]
        kinds = await self._embedding.kinds(said)
        if vectors is None:
            return EmbeddedQuery(kinds=kinds)
        own, of_lines = vectors[:count], vectors[count:]
        states = await self._embedding.query_states(texts) or []
        if not states:
            return EmbeddedQuery(own, of_lines, kinds=kinds)
        # What plain lines say is asked of the newest part and of each line.
        usual = [
            await self._embedding.usual(states[place], background_language(texts[place], shares))
            for place in range(count - 1, len(texts))
        ]
        return EmbeddedQuery(
            own,
            of_lines,
            tuple(states[:count]),
            tuple(states[count:]),
            usual[0],
            tuple(usual[1:]),
            kinds,
        )
