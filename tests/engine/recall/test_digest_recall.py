"""Digests come when their time is asked for or the whole of a cue fits them, and take no seat from memories."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind
from soulmem.engine.api.requests import MemoryPatch
from soulmem.engine.api.results import Recalled
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.digest_recall import DigestCandidate, DigestRecall, goes_with
from soulmem.engine.views.alike_tellings import joined_rows
from tests.engine.stage import ME, Stage, line

_NOON = datetime(2026, 3, 2, 12, tzinfo=timezone.utc)
_THINGS = (
    ("kettle", "moor"),
    ("lantern", "harbour"),
    ("mandolin", "quarry"),
    ("compass", "orchard"),
    ("goblet", "chapel"),
    ("anchor", "lagoon"),
)


def story() -> list[SentMessage]:
    """Six days in March, each with an event of its own and with small talk; then today."""
    messages = []
    for day, (thing, place) in enumerate(_THINGS):
        said = (
            "Good morning.",
            f"I was so happy: the weaver left a {thing} at the {place}!",
            "Shall we eat?",
            f"We took the {thing} home from the {place} with joy.",
            "Not yet.",
            f"I promise to keep the {thing} of the {place} for ever.",
            "As you like.",
        )
        for number, text in enumerate(said):
            sent_at = _NOON + timedelta(days=4 * day, minutes=number)
            role = Role.USER if number % 2 else Role.CHARACTER
            messages.append(line(f"m{day}-{number}", text, role, sent_at=sent_at))
    return [*messages, line("last", "Good night.")]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    fresh_stage = Stage()
    await fresh_stage.start()
    await fresh_stage.soul()
    await fresh_stage.sync("c", story())
    await fresh_stage.engine.idle.run()
    yield fresh_stage
    await fresh_stage.stop()


async def digests(stage: Stage, answer: Recalled) -> list[Memory]:
    """The digests of an answer, in its order."""
    keys = [memory.id for memory in answer.memories if memory.kind == "digest"]
    return [(await stage.engine.memories.get(ME, MemoryId(k))).memory for k in keys]


@pytest.mark.parametrize(
    ("question", "start", "days"),
    [
        ("What happened in March?", datetime(2026, 3, 1, tzinfo=timezone.utc), 31),
        ("三月份发生了什么？", datetime(2026, 3, 1, tzinfo=timezone.utc), 31),
        ("What happened on the 6th of March?", _NOON + timedelta(days=4), 1),
    ],
)
async def test_a_time_that_is_asked_for_brings_its_digest(
    stage: Stage, question: str, start: datetime, days: int
) -> None:
    answer = await stage.recall(question, max_items=3)
    told = await digests(stage, answer)
    assert told
    first = told[0]
    assert first.happened == start.astimezone().replace(hour=0)
    assert (first.ended - first.happened).days == days - 1
    assert len(answer.memories) <= 3
    assert any(memory.kind == "episode" for memory in answer.memories)
    scores = [memory.score for memory in answer.memories]
    assert scores == sorted(scores, reverse=True)
    (why,) = {m.why for m in answer.memories if m.id == first.id}
    assert "March" in why or "三月" in why


async def test_memories_of_the_time_come_without_their_digest_in_a_small_answer(
    stage: Stage,
) -> None:
    answer = await stage.recall("What happened in March?", max_items=1)
    assert [memory.kind for memory in answer.memories] == ["episode"]


async def test_the_digest_tells_a_time_whose_messages_are_all_forgotten(
    stage: Stage,
) -> None:
    for memory in await stage.listed(kind=MemoryKind.EPISODE):
        await stage.engine.memories.patch(ME, memory.id, MemoryPatch(in_doubt=True))
    (month,) = [
        m for m in await stage.listed(kind=MemoryKind.DIGEST) if m.situation.period == "month"
    ]
    answer = await stage.recall("What happened in March?")
    assert [memory.id for memory in answer.memories] == [month.id]


async def test_a_cue_that_fits_a_day_brings_its_digest_behind_the_memories(
    stage: Stage,
) -> None:
    cue = "The kettle of the moor, the joy, the promise: I was happy to keep it."
    answer = await stage.recall(cue, max_items=12, restraint=0.0, budget_tokens=9000)
    kinds = [memory.kind for memory in answer.memories]
    assert kinds.count("digest") <= 1
    assert "digest" not in kinds[:-1]


async def test_small_talk_brings_none(stage: Stage) -> None:
    answer = await stage.recall("Shall we eat?", restraint=2.0)
    assert not await digests(stage, answer)


async def test_what_the_answer_tells_is_not_told_again_by_a_digest(
    stage: Stage,
) -> None:
    answer = await stage.recall(
        "What happened on the 6th of March?", max_items=20, budget_tokens=9000
    )
    given = {m.id for m in answer.memories}
    mind = await stage.mind()
    whole = {
        key
        for key, memory in mind.memories.items()
        if memory.kind is MemoryKind.DIGEST and set(mind.derivations.cited(key)) <= given
    }
    assert whole, "the answer gives all that some digest rests on"
    assert not whole & given


async def test_a_digest_goes_with_a_telling_of_its_day_that_it_does_not_quote() -> None:
    """Beside the memory that unites the tellings no digest of one of their days comes unasked."""
    stage = Stage(judges_lines=True)
    await stage.start()
    await stage.soul()
    messages: list[SentMessage] = []
    for day, opening in enumerate(("", "Well, ", "You know, ", "As I said, ")):
        said = (
            f"{opening}Irma and I stole the silver flag that night, and nobody noticed.",
            f"Will you marry me? The flag of house {day} was blue!",
            f"I promise you the flag of house {day}, I swear it.",
        )
        for number, text in enumerate(said):
            sent_at = _NOON + timedelta(days=4 * day, minutes=number)
            messages.append(line(f"m{day}-{number}", text, sent_at=sent_at))
    await stage.sync("c", [*messages, line("last", "Good night.")])
    await stage.engine.embedding.wait_pending()
    await stage.engine.idle.run()
    mind = await stage.mind()
    (centre,) = list(mind.tellings)
    united = joined_rows(mind, [mind.row_of(mind.memories[centre])])
    assert len(united) == 4
    days = [m for m in await stage.listed(kind=MemoryKind.DIGEST) if m.situation.period == "day"]
    candidates = [candidate_of(mind, day) for day in days]
    assert any(united.isdisjoint(candidate.told) for candidate in candidates)
    assert all(goes_with(mind, candidate, united) for candidate in candidates)
    assert not any(goes_with(mind, candidate, set()) for candidate in candidates)
    await stage.stop()


def candidate_of(mind: Mind, digest: Memory) -> DigestCandidate:
    """The digest, with the rows of the messages that it quotes."""
    quoted = [mind.row(key) for key in mind.derivations.cited(digest.id)]
    rows = frozenset(row for row in quoted if row is not None)
    return DigestCandidate(digest, mind.row_of(digest), 0.0, 0.0, rows)


async def test_a_permanent_digest_is_told_like_all_that_is_permanent(
    stage: Stage,
) -> None:
    digest = next(iter(await stage.listed(kind=MemoryKind.DIGEST)))
    await stage.engine.memories.patch(ME, digest.id, MemoryPatch(permanent=True))
    answer = await stage.recall("Shall we eat?", restraint=2.0)
    assert [m.id for m in answer.memories] == [digest.id]


def as_read(mind: Mind, recall: DigestRecall) -> list[Any]:
    """What is known of the digests of a mind, to compare."""
    return [(*entry[:3], entry.told.tolist(), entry.words) for entry in known(mind, recall)]


def known(mind: Mind, recall: DigestRecall) -> Sequence[Any]:
    return recall._of(mind).entries


async def test_what_is_known_of_the_digests_lasts_until_they_change(
    stage: Stage,
) -> None:
    recall, told = DigestRecall(), story()
    mind = await stage.mind()
    first = known(mind, recall)
    await stage.sync("c", [*told, line("more", "And good morning.", Role.USER)])
    assert known(mind, recall) is first

    # Messages go, come back, and get their digests again.
    changes: list[Callable[[], Awaitable[object]]] = [
        lambda: stage.sync("c", [m for m in told if not m.slot.startswith("m2-")]),
        lambda: stage.sync("c", told),
        stage.engine.idle.run,
    ]
    states = [as_read(mind, recall)]
    for change in changes:
        await change()
        states.append(as_read(mind, recall))
        assert states[-1] == as_read(mind, DigestRecall())
    assert states[0] != states[1] == states[2] != states[3]


async def test_a_digest_is_read_again_when_a_message_that_it_tells_goes_or_comes_back(
    stage: Stage,
) -> None:
    recall, mind = DigestRecall(), await stage.mind()
    whole = as_read(mind, recall)
    message = mind.memory_at(int(known(mind, recall)[0].told[0]))
    mind.apply(MindChange(drop_memories=(message.id,)))
    without = as_read(mind, recall)
    mind.apply(MindChange(put_memories=(message,)))
    assert as_read(mind, recall) == as_read(mind, DigestRecall())
    assert len(whole[0][3]) == len(as_read(mind, recall)[0][3]) > len(without[0][3])
