"""What the user wrote down ages with what is said from then on, whatever dates the messages bear."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from soulmem.domain.dialogue import SentMessage
from tests.engine.stage import Stage, line

LONG_AGO = datetime(2021, 5, 1, tzinfo=timezone.utc)


def dated_messages(count: int, sent: datetime | None) -> list[SentMessage]:
    """So many lines of somebody else, a minute between two."""
    when = [None if sent is None else sent + timedelta(minutes=n) for n in range(count)]
    return [replace(line(f"m{n}", f"word{n}"), sent_at=sent_at) for n, sent_at in enumerate(when)]


async def sync_messages(stage: Stage, first: int, last: int, sent: datetime | None) -> None:
    """Have them said one by one."""
    for n in range(first, last + 1):
        stage.clock.advance(1.0)
        await stage.sync("c1", dated_messages(n, sent))


async def age_of_note(stage: Stage, note: str) -> int:
    (memory,) = [m.age_turns for m in (await stage.recall("brass key")).memories if m.id == note]
    return memory


@pytest.mark.parametrize("sent", [None, LONG_AGO, LONG_AGO + timedelta(days=36_500)])
async def test_a_note_is_as_old_as_what_was_said_since(stage: Stage, sent: datetime | None) -> None:
    await stage.soul()
    await sync_messages(stage, 1, 5, sent)
    note = (await stage.note("The brass key is in the well.")).memory.id
    assert await age_of_note(stage, note) == 0
    await sync_messages(stage, 6, 14, sent)
    assert await age_of_note(stage, note) == 9


async def test_reading_an_old_chat_is_not_living_it(stage: Stage) -> None:
    await stage.soul()
    note = (await stage.note("The brass key is in the well.")).memory.id
    stage.clock.advance(1.0)
    await stage.sync("c1", dated_messages(200, LONG_AGO))
    assert await age_of_note(stage, note) == 0
    await sync_messages(stage, 201, 203, LONG_AGO)
    assert (
        await age_of_note(stage, note) == 3
    )  # the last line of the old chat is settled by the first new one
