"""The system's wall clock, and a clock that tests can move."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from soulmem.domain.calendar import shifted


class SystemClock:
    """The computer's clock."""

    def now(self) -> datetime:
        """Aware UTC."""
        return datetime.now(timezone.utc)

    @property
    def extra_turns(self) -> int:
        """Always 0."""
        return 0


class MovableClock:
    """The computer's clock plus the time that a test added."""

    def __init__(self) -> None:
        self._ahead = timedelta(0)
        self._turns = 0

    def now(self) -> datetime:
        """Aware UTC."""
        return shifted(datetime.now(timezone.utc), self._ahead)

    @property
    def extra_turns(self) -> int:
        """Turns added so far."""
        return self._turns

    def advance(self, seconds: float, turns: int) -> None:
        """Move time forward (or back, with negative values)."""
        self._ahead += timedelta(seconds=seconds)
        self._turns += turns
