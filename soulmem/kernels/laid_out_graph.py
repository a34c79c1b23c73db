"""A graph laid out in memory for the walk kernels, with their workspace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from soulmem.kernels.arrays import Float64s
from soulmem.kernels.compiled import Kernels
from soulmem.kernels.csr import Csr, Ids, Weights
from soulmem.kernels.patched_graph import PatchedGraph
from soulmem.kernels.push import OWN
from soulmem.kernels.tuning import (
    NO_FLAGS,
    NO_KINDS,
    NO_PLACES,
    NO_WEIGHTS,
    Places,
    Tuning,
    own_places,
    transition,
)
from soulmem.kernels.walk_result import Walk, WalkParams, to_walk

# of an edge in a sweep, as a part of what visiting one by pushing costs; measured
SWEEP_COST = 0.03
COARSE = 3e-5  # error down to which sweeps compute in float32
# Twice that of one operation: more than a product, its sum and conversions err
FLOAT32_ROUNDING = 2.0**-23

MOST_SWEEPS = 2000  # more than any restart >= 0.02 needs for an error of 1e-12


@dataclass(frozen=True, slots=True)
class InEdges:
    """In-edges for `pull`, nodes numbered by rising in-degree; see `pull.transpose`."""

    order: Ids  # uint32[n]: node by new number
    into: Ids
    sources: Ids
    position: Ids


@dataclass(frozen=True, slots=True)
class _Overridden:
    """Edges with own multipliers of the last walk, and their places by position."""

    edges: Ids  # the caller's array, or the base of it
    places: Places | None  # of these edges, by position; see `places_of`


class LaidOutGraph:
    """A graph in the layout of the kernels. Keeps workspace: for one thread at a time."""

    def __init__(self, graph: Csr | PatchedGraph, kernels: Kernels) -> None:
        n, m = graph.nodes, graph.indices.size
        self._moved_from = m  # positions from there on are of rows that were moved
        if isinstance(graph, PatchedGraph):
            n, self._moved_from = graph.most_nodes, graph.base
        self._graph, self.kernels = graph, kernels
        self._most_nodes = n
        self._real = _cells(n + m)
        self._word = np.empty(n, np.uint32)
        self._where = np.ones(2 * n, np.uint32)
        self._layout = (
            self._real,
            self._real.view(np.float32),
            self._real.view(np.uint32),
            self._word,
        )
        self._known = graph.nodes
        self._lay_out(np.arange(graph.nodes, dtype=np.uint32))
        slots, buckets = _cells(4 * (n + 1)), _cells(4 * (m // 4 + 2))
        self._state = (slots, slots.view(np.float32), slots.view(np.uint32))
        self._buckets = (buckets, buckets.view(np.uint32))
        self._queue = np.empty(1 << n.bit_length(), np.uint32)
        self._rows, self._income = np.empty(n, np.uint32), np.empty(n)
        self._overridden: _Overridden | None = None
        self._in_edges: InEdges | None = None
        self._plain: tuple[Weights, Ids] | None = None

    def replaced(self, rows: Ids, places: Places) -> None:
        """Take over the rows that were replaced in the graph.

        places  as of the tuning of all walks
        """
        graph = self._graph
        new = np.arange(self._known, graph.nodes, dtype=np.uint32)
        self._known = graph.nodes
        rows = np.union1d(rows, new)
        self._lay_out(rows)
        if self._overridden is not None:
            self.kernels.mark_own(rows, graph.starts, graph.ends, places, self._word)
        self._in_edges = self._plain = None

    def walk(self, seeds: Ids, share: Float64s, params: WalkParams, tuning: Tuning | None) -> Walk:
        """See `Walker.walk`, which has checked the arguments."""
        tuning = tuning or Tuning()
        boundary = (
            NO_FLAGS
            if tuning.boundary is None
            else np.require(tuning.boundary, np.bool_, ["C", "W"])
        )
        alive = NO_FLAGS if tuning.alive is None else np.require(tuning.alive, np.bool_, ["C", "W"])
        kinds = (
            NO_KINDS
            if tuning.kind_factor is None
            else np.require(tuning.kind_factor, np.float32, ["C", "W"])
        )
        places, factor = self._overrides(tuning)
        largest = float(kinds.max()) * max(1.0, float(factor.max(initial=0)))
        totals = np.empty(3)
        reached, visits = self.kernels.push(
            self._where,
            self._graph.starts,
            *self._layout,
            np.require(seeds, np.uint32, ["C", "W"]),
            np.require(share, np.float64, ["C", "W"]),
            params.restart,
            params.l1,
            SWEEP_COST * self._graph.size,
            tuning.reweights,
            kinds,
            places,
            factor,
            largest,
            alive,
            boundary,
            *self._state,
            *self._buckets,
            self._queue,
            self._rows,
            self._income,
            totals,
        )
        moving, back, stuck = totals
        limit = params.l1 * (1 - back)
        rows, income = self._rows[:reached].copy(), self._income[:reached].copy()
        if moving <= max(limit - stuck, limit / 2):
            return to_walk(rows, income, back, params, tuning.boundary, visits)
        return self._pull(rows, income, seeds, share, params, tuning, visits)

    def _lay_out(self, rows: Ids) -> None:
        """Write the cells of these rows, and where they stand."""
        graph = self._graph
        starts = graph.starts[rows].astype(np.int64)
        # A row has a cell before its edges; one that was moved has a position for that.
        first = starts + np.where(starts < self._moved_from, rows + 1, self._most_nodes)
        self._where[2 * rows] = first
        self._where[2 * rows + 1] = first + graph.ends[rows] - starts
        self.kernels.lay_out(
            rows,
            graph.starts,
            graph.ends,
            graph.indices,
            graph.weight,
            graph.kind,
            self._where,
            *self._layout,
        )

    def _pull(
        self,
        rows: Ids,
        income: Float64s,
        seeds: Ids,
        share: Float64s,
        params: WalkParams,
        tuning: Tuning,
        visits: int,
    ) -> Walk:
        """Continue from the income of a push by sweeps over all in-edges."""
        graph, edges = self._graph.packed(), self._by_target()
        n = graph.nodes
        halts = np.zeros(n, np.bool_) if tuning.boundary is None else tuning.boundary
        chance, rounded, sinks = self._chances(edges, tuning)
        start = np.bincount(seeds, weights=share, minlength=n)[edges.order]
        reached = np.zeros(n)
        reached[rows] = income
        reached = reached[edges.order]
        common = (start, params.restart)
        ends = (sinks, np.flatnonzero(halts[edges.order]).astype(np.uint32))
        sweeps = self.kernels.pull(
            edges.into,
            edges.sources,
            rounded,
            *common,
            max(params.l1, COARSE),
            *ends,
            FLOAT32_ROUNDING,
            (reached * (1 - FLOAT32_ROUNDING)).astype(np.float32),
            reached,
            MOST_SWEEPS,
        )
        if not _is_enough(reached, params, *ends):  # float32 is too coarse for so many in-edges
            precise = (
                *common,
                params.l1,
                *ends,
                0.0,
                reached.copy(),
                reached,
                MOST_SWEEPS,
            )
            sweeps += self.kernels.pull(edges.into, edges.sources, chance(), *precise)
        back = (1 - params.restart) * float(reached[sinks].sum())
        reached_nodes = np.flatnonzero(reached)
        visits += sweeps * graph.size
        return to_walk(
            edges.order[reached_nodes],
            reached[reached_nodes],
            back,
            params,
            tuning.boundary,
            visits,
        )

    def _chances(
        self, edges: InEdges, tuning: Tuning
    ) -> tuple[Callable[[], Float64s], Weights, Ids]:
        """Probability of each in-edge: exact (on request) and rounded down to float32; new numbers of sinks."""
        plain = not tuning.reweights and tuning.boundary is None
        if plain and self._plain is not None:
            rounded, sinks = self._plain
            return (
                lambda: transition(self._graph.packed(), tuning)[0][edges.position],
                rounded,
                sinks,
            )
        chance, sink = transition(self._graph.packed(), tuning)
        rounded = (chance * (1 - FLOAT32_ROUNDING)).astype(np.float32)[edges.position]
        sinks = np.flatnonzero(sink[edges.order]).astype(np.uint32)
        if plain:
            self._plain = rounded, sinks
        return lambda: chance[edges.position], rounded, sinks

    def _by_target(self) -> InEdges:
        if self._in_edges is None:
            graph = self._graph.packed()
            n, m = graph.nodes, graph.size
            degree = np.bincount(graph.indices, minlength=n)
            order = np.argsort(degree, kind="stable").astype(np.uint32)
            rank = np.empty(n, np.uint32)
            rank[order] = np.arange(n, dtype=np.uint32)
            into = np.zeros(n + 1, np.uint32)
            sources, position = np.empty(m, np.uint32), np.empty(m, np.uint32)
            self.kernels.transpose(graph.indptr, graph.indices, rank, into, sources, position)
            self._in_edges = InEdges(order, into, sources, position)
        return self._in_edges

    def _overrides(self, tuning: Tuning) -> tuple[Places, Weights]:
        """Place of each edge among those with an own factor, by position, and the factors.

        Rows where such edges start are marked. Marks are kept between walks while the caller
        passes the same array of edges.
        """
        edges, factor = tuning.edges, tuning.factor
        if edges is None or factor is None or edges.size == 0:
            return NO_PLACES, NO_WEIGHTS
        base = edges if tuning.base is None else tuning.base
        last, places = self._overridden, tuning.places
        if last is None or last.edges is not base:
            places = own_places(self._graph, tuning)
            graph = self._graph
            rows = np.arange(graph.nodes, dtype=np.uint32)
            self.kernels.mark_own(rows, graph.starts, graph.ends, places, self._word)
            self._overridden = _Overridden(base, places if edges is base else None)
        elif tuning.rows is not None:  # a row marked for an earlier walk does no harm
            self._word[tuning.rows] |= OWN
        if places is None:
            places = last.places if last is not None else None
        if places is None:
            places = own_places(self._graph, tuning)
        return places, np.require(factor, np.float32, ["C", "W"])


def _is_enough(income: Float64s, params: WalkParams, sinks: Ids, boundary: Ids) -> bool:
    """True if the walk still on its way is below the error asked for."""
    go_on = 1 - params.restart
    back, stuck = (
        go_on * float(income[sinks].sum()),
        go_on * float(income[boundary].sum()),
    )
    limit = params.l1 * (1 - back)
    return 1 - back - stuck - params.restart * float(income.sum()) <= max(limit - stuck, limit / 2)


def _cells(count: int) -> Float64s:
    """float64[count] of zeros, aligned to cache lines; untouched pages take no memory."""
    raw = np.zeros(count + 8)
    first = -raw.ctypes.data % 64 // 8
    cells: Float64s = raw[first : first + count]
    return cells
