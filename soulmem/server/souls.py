"""The doors to souls: make, read, list, bin, fingerprint."""

from __future__ import annotations

from soulmem.domain.ids import SoulId
from soulmem.server.answers.common import Done
from soulmem.server.answers.souls import (
    FingerprintAnswer,
    SoulAnswer,
    SoulsAnswer,
    soul_answer,
    souls_answer,
)
from soulmem.server.as_json import Reply
from soulmem.server.doors import Call, door
from soulmem.server.schemas.common import Confirm, NoBody, NoQuery
from soulmem.server.schemas.souls import (
    SoulBody,
    SoulsQuery,
    known_names,
    settings_change,
)


@door(
    "PUT",
    "/v1/souls/{soul}",
    query=NoQuery,
    body=SoulBody,
    answer=SoulAnswer,
    statuses=(200, 201),
)
async def put_soul(call: Call[NoQuery, SoulBody]) -> Reply[SoulAnswer]:
    """Make a soul or change it; of its settings those that are sent change."""
    body = call.body
    settings = settings_change(body.config)
    soul, created = await call.engine.souls.put(
        call.owner,
        SoulId(call.ids["soul"]),
        body.name,
        known_names(body.names),
        settings,
    )
    return Reply(
        lambda: soul_answer(soul), rows=len(soul.names), status=201 if created else 200
    )


@door("GET", "/v1/souls/{soul}", query=NoQuery, body=None, answer=SoulAnswer)
async def get_soul(call: Call[NoQuery, NoBody]) -> Reply[SoulAnswer]:
    """A soul with its full settings."""
    soul = await call.engine.souls.get(call.owner, SoulId(call.ids["soul"]))
    return Reply(lambda: soul_answer(soul), rows=len(soul.names))


@door("GET", "/v1/souls", query=SoulsQuery, body=None, answer=SoulsAnswer)
async def list_souls(call: Call[SoulsQuery, NoBody]) -> Reply[SoulsAnswer]:
    """The caller's souls; those in the bin come back with PUT."""
    souls = await call.engine.souls.list(call.owner, call.query.state)
    return Reply(
        lambda: souls_answer(souls), rows=sum(1 + len(soul.names) for soul in souls)
    )


@door("DELETE", "/v1/souls/{soul}", query=Confirm, body=None, answer=Done)
async def delete_soul(call: Call[Confirm, NoBody]) -> Reply[Done]:
    """Move a soul to the bin; `confirm` is its name."""
    await call.engine.souls.delete(
        call.owner, SoulId(call.ids["soul"]), call.query.confirm
    )
    return Reply(Done)


@door(
    "GET",
    "/v1/souls/{soul}/fingerprint",
    query=NoQuery,
    body=None,
    answer=FingerprintAnswer,
)
async def read_fingerprint(call: Call[NoQuery, NoBody]) -> Reply[FingerprintAnswer]:
    """A hash that is equal for equal surviving chats, whatever the way there."""
    mark = await call.engine.souls.fingerprint(call.owner, SoulId(call.ids["soul"]))
    return Reply(lambda: FingerprintAnswer(hash=mark))


DOORS = (put_soul, get_soul, list_souls, delete_soul, read_fingerprint)
