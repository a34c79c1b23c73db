"""Is each message read as it was written, also from a store of before?"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from soulmem.adapters.surreal.message_rows import message_of, message_row
from soulmem.domain.dialogue import Message, Role
from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.ports.store import RankedMessage
from tests.ports.stores import NOON, OWNER

_PLAIN = Message(SlotId("s1"), "0123456789abcdef", Role.USER, "阿诚", 'he said "嗯"\n')
_EAST = timezone(timedelta(hours=9, minutes=30))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"sent_at": NOON},
        {"sent_at": NOON.astimezone(_EAST)},
        {"story_at": datetime(1, 1, 2, tzinfo=timezone.utc)},
        {"story_at": datetime(9999, 12, 30, 1, 2, 3, 4, tzinfo=timezone.utc)},
        {"hidden": True},
        {"swipe": 3},
        {"story": "he said"},
        {"present": (), "story": ""},
        {"present": ()},
        {"present": (SoulId("a"), SoulId("b"))},
        {"sent_at": NOON, "present": (SoulId("a"),)},
    ],
)
def test_a_message_is_read_as_it_was_written(changes: dict[str, Any]) -> None:
    written = RankedMessage(7, replace(_PLAIN, **changes))
    row = message_row(OWNER, ChatId("c"), written)
    line = json.dumps([row["id"][2], row["told"]])
    assert message_of(line) == written


def test_a_plain_message_takes_few_characters_beside_its_text() -> None:
    row = message_row(OWNER, ChatId("c"), RankedMessage(1 << 20, _PLAIN))
    assert len(row["told"]) < len(_PLAIN.text) + 60
    assert set(row) == {"id", "told"}
