"""Requests of jobs and of the import."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any

from msgspec import Meta, field

from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import SoulId
from soulmem.engine.api.requests import ImportFormat, ImportRequest
from soulmem.server.schemas.common import Body, Id, Query, Words, without_repeats


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
    others: Annotated[
        list[Id], Meta(max_length=1_000, description="other souls in the chat")
    ] = field(default_factory=list)
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
            soul
            for soul in without_repeats(map(SoulId, body.others))
            if soul != body.soul
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
