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
class Wanted:
    """A text whose vector is missing."""

    key: TextKey
    text: str


class Embedded:
    """Vectors of memories and of pairs, for one model at a time."""

    def __init__(
        self,
        rows: Rows[MemoryId],
        pairs: Pairs,
        text_of: Callable[[TextKey], str],
        is_searched: Callable[[MemoryId], bool],
    ) -> None:
        self.turns: VectorTable | None = None
        self.pairs: VectorTable | None = None
        self._rows = rows
        self._pair_rows = pairs
        self._text_of = text_of
        self._is_searched = is_searched
        self._wanted: dict[TextKey, None] = {}
        self.forgotten = 0  # texts that went, in all
        self.model: str | None = None  # whose vectors these are

    def use_model(self, dim: int, model: str) -> None:
        """Start empty tables for a model of `dim` dimensions; every text is wanted anew."""
        self.model = model
        self.turns = VectorTable(dim, self._rows.capacity)
        self.pairs = VectorTable(dim, self._pair_rows.capacity)
        self.want_all()

    def want_all(self) -> None:
        """No text has a vector."""
        self._wanted = dict.fromkeys(self.keys())

    def restore(
        self,
        model: str,
        turns: VectorTable,
        pairs: VectorTable,
        wanted: Iterable[TextKey],
    ) -> None:
        """Take over these vectors; `wanted` are the texts that have none."""
        self.model, self.turns, self.pairs = model, turns, pairs
        self._wanted = dict.fromkeys(wanted)

    def missing(self) -> list[TextKey]:
        """The texts without a vector."""
        return list(self._wanted)

    def want(self, key: TextKey) -> None:
        """The text is new or has changed: until it has a vector it has none, and so an image tells it."""
        self.forget(key, self._row(key))
        self._wanted[key] = None

    def forget(self, key: TextKey, row: int | None) -> None:
        """The text is gone, and with it the vector at `row`."""
        self.forgotten += 1
        self._want_no_more(key)
        table = self.pairs if isinstance(key, tuple) else self.turns
        if row is not None and table is not None:
            table.drop(row)

    def wanted(self, limit: int) -> list[Wanted]:
        """At most `limit` texts without a vector, the newest first: they are asked for soonest."""
        out: list[Wanted] = []
        for key in reversed(self._wanted):
            if len(out) == limit:
                break
            out.append(Wanted(key, self._text_of(key)))
        return out

    def all_texts(self) -> list[Wanted]:
        """Every text a model must embed."""
        return self.texts(self.keys())

    def texts(self, keys: Iterable[TextKey]) -> list[Wanted]:
        """The texts of those of these keys that are still in use."""
        return [
            Wanted(key, self._text_of(key))
            for key in keys
            if self._row(key) is not None
        ]

    def pending(self) -> int:
        """Memories that have no vector yet."""
        return sum(1 for key in list(self._wanted) if isinstance(key, str))

    def take(self, vectors: Iterable[tuple[Wanted, NDArray[np.float32]]]) -> None:
        """Keep these vectors; one whose text has changed, or that nobody wants any more, is ignored."""
        if self.turns is None or self.pairs is None:
            return
        for wanted, vector in vectors:
            key = wanted.key
            row, table = (
                self._row(key),
                self.pairs if isinstance(key, tuple) else self.turns,
            )
            if (
                row is not None
                and key in self._wanted
                and vector.shape == (table.dim,)
                and self._text_of(key) == wanted.text
            ):
                table.put(row, vector)
                self._want_no_more(key)

    def _want_no_more(self, key: TextKey) -> None:
        self._wanted.pop(key, None)
        if not self._wanted:
            self._wanted = {}  # one that was emptied keeps the room of all it held, 20 MB of a large soul

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
