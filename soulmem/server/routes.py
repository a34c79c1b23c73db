"""Routes: method, path, types of query, body and response, and the way from a request to its handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from aiohttp import web

from soulmem.domain.ids import DEFAULT_OWNER, Owner, check_id
from soulmem.server.bodies import BODY_LIMIT, decode, off_loop, parse_query, read_json
from soulmem.server.common_types import Body, NoBody, Query, ResponseBody
from soulmem.server.error_responses import http_problem
from soulmem.server.replies import Reply, Stream, respond

if TYPE_CHECKING:
    from soulmem.engine.engine import Engine

ENGINE: web.AppKey[Engine] = web.AppKey("engine")
OWNER: web.RequestKey[Owner] = web.RequestKey("owner")

Q = TypeVar("Q", bound=Query)
B = TypeVar("B", bound=Body)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call(Generic[Q, B]):
    """A request that passed every rule of its route."""

    app: web.Application
    owner: Owner
    ids: Mapping[str, str]  # ids in the path, by name
    query: Q
    body: B
    size: int  # bytes of the body

    @property
    def engine(self) -> Engine:
        """The engine of the application."""
        return self.app[ENGINE]

    async def convert(self, work: Callable[[], T]) -> T:
        """Run `work`, in a thread if the body is large."""
        return await off_loop(self.size, work)


Handler = Callable[[Call[Q, B]], Awaitable[Reply[ResponseBody] | Stream]]


@dataclass(frozen=True, slots=True)
class Route:
    """One route. `body` None: no body is read. `statuses` are those of success."""

    method: str
    path: str
    handler: Handler[Any, Any]
    query: type[Query]
    body: type[Body] | None
    response: type[ResponseBody]
    statuses: tuple[int, ...] = (200,)
    is_use: bool = True  # whether a request postpones idle work
    limit: int = BODY_LIMIT  # bytes of the body
    media: str = "application/json"  # content type of the response
    head: bool = True  # of a GET: whether HEAD is offered, too

    @property
    def summary(self) -> str:
        """The first line of the handler's docstring."""
        return (self.handler.__doc__ or "").strip().split("\n")[0]

    @property
    def id_names(self) -> list[str]:
        """The ids in the path."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]


def route(
    method: str,
    path: str,
    *,
    query: type[Q],
    body: type[B] | None,
    response: type[ResponseBody],
    statuses: tuple[int, ...] = (200,),
    is_use: bool = True,
    limit: int = BODY_LIMIT,
    media: str = "application/json",
    head: bool = True,
) -> Callable[[Handler[Q, B]], Route]:
    """Decorator that makes a handler a route. Without a body, `call.body` is NoBody."""

    def make(handler: Handler[Q, B]) -> Route:
        return Route(
            method,
            path,
            handler,
            query,
            body,
            response,
            statuses,
            is_use,
            limit,
            media,
            head,
        )

    return make


def add_routes(app: web.Application, routes: Iterable[Route]) -> None:
    """Put the routes on the router, and HEAD beside GET where it is offered."""
    for each in routes:
        handler = partial(_handle, each)
        methods = ("GET", "HEAD") if each.method == "GET" and each.head else (each.method,)
        for method in methods:
            app.router.add_route(
                method,
                each.path,
                handler,
                expect_handler=partial(_answer_expect, each.limit),
            )


async def _answer_expect(limit: int, request: web.Request) -> web.StreamResponse | None:
    """Answer `Expect: 100-continue`: the client may send its body unless it is too large."""
    if request.headers["Expect"].lower() != "100-continue":
        return http_problem(417)
    if (request.content_length or 0) <= limit:
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0
    return None


async def _handle(route: Route, request: web.Request) -> web.StreamResponse:
    """Check path and query, read the body, call the handler, send its response.

    The body comes last, so that an invalid request is refused before it is read.
    """
    ids = {name: check_id(text, name) for name, text in request.match_info.items()}
    query = parse_query(request, route.query)
    body: Body = NoBody()
    raw = b""
    if route.body is not None:
        shape = route.body
        raw = await read_json(request, may_be_empty=shape is NoBody, limit=route.limit)
        body = await off_loop(len(raw), lambda: decode(raw, shape))
    if route.is_use:
        request.app[ENGINE].touched()
    owner = request.get(OWNER, DEFAULT_OWNER)
    reply = await route.handler(Call(request.app, owner, ids, query, body, len(raw)))
    return await (reply.send(request) if isinstance(reply, Stream) else respond(reply))
