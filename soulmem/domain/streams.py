"""A stream: what viewers say and do while a character is on air, event by event; events are only ever added."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from soulmem.domain.ids import StreamId


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event of a stream; its id is the client's own, and distinct within the stream."""

    stream: StreamId
    id: str
    moment: datetime  # aware, UTC
    speaker: str
    text: str

    @property
    def position(self) -> tuple[datetime, str]:
        """Its place in the stream."""
        return self.moment, self.id
