"""Opens the store at the start, and retries while the disk is full or read-only."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from soulmem.domain.errors import StoreError, StoreFull, StoreReadOnly

log = logging.getLogger(__name__)

_RETRY_SECONDS = 3.0  # seconds between attempts


class StoreOpening:
    """Opens the store and then starts the engine's work, in the background."""

    def __init__(
        self, open_: Callable[[], Awaitable[None]], begin: Callable[[], Awaitable[None]]
    ) -> None:
        self._open = open_
        self._begin = begin
        self._tried = asyncio.Event()
        self.error: StoreError | None = None
        self.is_done = False  # the work has started, or cannot

    async def run(self) -> None:
        """Try until the store is open, or cannot be: only a full or read-only disk is tried again."""
        is_over = await self._try_to_open()
        while not is_over:
            await asyncio.sleep(_RETRY_SECONDS)
            is_over = await self._try_to_open()
        if self.error is None:
            await self._begin()
        self.is_done = True

    async def _try_to_open(self) -> bool:
        try:
            await self._open()
        except StoreError as error:
            if self.error is None:
                log.error("%s", error.message)
            self.error = error
            self.is_done = True  # health shows the error at once
            return not isinstance(error, StoreFull | StoreReadOnly)
        else:
            self.error, self.is_done = None, False
            return True
        finally:
            self._tried.set()

    async def tried(self) -> StoreError | None:
        """Wait for the first attempt; returns the error if the store is not open."""
        await self._tried.wait()
        return self.error

    async def ready(self) -> None:
        """Wait for the first attempt; raises the error if the store is not open."""
        if (error := await self.tried()) is not None:
            raise error
