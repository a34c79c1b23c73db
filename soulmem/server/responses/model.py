"""Responses of the model for memory work."""

from __future__ import annotations

from soulmem.domain.llm import ModelChoice
from soulmem.server.responses.common import ResponseBody


class ModelChoiceResponse(ResponseBody, frozen=True):
    """The choice in force. A key is never told."""

    use: str
    model: str
    base_url: str
    has_key: bool


def model_choice_response(choice: ModelChoice) -> ModelChoiceResponse:
    """A choice without its key."""
    return ModelChoiceResponse(
        use=choice.use.value,
        model=choice.model,
        base_url=choice.base_url,
        has_key=bool(choice.api_key),
    )
