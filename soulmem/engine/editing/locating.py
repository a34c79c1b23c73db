"""Finds the mind that holds a memory."""

from __future__ import annotations

from soulmem.domain.errors import StoreDamaged, no_memory
from soulmem.domain.ids import MemoryId
from soulmem.domain.soul import SoulState
from soulmem.engine.editing.fact_views import has_memory
from soulmem.engine.mind.mind import Mind
from soulmem.engine.world.world import World


async def mind_with(world: World, memory: MemoryId) -> Mind:
    """The mind with a memory or a fact; souls that are not loaded yet are opened to look.

    Raises NotFound, or StoreDamaged where a soul that cannot be read may have it.
    """
    damage: StoreDamaged | None = None
    for mind in world.minds.values():
        if has_memory(mind, memory):
            return await world.mind(mind.soul.id)  # notes that the soul is used
    for soul in list(world.souls.values()):
        if soul.id not in world.minds and soul.state is SoulState.ACTIVE:
            try:
                mind = await world.mind(soul.id)
            except StoreDamaged as error:
                damage = error
                continue
            if has_memory(mind, memory):
                return mind
    for key in world.unreadable:
        world.check_readable(key)
    if damage is not None:
        raise damage
    raise no_memory(memory, field="id")
