"""The doors for a client that runs calls of a language model on its own connection."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from soulmem.domain.errors import Unprocessable
from soulmem.server.answers.common import Done
from soulmem.server.answers.llm import LlmRequestAnswer, llm_request_answer
from soulmem.server.as_json import Reply
from soulmem.server.doors import Call, door
from soulmem.server.schemas.common import Body, NoBody, NoQuery, Words


class LlmAnswerBody(Body, frozen=True):
    """What the model answered, or why there is no answer; exactly one of the two."""

    text: Annotated[str, Meta(max_length=1_000_000)] | None = None
    error: Words | None = None


# A client with a connection asks every few seconds: that is no use, or the sidecar would never be idle.
@door(
    "GET",
    "/v1/llm/next",
    query=NoQuery,
    body=None,
    answer=LlmRequestAnswer,
    statuses=(200, 204),
    is_use=False,
    head=False,
)
async def next_request(call: Call[NoQuery, NoBody]) -> Reply[LlmRequestAnswer]:
    """A call to run on the client's connection, this client's alone for a while; 204 when there is none."""
    return _taken(call)


# It takes something away, and a browser guards a POST better than a GET, which stays for older clients.
@door(
    "POST",
    "/v1/llm/next",
    query=NoQuery,
    body=NoBody,
    answer=LlmRequestAnswer,
    statuses=(200, 204),
    is_use=False,
)
async def take_request(call: Call[NoQuery, NoBody]) -> Reply[LlmRequestAnswer]:
    """A call to run on the client's connection, this client's alone for a while; 204 when there is none."""
    return _taken(call)


def _taken(call: Call[NoQuery, NoBody]) -> Reply[LlmRequestAnswer]:
    request = call.engine.llms.take(call.owner)
    return Reply(
        lambda: llm_request_answer(request), status=200 if request is not None else 204
    )


@door(
    "POST",
    "/v1/llm/{request}",
    query=NoQuery,
    body=LlmAnswerBody,
    answer=Done,
    is_use=False,
)
async def answer_request(call: Call[NoQuery, LlmAnswerBody]) -> Reply[Done]:
    """What became of such a call; 404 when nobody waits for it any more."""
    body = call.body
    if (body.text is None) == (body.error is None):
        raise Unprocessable(
            "send the answer's `text`, or the `error`: exactly one of the two",
            field="text",
        )
    call.engine.llms.answer(call.owner, call.ids["request"], body.text, body.error)
    return Reply(Done)


@door(
    "DELETE", "/v1/llm/{request}", query=NoQuery, body=None, answer=Done, is_use=False
)
async def give_request_back(call: Call[NoQuery, NoBody]) -> Reply[Done]:
    """Such a call cannot be run after all and is free for the next client; 404 when nobody waits for it."""
    call.engine.llms.give_back(call.owner, call.ids["request"])
    return Reply(Done)


DOORS = (next_request, take_request, answer_request, give_request_back)
