"""The OpenAPI page: it tells of every route, and what it tells is true."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from soulmem.server import app, openapi
from soulmem.server.resources import debug
from tests.server.conftest import Client

ALL = (*app.PUBLIC_ROUTES, *debug.ROUTES)


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """The page as a test-mode sidecar serves it."""
    return openapi.describe(ALL)


def refs(node: Any) -> Iterator[str]:
    """Every reference below a node."""
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"]
        for value in node.values():
            yield from refs(value)
    elif isinstance(node, list):
        for value in node:
            yield from refs(value)


def operations(page: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Method (in lower case), path and description of every operation."""
    for path, methods in page["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


async def test_the_page_is_served(client: Client) -> None:
    answer = await client.get("/openapi.json")
    assert answer.status == 200
    got = await answer.json()
    assert got["openapi"] == "3.1.0"
    routes = {
        (route.method, route.resource.canonical)
        for route in client.server.app.router.routes()  # type: ignore[attr-defined]
        if route.resource is not None and route.method != "HEAD"
    }
    described = {(method.upper(), path) for method, path, _ in operations(got)}
    assert described == routes - {("GET", "/openapi.json")}


def test_every_reference_leads_somewhere(page: dict[str, Any]) -> None:
    names = set(page["components"]["schemas"])
    referenced = {ref.removeprefix("#/components/schemas/") for ref in refs(page)}
    assert referenced <= names
    assert names <= referenced, "a schema that nothing uses"


def test_every_operation_tells_answers_and_errors(page: dict[str, Any]) -> None:
    assert len(list(operations(page))) > 20
    for method, path, operation in operations(page):
        statuses = {int(status) for status in operation["responses"]}
        assert statuses >= {400, 401, 403, 404, 409, 413, 415, 422, 500, 503}
        assert statuses & {200, 201, 202}
        assert operation["summary"], (method, path)
        assert ("requestBody" in operation) == (method in ("put", "post", "patch"))


def test_every_operation_lists_its_parameters_once(page: dict[str, Any]) -> None:
    assert len(list(operations(page))) > 20
    for _, path, operation in operations(page):
        names = [p["name"] for p in operation["parameters"]]
        assert len(set(names)) == len(names)
        in_path = {p["name"] for p in operation["parameters"] if p["in"] == "path"}
        assert in_path == set(re.findall(r"{(\w+)}", path))


def test_operation_ids_are_unique(page: dict[str, Any]) -> None:
    ids = [operation["operationId"] for _, _, operation in operations(page)]
    assert len(ids) == len(set(ids))


def test_names_on_the_wire_are_told(page: dict[str, Any]) -> None:
    schemas = page["components"]["schemas"]
    assert {"from", "to"} <= set(schemas["EdgeBody"]["properties"])
    assert {"from", "to"} <= set(schemas["TimelineItem"]["properties"])
    timeline = page["paths"]["/v1/timeline"]["get"]["parameters"]
    assert [p["name"] for p in timeline if p["in"] == "query"] == [
        "soul",
        "from",
        "to",
        "limit",
        "cursor",
    ]
    assert [p["required"] for p in timeline if p["in"] == "query"] == [
        True,
        False,
        False,
        False,
        False,
    ]


def test_a_body_is_required_where_a_route_reads_one(page: dict[str, Any]) -> None:
    paths = page["paths"]
    assert paths["/v1/recall"]["post"]["requestBody"]["required"] is True
    assert paths["/v1/test/idle"]["post"]["requestBody"]["required"] is False


def test_patterns_are_spelled_for_json_schema(page: dict[str, Any]) -> None:
    assert r"\\Z" not in repr(page)
    assert (
        page["components"]["schemas"]["MessageBody"]["properties"]["slot"]["pattern"]
        == "^[A-Za-z0-9_-]{1,64}$"
    )


def test_unknown_fields_are_told_to_be_errors(page: dict[str, Any]) -> None:
    schemas = page["components"]["schemas"]
    bodies = [schema for name, schema in schemas.items() if name.endswith("Body")]
    assert len(bodies) >= 15
    assert all(schema["additionalProperties"] is False for schema in bodies)
