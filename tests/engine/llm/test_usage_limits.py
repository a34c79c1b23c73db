"""The hourly limits of idle work are looked at before a call: what it may take must fit, too."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from soulmem.domain.ids import SoulId
from soulmem.domain.llm_usage import LlmUsage
from soulmem.engine.llm.usage import CONSOLIDATION, UsageLedger, UsageLimits
from tests.engine.model_stage import ModelStage, talk
from tests.engine.stage import ME

SOUL = SoulId("s1")
NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)


def spent(**amounts: float) -> UsageLedger:
    """What two calls of this hour took, with limits of 10 calls, 1,000 tokens, 30 memories, 1 minute."""
    ledger = UsageLedger(UsageLimits(calls=10, tokens=1000, nodes=30, minutes=1.0))
    usage = replace(LlmUsage(calls=2), **amounts)  # type: ignore[arg-type]
    ledger.record(ME, SOUL, CONSOLIDATION, usage, NOON)
    return ledger


@pytest.mark.parametrize(
    ("amounts", "tokens", "fits"),
    [
        ({}, 1000, True),
        ({}, 1001, False),
        ({"prompt_tokens": 500, "answer_tokens": 100}, 400, True),
        ({"prompt_tokens": 500, "answer_tokens": 100}, 401, False),
        ({"calls": 9}, 1, True),
        ({"calls": 10}, 1, False),
        ({"nodes": 20}, 1, True),  # ten each: the next ones are the last
        ({"nodes": 21}, 1, False),
        ({"seconds": 40.0}, 1, True),
        ({"seconds": 41.0}, 1, False),
    ],
)
def test_a_call_starts_only_if_it_fits(amounts: dict[str, float], tokens: int, fits: bool) -> None:
    ledger = spent(**amounts)
    assert ledger.has_room(NOON, tokens) is fits
    assert ledger.has_room(NOON + timedelta(hours=1), min(tokens, 1000))


@pytest.mark.parametrize("limit", ["calls", "tokens", "nodes", "minutes"])
def test_a_limit_of_zero_allows_no_call(limit: str) -> None:
    assert UsageLedger(UsageLimits()).has_room(NOON)
    limits = replace(UsageLimits(), **{limit: 0})
    assert not UsageLedger(limits).has_room(NOON)


async def test_idle_work_never_goes_beyond_its_tokens_and_goes_on_in_the_next_hour() -> None:
    """Each call is counted by what the model says it took, which is less than it might have taken."""
    stage = ModelStage()
    await stage.start()
    await stage.soul()
    consolidator = stage.engine.consolidator
    consolidator.usage.params = UsageLimits(tokens=5000)
    await stage.sync("c", talk(200))
    waits = []
    for _ in range(3):
        await stage.rest()
        hour = consolidator.usage.this_hour(stage.clock.now())
        assert 0 < hour.prompt_tokens + hour.answer_tokens <= 5000
        waits.append(consolidator.waits_for_room)
        assert not consolidator.is_due()
        stage.clock.advance(3601, 0)
        assert consolidator.is_due() is waits[-1]
    assert waits == [True, True, False]
    report = await consolidator.usage_report(ME, SOUL)
    assert report.due_calls == 0
    await stage.stop()


async def test_a_long_answer_does_not_carry_idle_work_beyond_its_memories() -> None:
    stage = ModelStage()
    await stage.start()
    await stage.soul()
    consolidator = stage.engine.consolidator
    consolidator.usage.params = UsageLimits(nodes=20)
    await stage.sync("c", talk(300))
    await stage.rest()
    hour = consolidator.usage.this_hour(stage.clock.now())
    assert 0 < hour.nodes <= 20
    await stage.stop()
