"""How is a chat that was read from a file sent to the engine, piece by piece?"""

from __future__ import annotations

from collections.abc import Sequence

from soulmem.domain.dialogue import Message, SentMessage
from soulmem.domain.ids import SoulId
from soulmem.transfer.chat_log import ChatLog


def sent_messages(
    log: ChatLog, souls: Sequence[SoulId], start: int, stop: int
) -> list[SentMessage]:
    """Messages `start`..`stop` of the chat as a client of `souls` lists them, texts included."""
    return [
        SentMessage(
            slot=m.slot,
            hash=m.hash,
            role=m.role,
            speaker=m.speaker,
            sent_at=m.sent_at,
            hidden=m.hidden,
            swipe=m.swipe,
            present=_present(m, log, souls),
            text=m.text,
        )
        for m in log.messages[start:stop]
    ]


def stop_of_piece(start: int, total: int, size: int) -> int:
    """Where the piece ends that begins at `start`: pieces of nearly the same length, `size` at most."""
    pieces = max(1, -(-(total - start) // size))
    return start + -(-(total - start) // pieces)


def _present(
    message: Message, log: ChatLog, souls: Sequence[SoulId]
) -> tuple[SoulId, ...] | None:
    """Who of `souls` was there, None for all; a soul that the file knows nothing of was there throughout."""
    if message.present is None:
        return None
    there = tuple(
        soul for soul in souls if soul in message.present or soul not in log.people
    )
    return None if len(there) == len(souls) else there
