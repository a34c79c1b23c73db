"""Expansion beyond the text of the query: its seeds, then a walk, spreading activation or the steady state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import MemoryId
from soulmem.engine.api.requests import RecallMode
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.activation import TermActivation, activate_terms
from soulmem.engine.recall.context import RecallContext, TextScores
from soulmem.engine.recall.decision import Line
from soulmem.engine.recall.vector_expansion import (
    NO_MATCH,
    Opened,
    VectorMatch,
    VectorParams,
    expand_by_vectors,
    passable_rows,
)
from soulmem.engine.recall.walks import WalkResult, Walks
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.word_concepts import member_terms, topics_of_term
from soulmem.kernels.arrays import Bools, Float32s, Float64s, Int64s
from soulmem.kernels.steady import Steady, SteadyParams
from soulmem.kernels.walk import Walk
from soulmem.retrieval.association import AssociationParams, row_energy
from soulmem.retrieval.best import best_rows
from soulmem.retrieval.fusion import standardised
from soulmem.retrieval.term_groups import TermGroups

# How a step over words is taken. Restart .2 to .5, and shares of 4 to 10 %, score alike.
_TEXTS = 20  # best texts to start at
# a text one standard deviation better gets e^sharpness times the share
_SHARPNESS = 1.5
_RESTART = 0.3  # as in a walk
# Words in one text lead nowhere; those in more than this share, or `few` texts, lead everywhere.
_COMMON = 0.06
_FEW = 4
# Weight of the text after and before, beside the inverse document frequencies of the words.
_AFTER = 5.0
_BEFORE = 2.5
# Over so many topics the walk goes on, those that most arrives at; each costs a count of its texts.
_TOPICS = 4


@compute_only
def word_bridges(
    mind: Mind,
    context: RecallContext,
    score: Float32s,
) -> Float32s:
    """What arrives at each row of a walk that goes on from the best texts over their words or to the texts
    beside them; float32[n], >= 0.

    score  float32[n]  standardised text score, -inf where not visible
    """
    arrived = np.zeros(score.size)
    starts = best_rows(score, _TEXTS)
    if not starts.size:
        return arrived.astype(np.float32)
    pull = np.exp(_SHARPNESS * (score[starts] - score[starts[0]]).astype(np.float64))
    pull /= pull.sum()
    incidence = mind.terms.incidence
    counts = incidence.counts(context.visible)
    most = max(_FEW, _COMMON * incidence.windows(context.visible))
    cells = incidence.cells(starts)
    place, column = np.nonzero(cells >= 0)
    terms = cells[place, column]
    is_bridge = (counts >= 2) & (counts <= most)  # by number
    bridging = is_bridge[terms]
    place, terms = place[bridging], terms[bridging]
    total = max(float(np.count_nonzero(context.visible)), 1.0)
    weight = np.log(total / counts[terms])
    beside = mind.neighbours(context.request.chat)
    after, before = beside.after[starts], beside.before[starts]
    degree = np.bincount(place, weight, starts.size).astype(np.float64)
    degree += _AFTER * (after >= 0) + _BEFORE * (before >= 0)
    flow = pull / np.maximum(degree, 1e-9)
    # Two steps over words: to the words, and from each word to all texts that have it.
    distinct, index = np.unique(terms, return_inverse=True)
    at_words = np.bincount(index, flow[place] * weight, distinct.size)
    which, rows = incidence.rows_of(distinct.astype(np.int64), context.visible)
    onward = (1 - _RESTART) ** 2
    topics = [topics_of_term(mind, term) for term in distinct.tolist()]
    # From a word it goes to each text that has it, and as much to its topics.
    ways = counts[distinct] + np.fromiter(map(bool, topics), np.int64, distinct.size)
    going = at_words / ways
    np.add.at(arrived, rows, onward * going[which])
    words, over_topics = _over_topics(mind, context, topics, going, is_bridge)
    which, rows = incidence.rows_of(words, context.visible)
    going = over_topics / (counts[words] + 1.0)
    np.add.at(arrived, rows, onward**2 * going[which])
    step = _RESTART * (1 - _RESTART)
    for neighbours, strength in ((after, _AFTER), (before, _BEFORE)):
        reached = neighbours >= 0
        np.add.at(arrived, neighbours[reached], step * strength * flow[reached])
    return arrived.astype(np.float32)


def _over_topics(
    mind: Mind,
    context: RecallContext,
    topics: Sequence[Sequence[MemoryId]],
    share: Float64s,
    is_bridge: Bools,
) -> tuple[Int64s, Float64s]:
    """The words that a walk comes to over topics, int64[k], distinct, and what arrives at each, float64[k].

    topics     for each word that it stands at the topics of this word
    share      float64[words], what goes on to these
    is_bridge  bool[terms], the words that the walk may pass

    A topic leads only to words that occur in an exchange of visible texts with another word of it.
    """
    arriving: dict[MemoryId, float] = {}
    for of_word, going in zip(topics, share.tolist(), strict=True):
        for topic in of_word:
            arriving[topic] = arriving.get(topic, 0.0) + going / len(of_word)
    rows = ((key, mind.row(key)) for key in arriving)
    usable = [k for k, row in rows if row is not None and context.accessible[row]]
    best = sorted(usable, key=lambda key: (-arriving[key], key))[:_TOPICS]
    groups = [member_terms(mind, topic) for topic in best]
    windows = mind.exchange_windows(context.request.chat)
    joined = TermGroups(mind.terms.incidence, groups, context.visible, windows)
    out: dict[int, float] = {}
    for group, topic in enumerate(best):
        terms = joined.members(joined.first + group).terms
        terms = terms[is_bridge[terms]]
        for term in terms.tolist():
            out[term] = out.get(term, 0.0) + arriving[topic] / terms.size
    words = np.fromiter(out, np.int64, len(out))
    return words, np.fromiter(out.values(), np.float64, len(out))


Rows = NDArray[np.uint32]
Shares = NDArray[np.float64]


_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, slots=True)
class SeedParams:
    """How names and texts share the start distribution.

    Measured together on LoCoMo, MADial-Bench, role-play, 2Wiki, MuSiQue and HotpotQA; each is flat around its
    value: text_mass .05 to .3, common_mass .1 to .6, texts 10 to 40, sharpness 1.5 to 3 move no set by
    more than a point or two.
    """

    # 0..1, share of all texts together beside a rare name, whatever their number
    text_mass: float = 0.1
    # 0..1, the same where even the rarest name is in very many memories
    common_mass: float = 0.6
    # memories that mention a name at which the share is half way between the two
    common: float = 15.0
    texts: int = 20  # best texts used
    # a text one standard deviation better gets e^sharpness times the share
    sharpness: float = 2.5


def seeds(
    text_score: Float32s,
    visible: Bools,
    concept_rows: Rows,
    document_frequency: NDArray[np.floating],
    params: SeedParams | None = None,
    name_share: Shares | None = None,
) -> tuple[Rows, Shares]:
    """Rows to start at, distinct and ascending, and the share of each: > 0, sum 1. May be empty.

    text_score          float32[n]  `TextScores.own`: with pairs, but without neighbours, which the walk
                                    reaches itself. From texts alone LoCoMo loses 4 points of R@5
    visible             bool[n]     texts that may be used
    concept_rows        uint32[k]   rows of the concepts that the query names
    document_frequency  float[k]    number of memories that mention each; 0: the name is ignored
    name_share            float64[k]  share of the query that names each, > 0; None: equal shares

    The share of a name is inverse to its document frequency (node specificity, HippoRAG,
    https://arxiv.org/abs/2405.14831); that of a text is proportional to exp(sharpness * z), z
    standardised over the visible texts. Texts of equal score get none.
    """
    p = params or SeedParams()
    named = np.flatnonzero(document_frequency > 0)
    texts, pull = _best_texts(text_score, visible, p)
    mass = _text_mass(document_frequency[named], p)
    if not texts.size:
        mass = 0.0
    specific = (1.0 if name_share is None else name_share[named]) / document_frequency[named]
    share = np.concatenate(
        [(1.0 - mass) * specific / max(float(specific.sum()), _TINY), mass * pull]
    )
    rows, which = np.unique(np.concatenate([concept_rows[named], texts]), return_inverse=True)
    total = np.bincount(which, weights=share, minlength=rows.size)
    rows, total = rows[total > 0], total[total > 0]
    return rows.astype(np.uint32), total / max(float(total.sum()), _TINY)


def _text_mass(document_frequency: NDArray[np.floating], p: SeedParams) -> float:
    """Share of the walk that starts at texts: it rises with the frequency of the rarest name."""
    if not document_frequency.size:
        return 1.0
    spread = (float(document_frequency.min()) / p.common) ** 2
    return p.text_mass + (p.common_mass - p.text_mass) * spread / (1.0 + spread)


def _best_texts(score: Float32s, visible: Bools, p: SeedParams) -> tuple[NDArray[np.int64], Shares]:
    """Rows of the best texts and their shares, sum 1."""
    among = np.full(score.shape, -np.inf, np.float32)
    np.copyto(among, score, where=visible)
    best = best_rows(among, p.texts)
    z = standardised(score, visible, best)
    if not best.size or z[0] <= 0:
        return np.zeros(0, np.int64), np.zeros(0)
    pull = np.exp(p.sharpness * (z - z[0]).astype(np.float64))
    return best, pull / pull.sum()


_WALK_MODES = (RecallMode.AUTO, RecallMode.WALK)
_ACTIVATION_MODES = (RecallMode.AUTO, RecallMode.SPREAD)


@dataclass(frozen=True, slots=True)
class ExpansionParams:
    """Where an expansion starts, and how far it goes."""

    seeds: SeedParams = field(default_factory=SeedParams)
    spreading: AssociationParams = field(default_factory=AssociationParams)
    steady: SteadyParams = field(default_factory=SteadyParams)
    vectors: VectorParams = field(default_factory=VectorParams)


@dataclass(frozen=True, slots=True)
class Expansion:
    """How much of the expansion arrives at each row, and what produced it.

    share    float32[n]  >= 0
    started  float32[n]  how much of it began at each row; None where it has no such start
    bridged  float32[n]  what arrives from the best texts over ordinary words; None where no walk was taken
    named    float64[k]  how many edges each concept has that the query names
    opened   rows that memory vectors open, then those that what is told brings, the strongest of each first
    by_terms  whether the share is the activation of the terms of each row
    """

    share: Float32s
    started: Float32s | None
    named: Float64s
    walk: WalkResult | None = None
    activation: TermActivation | None = None
    steady: Steady | None = None
    opened: tuple[Opened, ...] = ()
    bridged: Float32s | None = None
    by_terms: bool = False


@dataclass(frozen=True, slots=True)
class _Start:
    """The rows to start at, the share of each, the rows that may be passed, the degrees of named concepts."""

    rows: Rows
    share: Float64s
    passable: Bools
    degrees: Float64s


@dataclass(frozen=True, slots=True)
class VectorExpansion:
    """The edges whose memory vectors match the query, and the rows that these open, the strongest first."""

    match: VectorMatch = NO_MATCH
    opened: tuple[Opened, ...] = ()


@compute_only
def vector_expansion(
    mind: Mind,
    walks: Walks,
    context: RecallContext,
    scores: TextScores,
    match: VectorMatch,
    params: VectorParams,
) -> VectorExpansion:
    """The rows that matching memory vectors open."""
    if not match.edges:
        return VectorExpansion()
    factors = walks.class_factors(context.guidance.kinds)
    opened = expand_by_vectors(mind, context, scores, match, factors, params)
    return VectorExpansion(match, tuple(opened))


@compute_only
def activation_of(
    mind: Mind, context: RecallContext, params: ExpansionParams
) -> TermActivation | None:
    """The activation of this recall; None in a mode without. Needs no text scores."""
    asked = context.asked_time
    if asked is not None and asked.only_time:  # no word of the query to start from
        return None
    mode = context.request.mode
    if mode not in _ACTIVATION_MODES or not context.query.embed_parts:
        return None
    return activate_terms(mind, context, params.spreading)


def no_expansion(mind: Mind) -> Expansion:
    """The expansion of an answer by text alone: empty."""
    return Expansion(np.zeros(mind.size, np.float32), None, np.zeros(0))


@compute_only
def expand(
    mind: Mind,
    walks: Walks,
    context: RecallContext,
    scores: TextScores,
    params: ExpansionParams,
    vectors: VectorExpansion,
    activation_result: Callable[[], TermActivation | None] | None = None,
    asked_lines: Sequence[Line] = (),
) -> Expansion:
    """The expansion of this recall's mode.

    `auto` walks, and activates terms for the reserved slots of learned associations; `baseline` does not
    expand, `expand` by memory vectors alone. `activation_result` returns what `activation_of` would, where
    that was computed before.
    """
    mode, nothing = context.request.mode, no_expansion(mind)
    if mode is RecallMode.BASELINE or not context.query.embed_parts:
        return nothing
    if mode is RecallMode.EXPAND:
        return replace(nothing, opened=vectors.opened)
    activation = (
        activation_result()
        if activation_result is not None
        else activation_of(mind, context, params)
    )
    if mode is RecallMode.SPREAD:
        if activation is None:
            return nothing
        energy = row_energy(activation.active, mind.terms.incidence, context.accessible)
        share = energy.astype(np.float32)
        return Expansion(share, None, np.zeros(0), activation=activation, by_terms=True)
    start = _start(mind, walks, context, scores, params.seeds, asked_lines)
    bridged = None
    if mode in _WALK_MODES and scores.by_tokens:
        bridged = word_bridges(mind, context, scores.score)
    if start is None:
        return replace(nothing, activation=activation, bridged=bridged)
    if mode in _WALK_MODES:
        edge_factors = vectors.match.factors(params.vectors)
        walk = _walk_from(start, walks, context, scores, edge_factors)
        return Expansion(
            walk.share,
            walk.started,
            start.degrees,
            walk,
            activation,
            opened=vectors.opened,
            bridged=bridged,
        )
    steady = walks.steady(start.rows, start.share, start.passable, params.steady)
    share = _with_facts(mind, steady.potential)
    return Expansion(share, None, start.degrees, steady=steady)


@compute_only
def walk_only(
    mind: Mind,
    walks: Walks,
    context: RecallContext,
    scores: TextScores,
    params: ExpansionParams,
    match: VectorMatch,
    asked_lines: Sequence[Line] = (),
) -> Walk | None:
    """The walk that `expand` takes, None where there is none."""
    start = _start(mind, walks, context, scores, params.seeds, asked_lines)
    if context.request.mode not in _WALK_MODES or start is None:
        return None
    factors = match.factors(params.vectors)
    return _walk_from(start, walks, context, scores, factors).walk


def _walk_from(
    start: _Start,
    walks: Walks,
    context: RecallContext,
    scores: TextScores,
    edge_factors: Mapping[str, float],
) -> WalkResult:
    return walks.walk(
        start.rows,
        start.share,
        start.passable,
        context.mood,
        scores.dense,
        context.guidance.kinds,
        edge_factors,
    )


def _start(
    mind: Mind,
    walks: Walks,
    context: RecallContext,
    scores: TextScores,
    params: SeedParams,
    asked_lines: Sequence[Line],
) -> _Start | None:
    """The concepts that the query names and the texts nearest to it; None when there is no edge to follow.

    Where it asks for several things, as much of the walk starts for each of them as for the whole.
    """
    if not context.query.embed_parts:
        return None
    passable = passable_rows(mind, context)
    graph = walks.refresh(context.extra_turns).graph
    groups = [(scores.own, context.named_concepts)]
    groups += [(part.scores.own, ((part.concepts, 1.0),)) for part in asked_lines]
    texts = context.visible & passable
    starts, degrees = [], np.zeros(0)
    for text_score, named_concepts in groups:
        named, weights = _named_rows(mind, named_concepts, passable)
        first = named.astype(np.int64)
        degree = (graph.ends[first] - graph.starts[first]).astype(np.float64)
        starts.append(seeds(text_score, texts, named, degree, params, weights))
        degrees = np.append(degrees, degree)
    rows, share = _joined(starts)
    if not rows.size or (mind.residency.whole and not graph.size):
        return None
    return _Start(rows, share, passable, degrees)


def _named_rows(
    mind: Mind,
    named_concepts: Sequence[tuple[Sequence[MemoryId], float]],
    passable: Bools,
) -> tuple[Rows, Float64s]:
    """The passable rows of these concepts and the share of the query that names each."""
    salience: dict[int, float] = {}
    for concepts, share in named_concepts:
        for concept in concepts:
            row = mind.row(concept)
            if row is not None and passable[row]:
                salience[row] = salience.get(row, 0.0) + share
    named = np.fromiter(salience, np.uint32, len(salience))
    return named, np.fromiter(salience.values(), np.float64, len(salience))


def _joined(starts: Sequence[tuple[Rows, Float64s]]) -> tuple[Rows, Float64s]:
    """Start distributions as one, each as large a part of it; those without rows are left out."""
    usable = [start for start in starts if start[0].size]
    if len(usable) < 2:
        return usable[0] if usable else starts[0]
    rows, place = np.unique(np.concatenate([rows for rows, _ in usable]), return_inverse=True)
    weights = np.concatenate([share for _, share in usable]) / len(usable)
    joined: Float64s = np.bincount(place, weights, rows.size).astype(np.float64)
    return rows, joined


def _with_facts(mind: Mind, potential: Float64s) -> Float32s:
    """The potential with that of facts: of each the smaller one of its two ends."""
    facts, subjects, objects = mind.facts.row_arrays()
    out = potential.astype(np.float32)
    out[facts] = np.minimum(out[subjects], out[objects])
    return out
