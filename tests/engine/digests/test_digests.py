"""Digests of past periods rest on their messages, go with them, and are worded by a model if there is one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from soulmem.domain.audit import Actor
from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.digests import Period, digest_span, period_of
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import ChatId, MemoryId, SoulId
from soulmem.domain.llm import Failure, LlmFailed, Prompt, Unreadable
from soulmem.domain.memories import Memory, MemoryKind, MemoryState
from soulmem.domain.soul import DigestChoice, Scope
from soulmem.engine.api.requests import Activity, MemoryPatch
from soulmem.engine.digests.digest_writer import DigestWork
from soulmem.engine.params import EngineParams
from soulmem.engine.runtime.jobs import JobState
from soulmem.engine.upkeep.forgetting import rows_of_digested_days
from tests.engine.model_stage import ModelStage, obliging, read_of
from tests.engine.stage import ME, Stage, ended, line

# Noon, so that it is the same day in every zone; a Monday 25 days before the clock of the tests.
_FIRST = datetime(2026, 4, 6, 12, tzinfo=timezone.utc)


def days(count: int, chat: str = "m", word: str = "word") -> list[SentMessage]:
    """Four messages on each of so many days, each with a word of its own."""
    roles = (Role.CHARACTER, Role.USER)
    messages = []
    for number in range(4 * count):
        day, minute = divmod(number, 4)
        text = f"They spoke at length of {word}{number}."
        sent_at = _FIRST + timedelta(days=day, minutes=minute)
        message = line(f"{chat}{number}", text, roles[number % 2], sent_at=sent_at)
        messages.append(message)
    return messages


def diarist(prompt: Prompt) -> str:
    """A model that tells the words of the lines it was given."""
    if prompt.name != "digest":
        return obliging(prompt)
    told = " ".join(text for _, _, text in read_of(prompt))
    words = [word.strip(".,…") for word in told.split() if word.startswith("word")]
    return json.dumps({"digest": f"They spoke of {', '.join(words)}."})


async def digests(
    stage: Stage,
    period: Period | None = Period.DAY,
    state: MemoryState = MemoryState.ACTIVE,
) -> list[Memory]:
    """The digests of the soul, the earliest first."""
    found = await stage.listed(state, kind=MemoryKind.DIGEST, period=period)
    return sorted(found, key=lambda memory: memory.happened)


async def rest(stage: Stage) -> None:
    """A quiet moment."""
    await stage.engine.idle.run()


async def sources(stage: Stage, memory: Memory) -> set[str]:
    """The slots that a digest tells."""
    view = await stage.engine.memories.get(ME, memory.id)
    return {place.slot for place in view.sources}


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """A soul that lived six days, without a model."""
    fresh_stage = Stage()
    await fresh_stage.start()
    await fresh_stage.soul()
    await fresh_stage.sync("c", [*days(6), line("last", "Good night.")])
    yield fresh_stage
    await fresh_stage.stop()


@pytest.fixture
async def worded() -> AsyncIterator[ModelStage]:
    """A soul that lived six days, with a model."""
    fresh_stage = ModelStage(diarist)
    await fresh_stage.start()
    await fresh_stage.soul()
    await fresh_stage.sync("c", [*days(6), line("last", "Good night.")])
    yield fresh_stage
    await fresh_stage.stop()


async def test_idle_makes_one_for_each_period_that_is_over(stage: Stage) -> None:
    await rest(stage)
    made = await digests(stage, None)
    assert [period_of(m) for m in made].count(Period.DAY) == 6
    others = {Period.WEEK, Period.MONTH, Period.CHAT}
    assert {period_of(m) for m in made} == others | {Period.DAY}
    for number, memory in enumerate(await digests(stage)):
        start, end = digest_span(memory)
        assert start == (_FIRST + timedelta(days=number)).astimezone().replace(hour=0)
        assert end - start == timedelta(days=1)
        slots = {f"m{4 * number + minute}" for minute in range(4)}
        assert await sources(stage, memory) <= slots
        assert len(memory.text) <= 1200
        assert {p.name for p in memory.situation.participants} <= {"Al", "Mira"}


async def test_a_card_decides_from_which_hour_past_days_are_digested(
    stage: Stage,
) -> None:
    """Each day once, also after a restart."""
    local = stage.clock.now().astimezone()
    await stage.soul(digest=DigestChoice(hour=4))
    dawn = local.replace(hour=0, minute=0) + timedelta(days=1)
    day = [
        line(f"n{n}", f"Word{n} was said.", sent_at=local.replace(hour=12 + n)) for n in range(4)
    ]
    await stage.sync("n", day)
    for hours, count in ((3.9, 6), (4.1, 7), (5.0, 7)):
        moment = dawn + timedelta(hours=hours)
        stage.clock.advance((moment - stage.clock.now()).total_seconds())
        await rest(stage)
        assert len(await digests(stage)) == count
    await stage.restart()
    await rest(stage)
    assert len(await digests(stage)) == 7


async def test_the_timeline_of_a_day_lists_no_digest_of_a_longer_period(
    stage: Stage,
) -> None:
    await rest(stage)

    async def periods(days: int) -> list[Period | None]:
        start = _FIRST.astimezone().replace(hour=0)
        page = await stage.engine.memories.timeline(
            ME, SoulId("s1"), start, start + timedelta(days=days), 100, None
        )
        told = [view.memory for view in page.memories]
        assert any(m.kind is MemoryKind.EPISODE for m in told)
        return [period_of(m) for m in told if m.kind is MemoryKind.DIGEST]

    assert await periods(1) == [Period.DAY]
    whole = [Period.CHAT, *[Period.DAY] * 6, Period.WEEK]
    assert sorted(await periods(7), key=str) == sorted(whole, key=str)


async def test_a_card_decides_which_periods_are_digested(stage: Stage) -> None:
    """What is made by a job stays, and no other of its length comes by itself."""
    await stage.soul(digest=DigestChoice(periods=(Period.HOUR, Period.MONTH)))
    await rest(stage)
    made = [period_of(m) for m in await digests(stage, None)]
    assert {*made} == {Period.HOUR, Period.MONTH}
    await stage.soul(digest=DigestChoice(periods=(Period.MONTH,)))
    lines = [*days(6), *days(7)[24:], line("last", "Good night.")]
    await stage.sync("c", lines)
    await rest(stage)
    assert [period_of(m) for m in await digests(stage, None)] == made


async def test_it_is_known_which_messages_are_of_a_told_day(stage: Stage) -> None:
    mind = await stage.mind()
    assert not rows_of_digested_days(mind).any()
    await rest(stage)
    await stage.close("c")  # its last message is of a day that is not over
    told = mind.ids_at(rows_of_digested_days(mind).nonzero()[0].tolist())
    slots = {mind.memories[key].evidence[0][0].slot for key in told}
    assert slots == {m.slot for m in days(6)}


async def test_nothing_changes_while_the_messages_do_not(stage: Stage) -> None:
    fingerprint = await stage.fingerprint()
    await rest(stage)
    made = await digests(stage, None)
    assert await stage.fingerprint() == fingerprint
    await rest(stage)
    stage.clock.advance(3600)
    await rest(stage)
    assert await digests(stage, None) == made
    await stage.restart()
    await rest(stage)
    assert await digests(stage, None) == made


async def test_what_one_round_does_not_get_to_is_made_in_the_next() -> None:
    params = EngineParams(rest_by_itself=False, digests=DigestWork(a_round=4))
    stage = Stage(params=params)
    await stage.start()
    await stage.soul()
    await stage.sync("c", [*days(6), line("last", "Good night.")])
    await rest(stage)
    assert len(await digests(stage)) == 4
    await rest(stage)
    assert len(await digests(stage)) == 6
    await stage.stop()


async def test_a_message_more_makes_its_day_anew_and_no_other(stage: Stage) -> None:
    await rest(stage)
    before = await digests(stage)
    messages = days(6)
    later = _FIRST + timedelta(days=2, minutes=9)
    text = "I am so happy: the heron came back to the mill!"
    messages.insert(12, line("new", text, sent_at=later))
    await stage.sync("c", [*messages, line("last", "Good night.")])
    await rest(stage)
    after = await digests(stage)
    assert [m.id for m in after] == [m.id for m in before]
    assert [a != b for a, b in zip(after, before, strict=True)].index(True) == 2
    assert sum(a != b for a, b in zip(after, before, strict=True)) == 1
    assert "heron" in after[2].text


async def test_its_sources_are_all_that_it_goes_with(stage: Stage) -> None:
    """It tells a few lines of a long day, and is made anew when any of them is edited."""
    long_day = [
        line(f"d{n}", f"They spoke of thing{n}.", sent_at=_FIRST + timedelta(minutes=n))
        for n in range(12)
    ]
    await stage.sync("d", [*long_day, line("end", "Good night.")])
    await rest(stage)
    digest = (await digests(stage))[0]
    slots = await sources(stage, digest)
    assert {message.slot for message in long_day} <= slots
    assert digest.text.count("thing") < len(long_day)


async def test_a_message_that_is_not_worth_telling_leaves_a_digest(
    stage: Stage,
) -> None:
    long_day = [
        line(f"d{n}", f"They spoke of thing{n}.", sent_at=_FIRST + timedelta(minutes=n))
        for n in range(12)
    ]
    await stage.sync("d", [*long_day, line("end", "Good night.")])
    await rest(stage)
    before = await digests(stage)
    dull = line("dull", "Hm.", sent_at=_FIRST + timedelta(minutes=12))
    await stage.sync("d", [*long_day, dull, line("end", "Good night.")])
    await rest(stage)
    assert await digests(stage) == before


async def test_a_digest_goes_with_a_message_at_once_and_its_words_are_nowhere(
    worded: ModelStage,
) -> None:
    await worded.rest()
    assert len(await digests(worded)) == 6
    await worded.sync("c", [*days(6)[:-1], line("last", "Good night.")])
    assert len(await digests(worded)) == 5
    assert "word23" not in await worded.words()
    await worded.rest()
    assert len(await digests(worded)) == 6
    assert "word23" not in await worded.words()


async def test_the_chats_of_a_day_are_told_together(stage: Stage) -> None:
    await stage.sync("b", [*days(2, "b", "other"), line("end", "Bye.")])
    await rest(stage)
    made = await digests(stage)
    assert len(made) == 6
    for chat in ("c", "b", None):
        assert made[0] in await stage.visible(chat)
    await stage.engine.chats.delete(ME, ChatId("b"))
    assert len(await digests(stage)) == 4
    await rest(stage)
    anew = await digests(stage)
    assert len(anew) == 6
    assert not any("other" in memory.text for memory in anew)


async def test_chats_that_know_nothing_of_each_other_have_digests_of_their_own(
    stage: Stage,
) -> None:
    await stage.sync("b", [*days(2, "b", "other"), line("end", "Bye.")])
    await rest(stage)
    (joint, *_) = await digests(stage)
    await stage.soul(scope=Scope.CHAT)
    assert joint not in await stage.visible("c")
    await rest(stage)
    made = await digests(stage)
    assert len(made) == 8
    for chat, word, other in (("c", "word", "other"), ("b", "other", "word")):
        told = [m.text for m in await stage.visible(chat) if m.kind is MemoryKind.DIGEST]
        assert any(word in text for text in told)
        assert not any(other in text for text in told)


async def test_a_branch_knows_the_digests_of_what_it_shares_and_its_own(
    stage: Stage,
) -> None:
    shared = days(6)[:14]  # the fork is within the fourth day
    later = _FIRST + timedelta(days=3, minutes=30)
    own = line("own", "An owl sat there.", sent_at=later)
    await stage.sync("twig", [*shared, own, line("tip", "Bye.")], parent=("c", "m13"))
    await rest(stage)
    made = await digests(stage)
    assert len(made) == 7  # the fourth day has two timelines
    known = {m.id for m in await stage.visible("twig")}
    told = [m for m in made if m.id in known]
    assert len(told) == 4
    assert "owl" in told[-1].text
    assert not any("owl" in m.text for m in made if m.id not in known)


@pytest.mark.parametrize("hand", ["binned", "reworded", "locked"])
async def test_what_the_user_did_to_a_digest_stays(stage: Stage, hand: str) -> None:
    await rest(stage)
    (first, *_) = await digests(stage)
    if hand == "binned":
        await stage.engine.memories.delete(ME, first.id, "")
    elif hand == "reworded":
        await stage.engine.memories.patch(ME, first.id, MemoryPatch(text="A fine day."))
    else:
        await stage.engine.memories.patch(ME, first.id, MemoryPatch(locked=True))
    was = (await stage.engine.memories.get(ME, first.id)).memory
    messages = days(6)
    later = _FIRST + timedelta(minutes=9)
    messages.insert(4, line("new", "The heron came back.", sent_at=later))
    await stage.sync("c", [*messages, line("last", "Good night.")])
    await rest(stage)
    assert (await stage.engine.memories.get(ME, first.id)).memory == was
    assert len(await digests(stage)) == (5 if hand == "binned" else 6)


async def test_what_is_called_wrong_is_not_told(stage: Stage) -> None:
    await rest(stage)
    (first, *_) = await digests(stage)
    slot = min(await sources(stage, first))
    told = next(m for m in await stage.listed() if m.evidence and m.evidence[0][0].slot == slot)
    await stage.engine.memories.patch(ME, told.id, MemoryPatch(in_doubt=True))
    await rest(stage)
    (anew, *_) = await digests(stage)
    assert anew.id == first.id
    assert slot not in await sources(stage, anew)


async def call(stage: Stage, name: str, **arguments: Any) -> dict[str, Any]:
    """A tool of the archivist's."""
    tools = stage.engine.tools
    return await tools.call(ME, name, "s1", Actor.ARCHIVIST, arguments)


async def job(stage: Stage, **arguments: Any) -> list[str]:
    """The digests of the job."""
    started = await stage.engine.jobs.ask(ME, "digest", SoulId("s1"), arguments)
    view = await ended(stage, started)
    assert view.state is JobState.DONE, view.error
    keys: list[str] = view.result["digests"]
    return keys


async def texts(stage: Stage, keys: Sequence[str]) -> list[str]:
    """What these digests tell, without their headings."""
    views = [await stage.engine.memories.get(ME, MemoryId(key)) for key in keys]
    return [view.memory.text.split("\n", 1)[1] for view in views]


async def test_job_tool_and_idle_make_the_same(stage: Stage) -> None:
    await stage.close("c")  # its last message is of the present day
    by_job = await job(stage, period="day")
    by_tool = (await call(stage, "archive_memories", period="day"))["digests"]
    await rest(stage)
    idle = [m.id for m in await digests(stage) if digest_span(m)[1] < stage.clock.now()]
    assert by_job == idle
    assert by_tool[:6] == by_job
    assert len(by_tool) == 7  # that of the present day, too


async def test_a_job_makes_those_within_a_span(stage: Stage) -> None:
    start = (_FIRST + timedelta(days=1)).astimezone().replace(hour=0)
    end = start + timedelta(days=3)
    span = {"from": start.isoformat(), "to": end.isoformat()}
    assert len(await job(stage, period="day", **span)) == 3


@pytest.mark.parametrize(
    "arguments",
    [
        {"period": "fortnight"},
        {"period": 7},
        {"period": "day", "from": "yesterday"},
        {"period": "day", "from": "2026-01-02T00:00:00Z", "to": "2026-01-01T00:00:00Z"},
    ],
)
async def test_a_job_that_asks_for_something_else_is_refused(
    stage: Stage, arguments: dict[str, Any]
) -> None:
    started = await stage.engine.jobs.ask(ME, "digest", SoulId("s1"), arguments)
    view = await ended(stage, started)
    assert view.state is JobState.FAILED
    assert view.error
    assert await digests(stage, None) == []


async def test_no_digest_is_made_by_hand(stage: Stage) -> None:
    with pytest.raises(Unprocessable, match="a digest is of a period"):
        await stage.note("A fine day.", kind=MemoryKind.DIGEST)


async def test_the_model_words_each_day_once(worded: ModelStage) -> None:
    keys = await job(worded, period="day")
    for day, text in enumerate(await texts(worded, keys)):
        words = {word.strip(".,") for word in text.split() if word.startswith("word")}
        assert words == {f"word{4 * day + minute}" for minute in range(4)}
    assert worded.calls.count("digest") == 6
    await job(worded, period="day")
    await worded.rest()
    assert len(await digests(worded)) == 6
    report = await worded.engine.consolidator.usage_report(ME, SoulId("s1"))
    assert report.totals["digest"].calls == worded.calls.count("digest") == 9


async def test_a_tool_asks_for_few(worded: ModelStage) -> None:
    await call(worded, "create_daily_summary", context="word21")
    assert worded.calls == ["digest"]
    await call(worded, "archive_memories", period="day")
    assert worded.calls == ["digest"] * 5


@pytest.mark.parametrize(
    ("failure", "calls"),
    [(Unreadable("nonsense"), 12), (LlmFailed(Failure.UNREACHABLE, "away"), 2)],
)
async def test_what_the_model_cannot_tell_is_quoted(
    worded: ModelStage, failure: LlmFailed, calls: int
) -> None:
    worded.llm.then([failure])
    told = await texts(worded, await job(worded, period="day"))
    assert all("They spoke at length of word" in text for text in told)
    assert len(worded.calls) == calls


async def test_a_digest_of_something_else_is_quoted_instead(worded: ModelStage) -> None:
    worded.llm.then(['{"digest": "Zorro flew to Paris."}'])
    told = await texts(worded, await job(worded, period="day"))
    assert not any("Zorro" in text for text in told)


async def test_a_tool_that_is_called_within_a_reply_does_not_wait_for_its_end(
    worded: ModelStage,
) -> None:
    await worded.engine.chats.activity(ME, ChatId("c"), Activity.GENERATING)
    made = await call(worded, "create_daily_summary", context="word21")
    assert made["digest"]
    assert worded.calls == []


async def test_with_a_chat_that_is_deleted_they_go_alike_in_memory_and_in_the_store(
    stage: Stage,
) -> None:
    """Also when the user threw away one of its messages before."""
    thrown = await stage.find("Mira: They spoke at length of word0.")
    await stage.engine.memories.delete(ME, thrown, None)
    await rest(stage)
    assert await digests(stage)
    await stage.engine.chats.delete(ME, ChatId("c"))
    mind = await stage.mind("s1")
    known = {m.id: m.state for m in mind.memories.values()}
    stored = await stage.store.memories(ME, SoulId("s1"))
    assert known == {memory.id: memory.state for memory in stored}
