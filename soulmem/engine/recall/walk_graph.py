"""The graph that walks follow: a soul's edges as arcs, patched where edges changed since the last walk."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.soul import SoulClock
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.faded_edges import remaining_strengths
from soulmem.graph.arcs import (
    WALKED,
    AssociationParams,
    arcs,
    arcs_along,
    arcs_back,
)
from soulmem.graph.change_log import EdgeChange
from soulmem.graph.edge_arrays import EDGE_KINDS, EdgeArrays, pair_of
from soulmem.kernels.arrays import Bools, Int64s
from soulmem.kernels.csr import Csr, joined
from soulmem.kernels.patched_graph import PatchedGraph
from soulmem.kernels.tuning import Places, places_of
from soulmem.kernels.walk import Walker
from soulmem.retrieval.edge_weights import EdgeWeightParams, edge_weights

Rows = NDArray[np.uint32]
Numbers = NDArray[np.int32]

_MENTIONS = EDGE_KINDS.index(EdgeKind.MENTIONS)
_RELATES = EDGE_KINDS.index(EdgeKind.RELATES)


@dataclass(frozen=True, slots=True)
class WalkGraphParams:
    """The weights of edges, and when the whole graph is built again."""

    association: AssociationParams = field(default_factory=AssociationParams)
    weights: EdgeWeightParams = field(default_factory=EdgeWeightParams)
    fade_turns: int = 5  # turns between two updates of edge strengths: 1.7 % at the default S
    patched: float = 0.2  # share of the arcs up to which changed rows are replaced in place
    # From so many arcs on strengths are not updated during a recall, but by `renew` or the next time.
    many: int = 100_000
    step: int = 20_000  # arcs in a step of `renew`, about 10 ms: a recall may wait for one


@dataclass(frozen=True, slots=True)
class WalkGraph:
    """A soul's edges, prepared for walks. Changed in place where edges change; arrays by row have room for more.

    fan        by row: how many `mentions` edges start there
    slot       by row of a fact: the place of its edge in the mind's table; -1 elsewhere
    is_fact    by row
    fact_index  by row of a fact: its index in `fact_rows`; means nothing elsewhere
    fact_arcs  the arcs that are facts: all along the edge, then all against it
    fact_of    the row of the fact of each of these arcs
    places     index into `fact_arcs` by position in the graph; see `places_of`
    passed     by row: whether an arc that is a fact leaves it
    """

    graph: PatchedGraph
    walker: Walker
    fan: Int64s
    slot: Numbers
    is_fact: Bools
    fact_index: Numbers
    fact_arcs: Rows
    fact_of: Numbers
    places: Numbers
    passed: Bools

    @property
    def fact_rows(self) -> Numbers:
        """The row of every fact, in the order of `fact_arcs`."""
        return self.fact_of[: self.fact_of.size // 2]


class _BuiltFor(NamedTuple):
    """The state that a graph was built for; for any other state it is built again."""

    faded: int  # how many periods of `fade_turns` had passed
    residency: int  # revision
    forgetting: float
    clock: SoulClock


class WalkGraphs:
    """The walk graph of one soul, up to date at any moment. Compute thread only.

    Strengths are those at the last multiple of `fade_turns` on the clock, so that a patched graph equals a
    fresh one.
    """

    def __init__(self, params: WalkGraphParams | None = None) -> None:
        self._params = params or WalkGraphParams()
        self._built_for: _BuiltFor | None = None
        self._is_behind = False
        self._edge_revision = -1
        self._graph: WalkGraph | None = None
        self._renewal: _Renewal | None = None

    def ready(self, mind: Mind, extra_turns: int) -> WalkGraph:
        """The graph as of now."""
        wanted, graph = self._wanted(mind, extra_turns), self._graph
        built_for = self._still_valid(wanted)
        self._built_for = None  # should what follows fail half way, all is built again
        if graph is not None and built_for is not None:
            graph = self._brought_up_to_date(graph, built_for, mind, extra_turns)
        if graph is None or built_for is None:
            built_for = wanted
            late = self._turns_since(mind, extra_turns, wanted)
            graph = _built(mind, extra_turns, late, self._params)
        self._graph, self._built_for = graph, built_for
        self._edge_revision = mind.edges.revision
        self._is_behind = built_for != wanted
        return graph

    @compute_only
    def renew(self, mind: Mind, extra_turns: int) -> bool:
        """Do a step of updating strengths whose update was put off during a recall; True if more is left to do."""
        if not self._is_behind:
            self._renewal = None
            if self._graph is not None:
                self._graph.walker.lay_out()
            return False
        graph, wanted = self.ready(mind, extra_turns), self._wanted(mind, extra_turns)
        if not self._is_behind:  # it was built anew
            return True
        renewal = self._renewal
        if renewal is None or renewal.built_for != wanted:
            renewal = _Renewal(wanted, self._edge_revision, graph.graph, self._params)
            self._renewal = renewal
        late = self._turns_since(mind, extra_turns, wanted)
        renewed = None
        if mind.residency.whole:
            if not renewal.is_complete:
                renewal.step(mind, graph.fan, extra_turns, late)
                return True
            renewed = renewal.renewed(graph, mind, extra_turns, late)
        if renewed is None:
            self._built_for = None
            self.ready(mind, extra_turns)
        else:
            self._graph, self._built_for, self._is_behind = renewed, wanted, False
        self._renewal = None
        return True

    def _wanted(self, mind: Mind, extra_turns: int) -> _BuiltFor:
        settings = mind.soul.settings
        faded = mind.time.current_turn(extra_turns) // self._params.fade_turns
        return _BuiltFor(int(faded), mind.residency.revision, settings.forgetting, settings.clock)

    def _still_valid(self, wanted: _BuiltFor) -> _BuiltFor | None:
        """The state of the present graph if that may serve: equal, or a large one that is one update late."""
        current, graph = self._built_for, self._graph
        if current is None or graph is None or wanted == current:
            return current
        is_next = wanted == current._replace(faded=current.faded + 1)
        is_large = graph.graph.size >= self._params.many
        return current if is_next and is_large else None

    def _turns_since(self, mind: Mind, extra_turns: int, built_for: _BuiltFor) -> float:
        """Turns since the moment whose strengths that state has."""
        return mind.time.current_turn(extra_turns) - built_for.faded * self._params.fade_turns

    def _brought_up_to_date(
        self, graph: WalkGraph, built_for: _BuiltFor, mind: Mind, extra_turns: int
    ) -> WalkGraph | None:
        """The graph with all changes of edges since; None where these are too many."""
        if self._edge_revision == mind.edges.revision and mind.size == graph.graph.nodes:
            return graph
        changes = mind.edges.changed(self._edge_revision)
        if changes is None or not mind.residency.whole:
            return None
        if mind.size < graph.graph.nodes:
            return None
        late = self._turns_since(mind, extra_turns, built_for)
        return _patched(graph, changes, mind, extra_turns, late, self._params)


class _Renewal:
    """The graph with the strengths of another moment, made in steps beside the one that recalls use."""

    def __init__(
        self,
        built_for: _BuiltFor,
        edge_revision: int,
        graph: PatchedGraph,
        params: WalkGraphParams,
    ) -> None:
        """`graph` is the one in use, which is of that revision of the edges."""
        self.built_for = built_for
        self._edge_revision, self._params = edge_revision, params
        self._parts: list[Csr] = []
        self._graph: PatchedGraph | None = None  # all parts
        last = np.cumsum(graph.ends - graph.starts, dtype=np.int64)
        steps = np.arange(params.step, graph.size, params.step)
        # The rows of a step are those from one bound to the next; one row alone may have more arcs.
        inner = np.unique(np.searchsorted(last, steps))
        self._bounds = np.concatenate([[0], inner[inner > 0], [graph.nodes]])

    @property
    def is_complete(self) -> bool:
        """Whether all steps are done."""
        return self._graph is not None

    def step(self, mind: Mind, fan: Int64s, extra: int, late: float) -> None:
        """Make the arcs of the next rows; after the last ones join all."""
        if len(self._parts) == self._bounds.size - 1:
            self._graph = PatchedGraph(joined(self._parts))
            self._parts.clear()
            return
        first, end = self._bounds[len(self._parts) :][:2].tolist()
        rows = np.arange(first, end)
        part = _arcs_that_leave(rows, fan, mind, extra, late, self._params)
        self._parts.append(part)

    def renewed(self, graph: WalkGraph, mind: Mind, extra: int, late: float) -> WalkGraph | None:
        """The graph once all steps are done; `graph` is the one in use, which is up to date but for strengths.

        None where too much has changed since the first step.
        """
        changes, renewed = mind.edges.changed(self._edge_revision), self._graph
        if changes is None or renewed is None or mind.size < renewed.nodes:
            return None
        walked = [change for change in changes if change.kind in WALKED]
        rows = _touched_rows(mind, walked, graph.fan)
        part = _arcs_that_leave(rows, graph.fan, mind, extra, late, self._params)
        if not renewed.has_room(part, rows, mind.size):
            return None
        renewed.replace(part, rows, mind.size)
        room = max(renewed.most_nodes, graph.fan.size)
        fan, slot = _with_room(graph.fan, room, 0), _with_room(graph.slot, room, -1)
        return _with_facts(mind, renewed, Walker(renewed), fan, slot)


def _arcs_that_leave(
    rows: Int64s, fan: Int64s, mind: Mind, extra: int, late: float, p: WalkGraphParams
) -> Csr:
    """The arcs that leave these rows, which ascend."""
    edges = mind.edges.arrays(WALKED, rows)
    strength = remaining_strengths(mind, edges, extra, late)
    weight = edge_weights(edges, strength, p.weights, fan)
    return arcs(edges, weight, mind.columns.kind[: mind.size], p.association, rows)


def _built(mind: Mind, extra: int, late: float, p: WalkGraphParams) -> WalkGraph:
    """The graph from all edges."""
    edges = mind.edges.arrays(WALKED)
    sources = edges.source[edges.kind == _MENTIONS]
    if mind.residency.whole:
        fan = np.bincount(sources, minlength=mind.size)
    else:  # some mentions are not in memory
        fan = mind.residency.mentions(mind.size, sources)
    strength = remaining_strengths(mind, edges, extra, late)
    weight = edge_weights(edges, strength, p.weights, fan)
    kinds = mind.columns.kind[: mind.size]
    graph = PatchedGraph(arcs(edges, weight, kinds, p.association))
    slot = _slots_of_facts(mind, edges)
    return _with_facts(
        mind,
        graph,
        Walker(graph),
        _with_room(fan, graph.most_nodes, 0),
        _with_room(slot, graph.most_nodes, -1),
    )


def _patched(
    old: WalkGraph,
    changes: Sequence[EdgeChange],
    mind: Mind,
    extra: int,
    late: float,
    p: WalkGraphParams,
) -> WalkGraph | None:
    """The graph with the rows replaced that these changes touch; None where these are too many.

    Rows are replaced in place: after None, `old` is not to be used either.
    """
    graph = old.graph
    if mind.size > graph.most_nodes:
        return None
    walked = [change for change in changes if change.kind in WALKED]
    rows = _touched_rows(mind, walked, old.fan)
    edges = mind.edges.arrays(WALKED, rows)
    if edges.slot.size > p.patched * graph.size:
        return None
    strength = remaining_strengths(mind, edges, extra, late)
    weight = edge_weights(edges, strength, p.weights, old.fan)
    part = arcs(edges, weight, mind.columns.kind[: mind.size], p.association, rows)
    if not graph.has_room(part, rows, mind.size):
        return None
    related = {c.slot for c in walked if c.kind is EdgeKind.RELATES}
    facts = _rows_of_facts(old, mind, related)
    marked = _marked(old, rows) if facts is not None else None
    graph.replace(part, rows, mind.size)
    if marked is None or facts is None:
        old.slot[np.isin(old.slot, list(related))] = -1
        patched = _with_facts(mind, graph, old.walker, old.fan, old.slot)
    else:
        _mark(old, rows, *_with_arcs_of(old, facts, *marked))
        patched = replace(old)
    patched.walker.replaced(rows, patched.places)
    return patched


def _rows_of_facts(walk_graph: WalkGraph, mind: Mind, slots: Collection[int]) -> Int64s | None:
    """The rows of the facts of the edges in these slots; None where one of these is no fact of the graph any more,
    or not yet.
    """
    rows = list[int]()
    for slot in slots:
        key = mind.edges.id_at(slot)
        row = None if key is None else mind.row(MemoryId(key))
        if row is None or row >= walk_graph.slot.size:
            return None
        if walk_graph.slot[row] != slot or not walk_graph.is_fact[row]:
            return None
        rows.append(row)
    return np.asarray(rows, np.int64)


def _with_arcs_of(
    walk_graph: WalkGraph, facts: Int64s, numbers: Rows, places: Places
) -> tuple[Rows, Places]:
    """What `_marked` returns with the arcs of these facts, which may have been too weak to be in the graph."""
    slots, index = walk_graph.slot[facts], walk_graph.fact_index[facts]
    every = np.concatenate([numbers, arcs_along(slots), arcs_back(slots)])
    of_facts = np.concatenate([index, walk_graph.fact_rows.size + index])
    distinct, first = np.unique(every, return_index=True)
    return distinct, np.concatenate([places, of_facts])[first]


def _marked(walk_graph: WalkGraph, rows: Int64s) -> tuple[Rows, Places]:
    """The numbers of the arcs that leave these rows and are facts, ascending, and their `places`."""
    positions = walk_graph.graph.positions_of(rows[rows < walk_graph.graph.nodes])
    places = walk_graph.places[positions]
    positions, places = positions[places >= 0], places[places >= 0]
    numbers = walk_graph.graph.edge[positions]
    order = np.argsort(numbers)
    return numbers[order], places[order]


def _mark(walk_graph: WalkGraph, rows: Int64s, numbers: Rows, places: Places) -> None:
    """Write `places` of the arcs that leave these rows; the numbers are those of the facts among them."""
    positions = walk_graph.graph.positions_of(rows)
    walk_graph.places[positions] = -1
    if numbers.size:
        own = walk_graph.graph.edge[positions]
        found = np.minimum(np.searchsorted(numbers, own), numbers.size - 1)
        is_fact = numbers[found] == own
        walk_graph.places[positions[is_fact]] = places[found[is_fact]]


def _touched_rows(mind: Mind, changes: Sequence[EdgeChange], fan: Int64s) -> Int64s:
    """The rows whose arcs these changes affect, ascending; counts in `fan` are brought up to date.

    A text that mentions one concept more or less weighs each of its mentions differently.
    """
    touched, texts = set[int](), set[int]()
    for change in changes:
        touched.update((change.source, change.target))
        if change.kind is EdgeKind.MENTIONS:
            texts.add(change.source)
    if texts:
        sources = _rows(texts)
        mentions = mind.edges.arrays([EdgeKind.MENTIONS], sources)
        fan[sources] = np.bincount(mentions.source, minlength=mind.size)[sources]
        touched.update(mentions.target.tolist())
    return _rows(touched)


def _with_facts(
    mind: Mind, graph: PatchedGraph, walker: Walker, fan: Int64s, slot: Numbers
) -> WalkGraph:
    """The walk graph of these arcs; `slot` is completed."""
    facts, subjects, objects = mind.facts.row_arrays()
    missing = facts[slot[facts] < 0].tolist()
    for row, key in zip(missing, mind.ids_at(missing), strict=True):
        place = mind.edges.slot(key)
        slot[row] = -1 if place is None else place
    has_edge = slot[facts] >= 0
    rows = facts[has_edge]
    slots = slot[rows]
    fact_arcs = np.concatenate([arcs_along(slots), arcs_back(slots)])
    ends = np.concatenate([subjects[has_edge], objects[has_edge]])
    return WalkGraph(
        graph=graph,
        walker=walker,
        fan=fan,
        slot=slot,
        is_fact=_flags(graph.most_nodes, rows),
        fact_index=_indices(graph.most_nodes, rows),
        fact_arcs=fact_arcs,
        fact_of=np.concatenate([rows, rows]),
        places=places_of(graph, fact_arcs),
        passed=_flags(graph.most_nodes, ends),
    )


def _slots_of_facts(mind: Mind, edges: EdgeArrays) -> Numbers:
    """`WalkGraph.slot` from these edges; -1 also where several edges join the two ends of a fact."""
    facts, subjects, objects = (rows.astype(np.int64) for rows in mind.facts.row_arrays())
    relations = np.flatnonzero(edges.kind == _RELATES)
    pairs = pair_of(
        edges.source[relations].astype(np.int64),
        edges.target[relations].astype(np.int64),
    )
    order = np.argsort(pairs, kind="stable")
    wanted = pair_of(subjects, objects)
    first = np.searchsorted(pairs[order], wanted, "left")
    alone = np.searchsorted(pairs[order], wanted, "right") - first == 1
    slot = np.full(mind.size, -1, np.int32)
    slot[facts[alone]] = edges.slot[relations[order[first[alone]]]]
    return slot


def _with_room(
    column: NDArray[np.signedinteger], room: int, empty: int
) -> NDArray[np.signedinteger]:
    return np.concatenate([column, np.full(room - column.size, empty, column.dtype)])


def _rows(rows: set[int]) -> Int64s:
    return np.fromiter(sorted(rows), np.int64, len(rows))


def _flags(n: int, rows: NDArray[np.integer]) -> Bools:
    flags = np.zeros(n, np.bool_)
    flags[rows] = True
    return flags


def _indices(n: int, rows: NDArray[np.integer]) -> Numbers:
    """By row its index in `rows`, which are distinct; 0 of others."""
    index = np.zeros(n, np.int32)
    index[rows] = np.arange(rows.size)
    return index
