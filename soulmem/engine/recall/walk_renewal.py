"""Does in the background what walks put off while a recall waited."""

from __future__ import annotations

import asyncio

from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.walks import Walks
from soulmem.engine.world.services import Services


class WalkRenewal:
    """Updates the strengths of walk graphs in steps on the compute thread; recalls run between two of them."""

    def __init__(self, services: Services) -> None:
        self._compute = services.compute
        self._clock = services.clock
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, mind: Mind, walks: Walks) -> None:
        """Begin with what the last walk of this mind put off; returns at once."""
        self._tasks.add(task := asyncio.create_task(self._run(mind, walks)))
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """Wait until everything under way has ended."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, mind: Mind, walks: Walks) -> None:
        while await self._compute.run(walks.renew, mind, self._clock.extra_turns):
            pass
