"""Spreading activation: from the terms of the query to those that occur with them in a soul's texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from soulmem.consolidation.plasticity import FLOOR
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.results import PathStep
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.concept_activation import (
    term_activations,
    with_joined_tellings,
)
from soulmem.engine.views.word_concepts import member_terms, topics_of_term
from soulmem.graph.arcs import arc_class
from soulmem.language.keywords import terms
from soulmem.language.relations import relation_of
from soulmem.retrieval.association import ActiveTerms, AssociationParams, spread_energy
from soulmem.retrieval.edge_weights import class_factors, relation_factor


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

    def __init__(self, mind: Mind, active: ActiveTerms, topics: Sequence[MemoryId]) -> None:
        """`topics`: the groups of `active`, in the order of their numbers."""
        self.active = active
        self._mind, self._topics = mind, topics

    def seeds(self) -> list[tuple[MemoryId, float]]:
        """The terms of the query and the energy of each, highest first."""
        active = self.active
        order = np.argsort(-active.energy[: active.seeds], kind="stable")
        return [(self._step(int(active.terms[i]), None).id, float(active.energy[i])) for i in order]

    def path_to(self, position: int) -> TermPath:
        """The terms and topics from the query to the term at `position` of `ActiveTerms.terms`."""
        numbers = [int(self.active.terms[i]) for i in self.active.chain(position)]
        steps = [self._step(numbers[0], None)]
        for before, number in pairwise(numbers):
            over_topic = max(before, number) >= self.active.first_group
            kind = EdgeKind.TOPIC_OF if over_topic else EdgeKind.ASSOCIATES
            steps.append(self._step(number, kind.value))
        return TermPath(tuple(steps))

    def strongest_in(self, row: int) -> int | None:
        """Position in `ActiveTerms.terms` of the term of that row with the highest pull; None where the row has
        a term of the query, or no active term.
        """
        cells = self._mind.terms.incidence.cells(np.asarray([row]))
        (held,) = np.nonzero(np.isin(self.active.terms, cells))
        if not held.size or held[0] < self.active.seeds:
            return None
        return int(held[np.argmax(self.active.pull[held])])

    def _step(self, term: int, edge: str | None) -> PathStep:
        """The concept of a term, or a topic; a mere word is no memory and gets an id derived from its spelling."""
        table = self._mind.terms
        if term >= self.active.first_group:
            topic = self._mind.memories[self._topics[term - self.active.first_group]]
            return PathStep(topic.id, topic.text, edge)
        concept = table.concept_of(term)
        if concept is None:
            concept = self._mind.names.topic_tags.id_of(table.incidence.key(term))
        return PathStep(concept, table.label(term), edge)


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
    topics = _topics(mind, context, salience)
    met = with_joined_tellings(mind, context.request.chat, context.accessible)
    active = spread_energy(
        table.incidence,
        seeds,
        np.maximum(energy, 1e-3),
        met,
        params,
        Relations(mind, context).of if len(mind.facts) else None,
        lambda of: term_activations(mind, of, met, context.request.chat, context.extra_turns),
        [member_terms(mind, topic) for topic in topics],
        mind.exchange_windows(context.request.chat),
    )
    return TermActivation(mind, active, topics) if active is not None else None


def _topics(mind: Mind, context: RecallContext, terms: Iterable[int]) -> list[MemoryId]:
    """The topics, by id, that these terms belong to and that the recall may use."""
    topics = {topic for term in terms for topic in topics_of_term(mind, term)}
    return _usable_concepts(mind, context, sorted(topics))


class Relations:
    """What relations join a term with, as far as a recall may use them: strength * confidence * the factor of
    facts, if it asks for some * that of what the relation says.
    """

    def __init__(self, mind: Mind, context: RecallContext) -> None:
        self._mind, self._accessible = mind, context.accessible
        self._turn = mind.lived_turns(context.extra_turns)
        factors = class_factors(kinds=context.guidance.kinds)
        self._factor = float(factors[arc_class(EdgeKind.RELATES, MemoryKind.CONCEPT)])
        self._asks_why = context.guidance.causes

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
            says = relation_of(edge.verb).says
            factor = self._factor * relation_factor(says, asks_why=self._asks_why)
            weight = min(1.0, strength * edge.confidence * factor)
            if strength >= FLOOR:
                out[term] = max(out.get(term, 0.0), weight)
        return out


def _usable_concepts(
    mind: Mind, context: RecallContext, concepts: Sequence[MemoryId]
) -> list[MemoryId]:
    rows = ((concept, mind.row(concept)) for concept in concepts)
    return [concept for concept, row in rows if row is not None and context.accessible[row]]
