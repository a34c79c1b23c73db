"""What the engine asks of whatever keeps copies of the store."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Backups(Protocol):
    """Copies of the whole store, the newest few of which are kept. Every method may raise StoreError."""

    async def last(self, before: datetime) -> datetime | None:
        """When the newest copy was made that is not of a later time than `before`; None without any."""

    async def make(self, current_time: datetime) -> str:
        """Make a copy that shows one moment, let go of those that are too old; its path, for the user."""
