"""What a soul knows as sentences: each relation between two concepts is a fact that can be recalled."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind
from soulmem.domain.scripts import UNSPACED
from soulmem.graph.edge_table import EdgeTable
from soulmem.graph.rows import Rows

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

_VERB = "relates to"  # of a relation that was given none
_DENSE = re.compile(f"[{UNSPACED}，。、；：！？「」《》]")


class Facts(Mapping[MemoryId, Memory]):
    """The facts of a soul by the id of their edge, as memories of their own.

    They have rows among those of the memories, and are found by words, by vector and by the walk alike.
    """

    def __init__(self, edges: EdgeTable, memories: Mapping[MemoryId, Memory], rows: Rows[MemoryId]) -> None:
        self._edges = edges
        self._memories = memories
        self._rows = rows
        self._facts: dict[MemoryId, Memory] = {}
        self._ends: dict[MemoryId, tuple[MemoryId, MemoryId]] = {}
        self._of: dict[MemoryId, set[MemoryId]] = {}
        self._at: dict[MemoryId, int] = {}  # position in the table
        self._table = np.zeros((64, 3), np.int64)  # rows of a fact and of its two ends, in no order

    def __getitem__(self, key: MemoryId) -> Memory:
        return self._facts[key]

    def __contains__(self, key: object) -> bool:  # that of Mapping raises and catches
        return key in self._facts

    def __iter__(self) -> Iterator[MemoryId]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)

    def touching(self, memories: Iterable[MemoryId]) -> set[MemoryId]:
        """Facts that tell of any of these memories."""
        return {fact for memory in memories for fact in self._of.get(memory, ())}

    def put(self, edge: Edge) -> Memory | None:
        """Take over a relation; None for an edge that is none, or whose ends are not here."""
        subject, object_ = self._memories.get(edge.source), self._memories.get(edge.target)
        if edge.kind is not EdgeKind.RELATES or subject is None or object_ is None:
            return None
        key = MemoryId(edge.id)
        fact = Memory(
            id=key,
            soul=edge.soul,
            kind=MemoryKind.NOTE,
            text=fact_text(subject.text, edge.verb, object_.text),
            origin=edge.origin,
            created=edge.touched,
            importance=max(subject.importance, object_.importance),
        )
        if key not in self._facts:
            self._place(key, edge)
        self._facts[key] = fact
        self._ends[key] = edge.source, edge.target
        for end in self._ends[key]:
            self._of.setdefault(end, set()).add(key)
        return fact

    def renew(self, memories: Iterable[MemoryId]) -> list[Memory]:
        """Facts of these memories that read differently now, as they read."""
        out = []
        for key in self.touching(memories):
            old, edge = self._facts[key], self._edges.get(key)
            if edge is not None and (new := self.put(edge)) is not None and new != old:
                out.append(new)
        return out

    def drop(self, key: MemoryId) -> bool:
        """Forget a fact; False when there was none of that id."""
        if self._facts.pop(key, None) is None:
            return False
        for end in self._ends.pop(key):
            self._of[end].discard(key)
        at, last = self._at.pop(key), len(self._at)
        if at < last:  # the last one takes the place
            self._table[at] = self._table[last]
            moved = self._rows.id(int(self._table[at, 0]))
            assert moved is not None
            self._at[moved] = at
        return True

    def rows(self) -> tuple[Ints, Ints, Ints]:
        """The row of each fact, of what it tells about, and of what it says of that; views of one length."""
        used = self._table[: len(self._at)]
        return used[:, 0], used[:, 1], used[:, 2]

    def _place(self, key: MemoryId, edge: Edge) -> None:
        """Give a new fact its row. Rows stay as they are for as long as a fact and its ends are here."""
        at = self._at[key] = len(self._at)
        if at == len(self._table):
            self._table = np.concatenate([self._table, np.zeros_like(self._table)])
        self._table[at] = [self._rows.add(end) for end in (key, edge.source, edge.target)]


def fact_text(subject: str, verb: str | None, object_: str) -> str:
    """Subject, verb and object as a sentence: spaces only between words of scripts that have them."""
    said = (verb or _VERB).replace("_", " ").strip()
    text = subject.strip()
    for part in (said, object_.strip()):
        text += ("" if _is_dense(text[-1]) and _is_dense(part[0]) else " ") + part
    return text


def _is_dense(sign: str) -> bool:
    return _DENSE.match(sign) is not None
