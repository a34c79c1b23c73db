"""Estimates at which memories a walk will wait next, once it continues from newly loaded ones.

Uses the edges of the newly loaded memories alone, so that a large soul need not be
prepared for a walk after each load.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.graph.arcs import WALKED, arcs
from soulmem.graph.edge_arrays import EdgeArrays
from soulmem.kernels.arrays import Float64s, Int64s
from soulmem.kernels.walk import Tuning, Walk, Walker, WalkParams


@dataclass(frozen=True, slots=True)
class EdgeForecast:
    """Walk mass that waits at boundary nodes: rows int64[b], mass float64[b]."""

    rows: Int64s
    mass: Float64s

    def most(self, l1: float) -> Int64s:
        """The rows with the largest mass, so many that at most `l1` / 4 remains at the others."""
        order = np.argsort(-self.mass)
        remaining = self.mass.sum() - np.cumsum(self.mass[order])
        return self.rows[order][: int(np.count_nonzero(remaining > l1 / 4)) + 1]


def forecast_of(walk: Walk, l1: float) -> EdgeForecast | None:
    """The nodes to load before the walk's error is at most `l1`; None when it is."""
    if walk.error <= l1 or not walk.stuck.size:
        return None
    return EdgeForecast(walk.stuck_rows.astype(np.int64), walk.stuck)


@compute_only
def forecast_after(
    mind: Mind, before: EdgeForecast, read: Int64s, params: WalkParams
) -> EdgeForecast | None:
    """The forecast after the rows `read` have passed their mass on; None when little is left."""
    n = mind.size
    boundary = mind.residency.boundary(n)
    if boundary is None:
        return None
    sent_mass = np.zeros(n, np.bool_)
    sent_mass[read] = True
    goes = sent_mass[before.rows]
    total = float(before.mass[goes].sum())
    if not total:
        return None
    every = mind.edges.arrays(WALKED)
    some = _pick(every, np.flatnonzero(sent_mass[every.source] | sent_mass[every.target]))
    graph = arcs(some, some.strength * some.confidence, mind.columns.kind[:n])
    start, share = before.rows[goes].astype(np.uint32), before.mass[goes] / total
    walk = Walker(graph).walk(start, share, params, Tuning(boundary=~sent_mass))
    mass = np.zeros(n)
    mass[before.rows[~goes]] = before.mass[~goes]
    mass[walk.stuck_rows] += total * walk.stuck
    rows = np.flatnonzero(boundary & (mass > 0))
    return EdgeForecast(rows, mass[rows]) if mass[rows].sum() > params.l1 / 2 else None


def _pick(edges: EdgeArrays, which: Int64s) -> EdgeArrays:
    return EdgeArrays(*(getattr(edges, field.name)[which] for field in fields(edges)))
