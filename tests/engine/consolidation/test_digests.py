"""Digests are worded by the model if there is one, and are quotations otherwise."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from soulmem.domain.audit import Actor
from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.ids import ChatId, SoulId
from soulmem.domain.llm import Failure, LlmFailed, Prompt, Unreadable
from soulmem.engine.api.requests import Activity
from soulmem.engine.runtime.jobs import JobState
from tests.engine.model_stage import ModelStage, obliging, read_of
from tests.engine.stage import ME, ended, line

_FIRST = datetime(2024, 5, 6, 20, tzinfo=timezone.utc)


def days(count: int) -> list[SentMessage]:
    """Four messages on each of so many days, each with a word of its own."""
    roles = (Role.CHARACTER, Role.USER)
    messages = []
    for number in range(4 * count):
        day, minute = divmod(number, 4)
        text = f"They spoke at length of word{number}."
        sent_at = _FIRST + timedelta(days=day, minutes=minute)
        messages.append(line(f"m{number}", text, roles[number % 2], sent_at=sent_at))
    return messages


def diarist(prompt: Prompt) -> str:
    """A model that tells the last word of each line it was given."""
    if prompt.name != "digest":
        return obliging(prompt)
    words = ", ".join(text.split()[-1].strip(".") for _, _, text in read_of(prompt))
    return json.dumps({"digest": f"They spoke of {words}."})


@pytest.fixture
async def stage() -> AsyncIterator[ModelStage]:
    """A soul that lived six days."""
    fresh_stage = ModelStage(diarist)
    await fresh_stage.start()
    await fresh_stage.soul()
    await fresh_stage.sync("c", [*days(6), line("last", "Good night.")])
    yield fresh_stage
    await fresh_stage.stop()


async def call(stage: ModelStage, name: str, **arguments: Any) -> dict[str, Any]:
    """A tool of the archivist's."""
    tools = stage.engine.tools
    return await tools.call(ME, name, "s1", Actor.ARCHIVIST, arguments)


async def job(stage: ModelStage, period: str = "day") -> list[dict[str, Any]]:
    """The digests of the job."""
    started = await stage.engine.jobs.ask(
        ME, "digest", SoulId("s1"), {"period": period}
    )
    view = await ended(stage, started)
    assert view.state is JobState.DONE, view.error
    digests: list[dict[str, Any]] = view.result["digests"]
    return digests


async def texts(stage: ModelStage, keys: list[str]) -> str:
    """What these memories tell."""
    return "\n".join(m.text for m in await stage.listed() if m.id in keys)


async def test_the_job_has_each_day_told_by_the_model(stage: ModelStage) -> None:
    digests = await job(stage)
    assert [digest["by"] for digest in digests] == ["model"] * 6
    for day, digest in enumerate(digests):
        words = {f"word{4 * day + minute}" for minute in range(4)}
        assert {
            word.strip(".,")
            for word in digest["text"].split()
            if word.startswith("word")
        } == words
        sources = await texts(stage, digest["memories"])
        assert all(f"{word}." in sources for word in words)
    report = await stage.engine.consolidator.usage_report(ME, SoulId("s1"))
    assert report.totals["digest"].calls == stage.calls.count("digest") == 6
    assert "consolidation" not in report.totals


async def test_it_leaves_nothing_behind(stage: ModelStage) -> None:
    before = await stage.words()
    await job(stage, "week")
    await call(stage, "create_daily_summary", context="word22")
    assert await stage.words() == before


async def test_a_tool_asks_for_few(stage: ModelStage) -> None:
    day = await call(stage, "create_daily_summary", context="word21")
    assert day["by"] == "model"
    assert "word21" in day["text"]
    assert stage.calls == ["digest"]
    digests = (await call(stage, "archive_memories", period="day"))["digests"]
    assert [digest["by"] for digest in digests] == ["quotes"] * 2 + ["model"] * 4


@pytest.mark.parametrize(
    ("failure", "calls"),
    [(Unreadable("nonsense"), 8), (LlmFailed(Failure.UNREACHABLE, "away"), 2)],
)
async def test_what_the_model_cannot_tell_is_quoted(
    stage: ModelStage, failure: LlmFailed, calls: int
) -> None:
    stage.llm.then([failure])
    digests = (await call(stage, "archive_memories", period="day"))["digests"]
    assert [digest["by"] for digest in digests] == ["quotes"] * 6
    for digest in digests:
        assert sorted(digest["text"].split("\n")) == (
            await texts(stage, digest["memories"])
        ).split("\n")
    assert len(stage.calls) == calls


async def test_a_digest_of_something_else_is_quoted_instead(stage: ModelStage) -> None:
    stage.llm.then(['{"digest": "Zorro flew to Paris."}'])
    day = await call(stage, "create_daily_summary", context="word21")
    assert day["by"] == "quotes"
    assert "Zorro" not in day["text"]


async def test_a_tool_that_is_called_within_a_reply_does_not_wait_for_its_end(
    stage: ModelStage,
) -> None:
    await stage.engine.chats.activity(ME, ChatId("c"), Activity.GENERATING)
    day = await call(stage, "create_daily_summary", context="word21")
    assert day["by"] == "quotes"
    assert stage.calls == []
