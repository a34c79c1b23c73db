"""What time it is: the engine asks here, so that tests can move it."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Wall time plus the turns a test has added."""

    def now(self) -> datetime:
        """Aware UTC."""

    @property
    def extra_turns(self) -> int:
        """Turns added to every soul's clock beside those it lived."""
