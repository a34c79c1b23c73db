"""Responses of jobs."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from msgspec import UNSET, UnsetType, field

from soulmem.engine.runtime.jobs import JobView
from soulmem.server.responses.common import (
    PhraseResponse,
    ResponseBody,
    phrase_response,
)


class StartedResponse(ResponseBody, frozen=True):
    """A job that was accepted. It survives a restart."""

    job: str


class ProgressResponse(ResponseBody, frozen=True):
    """Progress of a job; 0 of 0 while the total is unknown."""

    done: int
    total: int
    unit: str


class JobResponse(ResponseBody, frozen=True):
    """`state` is queued, running, done, failed or cancelled. `at`: when it was requested. `error`: why it
    failed.
    """

    job: str
    kind: str
    soul: str
    requested_at: datetime = field(name="at")
    state: str
    progress: ProgressResponse
    result: Any
    error: str | None
    error_phrase: PhraseResponse | UnsetType = UNSET


class JobsResponse(ResponseBody, frozen=True):
    """The jobs of a soul, newest first. The last 100 ended jobs of all souls together are kept."""

    jobs: list[JobResponse]
    cursor: None = None


def jobs_response(views: Iterable[JobView]) -> JobsResponse:
    """The jobs, in the given order."""
    return JobsResponse(jobs=[job_response(view) for view in views])


def job_response(view: JobView) -> JobResponse:
    """One job."""
    progress = view.progress
    return JobResponse(
        job=view.id,
        kind=view.kind,
        soul=view.soul,
        requested_at=view.at,
        state=view.state.value,
        progress=ProgressResponse(
            done=progress.done, total=progress.total, unit=progress.unit
        ),
        result=view.result,
        error=None if view.error is None else str(view.error),
        error_phrase=phrase_response(view.error),
    )
