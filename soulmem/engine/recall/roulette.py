"""The roulette over the weights of a soul's memories, to be looked at."""

from __future__ import annotations

from dataclasses import dataclass

from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.engine.recall.pushes import roulette_counts
from soulmem.engine.world.services import Services
from soulmem.retrieval.weights import WeightParams


@dataclass(frozen=True, slots=True)
class Draws:
    """How often each memory came (those that did not are left out), and the weight of each."""

    counts: dict[MemoryId, int]
    weights: dict[MemoryId, float]


class Roulette:
    """Draws memories as a push does, without telling them."""

    def __init__(self, services: Services, *, weight: WeightParams) -> None:
        self._world_of = services.world_of
        self._compute = services.compute
        self._clock = services.clock
        self._weight = weight

    async def draws(self, owner: Owner, soul: SoulId, count: int, seed: int) -> Draws:
        """So many draws over the present weights. Raises NotFound."""
        world = await self._world_of(owner)
        mind = await world.mind(world.soul(soul).id)
        counts, weights = await self._compute.run(
            roulette_counts, mind, self._weight, self._clock.extra_turns, count, seed
        )
        return Draws(counts, weights)
