"""Facts: each `relates` edge between two concepts as a recallable memory of one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import Edge, EdgeKind, EdgePage
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.graph.columns import UNKNOWN, Columns
from soulmem.graph.edge_table import EdgeTable
from soulmem.graph.memory_table import MemoryTable
from soulmem.graph.packed_arrays import Arrays
from soulmem.graph.row_numbers import Rows
from soulmem.kernels.arrays import Bools
from soulmem.kernels.warm import kernels
from soulmem.language.scripts import UNSPACED, is_unspaced

RowNumbers = NDArray[np.int32]

_NOTE = MEMORY_KINDS.index(MemoryKind.NOTE)
_VERB = "relates to"  # of a relation without a verb
_DENSE = re.compile(f"[{UNSPACED}，。、；：！？「」《》]")


class LoadedFact(NamedTuple):
    """A fact that was loaded with its edge."""

    key: MemoryId
    text: str
    touched: int  # microseconds since 1970, of its edge
    row: int
    subject: int  # rows of the concepts
    object: int


class Facts(Mapping[MemoryId, Memory]):
    """The facts of a soul by edge id. The Memory of a fact is built at each access.

    Facts share the row numbers of memories, so words, vectors and graph walks find them too.
    """

    def __init__(self, edges: EdgeTable, memories: MemoryTable, rows: Rows[MemoryId]) -> None:
        self._edges = edges
        self._memories = memories
        self._rows = rows
        self._size = 0
        # Per fact its row, its subject's row and its object's row; unordered.
        self._table = np.zeros((64, 3), np.int32)
        # By row: the fact's index in the table, or -1.
        self._table_index = np.full(64, -1, np.int32)

    def __getitem__(self, key: MemoryId) -> Memory:
        if key not in self:
            raise KeyError(key)
        return self.fact_of(key)

    def fact_of(self, key: MemoryId) -> Memory:
        """The memory of the fact `key`, which must exist (not checked)."""
        edge = self._edges.existing(key)
        return self._fact(key, edge, self._memories[edge.source], self._memories[edge.target])

    def text(self, key: MemoryId) -> str | None:
        """The text of the fact `key` without building its memory; None if there is no such fact."""
        row = self._rows.row(key)
        return self.text_at(row, key) if row is not None else None

    def text_at(self, row: int, key: MemoryId) -> str | None:
        """The text of the fact `key` at `row`; None if there is no such fact."""
        index = self._index_of(row)
        if index < 0:
            return None
        subject, object_ = map(self._memories.text_at, self._table[index, 1:].tolist())
        assert subject is not None  # facts are dropped before their concepts
        assert object_ is not None
        return fact_text(subject, self._edges.verb_of(key), object_)

    def texts_at(self, rows: Iterable[int]) -> dict[int, str]:
        """The texts of the facts among these rows, by row."""
        indices = {row: self._index_of(row) for row in rows}
        facts = [row for row, index in indices.items() if index >= 0]
        if not facts:
            return {}
        ends = self._table[[indices[row] for row in facts], 1:]
        subjects = self._memories.texts_at(ends[:, 0].tolist())
        objects = self._memories.texts_at(ends[:, 1].tolist())
        verbs = map(self._edges.verb_of, self._rows.ids(facts))
        texts = map(fact_text, subjects, verbs, objects)
        return dict(zip(facts, texts, strict=True))

    def has_row(self, row: int) -> bool:
        """Whether the row is that of a fact."""
        return self._index_of(row) >= 0

    def row_flags(self, n: int) -> Bools:
        """Which of the first `n` rows are facts, bool[n]."""
        out = np.zeros(n, np.bool_)
        np.greater_equal(self._table_index[:n], 0, out=out[: self._table_index.size])
        return out

    def __contains__(self, key: object) -> bool:  # Mapping would build it
        row = self._rows.row(key)  # type: ignore[arg-type]
        return row is not None and self._index_of(row) >= 0

    def __iter__(self) -> Iterator[MemoryId]:
        keys = map(self._rows.id, self.row_arrays()[0].tolist())
        return (key for key in keys if key is not None)

    def __len__(self) -> int:
        return self._size

    def facts_about(self, memories: Iterable[MemoryId]) -> set[MemoryId]:
        """Ids of the facts with any of these memories as subject or object.

        Call it before the edges of the memories are dropped.
        """
        out: set[MemoryId] = set()
        for memory in memories:
            keys = (MemoryId(e.id) for e in self._edges.of(memory, EdgeKind.RELATES))
            out.update(key for key in keys if key in self)
        return out

    def put(self, edge: Edge) -> Memory | None:
        """Add the fact of a `relates` edge and return its memory.

        None for an edge of another kind, or if one of its ends is not loaded.
        """
        subject, object_ = (
            self._memories.get(edge.source),
            self._memories.get(edge.target),
        )
        if edge.kind is not EdgeKind.RELATES or subject is None or object_ is None:
            return None
        fact = self._fact(MemoryId(edge.id), edge, subject, object_)
        if fact.id not in self:
            self._add(*map(self._rows.add, (fact.id, edge.source, edge.target)))
        return fact

    def load(self, page: EdgePage) -> list[LoadedFact]:
        """Add the facts of the `relates` edges of a page that is in the edge table; returns those that are new.

        Builds no memory and no edge: a large soul has a hundred thousand facts.
        """
        loaded: list[LoadedFact] = []
        rows, text_at = self._rows, self._memories.text_at
        for index, kind in enumerate(page.kind):
            if kind != EdgeKind.RELATES.value:
                continue
            source, target = rows.row(page.source[index]), rows.row(page.target[index])
            if source is None or target is None:
                continue
            subject, object_ = text_at(source), text_at(target)
            key = MemoryId(page.id[index])
            if subject is None or object_ is None or key in self:
                continue
            text = fact_text(subject, page.verb[index], object_)
            row, touched = rows.add(key), page.touched[index]
            self._add(row, source, target)
            loaded.append(LoadedFact(key, text, touched, row, source, target))
        return loaded

    def drop(self, key: MemoryId) -> bool:
        """Remove the fact `key`; False if there is none."""
        row = self._rows.row(key)
        index = -1 if row is None else self._index_of(row)
        if row is None or index < 0:
            return False
        self._size -= 1
        self._table_index[row] = -1
        if index < self._size:  # the last entry fills the gap
            self._table[index] = self._table[self._size]
            self._set_index(index)
        return True

    def row_arrays(self) -> tuple[RowNumbers, RowNumbers, RowNumbers]:
        """Arrays (fact row, subject row, object row) of equal length; views, read only."""
        used = self._table[: self._size]
        return used[:, 0], used[:, 1], used[:, 2]

    def hide_incomplete(self, accessible: Bools) -> None:
        """In place: accessible[fact] = accessible[subject] and accessible[object]; shape (rows,)."""
        kernels().mark_accessible_facts(self._table[: self._size], accessible)

    def packed(self) -> dict[str, NDArray[Any]]:
        """The facts as arrays for a snapshot; copies."""
        return {"table": self._table[: self._size].copy()}

    def restore(self, arrays: Arrays) -> None:
        """Replace everything by what `packed` gave; memories and edges must be loaded already."""
        table = arrays["table"]
        self._size = len(table)
        self._table = np.concatenate([table, np.zeros((64, 3), np.int32)])
        self._table_index = np.full(int(table.max(initial=0)) + 1, -1, np.int32)
        self._table_index[table[:, 0]] = np.arange(self._size, dtype=np.int32)

    def _add(self, row: int, subject: int, object_: int) -> None:
        if self._size == len(self._table):
            self._table = np.concatenate([self._table, np.zeros_like(self._table)])
        self._table[self._size] = row, subject, object_
        self._set_index(self._size)
        self._size += 1

    def _index_of(self, row: int) -> int:
        """The table index of the fact at `row`, -1 if there is none."""
        return int(self._table_index[row]) if row < self._table_index.size else -1

    def _set_index(self, index: int) -> None:
        """Record the table index of the fact at `index` under its row, which never changes."""
        row = int(self._table[index, 0])
        if row >= self._table_index.size:
            more = np.full(row + 1 - self._table_index.size // 2, -1, np.int32)
            self._table_index = np.concatenate([self._table_index, more])
        self._table_index[row] = index

    def _fact(self, key: MemoryId, edge: Edge, subject: Memory, object_: Memory) -> Memory:
        return Memory(
            id=key,
            soul=edge.soul,
            kind=MemoryKind.NOTE,
            text=fact_text(subject.text, edge.verb, object_.text),
            origin=edge.origin,
            created=edge.touched,
            importance=max(subject.importance, object_.importance),
        )


def note_facts(facts: Sequence[LoadedFact], columns: Columns, size: int) -> Sequence[LoadedFact]:
    """Fill the columns, of `size` rows, of these facts, whose concepts have theirs; returns the facts."""
    columns.grow(size)
    rows = [fact.row for fact in facts]
    columns.active[rows] = columns.searched[rows] = True
    touched = np.asarray([fact.touched for fact in facts], np.float64)
    columns.happened[rows] = columns.ended[rows] = touched / 1e6
    columns.importance[rows] = np.maximum(
        columns.importance[[fact.subject for fact in facts]],
        columns.importance[[fact.object for fact in facts]],
    )
    columns.tokens[rows] = UNKNOWN
    columns.unspaced[rows] = [is_unspaced(fact.text) for fact in facts]
    columns.kind[rows] = _NOTE
    return facts


def fact_text(subject: str, verb: str | None, object_: str) -> str:
    """Subject, verb and object as a sentence; no space between two characters of unspaced scripts."""
    verb_text = (verb or _VERB).replace("_", " ").strip()
    text = subject.strip()
    for part in (verb_text, object_.strip()):
        text += ("" if _is_dense(text[-1]) and _is_dense(part[0]) else " ") + part
    return text


def _is_dense(sign: str) -> bool:
    return _DENSE.match(sign) is not None
