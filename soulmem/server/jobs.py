"""The doors to long work: start a job, look at it, cancel it, import a file."""

from __future__ import annotations

from soulmem.domain.ids import SoulId
from soulmem.server.answers.jobs import (
    JobAnswer,
    JobsAnswer,
    StartedAnswer,
    job_answer,
    jobs_answer,
)
from soulmem.server.as_json import Reply
from soulmem.server.doors import Call, door
from soulmem.server.schemas.common import NoBody, NoQuery
from soulmem.server.schemas.jobs import ImportBody, JobBody, JobsQuery, import_request

IMPORT_LIMIT = 256 << 20  # bytes


@door(
    "POST",
    "/v1/jobs",
    query=NoQuery,
    body=JobBody,
    answer=StartedAnswer,
    statuses=(202,),
)
async def start_job(call: Call[NoQuery, JobBody]) -> Reply[StartedAnswer]:
    """Start a job of a kind that is offered."""
    body = call.body
    job = await call.engine.jobs.ask(
        call.owner, body.kind, SoulId(body.soul), body.arguments
    )
    return Reply(lambda: StartedAnswer(job=job), status=202)


@door("GET", "/v1/jobs", query=JobsQuery, body=None, answer=JobsAnswer, is_use=False)
async def list_jobs(call: Call[JobsQuery, NoBody]) -> Reply[JobsAnswer]:
    """The jobs of a soul, the newest first."""
    soul = SoulId(call.query.soul)
    await call.engine.souls.get(call.owner, soul)
    views = call.engine.jobs.of(call.owner, soul)
    return Reply(lambda: jobs_answer(views), rows=len(views))


# Whoever waits for a job asks every moment: that is no use, as with health.
@door("GET", "/v1/jobs/{job}", query=NoQuery, body=None, answer=JobAnswer, is_use=False)
async def read_job(call: Call[NoQuery, NoBody]) -> Reply[JobAnswer]:
    """How a job stands."""
    view = call.engine.jobs.get(call.owner, call.ids["job"])
    return Reply(lambda: job_answer(view))


@door("DELETE", "/v1/jobs/{job}", query=NoQuery, body=None, answer=JobAnswer)
async def cancel_job(call: Call[NoQuery, NoBody]) -> Reply[JobAnswer]:
    """Cancel a job; what it has done so far stays."""
    view = await call.engine.jobs.cancel(call.owner, call.ids["job"])
    return Reply(lambda: job_answer(view))


@door(
    "POST",
    "/v1/import",
    query=NoQuery,
    body=ImportBody,
    answer=StartedAnswer,
    statuses=(202,),
    limit=IMPORT_LIMIT,
)
async def import_file(call: Call[NoQuery, ImportBody]) -> Reply[StartedAnswer]:
    """Take a file into a soul's memory, as a job; with `dry_run` only say what that would do."""
    request = await call.convert(lambda: import_request(call.body))
    job = await call.engine.imports.start(call.owner, request)
    return Reply(lambda: StartedAnswer(job=job), status=202)


DOORS = (start_job, list_jobs, read_job, cancel_job, import_file)
