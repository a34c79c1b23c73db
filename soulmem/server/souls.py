"""Routes of souls: create or change, read, list, delete, fingerprint."""

from __future__ import annotations

from soulmem.domain.ids import SoulId
from soulmem.server.json_response import Reply
from soulmem.server.responses.common import Done
from soulmem.server.responses.souls import (
    FingerprintResponse,
    SoulResponse,
    SoulsResponse,
    soul_response,
    souls_response,
)
from soulmem.server.routes import Call, route
from soulmem.server.schemas.common import Confirm, NoBody, NoQuery
from soulmem.server.schemas.souls import (
    SoulBody,
    SoulsQuery,
    known_names,
    settings_change,
)


@route(
    "PUT",
    "/v1/souls/{soul}",
    query=NoQuery,
    body=SoulBody,
    response=SoulResponse,
    statuses=(200, 201),
)
async def put_soul(call: Call[NoQuery, SoulBody]) -> Reply[SoulResponse]:
    """Create or change a soul. Settings that are not sent stay."""
    body = call.body
    settings = settings_change(body.config)
    soul, created = await call.engine.souls.put(
        call.owner,
        SoulId(call.ids["soul"]),
        body.name,
        known_names(body.names),
        settings,
    )
    opened = await call.engine.souls.in_memory(call.owner)
    return Reply(
        lambda: soul_response(soul, opened),
        rows=len(soul.names),
        status=201 if created else 200,
    )


@route("GET", "/v1/souls/{soul}", query=NoQuery, body=None, response=SoulResponse)
async def get_soul(call: Call[NoQuery, NoBody]) -> Reply[SoulResponse]:
    """A soul with its full settings."""
    soul = await call.engine.souls.get(call.owner, SoulId(call.ids["soul"]))
    opened = await call.engine.souls.in_memory(call.owner)
    return Reply(lambda: soul_response(soul, opened), rows=len(soul.names))


@route("GET", "/v1/souls", query=SoulsQuery, body=None, response=SoulsResponse)
async def list_souls(call: Call[SoulsQuery, NoBody]) -> Reply[SoulsResponse]:
    """The caller's souls. PUT restores one from the bin."""
    souls = await call.engine.souls.list(call.owner, call.query.state)
    opened = await call.engine.souls.in_memory(call.owner)
    return Reply(
        lambda: souls_response(souls, opened),
        rows=sum(1 + len(soul.names) for soul in souls),
    )


@route("DELETE", "/v1/souls/{soul}", query=Confirm, body=None, response=Done)
async def delete_soul(call: Call[Confirm, NoBody]) -> Reply[Done]:
    """Move a soul to the bin; `confirm` is its name."""
    await call.engine.souls.delete(
        call.owner, SoulId(call.ids["soul"]), call.query.confirm
    )
    return Reply(Done)


@route(
    "GET",
    "/v1/souls/{soul}/fingerprint",
    query=NoQuery,
    body=None,
    response=FingerprintResponse,
)
async def read_fingerprint(call: Call[NoQuery, NoBody]) -> Reply[FingerprintResponse]:
    """A hash of the derived memory. Equal chats give equal hashes, whatever was edited before."""
    fingerprint = await call.engine.souls.fingerprint(
        call.owner, SoulId(call.ids["soul"])
    )
    return Reply(lambda: FingerprintResponse(hash=fingerprint))


ROUTES = (put_soul, get_soul, list_souls, delete_soul, read_fingerprint)
