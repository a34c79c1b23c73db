"""Routes of the embedding model: what it lacks on this computer, and a job that fetches it."""

from __future__ import annotations

from soulmem.server.json_response import Reply
from soulmem.server.responses.embedder import EmbedderResponse, embedder_response
from soulmem.server.responses.jobs import StartedResponse
from soulmem.server.routes import Call, route
from soulmem.server.schemas.common import NoBody, NoQuery
from soulmem.server.schemas.embedder import FetchBody


@route(
    "GET",
    "/v1/embedder",
    query=NoQuery,
    body=None,
    response=EmbedderResponse,
    is_use=False,
)
async def read_embedder(call: Call[NoQuery, NoBody]) -> Reply[EmbedderResponse]:
    """What the wanted embedding model lacks, and where it can come from; `health.embedder` tells how it is."""
    fetching = call.engine.fetching
    origin = await fetching.origin()
    job = fetching.job
    return Reply(lambda: embedder_response(origin, job))


@route(
    "POST",
    "/v1/embedder",
    query=NoQuery,
    body=FetchBody,
    response=StartedResponse,
    statuses=(202,),
)
async def fetch_embedder(call: Call[NoQuery, FetchBody]) -> Reply[StartedResponse]:
    """Fetch the wanted embedding model and take it into use, as a job."""
    body = call.body
    job = await call.engine.fetching.start(call.owner, body.way, body.hub)
    return Reply(lambda: StartedResponse(job=job), status=202)


ROUTES = (read_embedder, fetch_embedder)
