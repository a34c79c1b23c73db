"""A lock with a token: functions that write take the token of the lock as an argument."""

from __future__ import annotations

import asyncio


class WriteToken:
    """Proof that its holder has the lock; made by `WriteLock` and valid until the lock is released."""

    def __init__(self) -> None:
        self._is_valid = True

    def check(self) -> None:
        """Raises RuntimeError when the lock was released."""
        if not self._is_valid:
            raise RuntimeError("the writing lock was released before this write")

    def expire(self) -> None:
        """Mark the lock as released."""
        self._is_valid = False


class WriteLock:
    """`async with lock as token`: one writer at a time. Used on the event loop."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._token: WriteToken | None = None

    async def __aenter__(self) -> WriteToken:
        await self._lock.acquire()
        self._token = WriteToken()
        return self._token

    async def __aexit__(self, *_: object) -> None:
        if self._token is not None:
            self._token.expire()
        self._token = None
        self._lock.release()
