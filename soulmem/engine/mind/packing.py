"""Packing a mind into arrays for a snapshot, and restoring it from them. Compute thread only.

A snapshot holds all that is slow to compute from stored rows. Recall records are few and
are always read from the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.mind.mind import Mind
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.graph.incidence import Incidence, PackedIncidence
from soulmem.graph.packed_arrays import Arrays, named, part
from soulmem.graph.row_numbers import Rows
from soulmem.graph.vectors import VectorTable
from soulmem.retrieval.lexical import LexicalIndex

_AT_ONCE = 2000  # memories packed in one step: some 10 ms
_TERMS = ("keys", "rows", "counts", "terms", "salience")
_NAMES_AT_ONCE = 200  # concepts whose names are indexed in one step: some 10 ms

Pieces = Iterator[dict[str, NDArray[Any]]]


def packed_parts(mind: Mind) -> Pieces:
    """The mind as copied arrays, in steps; it must not change until the last step."""
    while mind.memories.pack(_AT_ONCE):
        yield {}
    frame = mind.frame()
    yield named("memories", mind.memories.packed())
    yield named("names", mind.name_counts.packed(frame.rows))
    yield {"ids": frame.rows.packed(), "pairs": frame.pairs.ends()}
    yield named("columns", mind.columns.packed(mind.size))
    yield named("edges", mind.edges.packed())
    yield named("facts", mind.facts.packed())
    yield named("sight", frame.visibility.packed())
    for _ in mind.words.gather():
        yield {}
    yield _copied(named("words", mind.words.packed()))
    yield named("terms", _terms(mind))
    pieces = []
    for piece in mind.names.packed(frame.rows.row):
        pieces.append(np.frombuffer(piece, np.uint8))
        yield {}
    lengths = np.array([piece.size for piece in pieces], np.int64)
    yield {
        "concepts.lengths": lengths,
        "concepts.pieces": np.concatenate([np.zeros(0, np.uint8), *pieces]),
    }
    for name, table in (
        ("turns", mind.vector_queue.text_vectors),
        ("following", mind.vector_queue.pair_vectors),
    ):
        if table is not None:
            yield _copied(named(name, table.packed()))


def restore_steps(mind: Mind, arrays: Arrays, model: str | None) -> Iterator[None]:
    """Fill an empty mind with what `packed_parts` gave, in steps. `model` is that of the vectors, if any."""
    frame = mind.frame()
    frame.rows.restore(arrays["ids"])
    ids = _Ids(frame.rows)
    yield
    mind.memories.restore(part("memories", arrays))
    mind.columns.restore(part("columns", arrays))
    yield
    yield from _restored_tellings(mind)
    mind.name_counts.restore(part("names", arrays), ids.__getitem__)
    yield
    mind.edges.restore(part("edges", arrays))
    mind.facts.restore(part("facts", arrays))
    yield
    frame.pairs.restore(arrays["pairs"], arrays["sight.pairs.values"])
    yield
    yield from frame.visibility.restore(part("sight", arrays), ids.__getitem__)
    mind.words = LexicalIndex.unpacked(part("words", arrays))
    packed = PackedIncidence(**part("terms", arrays))
    mind.terms.incidence = Incidence.unpacked(packed, mind.size)
    yield
    turns = following = None
    if model is not None:
        turns = VectorTable.unpacked(part("turns", arrays))
        following = VectorTable.unpacked(part("following", arrays))
    mind.vector_queue.restore(model, turns, following)
    yield
    yield from _restored_concepts(mind, part("concepts", arrays), ids.__getitem__)


def _restored_concepts(
    mind: Mind, arrays: Arrays, id_of: Callable[[int], MemoryId]
) -> Iterator[None]:
    """Put the names of concepts, in steps: those in `arrays`, and of others what the memories say."""
    stop, n = 0, mind.size
    is_concept = mind.columns.kind[:n] == MEMORY_KINDS.index(MemoryKind.CONCEPT)
    is_concept &= mind.columns.created[:n] != 0
    for length in arrays["lengths"].tolist():
        start, stop = stop, stop + length
        rows = mind.names.restore(arrays["pieces"][start:stop].tobytes(), id_of)
        is_concept[rows] = False
        yield
    others = np.flatnonzero(is_concept).tolist()
    for start in range(0, len(others), _NAMES_AT_ONCE):
        for row in others[start : start + _NAMES_AT_ONCE]:
            concept = mind.memory_at(row)
            mind.names.put(concept)
            mind.drafted.put(concept)
        yield


def _restored_tellings(mind: Mind) -> Iterator[None]:
    """Read which memories are merged, in steps."""
    n, columns = mind.size, mind.columns
    merged = np.flatnonzero(columns.active[:n] & ~columns.in_use[:n]).tolist()
    for start in range(0, len(merged), _NAMES_AT_ONCE):
        for row in merged[start : start + _NAMES_AT_ONCE]:
            if columns.created[row] != 0:  # facts have no memory of their own
                mind.tellings.put(mind.memory_at(row))
        yield


class _Ids(dict[int, MemoryId]):
    """Ids by row, each created once and shared by all tables that hold it."""

    def __init__(self, rows: Rows[MemoryId]) -> None:
        super().__init__()
        self._rows = rows

    def __missing__(self, row: int) -> MemoryId:
        key = self._rows.id(row)
        if key is None:
            raise KeyError(f"row {row} is free")
        self[row] = key
        return key


def _copied(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name: array.copy() for name, array in arrays.items()}


def _terms(mind: Mind) -> dict[str, NDArray[Any]]:
    packed = mind.terms.incidence.packed()
    return {name: getattr(packed, name) for name in _TERMS}
