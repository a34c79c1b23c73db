"""Messages that have left short-term memory, and the stretches of consolidation."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.consolidation.short_term import (
    MarkedMessage,
    MarkParams,
    count_slid_out,
    stretches,
)

NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
PARAMS = MarkParams(turns=3, least=20)


def talk(count: int) -> list[MarkedMessage]:
    """So many messages of the user and the character in turn."""
    return [MarkedMessage(opens_exchange=index % 2 == 0) for index in range(count)]


@pytest.mark.parametrize(
    ("count", "out"),
    [(0, 0), (6, 0), (10, 0), (11, 6), (12, 6), (16, 6), (17, 12), (30, 24)],
)
def test_a_mark_stands_at_every_third_exchange_and_three_are_held(count: int, out: int) -> None:
    assert count_slid_out(talk(count), ended=False, params=PARAMS) == out


def test_all_of_a_chat_that_has_ended_has_slid_out() -> None:
    assert count_slid_out(talk(7), ended=True, params=PARAMS) == 7


@pytest.mark.parametrize("clock", ["sent_at", "story_at"])
def test_a_long_pause_is_another_scene(clock: str) -> None:
    def said(hours: int) -> list[MarkedMessage]:
        when = NOON + timedelta(hours=hours)
        if clock == "sent_at":
            return [replace(stretch, sent_at=when) for stretch in talk(3)]
        return [replace(stretch, story_at=when) for stretch in talk(3)]

    assert count_slid_out([*said(0), *said(7)], ended=False, params=PARAMS) == 3
    assert count_slid_out([*said(0), *said(5)], ended=False, params=PARAMS) == 0


def test_another_place_is_another_scene() -> None:
    inn = [
        MarkedMessage(True, location="the inn"),
        MarkedMessage(False),
        MarkedMessage(True),
    ]
    assert (
        count_slid_out(
            [*inn, MarkedMessage(False, location="the forest")],
            ended=False,
            params=PARAMS,
        )
        == 3
    )
    assert (
        count_slid_out([*inn, MarkedMessage(False, location="the inn")], ended=False, params=PARAMS)
        == 0
    )


@given(
    st.lists(
        st.builds(
            MarkedMessage,
            st.booleans(),
            location=st.sampled_from([None, "inn", "forest"]),
        )
    )
)
def test_what_has_slid_out_stays_out_as_the_chat_goes_on(
    messages: list[MarkedMessage],
) -> None:
    last = 0
    for count in range(len(messages) + 1):
        out = count_slid_out(messages[:count], ended=False, params=PARAMS)
        assert last <= out <= count
        slid_out = sum(words.opens_exchange for words in messages[out:count])
        assert slid_out <= 2 * PARAMS.turns  # the FIFO, and what fills up to the next mark
        last = out


@given(st.integers(0, 500), st.integers(0, 500), st.integers(1, 50))
def test_stretches_are_even_and_none_is_short(start: int, length: int, least: int) -> None:
    cut = stretches(start, start + length, least)
    assert len(cut) == length // least
    if cut:
        assert (cut[0][0], cut[-1][1]) == (start, start + length)
        assert all(stretch[1] == other[0] for stretch, other in pairwise(cut))
        sizes = [end - begin for begin, end in cut]
        assert min(sizes) >= least
        assert max(sizes) - min(sizes) <= 1


def test_another_topic_is_another_scene() -> None:
    messages = talk(20)
    before = count_slid_out(messages, ended=False, params=PARAMS)
    messages[16] = replace(messages[16], changes_topic=True)
    assert before < 16
    assert count_slid_out(messages, ended=False, params=PARAMS) == 16
