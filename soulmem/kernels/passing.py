"""How much of a walk passes over marked edges; compiled by `compiled.py`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from soulmem.kernels.arrays import Bools, Float64s
from soulmem.kernels.csr import Ids, Kinds, Weights

Marks = npt.NDArray[np.int32]


def add_passed(
    starts: Ids,
    ends: Ids,
    indices: Ids,
    weight: Weights,
    kind: Kinds,
    rows: Ids,
    score: Float64s,
    kind_factor: Weights,
    alive: Bools,
    boundary: Bools,
    restart: float,
    mark: Marks,
    to: Marks,
    marked: Bools,
    out: Weights,
) -> None:
    """out[to[mark]] += flow over each marked edge.

        flow(e) = (1 - restart) * score[source] * weight(e) / sum of the weights that leave the source

    starts, ends  uint32[n]: positions of the edges of each node
    rows, score  uint32[t], float64[t]: result of the walk
    kind_factor  float32[256]; alive bool[n]; boundary bool[n] or empty: these nodes send nothing
    mark         int32[m] by position, -1 for an edge that is not marked; to int32[k]
    marked       bool[n]: a marked edge leaves the node; other nodes are skipped
    out          float32[..], added to
    """
    for i in range(rows.size):
        u = rows[i]
        if not marked[u] or (boundary.size > 0 and boundary[u]):
            continue
        total = 0.0
        for position in range(np.int64(starts[u]), np.int64(ends[u])):
            if alive[indices[position]]:
                total += np.float64(weight[position]) * np.float64(kind_factor[kind[position]])
        if total <= 0.0:
            continue
        passing = (1.0 - restart) * score[i] / total
        for position in range(np.int64(starts[u]), np.int64(ends[u])):
            if mark[position] >= 0 and alive[indices[position]]:
                product = np.float64(weight[position]) * np.float64(kind_factor[kind[position]])
                out[to[mark[position]]] += np.float32(passing * product)
