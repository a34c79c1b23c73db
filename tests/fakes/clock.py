"""A clock that stands still until a test moves it."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone


class StillClock:
    """Starts at noon of 2026-05-01 UTC."""

    def __init__(self) -> None:
        self._now = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
        self._turns = 0

    def now(self) -> datetime:
        return self._now

    @property
    def extra_turns(self) -> int:
        return self._turns

    def advance(self, seconds: float, turns: int = 0) -> None:
        """Time passes."""
        self._now += timedelta(seconds=seconds)
        self._turns += turns
