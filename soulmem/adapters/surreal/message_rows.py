"""Rows of messages: one JSON array each, without the defaults at its end, as names of fields take much room."""

from __future__ import annotations

import json
from datetime import datetime

from soulmem.adapters.surreal.rows import Row, Table, moment
from soulmem.domain.calendar import utc
from soulmem.domain.dialogue import Message, Role
from soulmem.domain.ids import ChatId, Owner, SlotId, SoulId
from soulmem.ports.store import RankedMessage

MESSAGES = Table("message", ("told",), key=2)
_DEFAULTS = (None, None, False, 0, None, None)  # of the last fields


def message_row(owner: Owner, chat: ChatId, ranked: RankedMessage) -> Row:
    message = ranked.message
    values = [
        ranked.rank,
        message.hash,
        message.role.value,
        message.speaker,
        message.text,
        _text(message.sent_at),
        _text(message.story_at),
        message.hidden,
        message.swipe,
        None if message.present is None else list(message.present),
        message.story,
    ]
    for default in reversed(_DEFAULTS):
        if values[-1] != default:
            break
        del values[-1]
    told = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    return {"id": [owner, chat, message.slot], "told": told}


def message_of(line: str) -> RankedMessage:
    slot, told = json.loads(line)
    rank, digest, role, speaker, text, *rest = json.loads(told)
    rest += _DEFAULTS[len(rest) :]
    sent_at, story_at, hidden, swipe, present, story = rest
    return RankedMessage(
        rank,
        Message(
            slot=SlotId(slot),
            hash=digest,
            role=Role(role),
            speaker=speaker,
            text=text,
            sent_at=moment(sent_at),
            story_at=moment(story_at),
            hidden=hidden,
            swipe=swipe,
            present=None if present is None else tuple(SoulId(soul) for soul in present),
            story=story,
        ),
    )


def _text(value: datetime | None) -> str | None:
    """The moment in UTC, as ISO 8601."""
    return None if value is None else utc(value).isoformat()
