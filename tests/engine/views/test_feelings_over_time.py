"""What did a soul feel, from its first scene to its last?"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from random import Random

import pytest

from soulmem.domain.errors import NotFound
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import MemoryKind
from soulmem.domain.situation import Emotion, Situation, TimeSpan
from soulmem.engine.api.results import MemoryView
from soulmem.engine.views.feelings_over_time import FeltStretch
from tests.engine.stage import ME, Stage, line

START = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
HOUR = timedelta(hours=1)


async def scene(stage: Stage, hours: float, *felt: tuple[str, float]) -> MemoryView:
    """An episode so many hours after START with these feelings."""
    span = TimeSpan(START + hours * HOUR, None)
    emotions = tuple(Emotion(label, intensity) for label, intensity in felt)
    situation = Situation(time_span=span, emotions=emotions)
    text = f"Hour {hours}"
    return await stage.note(text, kind=MemoryKind.EPISODE, situation=situation)


async def stretches(
    stage: Stage, count: int = 2, about: MemoryId | None = None
) -> list[FeltStretch]:
    """The feelings of the soul."""
    return await stage.engine.overviews.feelings(ME, SoulId("s1"), about, count)


async def test_a_soul_without_scenes_felt_nothing(stage: Stage) -> None:
    await stage.note("A note is no scene.")
    assert await stretches(stage) == []


async def test_stretches_follow_time_and_tell_what_was_felt_most(stage: Stage) -> None:
    last = await scene(stage, 3, ("fear", 0.8), ("surprise", 0.9))
    await scene(stage, 2, ("fear", 0.2), ("joy", 0.1))
    first = await scene(stage, 0, ("joy", 0.5))
    await scene(stage, 1)
    calm, afraid = await stretches(stage)
    assert (calm.start, calm.end) == (START, START + HOUR)
    assert (afraid.start, afraid.end) == (START + 2 * HOUR, START + 3 * HOUR)
    assert calm.feeling == Emotion("joy", 0.5)
    assert calm.memory == first.memory.id
    assert calm.balance == pytest.approx(0.5)
    assert afraid.feeling == Emotion("fear", 0.5)
    assert afraid.memory == last.memory.id
    assert afraid.balance == pytest.approx((-0.8 - 0.1) / 2)


async def test_where_nothing_was_felt_nothing_is_told(stage: Stage) -> None:
    await scene(stage, 0)
    await scene(stage, 1, ("surprise", 0.4))
    silent, surprised = await stretches(stage)
    assert (silent.balance, silent.feeling, silent.memory) == (0.0, None, None)
    assert surprised.balance == 0.0, "surprise is neither pleasant nor unpleasant"
    assert surprised.feeling == Emotion("surprise", 0.4)


async def test_stretches_have_equally_many_scenes_and_all_of_them(stage: Stage) -> None:
    hours = sorted(Random(5).sample(range(1000), 11))
    for hour in hours:
        await scene(stage, hour)
    for count in (1, 3, 11, 20):
        times = [(s.start, s.end) for s in await stretches(stage, count)]
        assert len(times) == min(count, len(hours))
        flat = [moment for pair in times for moment in pair]
        assert flat == sorted(flat)
        assert flat[0] == START + hours[0] * HOUR
        assert flat[-1] == START + hours[-1] * HOUR


async def test_only_scenes_about_somebody_count_where_that_is_asked_for(
    stage: Stage,
) -> None:
    bela = await stage.note("Kaelith", kind=MemoryKind.CONCEPT)
    await stage.sync(
        "c1",
        [
            line("m1", "I am so happy about Kaelith!", sent_at=START),
            line("m2", "I am terribly sad.", sent_at=START + HOUR),
            line("m3", "Hm.", sent_at=START + 2 * HOUR),
        ],
    )
    about = await stretches(stage, 24, bela.memory.id)
    assert [(s.start, s.end) for s in about] == [(START, START)]
    assert len(await stretches(stage, 24)) > 1
    with pytest.raises(NotFound):
        await stretches(stage, 24, MemoryId("nobody"))
