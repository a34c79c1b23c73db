"""Personalised PageRank on one graph: a walk from weighted seeds, with restart."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from soulmem.kernels.arrays import Float64s
from soulmem.kernels.compiled import Kernels
from soulmem.kernels.csr import Csr, Ids
from soulmem.kernels.explain import ChainSpace
from soulmem.kernels.laid_out_graph import LaidOutGraph
from soulmem.kernels.patched_graph import PatchedGraph, Rows
from soulmem.kernels.tuning import Places, Tuning, check_tuning
from soulmem.kernels.walk_result import Walk, WalkParams
from soulmem.kernels.warm import kernels

__all__ = ["Tuning", "Walk", "WalkParams", "Walker"]


class Walker:
    """Walks on one graph. Keeps workspace between walks: for one thread at a time.

    space  for `explain` on this graph
    """

    def __init__(
        self,
        graph: Csr | PatchedGraph,
        find_kernels: Callable[[int], Kernels] = kernels,
    ) -> None:
        self.graph = graph
        self._find_kernels = find_kernels
        self._laid_out: LaidOutGraph | None = None
        self.space = ChainSpace()

    def replaced(self, rows: Rows, places: Places) -> None:
        """Take over the rows that were replaced in the graph; `places` as of the tuning of all walks."""
        if self._laid_out is not None:
            self._laid_out.replaced(rows.astype(np.uint32), places)

    def walk(
        self,
        seeds: Ids,
        share: Float64s,
        params: WalkParams,
        tuning: Tuning | None = None,
    ) -> Walk:
        """Follow a walk from the seeds until the error is at most params.l1.

        seeds  uint32[k]   k >= 1; a node may be named more than once
        share  float64[k]  > 0, sum 1: how much of the walk starts at each

        A walk at a sink returns to the seeds. With boundary nodes the error may stay above params.l1: then
        more than half of that is stuck.
        Raises ValueError for seeds that are not in the graph or not alive, and for a tuning that does not
        fit the graph.
        """
        check_seeds(self.graph, seeds, share, tuning)
        if tuning is not None:
            check_tuning(self.graph, tuning)
        return self.lay_out().walk(seeds, share, params, tuning)

    def lay_out(self) -> LaidOutGraph:
        """Lay the graph out for the kernels, unless it is: what the first walk would wait for."""
        found_kernels = self._find_kernels(self.graph.indices.size)
        if self._laid_out is None or self._laid_out.kernels is not found_kernels:
            self._laid_out = LaidOutGraph(self.graph, found_kernels)
        return self._laid_out


def check_seeds(
    graph: Csr | PatchedGraph, seeds: Ids, share: Float64s, tuning: Tuning | None
) -> None:
    """Raises ValueError unless a walk can start at these seeds."""
    if seeds.size == 0 or seeds.shape != share.shape:
        raise ValueError("a walk needs seeds, and a share for each")
    if int(seeds.max()) >= graph.nodes:
        raise ValueError(f"there is no node {int(seeds.max())}")
    if not (share > 0).all() or abs(float(share.sum()) - 1) > 1e-9:
        raise ValueError("shares must be positive and sum to 1")
    if tuning is not None and tuning.alive is not None and not tuning.alive[seeds].all():
        raise ValueError("a seed is not alive")
