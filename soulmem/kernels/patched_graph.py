"""A graph whose rows are replaced where they stand, in time that follows the rows and not the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from soulmem.kernels.csr import Csr, Ids

Rows = NDArray[np.int64]
T = TypeVar("T", bound=np.generic)

_NODES = 8  # one more node is made room for of so many, and one more edge of so many
_EDGES = 4
_LEAST = 64  # nodes or edges to make room for


class PatchedGraph:
    """As `Csr`, but that the edges of a node may stand anywhere, with room between them.

    starts, ends  uint32[n]  edges of a node are at starts[u]:ends[u], by falling weight
    indices, weight, kind, edge  by position, as in `Csr`; what stands between rows means nothing
    size          number of edges
    base          positions below it are those of the graph it was made of

    A row that was moved stands behind them, with one position before it that no other row has.
    """

    def __init__(self, graph: Csr) -> None:
        n, m = graph.nodes, graph.size
        self.base, self.size, self.numbers = m, m, graph.numbers
        self._packed: Csr | None = None
        room = n + n // _NODES + _LEAST
        self._starts, self._ends = np.full((2, room), m, np.uint32)
        self._room = np.zeros(room, np.uint32)  # edges for which there is room in a row
        self._starts[:n], self._ends[:n] = graph.starts, graph.ends
        self._room[:n] = graph.ends - graph.starts
        self._used = m
        more = m // _EDGES + _LEAST
        self.indices, self.weight, self.kind, self.edge = (
            np.concatenate([column, np.zeros(more, column.dtype)])
            for column in (graph.indices, graph.weight, graph.kind, graph.edge)
        )
        self._resize(n)

    @property
    def most_nodes(self) -> int:
        """Number of nodes for which there is room."""
        return self._starts.size

    def has_room(self, part: Csr, rows: Rows, nodes: int) -> bool:
        """Whether `replace` finds room."""
        if nodes > self.most_nodes:
            return False
        moved = part.ends - part.starts > self._room[rows]
        needed = _with_spare((part.ends - part.starts)[moved]).sum() + moved.sum()
        return bool(self._used + needed <= self.indices.size)

    def replace(self, part: Csr, rows: Rows, nodes: int) -> None:
        """Replace the edges of these rows, ascending and distinct, by those of the rows of `part`, in order.

        nodes  number of nodes from then on, not less than before

        There must be room; see `has_room`.
        """
        degree = part.ends - part.starts
        self.size += part.size - int((self._ends[rows] - self._starts[rows]).sum())
        moved = np.flatnonzero(degree > self._room[rows])
        if moved.size:
            room = _with_spare(degree[moved])
            ends = self._used + np.cumsum(room.astype(np.int64) + 1)
            self._starts[rows[moved]] = ends - room
            self._room[rows[moved]] = room
            self._used = int(ends[-1])
        starts = self._starts[rows]
        self._ends[rows] = starts + degree
        skip = starts.astype(np.int64) - part.starts
        positions = np.arange(part.size) + np.repeat(skip, degree)
        self.indices[positions] = part.indices
        self.weight[positions] = part.weight
        self.kind[positions] = part.kind
        self.edge[positions] = part.edge
        self.numbers = max(self.numbers, part.numbers)
        self._packed = None
        self._resize(nodes)

    def positions_of(self, rows: Rows) -> Rows:
        """The positions of the edges of these rows, row by row."""
        starts = self._starts[rows].astype(np.int64)
        degree = self._ends[rows] - starts
        skip = starts - (np.cumsum(degree) - degree)
        return np.asarray(np.arange(degree.sum()) + np.repeat(skip, degree), np.int64)

    def packed(self) -> Csr:
        """The same graph without room between rows; made in time that follows its size, once for each change."""
        if self._packed is None:
            runs = self._runs()
            indptr = np.zeros(self.nodes + 1, np.uint32)
            np.cumsum(self.ends - self.starts, out=indptr[1:])
            self._packed = Csr(
                indptr=indptr,
                indices=_joined(self.indices, runs),
                weight=_joined(self.weight, runs),
                kind=_joined(self.kind, runs),
                edge=_joined(self.edge, runs),
                numbers=self.numbers,
            )
        return self._packed

    def _runs(self) -> list[slice]:
        """The positions of all edges in the order of their nodes, as few slices as there are."""
        used = np.flatnonzero(self.ends > self.starts)
        starts, ends = self.starts[used], self.ends[used]
        breaks = np.flatnonzero(starts[1:] != ends[:-1])
        first = np.append(starts[:1], starts[breaks + 1]).tolist()
        last = np.append(ends[breaks], ends[-1:]).tolist()
        return list(map(slice, first, last))

    def _resize(self, nodes: int) -> None:
        self.nodes = nodes
        self.starts: Ids = self._starts[:nodes]
        self.ends: Ids = self._ends[:nodes]


def _joined(column: NDArray[T], runs: Sequence[slice]) -> NDArray[T]:
    return np.concatenate([column[:0], *(column[run] for run in runs)])


def _with_spare(degree: Ids) -> Ids:
    """Room for the edges of a row that is moved, so that the next edges need no other place."""
    return np.asarray(degree + degree // _EDGES + _EDGES, np.uint32)
