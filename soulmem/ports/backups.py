"""Port: backups of the store."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Backups(Protocol):
    """Copies of the whole store; the newest few are kept. Methods may raise StoreError."""

    async def last(self, before: datetime) -> datetime | None:
        """Time of the newest copy not later than `before`; None without any."""

    async def make(self, current_time: datetime) -> str:
        """Make a consistent copy and remove those that are too old; returns its path."""
