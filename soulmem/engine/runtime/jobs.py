"""Long work as jobs: one at a time per soul, with progress, cancellation and resumption.

A job is cancelled between two pieces of its work. After a restart, kinds that can be
resumed run again.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from typing import Any

from soulmem.domain.errors import NotFound, SoulMemError, Unprocessable, fault
from soulmem.domain.ids import Owner, SoulId, born, new_id
from soulmem.domain.phrases import Wording, phrase
from soulmem.engine.runtime.events import Events
from soulmem.ports.spool import JobRecord, Spool

log = logging.getLogger(__name__)

NO_SOUL = SoulId("")  # of jobs that serve all souls
_KEPT = 100  # ended jobs that are kept for queries
_STOPPED = phrase("job_interrupted", "SoulMem stopped before this was done: start it again")


class JobState(str, Enum):
    """The state of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED = frozenset({JobState.DONE, JobState.FAILED, JobState.CANCELLED})


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` things of that `unit`; 0 of 0 while that is not known."""

    done: int = 0
    total: int = 0
    unit: str = ""


@dataclass(frozen=True, slots=True)
class JobView:
    """A job as clients see it. `at` is when it was requested; `error` is a sentence.

    `result` is None, or what is there so far, until the job is done.
    """

    id: str
    kind: str
    soul: SoulId
    state: JobState
    at: datetime  # aware
    progress: Progress = field(default_factory=Progress)
    result: Any = None
    error: Wording | None = None


class _Ended(Exception):
    """Stops the work: the job was cancelled, or the sidecar is stopping."""


class JobRun:
    """A job as its work sees it."""

    def __init__(self, record: JobRecord, spool: Spool) -> None:
        self.record = record
        self.progress = Progress()
        self.cancelled = False
        self.stopping = False
        self.result_so_far: Any = None
        self.ended = asyncio.Event()
        self._spool = spool

    @property
    def owner(self) -> Owner:
        """The owner of the job."""
        return self.record.owner

    @property
    def soul(self) -> SoulId:
        """The soul that the job works on."""
        return self.record.soul

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments that it was started with."""
        return self.record.arguments

    async def payload(self) -> bytes:
        """The data that it works on."""
        return await self._spool.payload(self.record.job)

    def report(self, done: int, total: int, unit: str) -> None:
        """Report the progress, to be called between pieces; ends the work if it is not
        wanted any more.
        """
        self.progress = Progress(done, total, unit)
        if self.cancelled or self.stopping:
            raise _Ended


Work = Callable[[JobRun], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class JobKind:
    """One kind of job. `arguments` are those that clients may give; None: not startable by kind.

    Work that `resumes` runs again from its beginning after a restart, and skips by
    itself what is done. Work that `only_reads` runs beside other jobs of its soul, and
    nothing of it stays on disk when it has ended. Work that runs `beside` others locks what it changes
    by itself. `check` raises Unprocessable for
    arguments that the work cannot use. Work that `serves_all` belongs to no soul, which is `NO_SOUL` then.
    """

    name: str
    work: Work
    arguments: Collection[str] | None = ()
    resumes: bool = False
    only_reads: bool = False
    beside: bool = False
    serves_all: bool = False
    check: Callable[[Mapping[str, Any]], object] | None = None


@dataclass(eq=False)
class Jobs:
    """The jobs of all owners. `check` raises NotFound for an unknown soul."""

    spool: Spool
    check: Callable[[Owner, SoulId], Awaitable[object]]
    events: Events | None = None

    def __post_init__(self) -> None:
        self._events = self.events or Events()
        self._kinds: dict[str, JobKind] = {}
        self._runs: dict[str, JobRun] = {}
        self._turns: defaultdict[tuple[Owner, SoulId], asyncio.Lock] = defaultdict(asyncio.Lock)
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = False

    def register(self, kind: JobKind) -> None:
        """Allow jobs of this kind from now on."""
        self._kinds[kind.name] = kind

    async def start(
        self,
        owner: Owner,
        kind: str,
        soul: SoulId,
        arguments: Mapping[str, Any],
        payload: bytes | None = None,
    ) -> str:
        """Start a job, durably; returns its id. Raises NotFound for the soul."""
        if not self._kinds[kind].serves_all:
            await self.check(owner, soul)
        record = JobRecord(new_id("j"), owner, soul, kind, JobState.QUEUED.value, arguments)
        await self.spool.put(record, payload)
        self._begin(JobRun(record, self.spool))
        await self._drop_old_jobs()
        return record.job

    async def ask(self, owner: Owner, kind: str, soul: SoulId, arguments: Mapping[str, Any]) -> str:
        """Start a job that a client requests by its kind. Raises Unprocessable, NotFound."""
        offered = {name: k for name, k in self._kinds.items() if k.arguments is not None}
        job_kind = offered.get(kind)
        if job_kind is None or job_kind.arguments is None:
            kind_names = (
                f"known are {', '.join(sorted(offered))}" if offered else "none is offered yet"
            )
            raise Unprocessable(
                phrase(
                    "no_job_kind",
                    "no job of kind '{kind}' can be started: {known}",
                    kind=kind[:80],
                    known=kind_names,
                ),
                field="kind",
            )
        for name in arguments:
            if name not in job_kind.arguments:
                kind_names = ", ".join(sorted(job_kind.arguments)) or "none"
                raise Unprocessable(
                    phrase(
                        "no_job_argument",
                        "'{name}' is no argument of the job '{kind}': known are {known}",
                        name=name[:80],
                        kind=kind,
                        known=kind_names,
                    ),
                    field="arguments",
                )
        if job_kind.check is not None:
            job_kind.check(arguments)
        return await self.start(owner, kind, soul, arguments)

    def get(self, owner: Owner, job: str) -> JobView:
        """The state of a job. Raises NotFound."""
        return _view(self._run(owner, job))

    async def finished(self, owner: Owner, job: str) -> JobView:
        """The job once it has ended. Raises NotFound."""
        run = self._run(owner, job)
        await run.ended.wait()
        return _view(run)

    def of(self, owner: Owner, soul: SoulId) -> list[JobView]:
        """The kept jobs of a soul, newest first."""
        mine = [run for run in self._runs.values() if (run.owner, run.soul) == (owner, soul)]
        return sorted(map(_view, mine), key=lambda view: view.id, reverse=True)

    def is_working_on(self, owner: Owner, soul: SoulId) -> bool:
        """Whether a job of the soul runs or waits for its turn."""
        return any(
            (run.owner, run.soul) == (owner, soul) and JobState(run.record.state) not in ENDED
            for run in self._runs.values()
        )

    async def cancel(self, owner: Owner, job: str) -> JobView:
        """End the job before its next piece; what is done stays. An ended job stays as it is."""
        run = self._run(owner, job)
        run.cancelled = True
        if run.record.state == JobState.QUEUED.value:
            await self._end(run, JobState.CANCELLED)
        return self.get(owner, job)

    async def resume(self) -> None:
        """Resume unfinished jobs; called once, when souls can be worked on."""
        for record in await self.spool.records():
            if record.job in self._runs:  # started meanwhile
                continue
            run = JobRun(record, self.spool)
            kind = self._kinds.get(record.kind)
            if JobState(record.state) in ENDED:
                self._runs[record.job] = run
            elif kind is not None and kind.resumes:
                run.record = replace(record, state=JobState.QUEUED.value)
                self._begin(run)
            else:
                self._runs[record.job] = run
                await self._end(
                    run,
                    JobState.FAILED,
                    error=_STOPPED,
                )

    async def stop(self) -> None:
        """End running jobs between two pieces; those that can be resumed will be after
        the next start.
        """
        self._stopping = True
        for run in self._runs.values():
            run.stopping = True
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _run(self, owner: Owner, job: str) -> JobRun:
        run = self._runs.get(job)
        if run is None or run.owner != owner:
            raise NotFound(
                phrase("no_job", "no job '{job}': it may be long ended", job=job),
                field="job",
            )
        return run

    def _begin(self, run: JobRun) -> None:
        self._runs[run.record.job] = run
        self._publish(run)
        run.stopping = self._stopping
        task = asyncio.create_task(self._carry_out(run))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _carry_out(self, run: JobRun) -> None:
        kind = self._kinds[run.record.kind]
        alone = not (kind.only_reads or kind.beside)
        turn = self._turns[run.owner, run.soul] if alone else nullcontext()
        async with turn:
            if run.cancelled or run.stopping:
                return
            run.record = replace(run.record, state=JobState.RUNNING.value)
            self._publish(run)
            try:
                result = await kind.work(run)
            except _Ended:
                if run.cancelled:
                    await self._end(run, JobState.CANCELLED)
            except SoulMemError as error:
                await self._end(run, JobState.FAILED, error=error.wording)
            except Exception as error:
                # The message may quote a chat, so only the error's type and traceback are logged.
                places = "".join(traceback.format_tb(error.__traceback__))
                log.error(
                    "job %s failed: %s\n%s",
                    run.record.kind,
                    type(error).__name__,
                    places,
                )
                words = fault(error)
                await self._end(run, JobState.FAILED, error=words)
            else:
                await self._end(run, JobState.DONE, result=result)

    async def _end(
        self,
        run: JobRun,
        state: JobState,
        *,
        result: Any = None,
        error: Wording | None = None,
    ) -> None:
        run.record = replace(run.record, state=state.value, result=result, error=error)
        run.ended.set()
        self._publish(run)
        try:
            kind = self._kinds.get(run.record.kind)
            if kind is not None and kind.only_reads:
                await self.spool.drop(run.record.job)
                return
            await self.spool.put(run.record)
            await self.spool.drop_payload(run.record.job)
        except SoulMemError as failure:  # at worst the job runs again after a restart
            log.warning(
                "the end of job %s could not be noted: %s",
                run.record.job,
                failure.message,
            )

    def _publish(self, run: JobRun) -> None:
        record = run.record
        self._events.publish(
            "job",
            record.owner,
            job=record.job,
            soul=record.soul,
            job_kind=record.kind,
            state=record.state,
        )

    async def _drop_old_jobs(self) -> None:
        ended = [job for job, run in self._runs.items() if JobState(run.record.state) in ENDED]
        for job in ended[: max(0, len(ended) - _KEPT)]:
            del self._runs[job]
            await self.spool.drop(job)


def _view(run: JobRun) -> JobView:
    record = run.record
    state, asked_at = JobState(record.state), born(record.job)
    return JobView(
        record.job,
        record.kind,
        record.soul,
        state,
        asked_at,
        run.progress,
        run.result_so_far if record.result is None else record.result,
        record.error,
    )
