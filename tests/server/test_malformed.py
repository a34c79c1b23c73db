"""Whatever the OpenAPI page forbids is refused, in the contract's shape, and never reaches the engine.

The broken requests are made from the page itself: for each field and each parameter, values that its schema
does not allow. So a rule that is told but not kept, or a new route without rules, fails here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import pytest

from soulmem.server import app, openapi
from soulmem.server.resources import debug
from tests.server.conftest import Client
from tests.server.fake_engine import FakeEngine

PAGE = openapi.describe((*app.PUBLIC_ROUTES, *debug.ROUTES))
SCHEMAS = PAGE["components"]["schemas"]
SAMPLES: dict[str, Any] = {
    "string": "x1",
    "integer": 7,
    "number": 0.5,
    "boolean": True,
    "null": None,
}
NO_IDS = ["", "a" * 65, "a b", "a/b", "../etc", "é", "a\u0000", "⟨a⟩", "a\n"]


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema a reference stands for."""
    return SCHEMAS[schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema


def options(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """The schemas of which one must fit."""
    schema = resolved(schema)
    if "anyOf" not in schema:
        return [schema]
    leaves: list[dict[str, Any]] = []
    for option in schema["anyOf"]:
        leaves += options(option)
    return leaves


def good(schema: dict[str, Any]) -> Any:
    """A value that fits, with every field present."""
    schema = options(schema)[0]
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "object":
        if "properties" not in schema:
            return (
                {"x": good(schema["additionalProperties"])}
                if "additionalProperties" in schema
                else {}
            )
        return {name: good(inner) for name, inner in schema["properties"].items()}
    if schema.get("type") == "array":
        return [good(schema["items"])]
    if schema.get("format") == "date-time":
        return "2024-03-01T00:00:00Z"
    pattern = schema.get("pattern", "")
    if "{16}" in pattern or "{64}$" in pattern:
        return "0" * (16 if "{16}" in pattern else 64)
    return SAMPLES[schema["type"]]


def bad(schema: dict[str, Any]) -> Iterator[Any]:
    """Values that fit none of the options."""
    fitting = options(schema)
    types = {option.get("type", "string") for option in fitting}
    if "number" in types:
        types.add("integer")
    wrong: dict[str, Any] = {
        "string": "perhaps",
        "integer": 7,
        "number": 7.5,
        "boolean": True,
        "null": None,
        "array": [[[]]],
        "object": {"a": 1},
    }
    yield from (value for name, value in wrong.items() if name not in types)
    if "array" in types:
        yield from ([7, None], [{"a": []}])
    for option in fitting:
        yield from bad_texts(option)
        if "minimum" in option:
            yield from (option["minimum"] - 1, -math.inf)
        if "maximum" in option:
            yield from (option["maximum"] + 1, math.inf, math.nan)


def bad_texts(option: dict[str, Any]) -> Iterator[str]:
    """Texts that the rules of one schema for texts do not allow."""
    if "enum" in option:
        yield from ("nonsense", "")
    if "pattern" in option:
        allowed = re.compile(option["pattern"].replace("$", r"\Z"))
        yield from (text for text in NO_IDS if not allowed.search(text))
    if "maxLength" in option:
        yield "x" * (option["maxLength"] + 1)
    if option.get("minLength"):
        yield ""
    if option.get("format") == "date-time":
        yield from (
            "yesterday",
            "2024-13-45T99:00:00Z",
            "2024-03-01T00:00:00",
            "2024-03-01",
            "",
        )


def broken(schema: dict[str, Any], value: Any) -> Iterator[Any]:
    """`value` again and again, each time with one fault somewhere in it."""
    schema = options(schema)[0]
    if schema.get("type") == "array":
        for fault in [*bad(schema["items"]), *broken(schema["items"], value[0])]:
            yield [fault]
    elif "properties" in schema:
        for name, inner in schema["properties"].items():
            for fault in [*bad(inner), *broken(inner, value[name])]:
                yield {**value, name: fault}
        for name in schema.get("required", ()):
            yield {key: kept for key, kept in value.items() if key != name}
        for name in ("budget_token", "Text", "__proto__", "$where", "soul ", ""):
            yield {**value, name: None}


def described_operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Method (in lower case), path and description of every operation of the page."""
    for path, methods in PAGE["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


def plain_path(path: str) -> str:
    """The path with names of ids as ids."""
    return path.replace("{", "").replace("}", "")


def operations() -> list[Any]:
    """Every route with its operation."""
    return [
        pytest.param(method.upper(), plain_path(path), operation, id=f"{method} {path}")
        for method, path, operation in described_operations()
    ]


def cases(operation: dict[str, Any]) -> list[tuple[dict[str, str], Any]]:
    """Broken (query, body) pairs of one route; at least an unknown parameter is always wrong."""
    parameters = [p for p in operation["parameters"] if p["in"] == "query"]
    query = required_query(parameters)
    body = operation.get("requestBody")
    schema = body["content"]["application/json"]["schema"] if body else {}
    sample = good(schema) if body else None
    broken_queries = [{**query, "unknown": "1"}]
    for parameter in parameters:
        for text in bad_parameters(parameter):
            broken_queries.append({**query, parameter["name"]: text})
    for name in query:
        broken_queries.append(without(query, name))
    pairs: list[tuple[dict[str, str], Any]] = [(q, sample) for q in broken_queries]
    faults = broken_bodies(schema, sample) if body else []
    return pairs + [(query, fault) for fault in faults]


def required_query(parameters: list[dict[str, Any]]) -> dict[str, str]:
    """A query with a fitting value for each required parameter."""
    return {p["name"]: str(good(p["schema"])) for p in parameters if p["required"]}


def broken_bodies(schema: dict[str, Any], sample: Any) -> list[Any]:
    """Bodies that the schema does not allow; an empty object may be allowed."""
    return [*(fault for fault in bad(schema) if fault != {}), *broken(schema, sample)]


def bad_parameters(parameter: dict[str, Any]) -> list[str]:
    """Values that the rules of a query parameter do not allow."""
    texts = [fault for fault in bad(parameter["schema"]) if isinstance(fault, str)]
    if "string" not in {o.get("type") for o in options(parameter["schema"])}:
        texts += ["many", "", "1e2", "null"]
    return [text for text in texts if parameter["required"] or text != "perhaps"]


def without(query: dict[str, str], name: str) -> dict[str, str]:
    """The query without one parameter."""
    return {key: value for key, value in query.items() if key != name}


@pytest.mark.parametrize(("method", "path", "operation"), operations())
async def test_what_the_page_forbids_is_refused(
    client: Client,
    engine: FakeEngine,
    method: str,
    path: str,
    operation: dict[str, Any],
) -> None:
    for query, body in cases(operation):
        raw = None if body is None and "requestBody" not in operation else json.dumps(body).encode()
        answer = await client.request(
            method,
            path,
            params=query,
            data=raw,
            headers={"Content-Type": "application/json"} if raw else None,
        )
        problem = await answer.json()
        assert answer.status in (400, 422), (query, raw and raw[:200], problem)
        assert set(problem) <= {"error", "message", "field", "phrase"}
    assert engine.calls == []


def test_the_generator_finds_what_to_break() -> None:
    counts = {
        operation["operationId"]: len(cases(operation))
        for _, _, operation in described_operations()
    }
    assert counts["sync_chat"] > 100
    assert counts["recall"] > 100
    assert counts["create_memory"] > 150
    assert min(counts.values()) >= 1
