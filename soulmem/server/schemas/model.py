"""Requests of the model for memory work."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from soulmem.domain.llm import ModelChoice, ModelUse
from soulmem.server.schemas.common import Body, Words


class ModelBody(Body, frozen=True):
    """The model to use.

    Without `api_key` the stored key stays if the address is the same, or, without an address, the provider.
    """

    use: Annotated[
        ModelUse,
        Meta(
            description="the one of the settings, none, the client's connection, or one on a server"
        ),
    ]
    model: Words = ""
    base_url: Words = ""
    api_key: Words | None = None


def model_choice(body: ModelBody) -> ModelChoice:
    """The choice. Raises Unprocessable."""
    if body.use is not ModelUse.SERVER:
        return ModelChoice(body.use)
    return ModelChoice(
        body.use, body.model.strip(), body.base_url.strip(), body.api_key or ""
    )
