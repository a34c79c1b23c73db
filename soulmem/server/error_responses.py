"""Turns errors into JSON responses: the same shape for all, the status by the class of the error."""

from __future__ import annotations

import logging
import traceback

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler

from soulmem.domain import errors
from soulmem.domain.phrases import Wording, phrase
from soulmem.server.bodies import UnsupportedMediaType
from soulmem.server.common_types import Problem, phrase_response
from soulmem.server.replies import json_response

log = logging.getLogger(__name__)

_STATUS: dict[type[errors.SoulMemError], int] = {
    errors.BadRequest: 400,
    errors.Unauthorized: 401,
    errors.Forbidden: 403,
    errors.Protected: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.ConfirmationRequired: 409,
    errors.TooLarge: 413,
    UnsupportedMediaType: 415,
    errors.Unprocessable: 422,
    errors.Busy: 503,
    errors.ModelUnavailable: 503,
}
_HTTP: dict[int, Wording] = {
    400: "the request cannot be read",
    404: "there is nothing at this address: see /openapi.json",
    405: "this address does not accept that method: see /openapi.json",
    413: phrase("request_too_large", "the request is too large: send less at once"),
    417: "only `Expect: 100-continue` is supported: leave the header out",
}
# Where several classes share a status, the first one names it.
_CODES = {status: kind.code for kind, status in reversed(_STATUS.items())} | {
    405: "method_not_allowed"
}


def problem(error: errors.SoulMemError) -> web.Response:
    """The response for an error of SoulMem's own."""
    status = next((_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), 500)
    code = "busy" if status == 503 else error.code
    field = msgspec.UNSET if error.field is None else error.field
    response = json_response(
        msgspec.json.encode(
            Problem(
                error=code,
                message=error.message,
                field=field,
                phrase=phrase_response(error.wording),
            )
        ),
        status,
    )
    if status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def http_problem(status: int, wording: Wording | None = None) -> web.Response:
    """The response for an error of HTTP itself."""
    code = _CODES.get(status, "refused" if status < 500 else "internal")
    words = wording or _HTTP.get(status, f"HTTP status {status}")
    return json_response(
        msgspec.json.encode(Problem(error=code, message=str(words), phrase=phrase_response(words))),
        status,
    )


@web.middleware
async def errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn every error into a JSON response. Unexpected ones are logged without any chat text."""
    try:
        return await handler(request)
    except errors.SoulMemError as error:
        return problem(error)
    except web.HTTPException as error:
        response = http_problem(error.status)
        if "Allow" in error.headers:
            response.headers["Allow"] = error.headers["Allow"]
        return response
    except Exception as error:
        # The message of an error may quote a chat: only its class and the code lines are logged.
        places = "".join(traceback.format_tb(error.__traceback__))
        log.error(
            "%s %s failed: %s\n%s",
            request.method,
            _route(request),
            type(error).__name__,
            places,
        )
        log.debug("message of the error: %s", error)
        return http_problem(500, errors.fault(error))


def _route(request: web.Request) -> str:
    resource = request.match_info.route.resource
    return resource.canonical if resource else "an unknown route"
