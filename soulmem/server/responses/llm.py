"""Response with an LLM call for a client to run."""

from __future__ import annotations

from typing import Any

from soulmem.ports.llm import LlmRequest
from soulmem.server.responses.common import ResponseBody


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
        return LlmCallResponse(
            request="", name="", system="", user="", schema=None, max_tokens=0
        )
    prompt = request.prompt
    return LlmCallResponse(
        request=request.id,
        name=prompt.name,
        system=prompt.system,
        user=prompt.user,
        schema=dict(prompt.schema) if prompt.schema is not None else None,
        max_tokens=prompt.max_tokens,
    )
