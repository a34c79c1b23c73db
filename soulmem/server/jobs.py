"""Routes of jobs: start, list, read, cancel, and import a file."""

from __future__ import annotations

from soulmem.domain.ids import SoulId
from soulmem.server.json_response import Reply
from soulmem.server.responses.jobs import (
    JobResponse,
    JobsResponse,
    StartedResponse,
    job_response,
    jobs_response,
)
from soulmem.server.routes import Call, route
from soulmem.server.schemas.common import NoBody, NoQuery
from soulmem.server.schemas.jobs import ImportBody, JobBody, JobsQuery, import_request

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
    job = await call.engine.jobs.ask(
        call.owner, body.kind, SoulId(body.soul), body.arguments
    )
    return Reply(lambda: StartedResponse(job=job), status=202)


@route(
    "GET", "/v1/jobs", query=JobsQuery, body=None, response=JobsResponse, is_use=False
)
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
