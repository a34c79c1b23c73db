"""Responses of the embedding model."""

from __future__ import annotations

from soulmem.ports.model_fetching import ModelOrigin
from soulmem.server.responses.common import ResponseBody


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
