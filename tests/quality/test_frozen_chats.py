"""No change of recall loses what two short chats recall.

`python -m tests.quality.frozen_chats` prints the figures.
"""

from __future__ import annotations

import pytest

from soulmem.domain.soul import SoulSettings
from tests.quality.frozen_chats import CHATS, WAYS, load, reading, recalled, silence

pytestmark = pytest.mark.timeout(120)

_IN_PROMPT = 12  # messages at the end of a chat, which are not recalled
# Share of the evidence among eight memories, where the budget is filled, and where only what is called for comes.
FILLED = {
    ("orchard_en", "asked"): 0.83,
    ("orchard_en", "said"): 0.79,
    ("book_shop_zh", "asked"): 0.95,
    ("book_shop_zh", "said"): 0.91,
}
CALLED_FOR = {
    ("orchard_en", "asked"): 0.62,
    ("orchard_en", "said"): 0.62,
    ("book_shop_zh", "asked"): 0.91,
    ("book_shop_zh", "said"): 0.91,
}
# Share of the small talk that brings nothing.
SILENT = {
    ("orchard_en", "short"): 0.91,
    ("orchard_en", "long"): 0.74,
    ("book_shop_zh", "short"): 0.99,
    ("book_shop_zh", "long"): 0.91,
}


@pytest.mark.slow("a whole chat is read")
@pytest.mark.parametrize("name", CHATS)
async def test_what_a_line_calls_for_is_among_eight_memories(name: str) -> None:
    async with reading(name, restraint=0.0) as read:
        figures = {way: await recalled(read, way) for way in WAYS}
    lost = {way: share for way, share in figures.items() if share < FILLED[name, way]}
    assert lost == {}, figures


@pytest.mark.slow("a whole chat is read")
@pytest.mark.parametrize("name", CHATS)
async def test_by_default_cues_bring_something_and_small_talk_nothing(
    name: str,
) -> None:
    async with reading(name, restraint=SoulSettings().restraint) as read:
        for way in WAYS:
            assert await recalled(read, way) >= CALLED_FOR[name, way], way
            for kind in ("short", "long"):
                assert await silence(read, way, kind) >= SILENT[name, kind], (way, kind)


@pytest.mark.parametrize("name", CHATS)
def test_the_chats_ask_for_what_is_in_them_and_no_longer_in_the_prompt(
    name: str,
) -> None:
    chat = load(name)
    assert len(chat.messages) == 80
    assert len(chat.cues) == 12
    recallable = {message.slot for message in chat.messages[:-_IN_PROMPT]}
    for cue in chat.cues:
        assert cue.evidence
        assert cue.evidence <= recallable, cue.text
    short, long = chat.small_talk["short"], chat.small_talk["long"]
    assert len(short) == len(long) == 12
    assert max(map(len, short)) < min(map(len, long))
