"""Weighted directed graph in compressed sparse rows (CSR)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.uint32]
Kinds = npt.NDArray[np.uint8]
Weights = npt.NDArray[np.float32]

MOST_NODES = 1 << 24
LARGEST = 1e12  # of weights and of multipliers: a product of three still is a float32


@dataclass(frozen=True, slots=True)
class Csr:
    """Out-edges by source; those of one node by falling weight. Made by `build_csr`.

    indptr   uint32[n + 1]  out-edges of u are the positions indptr[u]:indptr[u + 1]
    indices  uint32[m]      target of the edge at each position
    weight   float32[m]     0..1e12; only ratios among the out-edges of one node matter
    kind     uint8[m]       class of the edge, for multipliers at query time
    edge     uint32[m]      the caller's number of the edge, distinct
    numbers  int            upper bound of the numbers in `edge`, exclusive
    """

    indptr: Ids
    indices: Ids
    weight: Weights
    kind: Kinds
    edge: Ids
    numbers: int

    @property
    def nodes(self) -> int:
        """Number of nodes, n."""
        return self.indptr.size - 1

    @property
    def size(self) -> int:
        """Number of edges, m."""
        return self.indices.size

    @property
    def starts(self) -> Ids:
        """uint32[n]: position of the first edge of each node."""
        return self.indptr[:-1]

    @property
    def ends(self) -> Ids:
        """uint32[n]: position behind the last edge of each node."""
        return self.indptr[1:]

    def packed(self) -> Csr:
        """Itself; see `PatchedGraph.packed`."""
        return self

    @property
    def sources(self) -> Ids:
        """uint32[m]: source of the edge at each position."""
        return np.repeat(np.arange(self.nodes, dtype=np.uint32), np.diff(self.indptr))


def build_csr(
    n: int,
    source: npt.NDArray[np.integer],
    target: npt.NDArray[np.integer],
    weight: npt.NDArray[np.floating],
    kind: npt.NDArray[np.integer] | None = None,
    order_edges: Callable[..., None] | None = None,
    number: Ids | None = None,
    targets: int | None = None,
) -> Csr:
    """The graph of edges source[i] -> target[i]; loops and parallel edges are allowed.

    n       number of nodes, <= 2**24
    weight  0..1e12, kept as float32
    kind    0..255; all 0 if not given
    order_edges  that of `Kernels`, which takes a tenth of the time of the default
    number  the caller's number of each edge, distinct; its index if not given
    targets  number of nodes that edges may lead to, of a part of a graph whose sources alone are numbered anew; n
            if not given

    Raises ValueError for too many nodes, a node not below n or a weight out of range.
    """
    heavy = np.asarray(weight, np.float32)
    beyond = n if targets is None else targets
    if max(n, beyond) > MOST_NODES:
        raise ValueError(f"{max(n, beyond)} nodes are more than {MOST_NODES}")
    if source.size and (
        min(source.min(), target.min()) < 0 or source.max() >= n or target.max() >= beyond
    ):
        raise ValueError(f"an edge names a node outside 0..{beyond - 1}")
    if not ((heavy >= 0) & (heavy <= LARGEST)).all():
        raise ValueError(f"weights must be in 0..{LARGEST:g}")
    # A non-negative float32 orders like its bits, so one key sorts by source and falling weight at once.
    bits = (heavy + np.float32(0)).view(np.uint32)
    indptr = np.zeros(n + 1, np.uint32)
    order = np.empty(source.size, np.uint32)
    (order_edges or order_by_argsort)(
        np.require(source, np.uint32, ["C", "W"]), bits, indptr, order
    )
    kinds = np.zeros(source.size, np.uint8) if kind is None else np.asarray(kind, np.uint8)
    return Csr(
        indptr=indptr,
        indices=target.astype(np.uint32)[order],
        weight=heavy[order],
        kind=kinds[order],
        edge=order if number is None else number[order],
        numbers=source.size if number is None else int(number.max(initial=0)) + 1,
    )


def joined(parts: Sequence[Csr]) -> Csr:
    """The graph whose sources are those of each of these parts in turn; at least one part."""
    degree = np.concatenate([part.ends - part.starts for part in parts])
    indptr = np.zeros(degree.size + 1, np.uint32)
    np.cumsum(degree, out=indptr[1:])
    return Csr(
        indptr=indptr,
        indices=np.concatenate([part.indices for part in parts]),
        weight=np.concatenate([part.weight for part in parts]),
        kind=np.concatenate([part.kind for part in parts]),
        edge=np.concatenate([part.edge for part in parts]),
        numbers=max(part.numbers for part in parts),
    )


def order_by_argsort(source: Ids, bits: Ids, indptr: Ids, order: Ids) -> None:
    """See `ordering.order_edges`: the same by NumPy's sort."""
    key = source.astype(np.uint64) << np.uint64(32) | ~bits
    order[:] = np.argsort(key, kind="stable")
    counts = np.bincount(source.astype(np.int64), minlength=indptr.size - 1)
    np.cumsum(counts, out=indptr[1:])
