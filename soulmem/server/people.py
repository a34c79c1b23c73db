"""Routes of the people that a soul knows."""

from __future__ import annotations

from soulmem.domain.ids import MemoryId, SoulId
from soulmem.engine.editing.overviews import KnownFilter
from soulmem.server.json_response import Reply
from soulmem.server.responses.people import (
    HeartResponse,
    KnownResponse,
    PeopleResponse,
    SplitResponse,
    heart_response,
    known_response,
    people_response,
)
from soulmem.server.routes import Call, route
from soulmem.server.schemas.common import NoBody, NoQuery
from soulmem.server.schemas.people import HeartQuery, KnownQuery, PeopleQuery, SplitBody


@route("GET", "/v1/people", query=PeopleQuery, body=None, response=PeopleResponse)
async def list_people(call: Call[PeopleQuery, NoBody]) -> Reply[PeopleResponse]:
    """The people that a soul knows, whom it met most often first."""
    people = await call.engine.overviews.people(call.owner, SoulId(call.query.soul))
    rows = sum(1 + len(person.facts) for person in people)
    return Reply(lambda: people_response(people), rows=rows)


@route("GET", "/v1/heart", query=HeartQuery, body=None, response=HeartResponse)
async def map_heart(call: Call[HeartQuery, NoBody]) -> Reply[HeartResponse]:
    """Whom a soul met most, with a sentence of what happened on each line."""
    you = call.query.you or ""
    query = call.query
    heart = await call.engine.overviews.heart(
        call.owner, SoulId(query.soul), you, with_spots=query.spots
    )
    return Reply(
        lambda: heart_response(heart), rows=len(heart.people) + len(heart.lines)
    )


@route(
    "GET",
    "/v1/souls/{soul}/known",
    query=KnownQuery,
    body=None,
    response=KnownResponse,
)
async def list_known(call: Call[KnownQuery, NoBody]) -> Reply[KnownResponse]:
    """What a soul knows of people, as quotes of its messages: facts, promises, secrets, gifts, likes, dates."""
    query = call.query
    is_past = None if query.state is None else query.state == "past"
    page = await call.engine.overviews.known(
        call.owner,
        SoulId(call.ids["soul"]),
        KnownFilter(query.kind, query.about, is_past),
        query.limit,
        query.cursor,
    )
    return Reply(lambda: known_response(page), rows=len(page.things))


@route(
    "POST",
    "/v1/people/{concept}/split",
    query=NoQuery,
    body=SplitBody,
    response=SplitResponse,
    statuses=(201,),
)
async def split_person(call: Call[NoQuery, SplitBody]) -> Reply[SplitResponse]:
    """Tell two people of one name apart, in one step: each gets a name of its own, and both keep the old one."""
    concept = MemoryId(call.ids["concept"])
    other = await call.engine.namesakes.split(
        call.owner, concept, call.body.name, call.body.other
    )
    return Reply(lambda: SplitResponse(concept=concept, other=other), status=201)


ROUTES = (list_people, map_heart, list_known, split_person)
