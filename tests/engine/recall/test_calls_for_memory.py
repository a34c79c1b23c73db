"""What of a line calls for a memory, and what is small talk."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from soulmem.domain.ids import SoulId
from soulmem.domain.soul import KnownName, SoulSettings
from soulmem.engine.api.requests import RecallRequest, TimeRange
from tests.engine.stage import ME, Stage, line

pytestmark = pytest.mark.timeout(60)  # the first recall reads dictionaries

_DAY = 86_400.0  # seconds
TEXTS = [
    *(f"The soup is good, bowl {number}." for number in range(20, 60)),
    "Boris sold the mandolin in room 17.",
]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """A soul to which soup is in every line, and a mandolin in one."""
    stage = Stage()
    await stage.start()
    names = (KnownName("Boris"), KnownName("Clara"))
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", names, SoulSettings())
    now = stage.clock.now()
    messages = [line(f"m{i}", text, sent_at=now) for i, text in enumerate(TEXTS)]
    await stage.sync("c1", messages)
    await stage.close("c1")
    yield stage
    await stage.stop()


async def calls(stage: Stage, query: str, **more: Any) -> bool:
    answer = await stage.recall(query, "c1", **more)
    trace = await stage.engine.recaller.trace(ME, answer.trace)
    return trace.grades[-1].name == "walk"


@pytest.mark.parametrize(
    "query",
    [
        "Where is the mandolin?",
        "Have you heard from Boris?",
        "What is in 17?",
        "What did we do yesterday?",
    ],
)
async def test_what_few_texts_have_calls(stage: Stage, query: str) -> None:
    """A rare word, a known name, a number, a time that is over."""
    stage.clock.advance(_DAY)
    assert await calls(stage, query)


async def test_a_remark_with_a_known_name_calls_sooner_than_with_another(
    stage: Stage,
) -> None:
    async def likely(text: str) -> float:
        """The most of any memory."""
        request = RecallRequest(SoulId("s1"), query=text)
        judged = await stage.engine.recaller.judged(ME, request)
        return max(judged.of_row().values())

    assert await likely("Boris is late.") > 2 * await likely("Doris is late.")


@pytest.mark.parametrize(
    "query",
    [
        "This soup is good.",
        "What is in the soup?",
        "Thank you, Al!",
        "How are you today, Mira?",
        "Zebras juggle turquoise lanterns.",
    ],
)
async def test_what_every_line_could_be_does_not(stage: Stage, query: str) -> None:
    """Words of every other line, the names of those who talk, today, words that no text has."""
    assert not await calls(stage, query)


@pytest.mark.parametrize(
    "more",
    [{"intent": "show that I care"}, {"tags": ("soup",)}, {"time_range": TimeRange()}],
)
async def test_what_the_request_states_calls(stage: Stage, more: dict[str, Any]) -> None:
    assert await calls(stage, "This soup is good.", **more)
