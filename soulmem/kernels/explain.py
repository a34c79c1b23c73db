"""By which chain of edges did a walk come to a node? (slow first version)"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from soulmem.kernels.answer import Walk
from soulmem.kernels.csr import Csr, Ids
from soulmem.kernels.tuning import Tuning, tuned_weight


@dataclass(frozen=True, slots=True)
class Chain:
    """Nodes from a seed to the target, the caller's numbers of the edges between, and the flow."""

    rows: Ids
    edges: Ids
    flow: float


def explain(
    graph: Csr, walk: Walk, targets: Ids, seeds: Ids, restart: float, tuning: Tuning | None, max_hops: int = 6
) -> list[Chain]:
    """The best chain to each target."""
    weight = tuned_weight(graph, tuning).astype(np.float64)
    share: dict[int, float] = {int(s): 1.0 for s in seeds}
    score = dict(zip(walk.rows.tolist(), walk.score.tolist(), strict=True))
    best: dict[int, tuple[float, int, int]] = {}
    heap = [(-score.get(s, 0.0), 0, s, -1, -1) for s in share]
    heapq.heapify(heap)
    wanted = set(targets.tolist())
    while heap and wanted:
        neg, hops, u, before, at = heapq.heappop(heap)
        if u in best:
            continue
        best[u] = (-neg, before, at)
        wanted.discard(u)
        if hops >= max_hops:
            continue
        a, z = int(graph.indptr[u]), int(graph.indptr[u + 1])
        total = weight[a:z].sum()
        if total <= 0:
            continue
        for e in range(a, z):
            v = int(graph.indices[e])
            if v not in best and weight[e] > 0 and v in score:
                heapq.heappush(heap, (neg * (1 - restart) * weight[e] / total, hops + 1, v, u, e))
    out = []
    for target in targets.tolist():
        if target not in best:
            continue
        rows, edges, u = [target], [], target
        while best[u][1] >= 0:
            edges.append(int(graph.edge[best[u][2]]))
            u = best[u][1]
            rows.append(u)
        out.append(
            Chain(np.asarray(rows[::-1], np.uint32), np.asarray(edges[::-1], np.uint32), best[target][0])
        )
    return out
