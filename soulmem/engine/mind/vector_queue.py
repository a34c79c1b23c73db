"""VectorQueue: the vectors of a soul's texts, and the texts whose vector is still missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import MemoryId
from soulmem.engine.mind.token_table import TextKey as TextKey
from soulmem.engine.mind.token_table import TokenTable
from soulmem.graph.pairs import Pair, Pairs
from soulmem.graph.rows import Rows
from soulmem.graph.vectors import VectorTable
from soulmem.ports.embedder import TextInContext

_BEHIND = 8  # batches that a batch is chosen from: more than that hardly saves more


@dataclass(frozen=True, slots=True)
class PendingText:
    """A text whose vector or token states are missing; of a pair the second is the text, read after the first."""

    key: TextKey
    content: TextInContext

    @property
    def text(self) -> str:
        """The whole that is embedded."""
        return self.content.whole


@dataclass(eq=False)
class VectorQueue:
    """Vectors of memories and of pairs, of one model at a time, and what is pending."""

    rows: Rows[MemoryId]
    pairs: Pairs
    content_of: Callable[[TextKey], TextInContext]
    is_searched: Callable[[MemoryId], bool]

    def __post_init__(self) -> None:
        self.text_vectors: VectorTable | None = None
        self.pair_vectors: VectorTable | None = None
        self.tokens: TokenTable | None = None  # None without token states
        self._pending: dict[TextKey, None] = {}
        self.dropped_texts = 0  # texts dropped or changed so far
        self.model: str | None = None  # the model of the vectors

    def use_model(self, dim: int, model: str) -> None:
        """Start empty tables for a model of `dim` dimensions; every text is pending."""
        self.model = model
        self.tokens = None
        self.text_vectors = VectorTable(dim, self.rows.capacity)
        self.pair_vectors = VectorTable(dim, self.pairs.capacity)
        self.enqueue_all()

    def enqueue_all(self) -> None:
        """Make every text pending, memories before pairs: their own vectors are what they are found by."""
        # `next_texts` takes from the end.
        pairs_first = sorted(self.keys(), key=lambda key: isinstance(key, str))
        self._pending = dict.fromkeys(pairs_first)

    def restore(
        self,
        model: str,
        text_vectors: VectorTable,
        pair_vectors: VectorTable,
        pending: Iterable[TextKey],
    ) -> None:
        """Replace everything by these vectors; `pending` are the texts without one."""
        self.model = model
        self.text_vectors, self.pair_vectors = text_vectors, pair_vectors
        self._pending = dict.fromkeys(pending)

    def pending_keys(self) -> list[TextKey]:
        """The keys of the texts without a vector."""
        return list(self._pending)

    def enqueue(self, key: TextKey) -> None:
        """A new or changed text: its old vector is dropped at once and it becomes pending.

        Of a pair only while the second is searched; it is enqueued when that begins.
        """
        self.drop(key, self._row(key))
        if not isinstance(key, tuple) or self.is_searched(key[1]):
            self._pending[key] = None

    def load(self, memory: MemoryId, pairs: Iterable[Pair]) -> None:
        """A searched memory that was loaded, and the pairs that end with it: none of them has a vector yet."""
        self._pending[memory] = None
        self._pending.update(dict.fromkeys(pairs))

    def drop(self, key: TextKey, row: int | None) -> None:
        """Drop a text and the vector at its former `row`."""
        self.dropped_texts += 1
        self._dequeue(key)
        table = self.pair_vectors if isinstance(key, tuple) else self.text_vectors
        if row is not None and table is not None:
            table.drop(row)
        if row is not None and self.tokens is not None:
            self.tokens.forget(key, row)

    def next_texts(self, limit: int) -> list[PendingText]:
        """At most `limit` pending texts: the newest, as queries need it soonest, and with it the nearest in length
        of those behind it. A model takes as long for each text of a batch as for the longest.
        """
        newest = islice(reversed(self._pending), limit * (_BEHIND if limit > 1 else 1))
        texts = [PendingText(key, self.content_of(key)) for key in newest]
        if len(texts) > limit:
            length = len(texts[0].text)
            texts.sort(key=lambda pending: abs(len(pending.text) - length))
        return texts[:limit]

    def all_texts(self) -> list[PendingText]:
        """Every text that needs a vector, pending or not."""
        return self.texts(self.keys())

    def texts(self, keys: Iterable[TextKey]) -> list[PendingText]:
        """The texts of these keys; keys no longer in use are left out."""
        return [
            PendingText(key, self.content_of(key))
            for key in keys
            if self._row(key) is not None
        ]

    def pending_count(self) -> int:
        """Number of texts without a vector."""
        return len(self._pending)

    def pending_memory_count(self) -> int:
        """Number of memories and facts without a vector."""
        return sum(1 for key in list(self._pending) if isinstance(key, str))

    def are_present(self, pending: Iterable[PendingText]) -> list[bool]:
        """Whether each of these is still the text of its key."""
        return [
            self._row(text.key) is not None
            and self.content_of(text.key) == text.content
            for text in pending
        ]

    def store_vectors(
        self, vectors: Iterable[tuple[PendingText, NDArray[np.float32]]]
    ) -> None:
        """Keep these vectors; one whose text has changed or is not pending any more is ignored."""
        if self.text_vectors is None or self.pair_vectors is None:
            return
        taken = self._taken(vectors, self.text_vectors.dim)
        for table, is_pair in ((self.text_vectors, False), (self.pair_vectors, True)):
            some = {
                key: found
                for key, found in taken.items()
                if isinstance(key, tuple) is is_pair
            }
            if some:
                rows, new = zip(*some.values(), strict=True)
                table.put_all(rows, np.stack(new))
            for key in some:
                self._dequeue(key)

    def _taken(
        self, vectors: Iterable[tuple[PendingText, NDArray[np.float32]]], dim: int
    ) -> dict[TextKey, tuple[int, NDArray[np.float32]]]:
        """Those of these vectors that are kept, each with its row."""
        return {
            pending.key: (row, vector)
            for pending, vector in vectors
            if pending.key in self._pending
            and vector.shape == (dim,)
            and (row := self._row(pending.key)) is not None
            and self.content_of(pending.key) == pending.content
        }

    def _dequeue(self, key: TextKey) -> None:
        self._pending.pop(key, None)
        if not self._pending:
            # An emptied dict keeps its memory, 20 MB for a large soul; a new one has none.
            self._pending = {}

    def _row(self, key: TextKey) -> int | None:
        return self.pairs.row(key) if isinstance(key, tuple) else self.rows.row(key)

    def keys(self) -> list[TextKey]:
        """The keys of every text that needs a vector, pending or not."""
        return [
            *(key for key, _ in self.rows if self.is_searched(key)),
            *(p for p, _ in self.pairs if self.is_searched(p[1])),
        ]
