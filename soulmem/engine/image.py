"""What of a mind is put into an image, and how does a mind come out of one? Computes: its own thread alone.

An image holds all that takes long to make anew from the rows. Recall records are few and are read as ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.embedded import TextKey
from soulmem.engine.mind import Mind
from soulmem.graph.association import MEMORY_KINDS
from soulmem.graph.incidence import Incidence, PackedIncidence
from soulmem.graph.lineage import Pair
from soulmem.graph.packing import Arrays, named, packed_texts, part, unpacked_texts
from soulmem.graph.rows import Rows
from soulmem.graph.vectors import VectorTable
from soulmem.retrieval.lexical import LexicalIndex

_AT_ONCE = 2000  # memories made bytes in one go: some 10 ms
_NAMES_AT_ONCE = 200  # concepts whose names are put in order in one go: some 10 ms

Pieces = Iterator[dict[str, NDArray[Any]]]


def pieces(mind: Mind) -> Pieces:
    """The mind as arrays of its own, piece by piece; it must stay as it is until the last one."""
    while mind.memories.pack(_AT_ONCE):
        yield {}
    frame = mind.frame()
    yield named("memories", mind.memories.packed())
    yield named("names", mind.sightings.packed(frame.rows))
    yield {"ids": packed_texts(frame.rows.ids()), "pairs": _ends(frame.rows, frame.pairs)}
    yield named("columns", mind.columns.packed(mind.size))
    yield named("edges", mind.edges.packed())
    yield named("facts", mind.facts.packed())
    yield named("sight", frame.sight.packed())
    yield _copied(named("words", mind.words.packed()))
    yield named("terms", _terms(mind))
    for name, table in (("turns", mind.embedded.turns), ("following", mind.embedded.pairs)):
        if table is not None:
            yield _copied(named(name, table.packed()))


def restored(mind: Mind, arrays: Arrays, model: str | None) -> Iterator[None]:
    """Fill a new mind with what `pieces` gave, step by step. `model` is the one its vectors are of."""
    frame = mind.frame()
    frame.rows.restore([None if key is None else MemoryId(key) for key in unpacked_texts(arrays["ids"])])
    yield
    mind.memories.restore(part("memories", arrays))
    mind.columns.restore(part("columns", arrays))
    yield
    mind.sightings.restore(part("names", arrays), frame.rows)
    yield
    mind.edges.restore(part("edges", arrays))
    mind.facts.restore(part("facts", arrays))
    yield
    frame.pairs.restore(_pairs(frame.rows, arrays["pairs"]))
    yield
    yield from frame.sight.restore(part("sight", arrays))
    mind.words = LexicalIndex.unpacked(part("words", arrays))
    mind.terms.incidence = _incidence(part("terms", arrays))
    yield
    if model is None:
        mind.embedded.want_all()
    else:
        turns, following = (VectorTable.unpacked(part(name, arrays)) for name in ("turns", "following"))
        mind.embedded.restore(model, turns, following, _without_vector(mind, turns, following))
    yield
    codes = mind.columns.kind[: mind.size] == MEMORY_KINDS.index(MemoryKind.CONCEPT)
    concepts = np.flatnonzero(codes & (mind.columns.created[: mind.size] != 0)).tolist()
    for start in range(0, len(concepts), _NAMES_AT_ONCE):
        for row in concepts[start : start + _NAMES_AT_ONCE]:
            mind.names.take(mind.at(row))
        yield


def _without_vector(mind: Mind, turns: VectorTable, following: VectorTable) -> Iterator[TextKey]:
    n, keys = mind.size, mind.frame().pairs.ids()
    for row in np.flatnonzero(mind.columns.searched[:n] & ~turns.has(n)).tolist():
        yield mind.id_at(row)
    for row in np.flatnonzero(~following.has(len(keys))).tolist():
        if (pair := keys[row]) is not None:
            yield pair


def _copied(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name: array.copy() for name, array in arrays.items()}


def _ends(rows: Rows[MemoryId], pairs: Rows[Pair]) -> NDArray[np.int32]:
    """The rows of each two that follow each other, -1 where none are."""
    row = rows.row
    ends = [(-1, -1) if pair is None else (row(pair[0]), row(pair[1])) for pair in pairs.ids()]
    return np.asarray(ends, np.int32).reshape(-1, 2)


def _pairs(rows: Rows[MemoryId], ends: NDArray[Any]) -> list[Pair | None]:
    keys = rows.ids()
    out: list[Pair | None] = []
    for first, second in ends.tolist():
        before, after = (keys[first], keys[second]) if first >= 0 else (None, None)
        out.append(None if before is None or after is None else (before, after))
    return out


def _terms(mind: Mind) -> dict[str, NDArray[Any]]:
    packed = mind.terms.incidence.packed()
    arrays = {name: getattr(packed, name) for name in ("rows", "counts", "terms", "salience")}
    return {**arrays, "keys": packed_texts(packed.keys)}


def _incidence(arrays: Arrays) -> Incidence:
    keys = tuple(key for key in unpacked_texts(arrays["keys"]) if key is not None)
    rest = {name: array for name, array in arrays.items() if name != "keys"}
    return Incidence.unpacked(PackedIncidence(keys=keys, **rest))
