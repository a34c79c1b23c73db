"""Memory vectors of a soul's edges, and the background of its texts against which queries are compared."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np

from soulmem.domain.edge_vectors import EdgeVector
from soulmem.domain.ids import MemoryId
from soulmem.graph.vectors import VectorTable, cosines_with
from soulmem.kernels.arrays import Float32s, Float64s

_FINEST = 127  # the greatest code
_LEAST = 1e-6  # a shorter vector has no direction
_SAMPLE = 512  # texts that stand for all
_OWN_WEIGHT = 8.0  # texts whose mean would be 0: with few texts the mean says little
_GROWTH = 1.1  # by this factor more or fewer texts: the background is computed again


@dataclass(frozen=True, slots=True)
class Direction:
    """Where a query points to, seen from the mean of the soul's texts.

    unit    float32[dim], length 1
    offset  scalar product of `unit` with the mean
    length  distance of the query from the mean
    noise   standard deviation of the cosines of `unit` with the soul's texts, seen from there too
    """

    unit: Float32s
    offset: float
    length: float
    noise: float


@dataclass(frozen=True, slots=True)
class TextBackground:
    """Mean and spread of a soul's text vectors.

    Among vectors of e5 any two texts have a cosine near .8. Seen from the mean, unrelated
    texts have cosines around 0 with every model.

    mean    float32[dim]
    spread  > 0, root mean square distance of a text from the mean
    sample  float32[k, dim], k <= 512: unit vectors from the mean to texts
    """

    mean: Float32s
    spread: float
    sample: Float32s

    def direction(self, query: Float32s) -> Direction | None:
        """Where a query vector points to; None for one that is the mean itself."""
        difference = query - self.mean
        length = float(np.linalg.norm(difference))
        if length < _LEAST:
            return None
        unit = (difference / np.float32(length)).astype(np.float32)
        noise = float(np.std(self.sample @ unit)) if len(self.sample) else 0.0
        return Direction(unit, float(unit @ self.mean), length, noise)


class TextBackgrounds:
    """The background of one soul's texts; computed again once there are a tenth more or fewer."""

    def __init__(self) -> None:
        self._table: VectorTable | None = None
        self._count = 0
        self._background: TextBackground | None = None

    def of(self, table: VectorTable, size: int) -> TextBackground | None:
        """The background of the first `size` rows of the table; None while none has a vector."""
        count = int(np.count_nonzero(table.has(size)))
        is_near = self._count <= _GROWTH * count and count <= _GROWTH * self._count
        if table is not self._table or not is_near:
            self._table, self._count = table, count
            self._background = _background(table, size)
        return self._background


def _background(table: VectorTable, size: int) -> TextBackground | None:
    rows = np.flatnonzero(table.has(size))
    if not rows.size:
        return None
    which = np.linspace(0, rows.size - 1, min(rows.size, _SAMPLE)).astype(np.int64)
    vectors = table.rows(rows[which])
    share = rows.size / (rows.size + _OWN_WEIGHT)
    mean = (share * vectors.mean(axis=0)).astype(np.float32)
    apart = vectors - mean
    lengths = np.linalg.norm(apart, axis=1, keepdims=True)
    spread = max(_LEAST, float(np.sqrt(np.mean(lengths**2))))
    sample = apart / np.maximum(lengths, _LEAST)
    return TextBackground(mean, spread, sample.astype(np.float32))


def encoded(vector: Float32s) -> bytes:
    """A vector as bytes: float32 scale, then int8 codes; off by 1/254 of the greatest component."""
    greatest = float(np.abs(vector).max(initial=0.0))
    scale = np.asarray([greatest / _FINEST], "<f4")
    code = np.rint(vector / max(float(scale[0]), 1e-30)).astype(np.int8)
    return bytes(scale.tobytes() + code.tobytes())


def decoded(data: bytes) -> Float32s:
    """The vector of `encoded`, float32[dim]."""
    scale = np.frombuffer(data, "<f4", 1)
    code = np.frombuffer(data, np.int8, offset=scale.nbytes)
    return np.asarray(code * scale.astype(np.float32), np.float32)


class EdgeVectors:
    """Memory vectors by edge, at most `most`. Compute thread only.

    Some 2 bytes per dimension and 0.5 KB each: 2.6 MB for 2,048 vectors of 384 dimensions.
    """

    def __init__(self, most: int = 2048) -> None:
        self.most = most
        self.backgrounds = TextBackgrounds()
        self._vectors: dict[str, EdgeVector] = {}
        # Those of one model, for searching
        self._model = ""
        self._table = VectorTable(1)
        self._nothing = VectorTable(1)
        self._keys: list[str | None] = []
        self._slots: dict[str, int] = {}
        self._weights: Float64s = np.zeros(0)

    def __len__(self) -> int:
        return len(self._vectors)

    def __iter__(self) -> Iterator[EdgeVector]:
        return iter(self._vectors.values())

    def get(self, edge: str) -> EdgeVector | None:
        """The vector of an edge, or None."""
        return self._vectors.get(edge)

    def put(self, vectors: Iterable[EdgeVector]) -> None:
        """Add or replace stored vectors."""
        for vector in vectors:
            self._vectors[vector.edge] = vector
            if vector.model == self._model:
                self._insert(vector)
            else:
                self._remove(vector.edge)

    def drop(self, edges: Iterable[str]) -> None:
        """Remove the vectors of these edges; edges without one are ignored."""
        for edge in edges:
            if self._vectors.pop(edge, None) is not None:
                self._remove(edge)

    def drop_at(self, memories: Collection[MemoryId]) -> None:
        """Remove the vectors of all edges that start or end at one of these memories."""
        if self._vectors and memories:
            gone = frozenset(memories)
            self.drop(
                [
                    vector.edge
                    for vector in self._vectors.values()
                    if not gone.isdisjoint((vector.source, vector.target))
                ]
            )

    def surplus(self, added: Collection[str], model: str) -> list[str]:
        """The edges whose vectors must go when those of `added` are put.

        First those of another model than `model`, then those that were taught least recently.
        """
        present = [key for key in self._vectors if key not in added]
        over = len(present) + len(added) - self.most
        if over <= 0:
            return []
        return sorted(present, key=lambda key: self._age(key, model))[:over]

    def matches(
        self, direction: Direction, spread: float, model: str
    ) -> tuple[list[str | None], Float64s]:
        """The edges that have a vector of that model, None for a free place, and <q, m> of each.

        Vectors are seen from the mean of the texts and in units of their spread, so that a
        vector taught by one query once has length .64 and <q, m> is its cosine times that.
        """
        self._use(model, direction.unit.size)
        count = len(self._keys)
        if not count:
            return [], np.zeros(0)
        dots, _ = cosines_with(direction.unit, self._table, count, self._nothing, 0)
        offsets = self._weights[:count] * direction.offset
        found: Float64s = (dots.astype(np.float64) - offsets) / spread
        return self._keys, np.where(np.isfinite(found), found, 0.0)

    def _age(self, key: str, model: str) -> tuple[bool, float, str]:
        vector = self._vectors[key]
        return vector.model == model, vector.turn, key

    def _use(self, model: str, dim: int) -> None:
        """Prepare the table for the vectors of that model."""
        if model == self._model:
            return
        self._model = model
        self._table, self._nothing = VectorTable(dim, self.most), VectorTable(dim)
        self._keys, self._slots, self._weights = [], {}, np.zeros(self.most + 1)
        for vector in self._vectors.values():
            if vector.model == model:
                self._insert(vector)

    def _insert(self, vector: EdgeVector) -> None:
        raw = decoded(vector.data)
        if raw.size != self._table.dim:
            return
        slot = self._slots.get(vector.edge)
        if slot is None:
            slot = self._free_slot()
            self._slots[vector.edge], self._keys[slot] = slot, vector.edge
        self._table.put(slot, raw)
        self._weights[slot] = vector.weight

    def _free_slot(self) -> int:
        if len(self._slots) < len(self._keys):
            return self._keys.index(None)
        self._keys.append(None)
        if len(self._keys) > self._weights.size:
            self._weights = np.append(self._weights, np.zeros(self._weights.size + 1))
        return len(self._keys) - 1

    def _remove(self, edge: str) -> None:
        slot = self._slots.pop(edge, None)
        if slot is not None:
            self._keys[slot] = None
            self._table.drop(slot)


def length_of(
    vector: Float32s, weight: float, direction: Direction, background: TextBackground
) -> tuple[float, float]:
    """The length of a memory vector, and <q, m>; both as in `EdgeVectors.matches`."""
    apart = (vector - np.float32(weight) * background.mean) / background.spread
    return sqrt(float(apart @ apart)), float(apart @ direction.unit)
