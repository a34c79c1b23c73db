"""Shortest paths from seeds, breadth first, with what arrives over them; compiled by `compiled.py`.

The formulas: `soulmem.retrieval.association_paths`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from soulmem.kernels.arrays import Bools
from soulmem.kernels.csr import Ids, Kinds, Weights

Hops = npt.NDArray[np.int8]


def follow_hops(
    starts: Ids,
    ends: Ids,
    indices: Ids,
    weight: Weights,
    kind: Kinds,
    factor: Weights,
    followed: Bools,
    alive: Bools,
    most: int,
    crowd: int,
    seeds: int,
    reached: Ids,
    hops: Hops,
    directness: Weights,
    flow: Weights,
) -> int:
    """Follow edges from the seeds, step by step; returns how many nodes are reached, the seeds too.

    factor      float32[256]  of the weight of each kind of edges
    followed    bool[256]     kinds of edges that lead further; all take a share of what their source passes on
    alive       bool[n]       edges to other nodes do not exist
    most        steps; crowd: edges of a node that is passed through, unless it is a seed
    seeds       number of the seeds, which stand first in `reached`, ascending
    reached     uint32[n]   written: the nodes of each step, ascending
    hops        int8[n]     0 at the seeds, -1 elsewhere before; written: steps from a seed
    directness  float32[n]  1 at the seeds, 0 elsewhere before; written: least share along the best path
    flow        float32[n]  of the seeds, 0 elsewhere before; written: what arrives over shortest paths
    """
    begin, end = 0, seeds
    for step in range(1, most + 1):
        count = end
        for i in range(begin, end):
            u = reached[i]
            first, last = np.int64(starts[u]), np.int64(ends[u])
            if step > 1 and last - first > crowd:
                continue
            total = np.float64(0.0)
            for e in range(first, last):
                if alive[indices[e]]:
                    total += weight[e] * factor[kind[e]]
            for e in range(first, last):
                v = indices[e]
                product = weight[e] * factor[kind[e]]
                leads_on = product > 0 and alive[v] and followed[kind[e]]
                if not leads_on or 0 <= hops[v] < step:
                    continue
                if hops[v] < 0:
                    hops[v] = step
                    reached[count] = v
                    count += 1
                share = np.float32(np.float64(product) / total)
                flow[v] += flow[u] * share
                straight = min(share, directness[u]) if step > 1 else np.float32(1)
                directness[v] = max(directness[v], straight)
        if count == end:
            break
        reached[end:count].sort()
        begin, end = end, count
    return end
