"""Routes for a client that runs LLM calls on its own connection."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from soulmem.domain.errors import Unprocessable
from soulmem.ports.llm import LlmRequest
from soulmem.server.common_types import Body, Done, NoBody, NoQuery, ResponseBody, Words
from soulmem.server.replies import Reply
from soulmem.server.routes import Call, route


class LlmCallResponse(ResponseBody, frozen=True):
    """One LLM call. `schema`: a JSON Schema for the answer, for connections that support one."""

    request: str
    name: str
    system: str
    user: str
    schema: dict[str, Any] | None
    max_tokens: int


def llm_call_response(request: LlmRequest | None) -> LlmCallResponse:
    """The call as JSON; without a call, an object with empty fields."""
    if request is None:
        return LlmCallResponse(request="", name="", system="", user="", schema=None, max_tokens=0)
    prompt = request.prompt
    return LlmCallResponse(
        request=request.id,
        name=prompt.name,
        system=prompt.system,
        user=prompt.user,
        schema=dict(prompt.schema) if prompt.schema is not None else None,
        max_tokens=prompt.max_tokens,
    )


class LlmAnswerBody(Body, frozen=True):
    """The model's answer, or the reason why there is none; exactly one of the two."""

    text: Annotated[str, Meta(max_length=1_000_000)] | None = None
    error: Words | None = None


# Clients ask every few seconds. That does not count as use, or the sidecar would never be idle.
@route(
    "GET",
    "/v1/llm/next",
    query=NoQuery,
    body=None,
    response=LlmCallResponse,
    statuses=(200, 204),
    is_use=False,
    head=False,
)
async def next_request(call: Call[NoQuery, NoBody]) -> Reply[LlmCallResponse]:
    """An LLM call for the client to run; no other client gets it for a while. 204 if there is none."""
    return _next_call(call)


# It changes something, and browsers protect POST better than GET. GET stays for older clients.
@route(
    "POST",
    "/v1/llm/next",
    query=NoQuery,
    body=NoBody,
    response=LlmCallResponse,
    statuses=(200, 204),
    is_use=False,
)
async def take_request(call: Call[NoQuery, NoBody]) -> Reply[LlmCallResponse]:
    """An LLM call for the client to run; no other client gets it for a while. 204 if there is none."""
    return _next_call(call)


def _next_call(call: Call[NoQuery, NoBody]) -> Reply[LlmCallResponse]:
    request = call.engine.llms.take(call.owner)
    return Reply(lambda: llm_call_response(request), status=200 if request is not None else 204)


@route(
    "POST",
    "/v1/llm/{request}",
    query=NoQuery,
    body=LlmAnswerBody,
    response=Done,
    is_use=False,
)
async def answer_request(call: Call[NoQuery, LlmAnswerBody]) -> Reply[Done]:
    """Deliver the answer or the error of an LLM call. 404 if nobody waits for it any more."""
    body = call.body
    if (body.text is None) == (body.error is None):
        raise Unprocessable(
            "send either the `text` of the answer or an `error`",
            field="text",
        )
    call.engine.llms.answer(call.owner, call.ids["request"], body.text, body.error)
    return Reply(Done)


@route("DELETE", "/v1/llm/{request}", query=NoQuery, body=None, response=Done, is_use=False)
async def give_request_back(call: Call[NoQuery, NoBody]) -> Reply[Done]:
    """Return an LLM call that cannot be run; the next client may take it. 404 if nobody waits for it."""
    call.engine.llms.give_back(call.owner, call.ids["request"])
    return Reply(Done)


ROUTES = (next_request, take_request, answer_request, give_request_back)
