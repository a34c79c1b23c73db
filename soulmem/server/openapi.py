"""GET /openapi.json: the page that describes every door, generated from the Structs that validate."""

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
from soulmem.server.answers.common import Problem
from soulmem.server.as_json import json_response
from soulmem.server.doors import Door
from soulmem.server.schemas.common import NoBody

_REF = "#/components/schemas/{name}"
_ERRORS = (400, 401, 403, 404, 405, 409, 413, 415, 422, 500, 503)


def add_page(app: web.Application, doors: Sequence[Door]) -> None:
    """Serve the page; it is made on the first request, off the loop."""

    @cache
    def page() -> bytes:
        return msgspec.json.encode(describe(doors))

    async def read_page(_request: web.Request) -> web.Response:
        return json_response(await asyncio.to_thread(page))

    app.router.add_get("/openapi.json", read_page)


def describe(doors: Sequence[Door]) -> dict[str, Any]:
    """The OpenAPI 3.1 document of these doors."""
    shapes = {Problem: None} | {
        shape: None
        for door in doors
        for shape in (door.query, door.body, door.answer)
        if shape is not None
    }
    _, components = msgspec.json.schema_components(shapes, ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    for door in doors:
        paths.setdefault(door.path, {})[door.method.lower()] = _operation(
            door, components
        )
    queries = {door.query.__name__ for door in doors}
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
            "schemas": {
                name: schema
                for name, schema in components.items()
                if name not in queries
            },
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }
    return {key: _plain_patterns(value) for key, value in document.items()}


def _operation(door: Door, components: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": getattr(door.handler, "__name__", door.path),
        "summary": door.summary,
        "parameters": _parameters(door, components),
        "responses": {
            **{
                str(s): _response(
                    HTTPStatus(s).phrase, door.answer.__name__, door.media
                )
                for s in door.statuses
            },
            **{
                str(s): _response(HTTPStatus(s).phrase, Problem.__name__)
                for s in _ERRORS
            },
        },
    }
    if door.body is not None:
        operation["requestBody"] = {
            "required": door.body is not NoBody,
            "content": {"application/json": {"schema": _ref(door.body.__name__)}},
        }
    return operation


def _parameters(door: Door, components: dict[str, Any]) -> list[dict[str, Any]]:
    in_path = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", "pattern": ID_PATTERN},
        }
        for name in door.id_names
    ]
    query = components[door.query.__name__]
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


def _response(
    words: str, schema: str, media: str = "application/json"
) -> dict[str, Any]:
    if words == HTTPStatus.NO_CONTENT.phrase:
        return {"description": words}
    return {"description": words, "content": {media: {"schema": _ref(schema)}}}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": _REF.format(name=name)}


def _plain_patterns(node: Any) -> Any:
    """The document with patterns as JSON Schema spells them: its $ ends the text, as Python's \\Z does."""
    if isinstance(node, dict):
        return {
            key: value.replace(r"\Z", "$")
            if key == "pattern"
            else _plain_patterns(value)
            for key, value in node.items()
        }
    return (
        [_plain_patterns(value) for value in node] if isinstance(node, list) else node
    )
