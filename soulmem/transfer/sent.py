"""Messages of an imported chat as the engine's sync takes them, in pieces."""

from __future__ import annotations

from collections.abc import Sequence

from soulmem.domain.dialogue import Message, SentMessage
from soulmem.domain.ids import SoulId
from soulmem.transfer.chat_log import ChatLog


def sent_messages(
    log: ChatLog, souls: Sequence[SoulId], start: int, stop: int
) -> list[SentMessage]:
    """Messages `start`..`stop` of the chat in the form of a sync for `souls`, with texts."""
    return [
        SentMessage(
            slot=m.slot,
            hash=m.hash,
            role=m.role,
            speaker=m.speaker,
            sent_at=m.sent_at,
            story_at=m.story_at,
            hidden=m.hidden,
            swipe=m.swipe,
            present=_present(m, log, souls),
            text=m.text,
            story=m.story,
        )
        for m in log.messages[start:stop]
    ]


def stop_of_piece(start: int, total: int, size: int) -> int:
    """End of the piece that begins at `start`; pieces are of nearly equal length, `size` at most."""
    pieces = max(1, -(-(total - start) // size))
    return start + -(-(total - start) // pieces)


def _present(
    message: Message, log: ChatLog, souls: Sequence[SoulId]
) -> tuple[SoulId, ...] | None:
    """Those of `souls` that were present, None for all; one that the file never lists was always present."""
    if message.present is None:
        return None
    present = tuple(
        soul for soul in souls if soul in message.present or soul not in log.people
    )
    return None if len(present) == len(souls) else present
