"""Which of a soul's texts have a vector, and which still want one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import MemoryId
from soulmem.graph.pairs import Pair, Pairs
from soulmem.graph.rows import Rows
from soulmem.graph.vectors import VectorTable

TextKey = MemoryId | Pair  # a memory, or two that follow each other


@dataclass(frozen=True, slots=True)
class PendingText:
    """A text whose vector is missing."""

    key: TextKey
    text: str


class VectorQueue:
    """Vectors of memories and of pairs, for one model at a time."""

    def __init__(
        self,
        rows: Rows[MemoryId],
        pairs: Pairs,
        text_of: Callable[[TextKey], str],
        is_searched: Callable[[MemoryId], bool],
    ) -> None:
        self.text_vectors: VectorTable | None = None
        self.pair_vectors: VectorTable | None = None
        self._rows = rows
        self._pair_rows = pairs
        self._text_of = text_of
        self._is_searched = is_searched
        self._pending: dict[TextKey, None] = {}
        self.dropped_texts = 0  # texts that went, in all
        self.model: str | None = None  # whose vectors these are

    def use_model(self, dim: int, model: str) -> None:
        """Start empty tables for a model of `dim` dimensions; every text is wanted anew."""
        self.model = model
        self.text_vectors = VectorTable(dim, self._rows.capacity)
        self.pair_vectors = VectorTable(dim, self._pair_rows.capacity)
        self.enqueue_all()

    def enqueue_all(self) -> None:
        """No text has a vector."""
        self._pending = dict.fromkeys(self.keys())

    def restore(
        self,
        model: str,
        turns: VectorTable,
        pairs: VectorTable,
        wanted: Iterable[TextKey],
    ) -> None:
        """Take over these vectors; `wanted` are the texts that have none."""
        self.model, self.text_vectors, self.pair_vectors = model, turns, pairs
        self._pending = dict.fromkeys(wanted)

    def pending_keys(self) -> list[TextKey]:
        """The texts without a vector."""
        return list(self._pending)

    def enqueue(self, key: TextKey) -> None:
        """The text is new or has changed: until it has a vector it has none, and so an image tells it."""
        self.drop(key, self._row(key))
        self._pending[key] = None

    def drop(self, key: TextKey, row: int | None) -> None:
        """The text is gone, and with it the vector at `row`."""
        self.dropped_texts += 1
        self._dequeue(key)
        table = self.pair_vectors if isinstance(key, tuple) else self.text_vectors
        if row is not None and table is not None:
            table.drop(row)

    def next_texts(self, limit: int) -> list[PendingText]:
        """At most `limit` texts without a vector, the newest first: they are asked for soonest."""
        out: list[PendingText] = []
        for key in reversed(self._pending):
            if len(out) == limit:
                break
            out.append(PendingText(key, self._text_of(key)))
        return out

    def all_texts(self) -> list[PendingText]:
        """Every text a model must embed."""
        return self.texts(self.keys())

    def texts(self, keys: Iterable[TextKey]) -> list[PendingText]:
        """The texts of those of these keys that are still in use."""
        return [
            PendingText(key, self._text_of(key))
            for key in keys
            if self._row(key) is not None
        ]

    def pending_memory_count(self) -> int:
        """Memories that have no vector yet."""
        return sum(1 for key in list(self._pending) if isinstance(key, str))

    def store_vectors(
        self, vectors: Iterable[tuple[PendingText, NDArray[np.float32]]]
    ) -> None:
        """Keep these vectors; one whose text has changed, or that nobody wants any more, is ignored."""
        if self.text_vectors is None or self.pair_vectors is None:
            return
        for wanted, vector in vectors:
            key = wanted.key
            row, table = (
                self._row(key),
                self.pair_vectors if isinstance(key, tuple) else self.text_vectors,
            )
            if (
                row is not None
                and key in self._pending
                and vector.shape == (table.dim,)
                and self._text_of(key) == wanted.text
            ):
                table.put(row, vector)
                self._dequeue(key)

    def _dequeue(self, key: TextKey) -> None:
        self._pending.pop(key, None)
        if not self._pending:
            self._pending = {}  # one that was emptied keeps the room of all it held, 20 MB of a large soul

    def _row(self, key: TextKey) -> int | None:
        return (
            self._pair_rows.row(key) if isinstance(key, tuple) else self._rows.row(key)
        )

    def keys(self) -> list[TextKey]:
        """Of every text a model must embed."""
        return [
            *(key for key, _ in self._rows if self._is_searched(key)),
            *(p for p, _ in self._pair_rows),
        ]
