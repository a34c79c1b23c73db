"""Messages that have left short-term memory, and the stretches in which they are consolidated.

Short-term memory is a FIFO of exchanges. A mark is set every few exchanges, where the scene or the topic
changes and where the chat ends. Messages before a mark have left once the FIFO is full again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class MarkParams:
    """Size of the FIFO, and of a stretch. In use `turns` and `least` come from `config/settings.py`."""

    turns: int = 3  # exchanges in the FIFO, and between two marks; design 5
    # least messages of a stretch: at most two calls for each (design 1.7)
    least: int = 20
    # messages that are summarised again at once after an early one changed
    refold: int = 80
    # between two messages, from which on the scene is another
    pause: timedelta = timedelta(hours=6)


@dataclass(frozen=True, slots=True)
class MarkedMessage:
    """The fields of a message that decide about marks. Times are aware."""

    opens_exchange: bool
    sent_at: datetime | None = None
    story_at: datetime | None = None
    location: str | None = None
    changes_topic: bool = False  # its exchange begins another topic


def count_slid_out(messages: Sequence[MarkedMessage], *, ended: bool, params: MarkParams) -> int:
    """Number of messages, from the first on, that have left the FIFO; all of a chat that has `ended`."""
    if ended:
        return len(messages)
    marks = [0]
    forced = exchanges = 0
    opened: list[int] = []
    place: str | None = None
    for index, message in enumerate(messages):
        if index and (
            _is_after_pause(messages[index - 1], message, params.pause)
            or _is_other_place(place, message)
            or message.changes_topic
        ):
            forced, exchanges = index, 0
            marks.append(index)
        place = message.location or place
        if message.opens_exchange:
            if exchanges == params.turns:
                marks.append(index)
                exchanges = 0
            exchanges += 1
            opened.append(index)
    fifo_start = opened[-params.turns] if len(opened) >= params.turns else 0
    return max(forced, *(mark for mark in marks if mark <= fifo_start))


def stretches(start: int, stop: int, least: int) -> list[tuple[int, int]]:
    """`start` .. `stop` cut into as many even stretches of at least `least` messages as possible; may be none."""
    count = (stop - start) // least
    ends = (
        [start + (stop - start) * number // count for number in range(1, count + 1)]
        if count > 0
        else []
    )
    return list(zip([start, *ends[:-1]], ends, strict=True)) if ends else []


def _is_after_pause(before: MarkedMessage, message: MarkedMessage, pause: timedelta) -> bool:
    pairs = ((before.sent_at, message.sent_at), (before.story_at, message.story_at))
    return any(
        earlier is not None and later is not None and later - earlier >= pause
        for earlier, later in pairs
    )


def _is_other_place(place: str | None, message: MarkedMessage) -> bool:
    return place is not None and message.location is not None and message.location != place
