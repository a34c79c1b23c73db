"""Usage and deferred input survive a restart."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.derivations import Work
from soulmem.domain.errors import StoreFull
from soulmem.domain.ids import ChatId, Owner, SoulId
from soulmem.domain.llm_usage import LlmUsage
from soulmem.engine.consolidation.consolidator import ConsolidationParams
from soulmem.engine.llm.persistence import UsagePersistence
from soulmem.engine.llm.retry import Deferrals, Key, RetryParams
from soulmem.engine.llm.trust import ModelTrust
from soulmem.engine.llm.usage import UsageLedger, UsageLimits
from soulmem.engine.params import EngineParams
from tests.engine.model_stage import ModelStage, obliging
from tests.engine.stage import ME, lines
from tests.fakes.store import FakeStore

SOUL = SoulId("s1")
START = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
HOUR = timedelta(hours=1)
_OWNERS = st.sampled_from([ME, Owner("bob")])
_SOULS = st.sampled_from([SOUL, SoulId("s2")])
_WORKS = st.sampled_from(["consolidation", "test"])
_RECORDED = st.tuples(_OWNERS, _SOULS, _WORKS, st.integers(0, 100), st.integers(1, 9))
_DEFERRED = st.tuples(
    _OWNERS, _SOULS, st.sampled_from(["c1", "c2"]), st.booleans(), st.integers(0, 100)
)


class TwoOwners(FakeStore):
    """A store with two owners, whatever they have."""

    async def owners(self) -> list[Owner]:
        return [ME, Owner("bob")]


async def opened(
    store: FakeStore, current_time: datetime
) -> tuple[UsagePersistence, UsageLedger, Deferrals]:
    """Usage and deferrals as after a start."""
    usage, deferrals = UsageLedger(UsageLimits()), Deferrals(RetryParams())
    persistence = UsagePersistence(
        store=store, usage=usage, deferrals=deferrals, trust=ModelTrust()
    )
    await persistence.open(current_time)
    return persistence, usage, deferrals


@given(
    st.lists(_RECORDED, max_size=12),
    st.lists(_DEFERRED, max_size=8),
    st.integers(0, 120),
)
async def test_after_a_restart_they_are_as_before(
    recorded: list[tuple[Owner, SoulId, str, int, int]],
    deferred: list[tuple[Owner, SoulId, str, bool, int]],
    later: int,
) -> None:
    store = TwoOwners()
    await store.open()
    persistence, usage, deferrals = await opened(store, START)
    for owner, soul, work, minute, calls in sorted(recorded, key=lambda entry: entry[3]):
        usage.record(
            owner,
            soul,
            work,
            LlmUsage(calls=calls, seconds=0.1),
            START + timedelta(minutes=minute),
        )
    for owner, soul, chat, succeeded, minute in deferred:
        key: Key = (owner, soul, ChatId(chat), Work.DRAFTS)
        if succeeded:
            deferrals.clear(key)
        else:
            deferrals.defer(key, "no lists", 20, START + timedelta(minutes=minute))
    await persistence.stop()
    second_persistence, usage_after, deferrals_after = await opened(
        store, START + timedelta(minutes=101)
    )
    current_time = START + timedelta(minutes=101 + later)
    for owner in (ME, Owner("bob")):
        for soul in (SOUL, SoulId("s2")):
            assert usage_after.totals(owner, soul) == usage.totals(owner, soul)
            assert set(deferrals_after.of_soul(owner, soul)) == set(deferrals.of_soul(owner, soul))
    assert usage_after.this_hour(current_time) == usage.this_hour(current_time)
    await second_persistence.stop()


def test_the_time_of_a_call_is_told_by_the_most_recent_ones_since_the_start() -> None:
    usage = UsageLedger(UsageLimits())
    slow, quick = LlmUsage(calls=1, seconds=16.0), LlmUsage(calls=1, seconds=2.0)
    usage.restore(ME, SOUL, {"consolidation": slow}, [(START, slow)])
    assert (
        usage.seconds_per_call("consolidation") is None
    )  # of another run, and of another model perhaps
    usage.record(ME, SOUL, "consolidation", slow, START)
    usage.record(ME, SOUL, "consolidation", LlmUsage(nodes=3), START)
    usage.record(ME, SOUL, "test", quick, START)
    assert usage.seconds_per_call("consolidation") == 16.0
    for _ in range(8):
        usage.record(ME, SOUL, "consolidation", quick, START)
    assert usage.seconds_per_call("consolidation") == 2.0


async def test_a_clock_set_back_does_not_stop_the_work_until_it_is_there_again() -> None:
    store = TwoOwners()
    await store.open()
    persistence, usage, _ = await opened(store, START)
    usage.record(ME, SOUL, "consolidation", LlmUsage(calls=500), START)
    await persistence.stop()
    _, usage_after, _ = await opened(store, START - timedelta(days=1))
    assert usage_after.has_room(START - timedelta(days=1))
    assert usage_after.totals(ME, SOUL)["consolidation"].calls == 500


async def test_what_could_not_be_stored_is_stored_with_the_next_call() -> None:
    store = TwoOwners()
    await store.open()
    persistence, usage, _ = await opened(store, START)
    store.refuses = StoreFull("the disk is full")
    usage.record(ME, SOUL, "consolidation", LlmUsage(calls=1), START)
    await persistence.stop()
    store.refuses = None
    usage.record(ME, SOUL, "consolidation", LlmUsage(calls=1), START)
    await persistence.stop()
    (books,) = await store.llm_usage(ME)
    assert books.totals["consolidation"] == LlmUsage(calls=2)


def stingy() -> EngineParams:
    """At most two calls an hour at rest."""
    return EngineParams(
        rest_by_itself=False,
        consolidation=replace(ConsolidationParams(), limits=UsageLimits(calls=2)),
    )


async def test_a_restart_does_not_give_the_hour_anew() -> None:
    stage = ModelStage(params=stingy())
    await stage.start()
    await stage.soul()
    await stage.sync("c1", lines(60))
    await stage.rest()
    assert len(stage.calls) == 2
    before = await stage.engine.consolidator.usage_report(ME, SOUL)
    await stage.restart()
    await stage.rest()
    after = await stage.engine.consolidator.usage_report(ME, SOUL)
    assert (len(stage.calls), after.totals) == (2, before.totals)
    stage.clock.advance(3601, 0)
    await stage.rest()
    assert len(stage.calls) == 4
    await stage.stop()


async def test_deferred_input_waits_on_after_a_restart_and_goes_with_its_chat() -> None:
    stage = ModelStage("{")
    await stage.start()
    await stage.soul()
    await stage.sync("c1", lines(30))
    await stage.sync("c2", lines(30))
    await stage.rest()
    asked = len(stage.calls)
    before = (await stage.engine.consolidator.usage_report(ME, SOUL)).deferred
    assert {(entry.chat, entry.attempts) for entry in before} == {("c1", 1), ("c2", 1)}
    await stage.restart()
    stage.llm.then([obliging])
    await stage.rest()
    assert len(stage.calls) == asked, "it was deferred"
    assert set((await stage.engine.consolidator.usage_report(ME, SOUL)).deferred) == set(before)
    await stage.engine.chats.delete(ME, ChatId("c2"))
    await stage.rest()
    assert {
        entry.chat for entry in (await stage.engine.consolidator.usage_report(ME, SOUL)).deferred
    } == {"c1"}
    stage.clock.advance(601, 0)
    await stage.rest()
    assert len(stage.calls) > asked
    await stage.restart()
    assert (await stage.engine.consolidator.usage_report(ME, SOUL)).deferred == []
    await stage.stop()


async def test_they_go_with_their_soul() -> None:
    stage = ModelStage()
    await stage.start()
    await stage.soul()
    await stage.sync("c1", lines(30))
    await stage.rest()
    await stage.engine.usage_persistence.stop()
    assert [books.soul for books in await stage.store.llm_usage(ME)] == [SOUL]
    await stage.engine.souls.delete(ME, SOUL, "Mira")
    stage.clock.advance(8 * 86_400, 0)
    await stage.rest()
    assert await stage.store.llm_usage(ME) == []
    await stage.stop()
