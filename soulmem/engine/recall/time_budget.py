"""The time that a recall has."""

from __future__ import annotations

import time


class TimeBudget:
    """The time that a recall has."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._began = time.perf_counter()

    @property
    def spent(self) -> float:
        """Seconds since the recall began."""
        return time.perf_counter() - self._began

    @property
    def left(self) -> float:
        """Seconds until the answer is due; below 0 when it is late."""
        return self.seconds - self.spent
