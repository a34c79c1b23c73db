"""Spreading activation: from the terms of the query to those that occur with them in a soul's texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId, derived_id
from soulmem.engine.api.results import PathStep
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.language.keywords import terms
from soulmem.retrieval.association import ActiveTerms, AssociationParams, spread_energy

Floats = NDArray[np.float64]


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
    active = spread_energy(
        table.incidence, seeds, np.maximum(energy, 1e-3), context.accessible, params
    )
    return TermActivation(mind, active) if active is not None else None


def _usable_concepts(
    mind: Mind, context: RecallContext, concepts: Sequence[MemoryId]
) -> list[MemoryId]:
    rows = ((concept, mind.row(concept)) for concept in concepts)
    return [
        concept for concept, row in rows if row is not None and context.accessible[row]
    ]
