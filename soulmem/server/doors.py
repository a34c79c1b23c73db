"""What a door is: one route, the shapes it takes and gives, and the way from a request to its handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from aiohttp import web

from soulmem.domain.ids import DEFAULT_OWNER, Owner, check_id
from soulmem.server.answers.common import Answer
from soulmem.server.as_json import Reply, respond
from soulmem.server.bodies import BODY_LIMIT, decode, off_loop, parse_query, read_json
from soulmem.server.errors import http_problem
from soulmem.server.schemas.common import Body, NoBody, Query
from soulmem.server.streams import Stream

if TYPE_CHECKING:
    from soulmem.engine.engine import Engine

ENGINE: web.AppKey[Engine] = web.AppKey("engine")
OWNER: web.RequestKey[Owner] = web.RequestKey("owner")

Q = TypeVar("Q", bound=Query)
B = TypeVar("B", bound=Body)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call(Generic[Q, B]):
    """A request that passed every rule of its door."""

    app: web.Application
    owner: Owner
    ids: Mapping[str, str]  # of the path
    query: Q
    body: B
    size: int  # bytes of the body

    @property
    def engine(self) -> Engine:
        """The one engine."""
        return self.app[ENGINE]

    async def convert(self, work: Callable[[], T]) -> T:
        """Run `work` over the body, off the loop when the body is large."""
        return await off_loop(self.size, work)


Handler = Callable[[Call[Q, B]], Awaitable[Reply[Answer] | Stream]]


@dataclass(frozen=True, slots=True)
class Door:
    """One route. `body` None means that none is read; `statuses` are those of success."""

    method: str
    path: str
    handler: Handler[Any, Any]
    query: type[Query]
    body: type[Body] | None
    answer: type[Answer]
    statuses: tuple[int, ...] = (200,)
    is_use: bool = True  # whether a request shows that somebody uses the sidecar now
    limit: int = BODY_LIMIT  # bytes of the body
    media: str = "application/json"  # of the answer
    head: bool = True  # of a GET: whether HEAD may do the same, as it changes nothing

    @property
    def summary(self) -> str:
        """The first line of the handler's docstring."""
        return (self.handler.__doc__ or "").strip().split("\n")[0]

    @property
    def id_names(self) -> list[str]:
        """The ids in the path."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]


def door(
    method: str,
    path: str,
    *,
    query: type[Q],
    body: type[B] | None,
    answer: type[Answer],
    statuses: tuple[int, ...] = (200,),
    is_use: bool = True,
    limit: int = BODY_LIMIT,
    media: str = "application/json",
    head: bool = True,
) -> Callable[[Handler[Q, B]], Door]:
    """Make a handler a door. Without a body `call.body` is NoBody."""

    def make(handler: Handler[Q, B]) -> Door:
        return Door(
            method,
            path,
            handler,
            query,
            body,
            answer,
            statuses,
            is_use,
            limit,
            media,
            head,
        )

    return make


def add_doors(app: web.Application, doors: Iterable[Door]) -> None:
    """Put the doors on the router; a GET that changes nothing answers HEAD too."""
    for each in doors:
        handler = partial(_open, each)
        methods = (
            ("GET", "HEAD") if each.method == "GET" and each.head else (each.method,)
        )
        for method in methods:
            app.router.add_route(
                method, each.path, handler, expect_handler=partial(_invite, each.limit)
            )


async def _invite(limit: int, request: web.Request) -> web.StreamResponse | None:
    """Answer an expectation: the client may send its body, unless that is too large anyway."""
    if request.headers["Expect"].lower() != "100-continue":
        return http_problem(417)
    if (request.content_length or 0) <= limit:
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0
    return None


async def _open(door: Door, request: web.Request) -> web.StreamResponse:
    """Path, query, body, engine, answer: in this order, so that nothing large is read in vain."""
    ids = {name: check_id(text, name) for name, text in request.match_info.items()}
    query = parse_query(request, door.query)
    body: Body = NoBody()
    raw = b""
    if door.body is not None:
        shape = door.body
        raw = await read_json(request, may_be_empty=shape is NoBody, limit=door.limit)
        body = await off_loop(len(raw), lambda: decode(raw, shape))
    if door.is_use:
        request.app[ENGINE].touched()
    owner = request.get(OWNER, DEFAULT_OWNER)
    reply = await door.handler(Call(request.app, owner, ids, query, body, len(raw)))
    return await (reply.send(request) if isinstance(reply, Stream) else respond(reply))
