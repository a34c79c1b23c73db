"""Access control: Host, Origin, token and user are checked before anything else."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping

from aiohttp import web
from aiohttp.typedefs import Handler

from soulmem.domain.errors import Forbidden, Unauthorized
from soulmem.domain.ids import Owner, check_id
from soulmem.server.bodies import BODY_LIMIT, check_content_length
from soulmem.server.routes import OWNER
from soulmem.server.server_settings import ServerSettings

_LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?\Z")
# SillyTavern's page on this machine, whatever its port.
_LOOPBACK_PAGE = re.compile(
    r"https?://(?:127(?:\.[0-9]{1,3}){3}|localhost|\[::1\])(?::[0-9]{1,5})?\Z"
)
_HEALTH = "/v1/health"
_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
_HEADERS = "content-type, authorization, x-soulmem-user"
_ORIGIN: web.RequestKey[str] = web.RequestKey("origin", str)


class AccessCheck:
    """The access rules of one server."""

    def __init__(self, settings: ServerSettings, limits: Mapping[str, int] | None = None) -> None:
        self._limits = dict(limits or {})  # bytes of a body, by the route's path
        self._loopback = settings.loopback
        self._origins = frozenset(settings.origins)
        self._token = settings.token.encode()
        names = () if self._loopback else (*settings.hosts, settings.host)
        self._hosts = _LOOPBACK_NAMES | {_bracketed(name.lower()) for name in names}

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Pass the request on, or answer a preflight. Raises Forbidden, Unauthorized or TooLarge."""
        self._check_host(request)
        origin = self._check_origin(request)
        if origin is not None:
            request[_ORIGIN] = origin
        self._check_site(request)
        check_content_length(request, self._limits.get(request.path, BODY_LIMIT))
        if request.method == "OPTIONS":
            return _options(request)
        self._check_user(request)
        return await handler(request)

    def _check_host(self, request: web.Request) -> None:
        sent = request.headers.getall("Host", [])
        match = _HOST.match(sent[0].lower()) if len(sent) == 1 else None
        if match is None or match["name"] not in self._hosts:
            raise Forbidden(
                f"Host {', '.join(sent)[:80]!r} is not this sidecar: use 127.0.0.1 or localhost"
                + ("" if self._loopback else ", or add it to server.hosts"),
                field="Host",
            )

    def _check_origin(self, request: web.Request) -> str | None:
        sent = request.headers.getall("Origin", [])
        if not sent:
            return None
        if len(sent) > 1 or not (sent[0] in self._origins or _LOOPBACK_PAGE.match(sent[0])):
            raise Forbidden(
                f"Origin {', '.join(sent)[:80]!r} is not allowed: if it is yours, add it to server.origins",
                field="Origin",
            )
        return sent[0]

    def _check_site(self, request: web.Request) -> None:
        """Refuse what another page loads as an image or a script. Such a request has no Origin. The page
        could not read the response, but the request itself would take an LLM call or an event stream.
        """
        site = request.headers.get("Sec-Fetch-Site", "none").lower()
        if site in ("cross-site", "same-site") and request.get(_ORIGIN) is None:
            raise Forbidden(
                "another page may not load this: use fetch from a page that is allowed",
                field="Sec-Fetch-Site",
            )

    def _check_user(self, request: web.Request) -> None:
        has_token = self._check_token(request)
        user = request.headers.getall("X-SoulMem-User", [])
        if not user:
            return
        if not has_token or len(user) > 1:
            raise Forbidden(
                "X-SoulMem-User needs the token: send Authorization: Bearer TOKEN, or leave it out",
                field="X-SoulMem-User",
            )
        request[OWNER] = Owner(check_id(user[0], "X-SoulMem-User"))

    def _check_token(self, request: web.Request) -> bool:
        """Whether the token was sent. Raises Unauthorized if it is wrong, or missing where it is required."""
        sent = request.headers.get("Authorization")
        if sent is None:
            if self._loopback:
                return False
            raise Unauthorized(
                "a token is required here: send Authorization: Bearer TOKEN",
                field="Authorization",
            )
        scheme, _, token = sent.partition(" ")
        sent_token = token.strip().encode("utf-8", "surrogateescape")
        if (
            scheme.lower() != "bearer"
            or not self._token
            or not hmac.compare_digest(sent_token, self._token)
        ):
            raise Unauthorized(
                "the token is wrong: take it from the file `token` in the data folder",
                field="Authorization",
            )
        return True


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Set the headers of every response: no caching, no type guessing, and who may read it."""
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cache-Control"] = "no-store"
    # A page that is not allowed may learn that a sidecar is here, and nothing else.
    if not (response.status == 403 and request.path == _HEALTH):
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
    response.headers["Vary"] = "Origin"
    origin = request.get(_ORIGIN)
    if origin is not None:
        response.headers["Access-Control-Allow-Origin"] = origin


def _options(request: web.Request) -> web.Response:
    """The response to OPTIONS: a preflight of an allowed origin, or the methods of the address."""
    missing = request.match_info.http_exception
    if not isinstance(missing, web.HTTPMethodNotAllowed):
        raise missing or web.HTTPNotFound
    response = web.Response(
        status=204,
        headers={"Allow": ", ".join(sorted({*missing.allowed_methods, "OPTIONS"}))},
    )
    if request.get(_ORIGIN) is not None and "Access-Control-Request-Method" in request.headers:
        response.headers["Access-Control-Allow-Methods"] = _METHODS
        response.headers["Access-Control-Allow-Headers"] = _HEADERS
        response.headers["Access-Control-Max-Age"] = "600"
        if request.headers.get("Access-Control-Request-Private-Network") == "true":
            response.headers["Access-Control-Allow-Private-Network"] = "true"
    return response


def _bracketed(host: str) -> str:
    """A host as written in a Host header: IPv6 in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
