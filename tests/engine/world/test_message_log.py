"""The message behind an episode is found among the newest messages and among all others."""

from __future__ import annotations

import pytest

from soulmem.domain.dialogue import Message, Role, text_hash
from soulmem.domain.ids import MemoryId, SlotId
from soulmem.engine.world.message_log import EpisodeMessages

COUNT = 50


def test_each_message_is_found_by_its_episode() -> None:
    texts = [f"line {n}" for n in range(COUNT)]
    messages = [
        Message(SlotId(f"m{n}"), text_hash(text), Role.USER, "Al", text)
        for n, text in enumerate(texts)
    ]
    # Every fifth message is none of the soul's
    keys = [None if n % 5 == 0 else MemoryId(f"e{n}") for n in range(COUNT)]
    drafts = EpisodeMessages(keys, messages)
    for position in reversed(range(COUNT)):
        key = drafts.key(position)
        if key is not None:
            assert drafts.message(key) is messages[position]
    with pytest.raises(KeyError):
        drafts.message(MemoryId("e0"))
