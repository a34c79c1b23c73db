"""What a soul knows as sentences: each relation between two concepts is a fact that can be recalled."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind
from soulmem.graph.edge_table import EdgeTable
from soulmem.graph.memory_table import MemoryTable
from soulmem.graph.packing import Arrays
from soulmem.graph.rows import Rows
from soulmem.kernels.warm import kernels
from soulmem.language.scripts import UNSPACED

Bools = NDArray[np.bool_]
RowNumbers = NDArray[np.int32]

_VERB = "relates to"  # of a relation that was given none
_DENSE = re.compile(f"[{UNSPACED}，。、；：！？「」《》]")


class Facts(Mapping[MemoryId, Memory]):
    """The facts of a soul by the id of their edge, as memories of their own: made when somebody asks.

    They have rows among those of the memories, and are found by words, by vector and by the walk alike.
    """

    def __init__(
        self, edges: EdgeTable, memories: MemoryTable, rows: Rows[MemoryId]
    ) -> None:
        self._edges = edges
        self._memories = memories
        self._rows = rows
        self._size = 0
        self._table = np.zeros(
            (64, 3), np.int32
        )  # rows of a fact and of its two ends, in no order
        self._place = np.full(
            64, -1, np.int32
        )  # by row of a fact: its place in the table

    def __getitem__(self, key: MemoryId) -> Memory:
        if key not in self:
            raise KeyError(key)
        return self.known(key)

    def known(self, key: MemoryId) -> Memory:
        """The fact of an id that is here, without looking whether it is."""
        edge = self._edges.known(key)
        return self._fact(
            key, edge, self._memories[edge.source], self._memories[edge.target]
        )

    def text(self, key: MemoryId) -> str | None:
        """The text of a fact, without the price of the rest; None where there is no such fact."""
        row = self._rows.row(key)
        return self.text_at(row, key) if row is not None else None

    def text_at(self, row: int, key: MemoryId) -> str | None:
        """The same of the row of that id."""
        at = self._place_of(row)
        if at < 0:
            return None
        subject, object_ = map(self._memories.text_at, self._table[at, 1:].tolist())
        assert subject is not None  # a fact goes before its ends do
        assert object_ is not None
        return fact_text(subject, self._edges.verb_of(key), object_)

    def texts_at(self, rows: Iterable[int]) -> dict[int, str]:
        """The texts of the facts among these rows, by row."""
        places = {row: self._place_of(row) for row in rows}
        facts = [row for row, place in places.items() if place >= 0]
        if not facts:
            return {}
        ends = self._table[[places[row] for row in facts], 1:]
        subjects = self._memories.texts_at(ends[:, 0].tolist())
        objects = self._memories.texts_at(ends[:, 1].tolist())
        verbs = map(self._edges.verb_of, self._rows.ids(facts))
        texts = map(fact_text, subjects, verbs, objects)
        return dict(zip(facts, texts, strict=True))

    def is_at(self, row: int) -> bool:
        """Whether a fact is at the row."""
        return self._place_of(row) >= 0

    def flags(self, n: int) -> Bools:
        """At which of the first `n` rows there is a fact, bool[n]."""
        out = np.zeros(n, np.bool_)
        np.greater_equal(self._place[:n], 0, out=out[: self._place.size])
        return out

    def __contains__(self, key: object) -> bool:  # that of Mapping makes the fact
        row = self._rows.row(key)  # type: ignore[arg-type]
        return row is not None and self._place_of(row) >= 0

    def __iter__(self) -> Iterator[MemoryId]:
        found = (self._rows.id(row) for row in self.rows()[0].tolist())
        return (key for key in found if key is not None)

    def __len__(self) -> int:
        return self._size

    def touching(self, memories: Iterable[MemoryId]) -> set[MemoryId]:
        """Facts that tell of any of these memories, which have their edges still."""
        relations = (
            e for memory in memories for e in self._edges.of(memory, EdgeKind.RELATES)
        )
        return {key for edge in relations if (key := MemoryId(edge.id)) in self}

    def put(self, edge: Edge) -> Memory | None:
        """Take over a relation; None for an edge that is none, or whose ends are not here."""
        subject, object_ = (
            self._memories.get(edge.source),
            self._memories.get(edge.target),
        )
        if edge.kind is not EdgeKind.RELATES or subject is None or object_ is None:
            return None
        fact = self._fact(MemoryId(edge.id), edge, subject, object_)
        if fact.id not in self:
            if self._size == len(self._table):
                self._table = np.concatenate([self._table, np.zeros_like(self._table)])
            self._table[self._size] = [
                self._rows.add(end) for end in (fact.id, edge.source, edge.target)
            ]
            self._take_place(self._size)
            self._size += 1
        return fact

    def drop(self, key: MemoryId) -> bool:
        """Forget a fact; False when there was none of that id."""
        row = self._rows.row(key)
        at = -1 if row is None else self._place_of(row)
        if row is None or at < 0:
            return False
        self._size -= 1
        self._place[row] = -1
        if at < self._size:  # the last one takes the place
            self._table[at] = self._table[self._size]
            self._take_place(at)
        return True

    def rows(self) -> tuple[RowNumbers, RowNumbers, RowNumbers]:
        """The row of each fact, of what it tells about, and of what it says of that; views of one length."""
        used = self._table[: self._size]
        return used[:, 0], used[:, 1], used[:, 2]

    def narrow(self, known: Bools) -> None:
        """Let those facts be known, shape (rows,), of which both that they tell of are, and no others."""
        facts, subjects, objects = self.rows()
        compiled = kernels()
        if compiled is None:
            known[facts] = known[subjects] & known[objects]
        else:
            compiled.know_facts(self._table[: self._size], known)

    def packed(self) -> dict[str, NDArray[Any]]:
        """All of it as arrays, which nothing changes later; rows are those of the memories."""
        return {"table": self._table[: self._size].copy()}

    def restore(self, arrays: Arrays) -> None:
        """Take over what was packed, instead of anything there was; memories and edges are here."""
        table = arrays["table"]
        self._size = len(table)
        self._table = np.concatenate([table, np.zeros((64, 3), np.int32)])
        self._place = np.full(int(table.max(initial=0)) + 1, -1, np.int32)
        self._place[table[:, 0]] = np.arange(self._size, dtype=np.int32)

    def _place_of(self, row: int) -> int:
        return int(self._place[row]) if row < self._place.size else -1

    def _take_place(self, at: int) -> None:
        """Rows stay as they are for as long as a fact and its ends are here."""
        row = int(self._table[at, 0])
        if row >= self._place.size:
            more = np.full(row + 1 - self._place.size // 2, -1, np.int32)
            self._place = np.concatenate([self._place, more])
        self._place[row] = at

    def _fact(
        self, key: MemoryId, edge: Edge, subject: Memory, object_: Memory
    ) -> Memory:
        return Memory(
            id=key,
            soul=edge.soul,
            kind=MemoryKind.NOTE,
            text=fact_text(subject.text, edge.verb, object_.text),
            origin=edge.origin,
            created=edge.touched,
            importance=max(subject.importance, object_.importance),
        )


def fact_text(subject: str, verb: str | None, object_: str) -> str:
    """Subject, verb and object as a sentence: spaces only between words of scripts that have them."""
    said = (verb or _VERB).replace("_", " ").strip()
    text = subject.strip()
    for part in (said, object_.strip()):
        text += ("" if _is_dense(text[-1]) and _is_dense(part[0]) else " ") + part
    return text


def _is_dense(sign: str) -> bool:
    return _DENSE.match(sign) is not None
