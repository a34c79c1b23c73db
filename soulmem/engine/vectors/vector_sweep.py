"""VectorSweep: deletes stored vectors, and kinds of lines, that no text needs any more."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from soulmem.domain.ids import SoulId
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.vectors.kind_keeper import is_kept, read_examples
from soulmem.engine.vectors.stored_vectors import vector_key
from soulmem.ports.store import Store


class VectorSweep:
    """Call it only while every soul is open.

    Listing 280,000 vectors takes 3 s, so it is done once after a start, and again only if texts were dropped.
    """

    def __init__(self, *, store: Store, compute: Worker) -> None:
        self._store = store
        self._compute = compute
        # At the last time: the model, and how many texts each soul had dropped
        self._swept: tuple[str, tuple[tuple[SoulId, int], ...]] | None = None

    async def run(self, model: str, minds: Sequence[Mind]) -> None:
        """Delete the vectors of this model that no text of these minds needs, and all vectors of other models."""
        dropped = tuple((m.soul.id, m.vector_queue.dropped_texts) for m in minds)
        if (model, dropped) == self._swept:
            return
        await asyncio.to_thread(read_examples)
        needed: set[str] = set()
        for mind in list(minds):
            texts = await self._compute.run(mind.vector_queue.all_texts)
            needed.update(vector_key(pending.text) for pending in texts)
        async for stored in self._store.vector_keys(model):
            unused = [
                (name, key)
                for name, key in stored
                if not (name == model and key in needed) and not is_kept(model, name, key, needed)
            ]
            if unused:
                await self._store.drop_vectors(unused)
        self._swept = model, dropped
