"""GET /openapi.json: describes every route, generated from the Structs that validate the requests."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache
from http import HTTPStatus
from typing import Any

import msgspec
from aiohttp import web

from soulmem import __version__
from soulmem.domain.ids import ID_PATTERN
from soulmem.server.common_types import NoBody, Problem
from soulmem.server.replies import json_response
from soulmem.server.routes import Route

_REF = "#/components/schemas/{name}"
_ERRORS = (400, 401, 403, 404, 405, 409, 413, 415, 422, 500, 503)


def add_page(app: web.Application, routes: Sequence[Route]) -> None:
    """Serve the page. It is generated in a thread at the first request."""

    @cache
    def page() -> bytes:
        return msgspec.json.encode(describe(routes))

    async def read_page(_request: web.Request) -> web.Response:
        return json_response(await asyncio.to_thread(page))

    app.router.add_get("/openapi.json", read_page)


def describe(routes: Sequence[Route]) -> dict[str, Any]:
    """The OpenAPI 3.1 document of these routes."""
    _, components = msgspec.json.schema_components(_shapes(routes), ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, components)
    queries = {route.query.__name__ for route in routes}
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "SoulMem",
            "version": __version__,
            "license": {"name": "MIT"},
        },
        "servers": [{"url": "http://127.0.0.1:8731"}],
        "paths": paths,
        "components": {
            "schemas": {name: schema for name, schema in components.items() if name not in queries},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }
    return {key: _plain_patterns(value) for key, value in document.items()}


def _shapes(routes: Sequence[Route]) -> list[type[msgspec.Struct]]:
    """All types of the routes, each once, in order."""
    shapes: dict[type[msgspec.Struct], None] = {Problem: None}
    for route in routes:
        shapes[route.query] = None
        if route.body is not None:
            shapes[route.body] = None
        shapes[route.response] = None
    return list(shapes)


def _operation(route: Route, components: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": getattr(route.handler, "__name__", route.path),
        "summary": route.summary,
        "parameters": _parameters(route, components),
        "responses": {
            **{
                str(s): _response(HTTPStatus(s).phrase, route.response.__name__, route.media)
                for s in route.statuses
            },
            **{str(s): _response(HTTPStatus(s).phrase, Problem.__name__) for s in _ERRORS},
        },
    }
    if route.body is not None:
        operation["requestBody"] = {
            "required": route.body is not NoBody,
            "content": {"application/json": {"schema": _ref(route.body.__name__)}},
        }
    return operation


def _parameters(route: Route, components: dict[str, Any]) -> list[dict[str, Any]]:
    in_path = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", "pattern": ID_PATTERN},
        }
        for name in route.id_names
    ]
    query = components[route.query.__name__]
    in_query = [
        {
            "name": name,
            "in": "query",
            "required": name in query.get("required", ()),
            "schema": schema,
        }
        for name, schema in query["properties"].items()
    ]
    user = {
        "name": "X-SoulMem-User",
        "in": "header",
        "required": False,
        "description": "whose souls; only with the token",
        "schema": {"type": "string", "pattern": ID_PATTERN},
    }
    return [*in_path, *in_query, user]


def _response(words: str, schema: str, media: str = "application/json") -> dict[str, Any]:
    if words == HTTPStatus.NO_CONTENT.phrase:
        return {"description": words}
    return {"description": words, "content": {media: {"schema": _ref(schema)}}}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": _REF.format(name=name)}


def _plain_patterns(node: Any) -> Any:
    """The document with patterns in JSON Schema's syntax: Python's \\Z becomes $."""
    if isinstance(node, dict):
        return {
            key: value.replace(r"\Z", "$") if key == "pattern" else _plain_patterns(value)
            for key, value in node.items()
        }
    return [_plain_patterns(value) for value in node] if isinstance(node, list) else node
