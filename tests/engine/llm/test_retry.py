"""Input that waits because a language model failed on it."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from soulmem.domain.derivations import Work
from soulmem.domain.ids import ChatId, Owner, SoulId
from soulmem.engine.llm.retry import Deferrals, RetryParams

BEGIN = datetime(2026, 3, 1, tzinfo=timezone.utc)
OWNER, SOUL, CHAT = Owner("local"), SoulId("s1"), ChatId("c1")


@pytest.mark.parametrize("minutes", [0, 9, 10, 11])
@pytest.mark.parametrize("messages", [100, 119, 120])
def test_awaited_work_is_what_is_deferred_until_enough_messages_come(
    minutes: int, messages: int
) -> None:
    deferrals = Deferrals(RetryParams(more=20, first=timedelta(minutes=10)))
    deferrals.defer((OWNER, SOUL, CHAT, Work.SUMMARY), "unreadable", 100, BEGIN)
    current_time = BEGIN + timedelta(minutes=minutes)
    awaited = deferrals.awaited(OWNER, SOUL, CHAT, current_time)
    for work in Work:
        waits = messages < awaited.get(work, 0)
        key = (OWNER, SOUL, CHAT, work)
        assert waits == deferrals.is_deferred(key, messages, current_time)
        assert waits == (work is Work.SUMMARY and minutes < 10 and messages < 120)


def test_work_of_another_chat_is_not_awaited() -> None:
    deferrals = Deferrals()
    deferrals.defer((OWNER, SOUL, CHAT, Work.DRAFTS), "unreadable", 10, BEGIN)
    assert deferrals.awaited(OWNER, SOUL, ChatId("c2"), BEGIN) == {}


def test_what_a_model_failed_on_is_tried_at_once_with_another() -> None:
    """That it is due is stored, too."""
    deferrals, changed = Deferrals(), list[SoulId]()
    key = (OWNER, SOUL, CHAT, Work.DRAFTS)
    deferrals.defer(key, "unreadable", 10, BEGIN)
    deferrals.on_change = lambda _owner, soul: changed.append(soul)
    later = BEGIN + timedelta(minutes=1)
    assert deferrals.is_deferred(key, 10, later)
    deferrals.model_changed(later)
    assert not deferrals.is_deferred(key, 10, later)
    assert changed == [SOUL]
