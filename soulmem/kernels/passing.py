"""How much of a walk passes over marked edges? A plain function, compiled by `compiled.py`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from soulmem.kernels.csr import Flags, Floats, Ids, Kinds, Weights

Marks = npt.NDArray[np.int32]


def add_passed(
    indptr: Ids,
    indices: Ids,
    weight: Weights,
    kind: Kinds,
    rows: Ids,
    score: Floats,
    kind_factor: Weights,
    alive: Flags,
    boundary: Flags,
    restart: float,
    mark: Marks,
    to: Marks,
    marked: Flags,
    out: Weights,
) -> None:
    """Add to out[to[mark]] what passes over each marked edge.

        passes(e) = (1 - restart) * score[source] * weight(e) / sum of the weights that leave the source

    rows, score  where the walk is found
    kind_factor  float32[256]; alive bool[n]; boundary bool[n] or empty: its nodes keep what arrives
    mark         int32[m] by position, -1 for an edge that is not marked; to int32[k]
    marked       bool[n], whether a marked edge leaves the node: few do, and the others need no look
    """
    for i in range(rows.size):
        u = rows[i]
        if not marked[u] or (boundary.size > 0 and boundary[u]):
            continue
        total = 0.0
        for position in range(np.int64(indptr[u]), np.int64(indptr[u + np.uint32(1)])):
            if alive[indices[position]]:
                total += np.float64(weight[position]) * np.float64(
                    kind_factor[kind[position]]
                )
        if total <= 0.0:
            continue
        passing = (1.0 - restart) * score[i] / total
        for position in range(np.int64(indptr[u]), np.int64(indptr[u + np.uint32(1)])):
            if mark[position] >= 0 and alive[indices[position]]:
                product = np.float64(weight[position]) * np.float64(
                    kind_factor[kind[position]]
                )
                out[to[mark[position]]] += np.float32(passing * product)
