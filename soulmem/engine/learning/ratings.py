"""Ratings of memories by the archivist: how useful each was, stored as its feedback score."""

from __future__ import annotations

from collections.abc import Mapping

from soulmem.consolidation.verdicts import rated
from soulmem.domain.audit import Action
from soulmem.domain.errors import no_memory
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.opinions import Opinion
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.doubted import opinion_of
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.governance.audit_values import opinion_values
from soulmem.governance.protection import check_unprotected
from soulmem.governance.undoing import OPINION
from soulmem.ports.store import Change


class Ratings:
    """Stores ratings, all of one call or none."""

    def __init__(self, services: Services) -> None:
        self._store = services.store
        self._compute = services.compute
        self._auditor = services.auditor

    async def rate(
        self,
        world: World,
        soul: SoulId,
        ratings: Mapping[MemoryId, float],
        author: ChangeAuthor,
    ) -> dict[str, float]:
        """The feedback score, 0..1, of each rated memory, which moved towards its rating, 0..1.

        Raises NotFound for a memory that the soul does not have, Forbidden for a permanent or locked one.
        """
        async with world.writing as token:
            mind = await world.mind_while_writing(token, soul)
            pairs = await self._compute.run(_rated, mind, ratings)
            entries = []
            for old, new in pairs:
                before = {OPINION: opinion_values(old)}
                after = {OPINION: opinion_values(new)}
                where = world.owner, soul, author, Action.FEEDBACK, old.memory
                entries.append(await self._auditor.entry(*where, before, after))
            opinions = [new for _, new in pairs]
            change = Change(world.owner, put_opinions=opinions, audit=entries, by=author.actor)
            await self._store.commit(change)
            await self._compute.run(mind.opinions.put, opinions)
        return {str(opinion.memory): opinion.score for opinion in opinions}


@compute_only
def _rated(mind: Mind, ratings: Mapping[MemoryId, float]) -> list[tuple[Opinion, Opinion]]:
    """The opinion of each memory before and after."""
    pairs = []
    for key, useful in ratings.items():
        memory = mind.memories.get(key)
        if memory is not None:
            check_unprotected(memory)
        elif mind.row(key) is None:  # a fact is an edge
            raise no_memory(key, field="arguments.ratings")
        old = opinion_of(mind, key)
        pairs.append((old, rated(old, useful)))
    return pairs
