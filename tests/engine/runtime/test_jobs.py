"""Jobs run one at a time per soul, report progress, and resume after a restart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from soulmem.domain.errors import NotFound, StoreFull, Unprocessable
from soulmem.domain.ids import DEFAULT_OWNER, Owner, SoulId
from soulmem.engine.runtime.jobs import ENDED, JobKind, JobRun, Jobs, JobState, JobView
from tests.fakes.spool import FakeSpool

ME = DEFAULT_OWNER
MIRA, BELA = SoulId("s1"), SoulId("s2")


class StepwiseJobs:
    """Jobs whose work waits for `step` before each of its pieces."""

    def __init__(self, spool: FakeSpool | None = None) -> None:
        self.spool = spool or FakeSpool()
        self.jobs = Jobs(self.spool, self._check)
        self.log: list[tuple[str, int]] = []
        self.go = asyncio.Semaphore(0)
        self.jobs.register(JobKind("count", self._count, arguments=("to",), resumes=True))
        self.jobs.register(JobKind("once", self._count, arguments=("to",)))
        self.jobs.register(JobKind("inner", self._count, arguments=None))
        self.jobs.register(JobKind("breaks", self._break))
        self.jobs.register(
            JobKind(
                "look",
                self._look,
                arguments=("at",),
                only_reads=True,
                check=self._check_look,
            )
        )

    async def _check(self, owner: Owner, soul: SoulId) -> None:
        if soul not in (MIRA, BELA):
            raise NotFound(f"no soul {soul!r}", field="soul")

    async def _count(self, run: JobRun) -> dict[str, Any]:
        to = int(run.arguments.get("to", 3))
        for piece in range(to):
            run.report(piece, to, "pieces")
            await self.go.acquire()
            self.log.append((run.record.job, piece))
        return {"counted": to, "payload": (await run.payload()).decode()}

    @staticmethod
    def _check_look(arguments: Mapping[str, Any]) -> None:
        if not arguments.get("at"):
            raise Unprocessable("look at what?", field="arguments.at")

    async def _look(self, run: JobRun) -> str:
        run.result_so_far = "a part"
        run.report(0, 0, "")
        await self.go.acquire()
        run.report(0, 0, "")
        return f"all of {run.arguments['at']}"

    async def _break(self, run: JobRun) -> None:
        raise ValueError(" ".join(["secret", "words"]))

    def step(self, count: int = 1) -> None:
        """Allow that many pieces."""
        for _ in range(count):
            self.go.release()

    async def until(self, job: str, *states: JobState) -> JobView:
        """The job once it is in one of the states; ended, if none is given."""
        for _ in range(500):
            view = self.jobs.get(ME, job)
            if view.state in (states or ENDED):
                return view
            await asyncio.sleep(0.002)
        raise AssertionError(view)


@pytest.fixture
async def bench() -> AsyncIterator[StepwiseJobs]:
    jobs = StepwiseJobs()
    yield jobs
    jobs.step(1000)
    await jobs.jobs.stop()


async def test_a_job_tells_how_far_it_is_and_what_came_of_it(
    bench: StepwiseJobs,
) -> None:
    job = await bench.jobs.start(ME, "count", MIRA, {"to": 2}, b"words")
    view = await bench.until(job, JobState.RUNNING)
    assert (view.progress.done, view.progress.total, view.progress.unit) == (
        0,
        2,
        "pieces",
    )
    bench.step()
    for _ in range(100):
        await asyncio.sleep(0.001)
    assert bench.jobs.get(ME, job).progress.done == 1
    bench.step()
    view = await bench.until(job)
    assert (view.state, view.result, view.error) == (
        JobState.DONE,
        {"counted": 2, "payload": "words"},
        None,
    )
    assert bench.spool.payloads == {}  # it takes no more room than it must


async def test_jobs_of_one_soul_wait_for_each_other_and_those_of_two_do_not(
    bench: StepwiseJobs,
) -> None:
    first = await bench.jobs.start(ME, "count", MIRA, {"to": 1})
    second = await bench.jobs.start(ME, "count", MIRA, {"to": 1})
    other = await bench.jobs.start(ME, "count", BELA, {"to": 1})
    await bench.until(first, JobState.RUNNING)
    await bench.until(other, JobState.RUNNING)
    assert bench.jobs.get(ME, second).state is JobState.QUEUED
    bench.step(3)
    await bench.until(second)
    jobs = [job for job, _ in bench.log]
    assert jobs.index(first) < jobs.index(second)


async def test_cancelled_it_ends_before_its_next_piece_and_the_next_job_begins(
    bench: StepwiseJobs,
) -> None:
    job = await bench.jobs.start(ME, "count", MIRA, {"to": 3})
    queued = await bench.jobs.start(ME, "count", MIRA, {"to": 1})
    after = await bench.jobs.start(ME, "count", MIRA, {"to": 1})
    await bench.until(job, JobState.RUNNING)
    assert (await bench.jobs.cancel(ME, queued)).state is JobState.CANCELLED
    await bench.jobs.cancel(ME, job)
    bench.step()
    assert (await bench.until(job)).state is JobState.CANCELLED
    bench.step()
    assert (await bench.until(after)).state is JobState.DONE
    assert bench.log == [(job, 0), (after, 0)]
    assert (await bench.jobs.cancel(ME, after)).state is JobState.DONE


async def test_a_stop_leaves_what_can_be_taken_up_again(bench: StepwiseJobs) -> None:
    goes_on = await bench.jobs.start(ME, "count", MIRA, {"to": 2}, b"words")
    once = await bench.jobs.start(ME, "once", BELA, {"to": 2})
    await bench.until(goes_on, JobState.RUNNING)
    await bench.until(once, JobState.RUNNING)
    stopping = asyncio.create_task(bench.jobs.stop())
    await asyncio.sleep(0)  # it begins
    bench.step(2)
    await stopping
    assert len(bench.log) == 2  # one piece of each

    again = StepwiseJobs(bench.spool)
    again.step(10)
    await again.jobs.resume()
    view = await again.until(goes_on)
    assert (view.state, view.result["payload"]) == (JobState.DONE, "words")
    view = await again.until(once)
    assert view.state is JobState.FAILED
    assert "start it again" in str(view.error)
    await again.jobs.resume()
    assert len(again.log) == 2  # nothing is done twice
    await again.jobs.stop()


async def test_a_job_that_was_begun_before_the_others_were_taken_up_is_done_once(
    bench: StepwiseJobs,
) -> None:
    job = await bench.jobs.start(ME, "count", MIRA, {"to": 1})
    await bench.until(job, JobState.RUNNING)
    await bench.jobs.resume()
    after = await bench.jobs.start(ME, "count", MIRA, {"to": 1})
    bench.step(3)  # one more than the two need
    await bench.until(after)
    assert bench.log == [(job, 0), (after, 0)]


async def test_a_failure_is_told_without_the_words_of_a_chat(
    bench: StepwiseJobs, caplog: pytest.LogCaptureFixture
) -> None:
    view = await bench.until(await bench.jobs.ask(ME, "breaks", MIRA, {}))
    assert view.state is JobState.FAILED
    assert "ValueError" in str(view.error)
    assert "secret words" not in str(view.error) + caplog.text
    assert "test_jobs.py" in caplog.text


async def test_what_cannot_be_started_is_refused_and_leaves_nothing(
    bench: StepwiseJobs,
) -> None:
    with pytest.raises(Unprocessable, match=r"'dream'.*known are breaks, count, look, once"):
        await bench.jobs.ask(ME, "dream", MIRA, {})
    with pytest.raises(Unprocessable, match="'inner'"):
        await bench.jobs.ask(ME, "inner", MIRA, {})
    with pytest.raises(Unprocessable, match=r"'too' is no argument.*known are to"):
        await bench.jobs.ask(ME, "count", MIRA, {"too": 2})
    with pytest.raises(NotFound):
        await bench.jobs.ask(ME, "count", SoulId("s9"), {})
    bench.spool.failure = StoreFull("the disk is full")
    with pytest.raises(StoreFull):
        await bench.jobs.ask(ME, "count", MIRA, {})
    assert bench.spool.kept == {}


async def test_a_job_is_its_owners_alone(bench: StepwiseJobs) -> None:
    job = await bench.jobs.start(ME, "count", MIRA, {"to": 1})
    with pytest.raises(NotFound):
        bench.jobs.get(Owner("somebody"), job)
    with pytest.raises(NotFound):
        await bench.jobs.cancel(Owner("somebody"), job)


async def test_long_ended_jobs_are_forgotten(
    bench: StepwiseJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("soulmem.engine.runtime.jobs._KEPT", 2)
    bench.step(9)
    jobs = [await bench.jobs.start(ME, "count", MIRA, {"to": 1}) for _ in range(4)]
    await bench.until(jobs[-1])
    last = await bench.jobs.start(ME, "count", MIRA, {"to": 1})
    await bench.until(last)
    with pytest.raises(NotFound):
        bench.jobs.get(ME, jobs[0])
    assert set(bench.spool.kept) == {*jobs[2:], last}


async def test_work_that_only_reads_runs_beside_others_and_leaves_nothing_on_disk(
    bench: StepwiseJobs,
) -> None:
    count = await bench.jobs.start(ME, "count", MIRA, {"to": 1})
    await bench.until(count, JobState.RUNNING)
    look = await bench.jobs.ask(ME, "look", MIRA, {"at": "it"})
    view = await bench.until(look, JobState.RUNNING)
    assert view.result == "a part"
    bench.step(2)
    assert (await bench.until(look)).result == "all of it"
    assert (await bench.until(count)).state is JobState.DONE
    assert list(bench.spool.kept) == [count]


async def test_a_cancelled_job_shows_what_it_had(bench: StepwiseJobs) -> None:
    look = await bench.jobs.ask(ME, "look", MIRA, {"at": "it"})
    await bench.until(look, JobState.RUNNING)
    await bench.jobs.cancel(ME, look)
    bench.step()
    view = await bench.until(look)
    assert (view.state, view.result) == (JobState.CANCELLED, "a part")


async def test_reading_that_a_stop_cut_off_is_gone_after_the_next_start(
    bench: StepwiseJobs,
) -> None:
    look = await bench.jobs.ask(ME, "look", MIRA, {"at": "it"})
    await bench.until(look, JobState.RUNNING)
    again = StepwiseJobs(bench.spool)
    await again.jobs.resume()
    assert again.jobs.get(ME, look).state is JobState.FAILED
    assert bench.spool.kept == {}


async def test_arguments_are_checked_before_a_job_is_started(
    bench: StepwiseJobs,
) -> None:
    with pytest.raises(Unprocessable) as refused:
        await bench.jobs.ask(ME, "look", MIRA, {})
    assert refused.value.field == "arguments.at"
    assert bench.jobs.of(ME, MIRA) == []
