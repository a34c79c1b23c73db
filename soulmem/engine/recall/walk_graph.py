"""What does a walk go over? A soul's edges as arcs; what changed since the last walk is put in its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import EdgeKind
from soulmem.domain.soul import SoulClock
from soulmem.engine.mind.mind import Mind
from soulmem.engine.views.faded_edges import strengths_left
from soulmem.graph.association import (
    WALKED,
    AssociationParams,
    arcs,
    arcs_along,
    arcs_back,
)
from soulmem.graph.edge_arrays import EDGE_KINDS, EdgeArrays, pair_of
from soulmem.graph.journal import Touched
from soulmem.kernels.csr import Csr, spliced, splices, with_rows
from soulmem.kernels.tuning import places_of
from soulmem.kernels.walk import Walker
from soulmem.retrieval.edge_weights import EdgeWeightParams, edge_weights

Rows = NDArray[np.uint32]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Numbers = NDArray[np.int32]

_MENTIONS = EDGE_KINDS.index(EdgeKind.MENTIONS)
_RELATES = EDGE_KINDS.index(EdgeKind.RELATES)


@dataclass(frozen=True, slots=True)
class GroundParams:
    """What edges weigh, and when all of it is made anew."""

    association: AssociationParams = field(default_factory=AssociationParams)
    weights: EdgeWeightParams = field(default_factory=EdgeWeightParams)
    fade_turns: int = 5  # the clock goes on so far before strengths are faded anew: 1.7 % at the default S
    patched: float = 0.2  # share of the arcs up to which rows that changed are put in place of the old ones
    # With so many arcs strengths are not faded while somebody waits, but by `renew`, or the next time.
    many: int = 100_000


@dataclass(frozen=True, slots=True)
class Ground:
    """A soul's edges, made ready for walks."""

    graph: Csr
    walker: Walker
    fan: Ints  # by row, how many mentions start there
    slot: Numbers  # by row of a fact, where its edge lies in the mind's table; -1 elsewhere
    is_fact: Bools  # by row
    fact_arcs: (
        Rows  # the arcs that are facts, all that lead on and then all that lead back
    )
    fact_of: Numbers  # the row of the fact that each of these is
    places: Numbers  # of these arcs, by position in the graph; see `places_of`
    passed: Bools  # by row, whether an arc that is a fact leaves it

    @property
    def fact_rows(self) -> Numbers:
        """Of every fact, in the order of `fact_arcs`."""
        return self.fact_of[: self.fact_of.size // 2]


class _For(NamedTuple):
    """What a ground is made for; with any other it is made anew."""

    faded: int  # how often `fade_turns` had passed
    residency: int  # revision
    forgetting: float
    clock: SoulClock


class Grounds:
    """The ground of one soul, ready as of any moment. Compute thread only.

    Strengths are as of when the clock last showed a multiple of `fade_turns`, so that what is made piece by
    piece equals what is made at once.
    """

    def __init__(self, params: GroundParams | None = None) -> None:
        self._params = params or GroundParams()
        self._made_for: _For | None = None
        self._is_behind = False
        self._seen = -1  # revision of the edges
        self._ground: Ground | None = None

    def ready(self, mind: Mind, extra_turns: int) -> Ground:
        """What is walked on, as of now."""
        wanted, ground = self._wanted(mind, extra_turns), self._ground
        made_for = self._serving(wanted)
        if ground is not None and made_for is not None:
            ground = self._as_it_is(ground, made_for, mind, extra_turns)
        if ground is None or made_for is None:
            made_for = wanted
            ground = _made(
                mind, extra_turns, self._late(mind, extra_turns, wanted), self._params
            )
        self._ground, self._made_for, self._seen = ground, made_for, mind.edges.revision
        self._is_behind = made_for != wanted
        return ground

    def renew(self, mind: Mind, extra_turns: int) -> None:
        """Have strengths faded that were left as they are because somebody waited."""
        if self._is_behind:
            self._made_for = None
            self.ready(mind, extra_turns)

    def _wanted(self, mind: Mind, extra_turns: int) -> _For:
        settings, faded = (
            mind.soul.settings,
            mind.time.reading(extra_turns) // self._params.fade_turns,
        )
        return _For(
            int(faded), mind.residency.revision, settings.forgetting, settings.clock
        )

    def _serving(self, wanted: _For) -> _For | None:
        """What the ground that is there was made for, where it will do."""
        known, ground = self._made_for, self._ground
        if known is None or ground is None or wanted == known:
            return known
        is_next = wanted == known._replace(faded=known.faded + 1)
        return (
            known if is_next and ground.graph.edge.size >= self._params.many else None
        )

    def _late(self, mind: Mind, extra_turns: int, made_for: _For) -> float:
        """Turns since strengths are as they were."""
        return mind.time.reading(extra_turns) - made_for.faded * self._params.fade_turns

    def _as_it_is(
        self, ground: Ground, made_for: _For, mind: Mind, extra_turns: int
    ) -> Ground | None:
        """The ground with what changed since it was last asked for; None where that is too much."""
        if self._seen == mind.edges.revision and mind.size == ground.graph.nodes:
            return ground
        changes = mind.edges.changed(self._seen)
        if (
            changes is None
            or not mind.residency.whole
            or mind.size < ground.graph.nodes
        ):
            return None
        late = self._late(mind, extra_turns, made_for)
        return _patched(ground, changes, mind, extra_turns, late, self._params)


def _made(mind: Mind, extra: int, late: float, p: GroundParams) -> Ground:
    """All of it."""
    edges = mind.edges.arrays(WALKED)
    told = edges.source[edges.kind == _MENTIONS]
    if mind.residency.whole:
        fan = np.bincount(told, minlength=mind.size)
    else:  # not all of the mentions are here
        fan = mind.residency.mentions(mind.size, told)
    weight = edge_weights(
        edges, strengths_left(mind, edges, extra, late), p.weights, fan
    )
    graph = arcs(edges, weight, mind.columns.kind[: mind.size], p.association)
    return _with_facts(mind, graph, fan, _slots_of_facts(mind, edges))


def _patched(
    ground: Ground,
    changes: Sequence[Touched],
    mind: Mind,
    extra: int,
    late: float,
    p: GroundParams,
) -> Ground | None:
    """The ground with the rows that these changes touch as they are now; None where these are too many."""
    fan, slot = _grown(ground.fan, mind.size, 0), _grown(ground.slot, mind.size, -1)
    walked = [change for change in changes if change.kind in WALKED]
    touched = {row for change in walked for row in (change.source, change.target)}
    texts = {change.source for change in walked if change.kind is EdgeKind.MENTIONS}
    if texts:  # what else they mention weighs something else now
        told = _rows(texts)
        mentions = mind.edges.arrays([EdgeKind.MENTIONS], told)
        fan[told] = np.bincount(mentions.source, minlength=mind.size)[told]
        touched.update(mentions.target.tolist())
    rows = _rows(touched)
    edges = mind.edges.arrays(WALKED, rows)
    if edges.slot.size > p.patched * ground.graph.edge.size:
        return None
    weight = edge_weights(
        edges, strengths_left(mind, edges, extra, late), p.weights, fan
    )
    part = arcs(edges, weight, mind.columns.kind[: mind.size], p.association, rows)
    graph = with_rows(ground.graph, part, rows)
    related = [change.slot for change in walked if change.kind is EdgeKind.RELATES]
    if related:
        slot[np.isin(slot, related)] = -1
    made = _with_facts(mind, graph, fan, slot, ground)
    if made.places.size:
        return made
    own = places_of(replace(part, numbers=graph.numbers), made.fact_arcs)
    return replace(
        made, places=spliced(ground.places, own, splices(ground.graph, part, rows))
    )


def _with_facts(
    mind: Mind, graph: Csr, fan: Ints, slot: Numbers, before: Ground | None = None
) -> Ground:
    """The ground of this graph. Where it has the facts that were there before, without their places."""
    facts, subjects, objects = mind.facts.rows()
    for row in facts[slot[facts] < 0].tolist():
        found = mind.edges.slot(mind.at(row).id)
        slot[row] = -1 if found is None else found
    here = slot[facts] >= 0
    of = facts[here]
    lying = slot[of]
    fact_arcs = np.concatenate([arcs_along(lying), arcs_back(lying)])
    is_same = before is not None and np.array_equal(fact_arcs, before.fact_arcs)
    return Ground(
        graph=graph,
        walker=Walker(graph),
        fan=fan,
        slot=slot,
        is_fact=_flags(mind.size, of),
        fact_arcs=fact_arcs,
        fact_of=np.concatenate([of, of]),
        places=np.zeros(0, np.int32) if is_same else places_of(graph, fact_arcs),
        passed=_flags(mind.size, np.concatenate([subjects[here], objects[here]])),
    )


def _slots_of_facts(mind: Mind, edges: EdgeArrays) -> Numbers:
    """See `Ground.slot`; -1, too, where several edges join the two that a fact tells of."""
    facts, subjects, objects = (rows.astype(np.int64) for rows in mind.facts.rows())
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


def _grown(
    column: NDArray[np.signedinteger], size: int, empty: int
) -> NDArray[np.signedinteger]:
    return np.concatenate([column, np.full(size - column.size, empty, column.dtype)])


def _rows(rows: set[int]) -> Ints:
    return np.fromiter(sorted(rows), np.int64, len(rows))


def _flags(n: int, rows: NDArray[np.integer]) -> Bools:
    flags = np.zeros(n, np.bool_)
    flags[rows] = True
    return flags
