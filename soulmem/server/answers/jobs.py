"""How jobs are told."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from soulmem.engine.runtime.jobs import JobView
from soulmem.server.answers.common import Answer


class StartedAnswer(Answer, frozen=True):
    """A job that was taken on; it survives a restart."""

    job: str


class ProgressAnswer(Answer, frozen=True):
    """How far it is; 0 of 0 while that is not known."""

    done: int
    total: int
    unit: str


class JobAnswer(Answer, frozen=True):
    """`state` is queued, running, done, failed or cancelled; `at` when it was asked for; `error` says in
    words why it failed.
    """

    job: str
    kind: str
    soul: str
    at: datetime
    state: str
    progress: ProgressAnswer
    result: Any
    error: str | None


class JobsAnswer(Answer, frozen=True):
    """The jobs of a soul, the newest first; of those that ended the last hundred of all souls are kept."""

    jobs: list[JobAnswer]
    cursor: None = None


def jobs_answer(views: Iterable[JobView]) -> JobsAnswer:
    """The list, in the order given."""
    return JobsAnswer(jobs=[job_answer(view) for view in views])


def job_answer(view: JobView) -> JobAnswer:
    """One job."""
    progress = view.progress
    return JobAnswer(
        job=view.id,
        kind=view.kind,
        soul=view.soul,
        at=view.at,
        state=view.state.value,
        progress=ProgressAnswer(
            done=progress.done, total=progress.total, unit=progress.unit
        ),
        result=view.result,
        error=view.error,
    )
