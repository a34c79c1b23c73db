"""Routes of the model for memory work: which one it is, and the choice of another."""

from __future__ import annotations

from soulmem.server.json_response import Reply
from soulmem.server.responses.model import ModelChoiceResponse, model_choice_response
from soulmem.server.routes import Call, route
from soulmem.server.schemas.common import NoBody, NoQuery
from soulmem.server.schemas.model import ModelBody, model_choice


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
