"""How is a chat that was read from a file sent to `PUT /v1/chats`?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from soulmem.domain.dialogue import Message, digest
from soulmem.domain.ids import SlotId, SoulId
from soulmem.transfer.chat_log import ChatLog


def sync_body(
    log: ChatLog,
    souls: Sequence[SoulId],
    start: int = 0,
    stop: int | None = None,
    texts: frozenset[SlotId] | None = None,
) -> dict[str, Any]:
    """The body that makes the stored chat the first `stop` messages of `log`; `start` of them are known.

    `texts` names the slots whose text is sent along; None sends all.
    """
    body: dict[str, Any] = {
        "souls": list(souls),
        "title": log.title,
        "persona": log.persona,
        "messages": [
            {**_sent(m, with_text=texts is None or m.slot in texts), "present": _present(m, log, souls)}
            for m in log.messages[start:stop]
        ],
    }
    if log.parent is not None:
        body["parent"] = {"chat": log.parent.chat, "fork_slot": log.parent.slot}
    if start:
        body["base"] = {"count": start, "digest": digest(log.messages[:start])}
    return body


def _present(message: Message, log: ChatLog, souls: Sequence[SoulId]) -> list[SoulId] | None:
    """Who of `souls` was there, None for all; a soul that the file knows nothing of was there throughout."""
    if message.present is None:
        return None
    there = [soul for soul in souls if soul in message.present or soul not in log.people]
    return None if len(there) == len(souls) else there


def _sent(message: Message, *, with_text: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "slot": message.slot,
        "hash": message.hash,
        "role": message.role.value,
        "speaker": message.speaker,
        "hidden": message.hidden,
        "swipe": message.swipe,
    }
    if message.sent_at is not None:
        row["sent_at"] = message.sent_at.isoformat()
    if with_text:
        row["text"] = message.text
    return row
