"""The phases of the engine: Working while requests come, Idle after a time without any."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Awaitable, Callable
from enum import Enum

from soulmem.domain.errors import SoulMemError
from soulmem.engine.runtime.events import Events

log = logging.getLogger(__name__)

_CHECK_SECONDS = 1.0
_GENERATING_SECONDS = 300.0  # after which a client counts as gone


class Phase(str, Enum):
    """The two states of design 5."""

    WORKING = "working"
    IDLE = "idle"


class Lifecycle:
    """Runs the Idle work once per quiet time; a request brings the engine back to Working."""

    def __init__(
        self,
        idle_after: float,
        idle_work: Callable[[], Awaitable[None]],
        more_work: Callable[[], Awaitable[None]] | None = None,
        events: Events | None = None,
    ) -> None:
        """`more_work` runs again and again while it stays quiet, and does what is due by then.

        `events` receives changes of phase.
        """
        self.events = events or Events()
        self.phase = Phase.WORKING
        self._idle_after = idle_after  # seconds
        self._idle_work = idle_work
        self._more_work = more_work
        self._last = time.monotonic()
        self._generating: dict[tuple[str, str], float] = {}
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to watch for quiet times."""
        self._task = asyncio.create_task(self._watch())

    async def stop(self) -> None:
        """Stop watching; Idle work under way is cancelled between two steps."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def touched(self) -> None:
        """Note a request: the engine is Working."""
        self._last = time.monotonic()
        self._enter(Phase.WORKING)

    def generating(self, owner: str, chat: str, now_generating: bool) -> None:
        """Note whether the client of a chat is writing or waiting for a reply."""
        if now_generating:
            self._generating[owner, chat] = time.monotonic()
        else:
            self._generating.pop((owner, chat), None)

    def is_generating(self) -> bool:
        """Whether any client waits for a reply."""
        oldest = time.monotonic() - _GENERATING_SECONDS
        return any(since > oldest for since in self._generating.values())

    def _enter(self, phase: Phase) -> None:
        if phase is not self.phase:
            self.phase = phase
            self.events.publish("phase", phase=phase.value)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            try:
                await self._look()
            except SoulMemError as error:
                log.warning("idle work stopped: %s", error.message)
            except (asyncio.CancelledError, KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:  # the watch has to go on, whatever happened
                # What an exception says may quote a chat.
                places = "".join(traceback.format_tb(error.__traceback__))
                log.error("idle work stopped: %s\n%s", type(error).__name__, places)

    async def _look(self) -> None:
        """Do the Idle work if nothing was asked for long enough."""
        silent = time.monotonic() - self._last >= self._idle_after
        if not silent or self.is_generating():
            return
        work = self._idle_work if self.phase is Phase.WORKING else self._more_work
        self._enter(Phase.IDLE)
        if work is not None:
            await work()
