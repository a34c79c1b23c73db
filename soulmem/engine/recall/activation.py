"""From the terms of the cue to what these are met with in the soul's texts: which memories that calls up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId, derived_id
from soulmem.engine.api.results import PathStep
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.scene import Scene
from soulmem.language.keywords import terms
from soulmem.retrieval.association import ActiveTerms, AssociationParams, spread_energy

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Thought:
    """From a term of the cue to the one that a memory holds, step by step."""

    steps: tuple[PathStep, ...]

    @property
    def hops(self) -> int:
        """Steps to the memory."""
        return len(self.steps)


class Spread:
    """What is active after the cue. What it tells holds until the soul's texts change."""

    def __init__(self, mind: Mind, active: ActiveTerms) -> None:
        self.active = active
        self._mind = mind

    def seeds(self) -> list[tuple[MemoryId, float]]:
        """The terms of the cue and how active each became, the most active first."""
        active = self.active
        best = np.argsort(-active.energy[: active.seeds], kind="stable")
        return [
            (self._step(int(active.terms[at]), None).id, float(active.energy[at]))
            for at in best
        ]

    def thought(self, place: int) -> Thought:
        """The terms from the cue to the active one at `place`."""
        numbers = [int(self.active.terms[at]) for at in self.active.chain(place)]
        led = (None, *[EdgeKind.ASSOCIATES.value] * (len(numbers) - 1))
        return Thought(
            tuple(self._step(n, edge) for n, edge in zip(numbers, led, strict=True))
        )

    def _step(self, term: int, edge: str | None) -> PathStep:
        """A word is no memory: its id only tells one from another."""
        held = self._mind.terms
        word = derived_id("w", self._mind.soul.id, held.incidence.key(term))
        return PathStep(held.concept(term) or MemoryId(word), held.label(term), edge)


def spread_in(mind: Mind, scene: Scene, params: AssociationParams) -> Spread | None:
    """Spread from what the cue tells of; None when no memory holds a term of it. Computes."""
    held, heard = mind.terms, dict[int, float]()
    for (text, share), (concepts, _) in zip(scene.cue.said, scene.named, strict=True):
        named = _known(mind, scene, concepts)
        for term, salience in held.numbers(terms(text), named).items():
            heard[term] = max(heard.get(term, 0.0), share * salience)
    seeds = np.fromiter(heard, np.int64, len(heard))
    loudness = np.fromiter(heard.values(), np.float64, len(heard))
    loudness /= max(float(loudness.max(initial=0.0)), 1e-9)
    active = spread_energy(
        held.incidence, seeds, np.maximum(loudness, 1e-3), scene.known, params
    )
    return Spread(mind, active) if active is not None else None


def _known(mind: Mind, scene: Scene, concepts: Sequence[MemoryId]) -> list[MemoryId]:
    rows = ((concept, mind.row(concept)) for concept in concepts)
    return [concept for concept, row in rows if row is not None and scene.known[row]]
