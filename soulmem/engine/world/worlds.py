"""The worlds of all owners, each loaded when its owner is first served."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from soulmem.domain.ids import Owner
from soulmem.engine.mind.mind import Mind
from soulmem.engine.world.world import World


@dataclass(kw_only=True, eq=False)
class Worlds:
    """Loaded worlds by owner. Used on the event loop.

    ready   returns once the store is open, raises StoreError if it cannot be
    create  makes the world of an owner, not loaded yet
    """

    ready: Callable[[], Awaitable[None]]
    create: Callable[[Owner], World]

    def __post_init__(self) -> None:
        self._worlds: dict[Owner, World] = {}
        self._opening = asyncio.Lock()

    async def of(self, owner: Owner) -> World:
        """The owner's world. Waits until the store is open; raises StoreError if it cannot be."""
        await self.ready()
        world = self._worlds.get(owner)
        if world is None:
            async with self._opening:
                world = self._worlds.get(owner) or await self.load(owner)
        return world

    async def load(self, owner: Owner) -> World:
        """Load the owner's world from the open store."""
        world = self.create(owner)
        await world.load()
        self._worlds[owner] = world
        return world

    def all(self) -> list[World]:
        """Every loaded world."""
        return list(self._worlds.values())

    def minds(self) -> list[Mind]:
        """Every open mind of every loaded world."""
        minds: list[Mind] = []
        for world in self._worlds.values():
            minds.extend(world.minds.values())
        return minds
