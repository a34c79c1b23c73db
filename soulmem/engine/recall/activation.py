"""Spreading activation: from the terms of the query to those that occur with them in a soul's texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.consolidation.base_activation import ActivationParams
from soulmem.consolidation.plasticity import FLOOR
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId, derived_id
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.results import PathStep
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.views.concept_activation import MENTION_SALIENCE
from soulmem.engine.views.telling_ages import with_joined_tellings
from soulmem.graph.association import arc_class
from soulmem.language.keywords import terms
from soulmem.retrieval.association import ActiveTerms, AssociationParams, spread_energy
from soulmem.retrieval.edge_weights import class_factors

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class TermPath:
    """The terms from one of the query to one that a memory contains."""

    steps: tuple[PathStep, ...]

    @property
    def hops(self) -> int:
        """Steps to the memory."""
        return len(self.steps)


class TermActivation:
    """The terms that the query activates. Valid until the soul's texts change."""

    def __init__(self, mind: Mind, active: ActiveTerms) -> None:
        self.active = active
        self._mind = mind

    def seeds(self) -> list[tuple[MemoryId, float]]:
        """The terms of the query and the energy of each, highest first."""
        active = self.active
        order = np.argsort(-active.energy[: active.seeds], kind="stable")
        return [
            (self._step(int(active.terms[i]), None).id, float(active.energy[i]))
            for i in order
        ]

    def path_to(self, position: int) -> TermPath:
        """The terms from the query to the one at `position` of `ActiveTerms.terms`."""
        numbers = [int(self.active.terms[i]) for i in self.active.chain(position)]
        steps = [self._step(numbers[0], None)]
        for number in numbers[1:]:
            steps.append(self._step(number, EdgeKind.ASSOCIATES.value))
        return TermPath(tuple(steps))

    def _step(self, term: int, edge: str | None) -> PathStep:
        """The concept of a term; a mere word is no memory and gets an id derived from its spelling."""
        table = self._mind.terms
        word = derived_id("w", self._mind.soul.id, table.incidence.key(term))
        return PathStep(
            table.concept_of(term) or MemoryId(word), table.label(term), edge
        )


@compute_only
def activate_terms(
    mind: Mind, context: RecallContext, params: AssociationParams
) -> TermActivation | None:
    """Spread activation from the terms of the query; None when no memory contains one."""
    table, salience = mind.terms, dict[int, float]()
    for text, share, concepts in context.named_by_part():
        usable = _usable_concepts(mind, context, concepts)
        for term, value in table.query_terms(terms(text), usable).items():
            salience[term] = max(salience.get(term, 0.0), share * value)
    seeds = np.fromiter(salience, np.int64, len(salience))
    energy = np.fromiter(salience.values(), np.float64, len(salience))
    energy /= max(float(energy.max(initial=0.0)), 1e-9)
    met = with_joined_tellings(mind, context.request.chat, context.accessible)
    active = spread_energy(
        table.incidence,
        seeds,
        np.maximum(energy, 1e-3),
        met,
        params,
        Relations(mind, context).of if len(mind.facts) else None,
        BaseActivations(mind, context, met).of,
    )
    return TermActivation(mind, active) if active is not None else None


class Relations:
    """What relations join a term with, as far as a recall may use them: strength * confidence * class."""

    def __init__(self, mind: Mind, context: RecallContext) -> None:
        self._mind, self._accessible = mind, context.accessible
        self._turn = mind.lived_turns(context.extra_turns)
        wanted = context.guidance.kinds
        factors = class_factors(kinds=wanted)
        self._factor = float(factors[arc_class(EdgeKind.RELATES, MemoryKind.CONCEPT)])

    @compute_only
    def of(self, terms: Sequence[int]) -> list[dict[int, float]]:
        """For each term the terms that it is related to, with the weight of the strongest relation, 0..1."""
        return [self._related(self._mind.terms.concept_of(term)) for term in terms]

    def _related(self, concept: MemoryId | None) -> dict[int, float]:
        out: dict[int, float] = {}
        if concept is None:
            return out
        for edge in self._mind.edges.of(concept, EdgeKind.RELATES):
            row = self._mind.row(MemoryId(edge.id))
            other = edge.target if edge.source == concept else edge.source
            term = self._mind.terms.term_of(other)
            if row is None or term is None or not self._accessible[row]:
                continue
            strength = self._mind.edge_strength(edge, self._turn)
            weight = min(1.0, strength * edge.confidence * self._factor)
            if strength >= FLOOR:
                out[term] = max(out.get(term, 0.0), weight)
        return out


class BaseActivations:
    """How active terms are by themselves: by the texts with them that the recall may use, and their recalls."""

    def __init__(self, mind: Mind, context: RecallContext, met: Bools) -> None:
        """`met`: the rows of the texts that count, bool[n]."""
        self._mind, self._context, self._met = mind, context, met
        self._params = ActivationParams()

    @compute_only
    def of(self, terms: Ints) -> Floats:
        """The activation of each term, float64, 0..1."""
        mind, context, p = self._mind, self._context, self._params
        place, rows = mind.terms.incidence.rows_of(terms, self._met)
        distinct, index = np.unique(rows, return_inverse=True)
        extra = context.extra_turns
        ages = mind.time.row_ages(
            distinct, mind.exchange_ages(context.request.chat, extra, distinct), extra
        )
        pace = mind.soul.settings.forgetting / p.stability
        gain = p.mention * MENTION_SALIENCE * np.exp(-pace * ages)
        turn = mind.lived_turns(extra)
        since = mind.recalls.since_use(distinct, turn)
        recalled = np.isfinite(since)
        gain[recalled] += p.recall * np.exp(-pace * since[recalled])
        # Of several gains each takes its share of what is missing to 1.
        total = np.bincount(place, np.log1p(-gain)[index], terms.size)
        return np.asarray(-np.expm1(total), np.float64)


def _usable_concepts(
    mind: Mind, context: RecallContext, concepts: Sequence[MemoryId]
) -> list[MemoryId]:
    rows = ((concept, mind.row(concept)) for concept in concepts)
    return [
        concept for concept, row in rows if row is not None and context.accessible[row]
    ]
