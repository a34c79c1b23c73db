"""One model for replies and memory work: calls wait for replies, and recalls go on as without calls."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from soulmem.domain.ids import ChatId, SoulId
from soulmem.domain.llm import Completion, Failure, LlmFailed, Prompt
from soulmem.domain.llm_usage import LlmUsage
from soulmem.engine.api.requests import Activity, RecallType
from soulmem.engine.params import EngineParams
from soulmem.engine.runtime.jobs import ENDED
from soulmem.engine.runtime.worker import Worker
from tests.engine.model_stage import ModelStage, obliging, talk
from tests.engine.stage import ME, ended, lines
from tests.examples import sized
from tests.fakes.llm import FakeLlm
from tests.fakes.virtual_time import run

REPLY_SECONDS = 20.0
CALL_SECONDS = 12.0  # of the model, for memory work: it may still be at it when a reply begins
EXCHANGES = sized(42, 60)
CHAT, SOUL = ChatId("c1"), SoulId("s1")


@dataclass(slots=True)
class Evening:
    """What was seen of some hours of chatting."""

    replying: bool = False
    inside: list[float] = field(default_factory=list)  # when calls began while a reply was written
    calls: int = 0


class Watched(FakeLlm):
    """Notes what goes on when a call begins."""

    def __init__(self, evening: Evening) -> None:
        super().__init__(obliging, seconds=CALL_SECONDS)
        self._evening = evening

    async def complete(self, prompt: Prompt) -> Completion:
        self._evening.calls += 1
        if self._evening.replying:
            self._evening.inside.append(asyncio.get_running_loop().time())
        return await super().complete(prompt)


async def play(evening: Evening, seed: int, *, jobs: bool) -> ModelStage:
    """Chat for some hours by the loop's clock, with breaks short and long; `jobs`: the user asks for work."""
    chance = random.Random(seed)
    llm = Watched(evening)
    stage = ModelStage(model=llm, params=EngineParams(rest_by_itself=True, idle_after=60))
    await stage.start()
    await stage.soul()
    pending: list[str] = []
    messages = lines(40)
    await stage.sync("c1", messages)
    for exchange in range(EXCHANGES):
        stage.engine.touched()
        await stage.engine.chats.activity(ME, CHAT, Activity.GENERATING)
        evening.replying = True
        await stage.recall(f"text of m{3 + exchange}", "c1")
        if jobs and exchange % 7 == 3:
            pending.append(await stage.engine.jobs.ask(ME, "consolidate", SOUL, {}))
        await asyncio.sleep(REPLY_SECONDS)
        evening.replying = False
        messages += lines(2, start=len(messages) + 1)
        stage.engine.touched()
        await stage.sync("c1", messages)
        await stage.engine.chats.activity(ME, CHAT, Activity.IDLE)
        await asyncio.sleep(chance.choice((0.1, 2, 5, 8, 11, 30, 65, 90, 150)))
        stage.clock.advance(60, 0)
    await asyncio.sleep(300)
    for job in pending:
        assert stage.engine.jobs.get(ME, job).state in ENDED
    return stage


_TWO_YEARS = 2 * 366 * 86_400  # seconds; by then all periods of what was said are over


@pytest.mark.timeout(60)
@pytest.mark.parametrize("jobs", [False, True], ids=["at rest", "as jobs"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.nightly) for n in (1, 2))])
def test_no_call_begins_while_a_reply_is_written(
    monkeypatch: pytest.MonkeyPatch, seed: int, jobs: bool
) -> None:
    evening = Evening()

    async def go() -> list[str]:
        clock = SimpleNamespace(monotonic=asyncio.get_running_loop().time)
        monkeypatch.setattr("soulmem.engine.runtime.lifecycle.time", clock)
        stage = await play(evening, seed, jobs=jobs)
        due = (await stage.engine.consolidator.usage_report(ME, SOUL)).due_calls
        drafted = [memory.text for memory in await stage.drafted()]
        await stage.stop()
        assert due == 0, "all that was due was gone over between the replies"
        return drafted

    drafted = run(go())
    assert evening.inside == []
    assert evening.calls >= 8
    assert drafted


async def test_a_recall_does_not_feel_the_model_at_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It answers while the model hangs, by as many steps of the compute thread as when the model rests."""
    stage, steps = ModelStage(), 0
    compute = Worker.run

    async def counted(self: Worker, *work: Any, **more: Any) -> Any:
        nonlocal steps
        steps += 1
        return await compute(self, *work, **more)

    async def steps_of_recalls() -> list[int]:
        """Of the later ones: the first meet what was just written."""
        nonlocal steps
        taken = []
        for number in range(8):
            question = f"They spoke at length of word{number % 5}-{number}."
            steps = 0
            answer = await stage.recall(question, f"c{number % 5}", type=RecallType.QUIET)
            assert answer.memories
            assert not answer.timed_out
            taken.append(steps)
        return taken[3:]

    await stage.start()
    await stage.soul()
    for word in range(5):
        await stage.sync(f"c{word}", talk(60, word=f"word{word}-"))
    await stage.rest()
    stage.llm.answers.clear()
    await stage.sync("c0", talk(90, word="word0-"))
    job = await stage.engine.jobs.ask(ME, "consolidate", SOUL, {})
    await stage.thinking()
    monkeypatch.setattr(Worker, "run", counted)
    beside = await steps_of_recalls()
    assert stage.llm.waiting == 1, "all that time the model was at work"
    stage.llm.answers.set()
    await ended(stage, job)
    free = await steps_of_recalls()
    await stage.stop()
    assert beside == free
    assert min(free) > 0


async def test_usage_counts_every_call_and_its_tokens_also_of_calls_that_failed() -> None:
    stage = ModelStage('{"digest": "They spoke at length of word3."}')
    await stage.start()
    await stage.soul()
    await stage.sync("c1", talk(8))
    await stage.close("c1")
    stage.clock.advance(_TWO_YEARS)

    async def usage_after(period: str, *replies: str | LlmFailed) -> LlmUsage:
        stage.llm.then(replies)
        job = await stage.engine.jobs.ask(ME, "digest", SOUL, {"period": period})
        await ended(stage, job)
        report = await stage.engine.consolidator.usage_report(ME, SOUL)
        return report.totals["digest"]

    good = await usage_after("year", '{"digest": "They spoke at length of word3."}')
    assert (good.calls, good.failed) == (1, 0)
    assert good.prompt_tokens > good.answer_tokens > 0
    away = await usage_after("month", LlmFailed(Failure.UNREACHABLE, "away"))
    assert (away.calls, away.failed) == (3, 2), "a failed call is repeated once"
    assert away.prompt_tokens > good.prompt_tokens
    assert away.answer_tokens == good.answer_tokens
    await stage.stop()


async def test_a_refusal_is_not_repeated_nor_a_call_to_a_model_that_is_away() -> None:
    stage = ModelStage()
    await stage.start()
    await stage.soul()
    await stage.sync("c1", talk(8))
    await stage.close("c1")
    stage.clock.advance(_TWO_YEARS)

    async def calls_for(period: str, failure: Failure) -> int:
        stage.llm.then([LlmFailed(failure, "no")])
        before = len(stage.calls)
        job = await stage.engine.jobs.ask(ME, "digest", SOUL, {"period": period})
        await ended(stage, job)
        return len(stage.calls) - before

    assert await calls_for("year", Failure.REFUSED) == 1
    assert await calls_for("month", Failure.UNREADABLE) == 2
    await stage.stop()
