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
from soulmem.graph.row_numbers import Rows
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
    # By row whether its text is searched, bool[rows.capacity]
    searched: Callable[[], NDArray[np.bool_]]

    def __post_init__(self) -> None:
        self.text_vectors: VectorTable | None = None
        self.pair_vectors: VectorTable | None = None
        self.tokens: TokenTable | None = None  # None without token states
        self._pending: dict[TextKey, None] = {}
        self._pending_memories = 0  # of these
        self.dropped_texts = 0  # texts dropped or changed so far
        self.model: str | None = None  # the model of the vectors

    def use_model(self, dim: int, model: str) -> None:
        """Start empty tables for a model of `dim` dimensions; every text is pending."""
        self.tokens = None
        self.restore(
            model,
            VectorTable(dim, self.rows.capacity),
            VectorTable(dim, self.pairs.capacity),
        )

    def restore(
        self,
        model: str | None,
        text_vectors: VectorTable | None,
        pair_vectors: VectorTable | None,
    ) -> None:
        """Replace everything by these vectors; texts without one are pending. None where no model was used yet.

        Memories come before pairs: their own vectors are what they are found by.
        """
        self.model = model
        self.text_vectors, self.pair_vectors = text_vectors, pair_vectors
        memories, pairs = self._keys(text_vectors, pair_vectors)
        # `next_texts` takes from the end.
        self._pending = dict.fromkeys([*pairs, *memories])
        self._pending_memories = len(memories)

    def pending_keys(self) -> list[TextKey]:
        """The keys of the texts without a vector."""
        return list(self._pending)

    def enqueue(self, key: TextKey) -> None:
        """A new or changed text: its old vector is dropped at once and it becomes pending.

        Of a pair only while the second is searched; it is enqueued when that begins.
        """
        self.drop(key, self._row(key))
        if not isinstance(key, tuple) or self._is_searched(key[1]):
            self._enqueue(key)

    def load(self, memory: MemoryId, pairs: Iterable[Pair]) -> None:
        """A searched memory that was loaded, and the pairs that end with it: none of them has a vector yet."""
        self._enqueue(memory)
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
            PendingText(key, self.content_of(key)) for key in keys if self._row(key) is not None
        ]

    def pending_count(self) -> int:
        """Number of texts without a vector."""
        return len(self._pending)

    def pending_memory_count(self) -> int:
        """Number of memories and facts without a vector."""
        return self._pending_memories

    def are_present(self, pending: Iterable[PendingText]) -> list[bool]:
        """Whether each of these is still the text of its key."""
        return [
            self._row(text.key) is not None and self.content_of(text.key) == text.content
            for text in pending
        ]

    def store_vectors(self, vectors: Iterable[tuple[PendingText, NDArray[np.float32]]]) -> None:
        """Keep these vectors; one whose text has changed or is not pending any more is ignored."""
        if self.text_vectors is None or self.pair_vectors is None:
            return
        taken = self._taken(vectors, self.text_vectors.dim)
        for table, is_pair in ((self.text_vectors, False), (self.pair_vectors, True)):
            some = {key: found for key, found in taken.items() if isinstance(key, tuple) is is_pair}
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

    def _enqueue(self, key: TextKey) -> None:
        if key not in self._pending:
            self._pending[key] = None
            self._pending_memories += isinstance(key, str)

    def _dequeue(self, key: TextKey) -> None:
        if key in self._pending:
            del self._pending[key]
            self._pending_memories -= isinstance(key, str)
        if not self._pending:
            # An emptied dict keeps its memory, 20 MB for a large soul; a new one has none.
            self._pending = {}

    def _row(self, key: TextKey) -> int | None:
        return self.pairs.row(key) if isinstance(key, tuple) else self.rows.row(key)

    def _is_searched(self, key: MemoryId) -> bool:
        row = self.rows.row(key)
        return row is not None and bool(self.searched()[row])

    def keys(self) -> list[TextKey]:
        """The keys of every text that needs a vector, pending or not."""
        memories, pairs = self._keys(None, None)
        return [*memories, *pairs]

    def _keys(
        self, texts: VectorTable | None, pairs: VectorTable | None
    ) -> tuple[list[MemoryId], list[Pair]]:
        """The memories and the pairs that need a vector and have none in these tables, in order of rows."""
        n, searched = self.rows.capacity, self.searched()
        first, second = self.pairs.ends().T
        due = (second >= 0) & searched[second] if n else np.zeros(0, np.bool_)
        if pairs is not None:
            due &= ~pairs.has(due.size)
        rows = np.flatnonzero(searched if texts is None else searched & ~texts.has(n))
        first, second = first[due], second[due]
        # Each id is created once and shared by all keys that hold it.
        is_used = np.zeros(n, np.bool_)
        is_used[rows] = is_used[first] = is_used[second] = True
        used = np.flatnonzero(is_used).tolist()
        ids = dict(zip(used, self.rows.ids(used), strict=True))
        ends = zip(first.tolist(), second.tolist(), strict=True)
        return (
            [ids[row] for row in rows.tolist()],
            [(ids[begin], ids[end]) for begin, end in ends],
        )
