"""Routes of the model for memory work: which one it is, and the choice of another."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from soulmem.domain.llm import ModelChoice, ModelUse
from soulmem.server.common_types import Body, NoBody, NoQuery, ResponseBody, Words
from soulmem.server.replies import Reply
from soulmem.server.routes import Call, route


class ModelBody(Body, frozen=True):
    """The model to use.

    Without `api_key` the stored key stays if the address is the same, or, without an address, the provider.
    """

    use: Annotated[
        ModelUse,
        Meta(
            description="the one of the settings, none, the client's connection, or one on a server"
        ),
    ]
    model: Words = ""
    base_url: Words = ""
    api_key: Words | None = None


def model_choice(body: ModelBody) -> ModelChoice:
    """The choice. Raises Unprocessable."""
    if body.use is not ModelUse.SERVER:
        return ModelChoice(body.use)
    return ModelChoice(body.use, body.model.strip(), body.base_url.strip(), body.api_key or "")


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


@route(
    "GET",
    "/v1/model",
    query=NoQuery,
    body=None,
    response=ModelChoiceResponse,
    is_use=False,
)
async def read_model(call: Call[NoQuery, NoBody]) -> Reply[ModelChoiceResponse]:
    """The user's choice of the model for memory work; `health.llm` tells how it is."""
    choice = await call.engine.model_choice.current()
    return Reply(lambda: model_choice_response(choice))


@route("PUT", "/v1/model", query=NoQuery, body=ModelBody, response=ModelChoiceResponse)
async def choose_model(call: Call[NoQuery, ModelBody]) -> Reply[ModelChoiceResponse]:
    """Choose the model for memory work. It is in force at once and stays over restarts."""
    body = call.body
    choice = await call.convert(lambda: model_choice(body))
    chosen = await call.engine.model_choice.choose(
        call.owner, choice, keeps_key=body.api_key is None
    )
    return Reply(lambda: model_choice_response(chosen))


ROUTES = (read_model, choose_model)
