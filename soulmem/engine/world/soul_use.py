"""When each soul of an owner was last used, and which are closed because nobody used them."""

from __future__ import annotations

import time
from dataclasses import dataclass

from soulmem.domain.ids import SoulId


@dataclass(frozen=True, slots=True)
class _Closed:
    """A soul whose memory was released."""

    since: float  # monotonic seconds
    pending: int  # memories without a vector: they get one when the soul is open again


class SoulUse:
    """Uses and closings, in monotonic seconds of this run of the sidecar. Used on the event loop.

    A use is a request, a job or a lesson that needs the soul's mind; work on all open
    minds is none.
    """

    def __init__(self) -> None:
        self._last: dict[SoulId, float] = {}
        self._closed: dict[SoulId, _Closed] = {}

    def __len__(self) -> int:
        """Number of closed souls."""
        return len(self._closed)

    def note(self, soul: SoulId) -> None:
        """The soul is used now."""
        self._last[soul] = time.monotonic()

    def unused_for(self, soul: SoulId) -> float:
        """Seconds since the last use; infinite for none."""
        return time.monotonic() - self._last.get(soul, float("-inf"))

    def closed(self, soul: SoulId, pending: int) -> None:
        """The soul's memory was released while so many memories had no vector."""
        self._closed[soul] = _Closed(time.monotonic(), pending)

    def not_closed(self, soul: SoulId) -> None:
        """The soul is in memory again, or was changed or deleted in the store."""
        self._closed.pop(soul, None)

    def none_closed(self) -> None:
        """All souls are to be in memory again."""
        self._closed.clear()

    def is_closed(self, soul: SoulId) -> bool:
        """Whether the soul's memory was released and is not in memory again."""
        return soul in self._closed

    def closed_for(self, seconds: float) -> bool:
        """Whether a soul has been closed for at least so long."""
        latest = time.monotonic() - seconds
        return any(closed.since <= latest for closed in self._closed.values())

    def pending(self) -> int:
        """Memories of closed souls that have no vector yet."""
        return sum(closed.pending for closed in self._closed.values())
