"""Edge weights and restart probability of a walk: by edge, kind, mood and query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite

import numpy as np

from soulmem.domain.edges import EdgeKind
from soulmem.graph.arcs import MEMORY_KINDS, arc_class
from soulmem.graph.edge_arrays import EDGE_KINDS, EdgeArrays
from soulmem.kernels.arrays import Float32s, Float64s, Int64s
from soulmem.language.relations import RelationClass
from soulmem.retrieval.guidance import FACT

_MENTIONS = EDGE_KINDS.index(EdgeKind.MENTIONS)
_FACTORS = 256  # classes of arcs in a walk


@dataclass(frozen=True, slots=True)
class EdgeWeightParams:
    """Factors of the kinds of edges; those not named weigh 1.

    On LoCoMo and role-play, factors of .5 to 1 for `next` score alike, and half of it backwards; at .5 learned
    associations are reached more often.
    """

    kind: Mapping[EdgeKind, float] = field(default_factory=lambda: {EdgeKind.NEXT: 0.5})
    # on top of `kind`
    back: Mapping[EdgeKind, float] = field(default_factory=lambda: {EdgeKind.NEXT: 0.5})
    # Mentions of a text that names many count 1 / names^fan each. Compared with 0 this gains 2 points of R@5
    # on 2Wiki and a third of the learned associations; .5 to 1 score alike.
    fan: float = 0.5
    # 0..1, share of the steps that full irritation removes; design 4.1
    irritation: float = 0.5
    fact: float = 0.5  # added to the factor of a fact whose text matches the query fully; design 3


# Factors of relations by what they say, 0..1, in spreading activation; those not named weigh 1.
#
# Decisions: no measured set has such facts. They are no more than 1, as a sure relation passes on all it may.
_CONTRAST = 0.5  # what something is not tells half as much of it
# where the query asks why, of what is no cause, on top; what says the same only leads to another name
_NOT_ASKED = 0.5


def edge_weights(
    edges: EdgeArrays,
    strength_now: Float64s,
    params: EdgeWeightParams | None = None,
    names: Int64s | None = None,
) -> Float64s:
    """The weight of each edge before class and query factors, float64[m], 0..1: strength * confidence / names^fan.

    strength_now  float64[m], 0..1
    names         int64[n]  mentions that start at each row; None: count those among the edges
    """
    p = params or EdgeWeightParams()
    out: Float64s = strength_now * edges.confidence
    mentions = np.flatnonzero(edges.kind == _MENTIONS)
    if mentions.size:
        source = edges.source[mentions]
        fan = np.bincount(source) if names is None else names
        out[mentions] /= fan[source] ** p.fan
    return out


def class_factors(
    params: EdgeWeightParams | None = None, kinds: Mapping[str, float] | None = None
) -> Float32s:
    """The factor of each class of arcs, float32[256], as `kernels.tuning.Tuning.kind_factor` wants it.

    kinds  factor of each kind of memory that guidance wants, > 0: of a fact it acts on `relates` edges, of
           any other kind on the arcs that lead to memories of it
    """
    p, wanted = params or EdgeWeightParams(), kinds or {}
    out = np.ones(_FACTORS, np.float32)
    for kind in EDGE_KINDS:
        of_edge = p.kind.get(kind, 1.0)
        if kind is EdgeKind.RELATES:
            of_edge *= wanted.get(FACT, 1.0)
        for target in MEMORY_KINDS:
            on = of_edge * wanted.get(target.value, 1.0)
            out[arc_class(kind, target)] = on
            out[arc_class(kind, target, back=True)] = on * p.back.get(kind, 1.0)
    return out


def relation_factor(says: RelationClass, *, asks_why: bool) -> float:
    """The factor of a relation in spreading activation, 0..1, by what it says and what the query asks."""
    factor = _CONTRAST if says is RelationClass.CONTRAST else 1.0
    is_asked = not asks_why or says in (RelationClass.CAUSE, RelationClass.SAME)
    return factor if is_asked else factor * _NOT_ASKED


def restart_in(restart: float, irritation: float, params: EdgeWeightParams | None = None) -> float:
    """The restart probability in a mood: full irritation (1) removes the share `irritation` of the steps.

    A factor common to all edges would have no effect, as a node's edges share what it passes on.
    """
    p = params or EdgeWeightParams()
    return 1.0 - (1.0 - restart) * (1.0 - p.irritation * min(max(irritation, 0.0), 1.0))


def fact_factors(cosine: Float32s, params: EdgeWeightParams | None = None) -> Float32s:
    """The factor of each of k facts for a query, float32[k], 1..1 + fact.

    cosine  of query and fact text; NaN where there is no vector

    1 + fact * max(0, (cosine - mean) / (1 - mean)), as among e5 vectors any two texts reach a cosine of .8.
    """
    p = params or EdgeWeightParams()
    usual = float(np.sum(cosine, dtype=np.float64)) / max(cosine.size, 1)
    if not isfinite(usual):  # some have no vector
        finite = cosine[np.isfinite(cosine)]
        usual = float(finite.mean()) if finite.size else 1.0
    if usual >= 1 - 1e-6 or not cosine.size:
        return np.ones(cosine.shape, np.float32)
    out = np.float32(1 / (1 - usual)) * (cosine - np.float32(usual))
    np.minimum(np.fmax(out, np.float32(0), out=out), np.float32(1), out=out)
    out *= np.float32(p.fact)
    out += np.float32(1)
    return np.asarray(out, np.float32)
