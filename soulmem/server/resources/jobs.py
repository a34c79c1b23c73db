"""Routes of jobs: start, list, read, cancel, and import a file."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType, field

from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import SoulId
from soulmem.engine.api.requests import ImportFormat, ImportRequest
from soulmem.engine.runtime.jobs import JobView
from soulmem.server.common_types import (
    Body,
    Id,
    NoBody,
    NoQuery,
    PhraseResponse,
    Query,
    ResponseBody,
    Words,
    phrase_response,
    without_repeats,
)
from soulmem.server.replies import Reply
from soulmem.server.routes import Call, route


class JobBody(Body, frozen=True):
    """A job to start; each kind has its own arguments."""

    kind: Annotated[str, Meta(min_length=1, max_length=64)]
    soul: Id
    arguments: dict[str, Any] = field(default_factory=dict)


class JobsQuery(Query, frozen=True):
    """Selects the jobs of a soul."""

    soul: Id


class ImportBody(Body, frozen=True):
    """A file to import: either its `text`, or its bytes in `base64`."""

    soul: Id
    format: ImportFormat
    name: Words = ""
    text: str | None = None
    base64: str | None = None
    others: Annotated[list[Id], Meta(max_length=1_000, description="other souls in the chat")] = (
        field(default_factory=list)
    )
    persona: Words = ""
    dry_run: bool = False
    confirm_removal: bool = False


def import_request(body: ImportBody) -> ImportRequest:
    """The engine's request. Raises Unprocessable."""
    return ImportRequest(
        soul=SoulId(body.soul),
        format=body.format,
        data=_data(body),
        name=body.name,
        others=tuple(
            soul for soul in without_repeats(map(SoulId, body.others)) if soul != body.soul
        ),
        persona=body.persona.strip(),
        dry_run=body.dry_run,
        confirm_removal=body.confirm_removal,
    )


def _data(body: ImportBody) -> bytes:
    if (body.text is None) == (body.base64 is None):
        raise Unprocessable(
            "send the file either as `text` or as `base64`",
            field="text",
        )
    if body.text is not None:
        return body.text.encode()
    try:
        return base64.b64decode((body.base64 or "").encode(), validate=True)
    except (binascii.Error, ValueError) as error:
        raise Unprocessable(
            f"the file is not valid base64 ({error}): encode its bytes again",
            field="base64",
        ) from error


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
        progress=ProgressResponse(done=progress.done, total=progress.total, unit=progress.unit),
        result=view.result,
        error=None if view.error is None else str(view.error),
        error_phrase=phrase_response(view.error),
    )


IMPORT_LIMIT = 256 << 20  # bytes


@route(
    "POST",
    "/v1/jobs",
    query=NoQuery,
    body=JobBody,
    response=StartedResponse,
    statuses=(202,),
)
async def start_job(call: Call[NoQuery, JobBody]) -> Reply[StartedResponse]:
    """Start a job of an offered kind."""
    body = call.body
    job = await call.engine.jobs.ask(call.owner, body.kind, SoulId(body.soul), body.arguments)
    return Reply(lambda: StartedResponse(job=job), status=202)


@route("GET", "/v1/jobs", query=JobsQuery, body=None, response=JobsResponse, is_use=False)
async def list_jobs(call: Call[JobsQuery, NoBody]) -> Reply[JobsResponse]:
    """The jobs of a soul, newest first."""
    soul = SoulId(call.query.soul)
    await call.engine.souls.get(call.owner, soul)
    views = call.engine.jobs.of(call.owner, soul)
    return Reply(lambda: jobs_response(views), rows=len(views))


# Clients that wait for a job ask often: like health, that does not count as use.
@route(
    "GET",
    "/v1/jobs/{job}",
    query=NoQuery,
    body=None,
    response=JobResponse,
    is_use=False,
)
async def read_job(call: Call[NoQuery, NoBody]) -> Reply[JobResponse]:
    """State and progress of a job."""
    view = call.engine.jobs.get(call.owner, call.ids["job"])
    return Reply(lambda: job_response(view))


@route("DELETE", "/v1/jobs/{job}", query=NoQuery, body=None, response=JobResponse)
async def cancel_job(call: Call[NoQuery, NoBody]) -> Reply[JobResponse]:
    """Cancel a job. What it has done so far stays."""
    view = await call.engine.jobs.cancel(call.owner, call.ids["job"])
    return Reply(lambda: job_response(view))


@route(
    "POST",
    "/v1/import",
    query=NoQuery,
    body=ImportBody,
    response=StartedResponse,
    statuses=(202,),
    limit=IMPORT_LIMIT,
)
async def import_file(call: Call[NoQuery, ImportBody]) -> Reply[StartedResponse]:
    """Import a file into a soul's memory, as a job. With `dry_run`, only report what would change."""
    request = await call.convert(lambda: import_request(call.body))
    job = await call.engine.imports.start(call.owner, request)
    return Reply(lambda: StartedResponse(job=job), status=202)


ROUTES = (start_job, list_jobs, read_job, cancel_job, import_file)
