"""Questions for a time are answered by what happened at that time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

import pytest

from soulmem.domain.dialogue import SentMessage
from soulmem.domain.ids import ChatId
from soulmem.domain.soul import SoulClock
from soulmem.engine.api.requests import TimeRange
from soulmem.engine.api.results import Recalled
from tests.engine.stage import Stage, line

# A Friday; the time on the clock of `Stage`.
NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
DAILY = [
    "the heron",
    "a ladder",
    "some quince",
    "the sexton",
    "an anvil",
    "the ferry",
    "a sieve",
    "the moth",
]


@pytest.fixture(autouse=True)
def utc() -> Iterator[None]:
    """Days begin at midnight UTC wherever the tests run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


def days_ago(day: float, slot: str, text: str) -> SentMessage:
    """A line said so many days ago."""
    return line(slot, text, sent_at=NOON - timedelta(day))


def texts_of(answer: Recalled) -> list[str]:
    return [m.text.removeprefix("Al: ") for m in answer.memories]


async def daily(stage: Stage, days: int = 30) -> None:
    """A chat with a line a day, the last one today and not yet settled."""
    await stage.soul(forgetting=0)
    messages = [
        days_ago(d, f"d{d}", f"We saw {DAILY[d % len(DAILY)]} number {d}.")
        for d in range(days, -1, -1)
    ]
    await stage.sync("c1", messages)


@pytest.mark.parametrize(
    ("query", "day"),
    [
        ("What happened yesterday?", 1),
        ("Do you remember what we did the day before yesterday?", 2),
        ("What happened on 20 April?", 11),
        ("昨天发生了什么？", 1),
        ("你还记得三天前我们做了什么吗？", 3),
        ("4月20日发生了什么？", 11),
    ],
)
async def test_a_question_for_a_day_is_answered_by_that_day(
    stage: Stage, query: str, day: int
) -> None:
    await daily(stage)
    answer = await stage.recall(query, "c1")
    assert texts_of(answer)[0].endswith(f"number {day}.")


async def test_a_question_for_a_span_is_answered_from_every_part_of_it(
    stage: Stage,
) -> None:
    await daily(stage)
    answer = await stage.recall("What happened in April?", "c1", max_items=6)
    days = sorted(int(text.split()[-1].rstrip(".")) for text in texts_of(answer))
    assert all(5 * i + 1 <= day <= 5 * i + 5 for i, day in enumerate(days)), days


async def test_with_other_words_the_time_is_preferred_but_hides_nothing(
    stage: Stage,
) -> None:
    await stage.soul(forgetting=0)
    messages = [
        days_ago(d, f"x{d}", f"The weather was plain, entry {d}.") for d in range(40, 1, -1)
    ]
    messages.insert(5, days_ago(35, "a", "We ate plum dumplings by the mill."))
    messages.insert(30, days_ago(12, "b", "We ate plum dumplings at the fair."))
    messages.insert(31, days_ago(11.5, "c", "The unicorn tapestry was stolen from the abbey."))
    await stage.sync("c1", [*messages, days_ago(0, "z", "Hm.")])
    answer = await stage.recall("Where did we eat plum dumplings five weeks ago?", "c1")
    assert texts_of(answer)[:2] == [
        "We ate plum dumplings by the mill.",
        "We ate plum dumplings at the fair.",
    ]
    answer = await stage.recall("Who stole the unicorn tapestry from the abbey last month?", "c1")
    assert texts_of(answer)[0] == "The unicorn tapestry was stolen from the abbey."
    answer = await stage.recall(
        "Was the unicorn tapestry stolen from the abbey three weeks ago?", "c1"
    )
    assert texts_of(answer)[0] == "The unicorn tapestry was stolen from the abbey."


async def test_why_and_trace_name_the_time(stage: Stage) -> None:
    await daily(stage)
    answer = await stage.recall("What happened yesterday?", "c1")
    assert answer.memories[0].why == "It came up because you asked about yesterday (30 April)."
    trace = await stage.engine.recaller.trace("default-user", answer.trace)  # type: ignore[arg-type]
    (entry,) = trace.guidance["times"]
    assert entry["words"] == "yesterday"
    assert entry["spans"] == [
        {"from": "2026-04-30T00:00:00+00:00", "to": "2026-05-01T00:00:00+00:00"}
    ]
    answer = await stage.recall("昨天发生了什么？", "c1")
    assert "昨天 (30 April)" in answer.memories[0].why  # in the language of what is remembered


async def test_the_clock_that_moves_moves_yesterday(stage: Stage) -> None:
    await daily(stage)
    stage.clock.advance(86_400.0)
    await stage.close("c1")
    assert texts_of(await stage.recall("What happened yesterday?", "c1"))[0].endswith("number 0.")


async def test_conversations_are_counted_back_from_this_one(stage: Stage) -> None:
    await stage.soul(forgetting=0)
    for back, word in ((9, "harbour"), (6, "orchard"), (3, "smithy")):
        messages = [
            days_ago(back - i / 1440, f"{word}{i}", f"Talk {i} at the {word}.") for i in range(4)
        ]
        await stage.sync(f"c{back}", messages)
        await stage.close(f"c{back}")
    current = [days_ago(0.001, "n1", "Good day."), days_ago(0, "n2", "Well?")]
    await stage.sync("c0", current)
    for query, word in (
        ("What did we say three sessions ago?", "harbour"),
        ("What did we talk about last time?", "smithy"),
        ("上上次聊天说了什么？", "orchard"),
        ("What did we talk about the first time we met?", "harbour"),
    ):
        answer = await stage.recall(query, "c0", max_items=3)
        assert all(word in text for text in texts_of(answer)), (query, texts_of(answer))


async def test_words_that_are_told_not_asked_reserve_no_slots(stage: Stage) -> None:
    await daily(stage)
    await stage.sync(
        "c2",
        [
            days_ago(0.01, "q1", "Hello."),
            days_ago(0, "q2", "I met a plumber yesterday."),
        ],
    )
    answer = await stage.recall("I met a plumber yesterday.", "c2")
    trace = await stage.engine.recaller.trace("default-user", answer.trace)  # type: ignore[arg-type]
    assert trace.guidance["times"]
    assert all("because you asked" not in m.why for m in answer.memories)


async def test_a_range_takes_what_reaches_into_it(stage: Stage) -> None:
    await daily(stage)
    start, end = NOON - timedelta(10), NOON - timedelta(8)
    answer = await stage.recall("What did we see?", "c1", time_range=TimeRange(start, end))
    assert sorted(text.split()[-1] for text in texts_of(answer)) == ["10.", "9."]
    mind = await stage.mind()
    assert ChatId("c1") in {branch.chat for branch in mind.branches}


async def test_a_soul_that_lives_by_its_story_counts_days_from_there(
    stage: Stage,
) -> None:
    feast = datetime(1201, 4, 10, 12, tzinfo=timezone.utc)
    messages = [
        line(
            f"s{d}",
            f"We saw {DAILY[d]}.",
            sent_at=NOON - d * timedelta(0.01),
            story_at=feast - timedelta(d),
        )
        for d in range(7, -1, -1)
    ]
    for clock in (SoulClock.STORY, SoulClock.TURNS):
        await stage.soul(forgetting=0, clock=clock)
        await stage.sync("c1", messages)
        first = (await stage.recall("What happened two days ago?", "c1")).memories[0]
        by_story = first.why == "It came up because you asked about two days ago (8 April)."
        assert by_story is (clock is SoulClock.STORY)
        assert not by_story or DAILY[2] in first.text
