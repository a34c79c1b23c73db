"""How a call that waits for a client is told."""

from __future__ import annotations

from typing import Any

from soulmem.ports.llm import LlmRequest
from soulmem.server.answers.common import Answer


class LlmRequestAnswer(Answer, frozen=True):
    """One call: `schema` is a JSON Schema the answer should obey, where the connection can ask for that."""

    request: str
    name: str
    system: str
    user: str
    schema: dict[str, Any] | None
    max_tokens: int


def llm_request_answer(request: LlmRequest | None) -> LlmRequestAnswer:
    """The call as JSON; one without words for none."""
    if request is None:
        return LlmRequestAnswer(
            request="", name="", system="", user="", schema=None, max_tokens=0
        )
    prompt = request.prompt
    return LlmRequestAnswer(
        request=request.id,
        name=prompt.name,
        system=prompt.system,
        user=prompt.user,
        schema=dict(prompt.schema) if prompt.schema is not None else None,
        max_tokens=prompt.max_tokens,
    )
