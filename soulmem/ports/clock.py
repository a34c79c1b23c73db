"""Port: the current time, which tests can set."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Wall time plus the turns a test has added."""

    def now(self) -> datetime:
        """Current time, aware, UTC."""

    @property
    def extra_turns(self) -> int:
        """Turns to add to every soul's clock."""
