"""Does anything that a client could send make the sidecar fail, or answer otherwise than its page says?

SOULMEM_TEST_FUZZ says how often each route is tried with requests of its page and against it, and
SOULMEM_TEST_BODIES how many broken bodies are sent.
"""

from __future__ import annotations

import http.client
import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from soulmem.cli.client import Client
from soulmem.server import app, openapi
from soulmem.server.resources import debug
from tests.examples import sized
from tests.server.test_malformed import described_operations, good, plain_path
from tests.server.whole import settle_in, whole_sidecar

TRIES = int(os.environ.get("SOULMEM_TEST_FUZZ") or sized(1, 9))
BODIES = int(os.environ.get("SOULMEM_TEST_BODIES") or sized(150, 1_000))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
SCHEMA = schemathesis.openapi.from_dict(openapi.describe((*app.PUBLIC_ROUTES, *debug.ROUTES)))
OPERATIONS = [
    SCHEMA[path][method]
    for method, path, _ in described_operations()
    if path != "/v1/events"  # its response never ends
]
# What no parser should choke on, put where a value, a name or the end of a body was.
PIECES = (
    *(
        b"\x00",
        b"\xff\xfe",
        b"\\ud800",
        b"\xed\xa0\x80",
        b'"',
        b"\\",
        b"{",
        b"]",
        b",",
        b":",
        b"NaN",
        b"-0",
    ),
    *(
        b"Infinity",
        b"1e999",
        b"9" * 400,
        b"null",
        b"true",
        b'"__proto__"',
        b"\xe2\x80\xae",
        b"\\u0000",
    ),
    *(
        b"[" * 3000,
        b'{"a":' * 2000,
        b'"' + b"x" * 70_000 + b'"',
        b"\r\n\r\nGET / HTTP/1.1\r\n",
        b"{{char}}",
    ),
)

pytestmark = pytest.mark.timeout(0)  # the environment says how long it takes

_PATIENCE = 60  # seconds: all quiet work is done in one request, on a busy machine


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A whole one, which must live to the end."""
    with whole_sidecar(tmp_path_factory.mktemp("fuzz")) as client:
        yield client


@pytest.fixture(scope="module")
def existing(sidecar: Client) -> dict[str, list[str]]:
    """Ids that exist."""
    return settle_in(sidecar)


def aim(case: Any, existing: dict[str, list[str]]) -> None:
    """Let the request ask about what exists, as far as it can."""
    for part in (case.path_parameters, case.body):
        for name in part if isinstance(part, dict) else ():
            if name in existing and isinstance(part[name], str):
                part[name] = existing[name][0]
    for parameter in case.operation.query:
        if parameter.name in existing:
            case.query[parameter.name] = existing[parameter.name][0]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
@pytest.mark.parametrize("mode", schemathesis.GenerationMode, ids=lambda mode: mode.value)
def test_no_request_makes_a_route_fail(
    sidecar: Client,
    existing: dict[str, list[str]],
    operation: Any,
    mode: schemathesis.GenerationMode,
) -> None:
    if operation.label.startswith("DELETE /v1/souls"):
        existing = {}  # the one that all the others ask about stays

    @settings(
        max_examples=TRIES,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        case.headers.pop("X-SoulMem-User", None)  # without the token it would never come in
        for aimed in (False, True):
            if aimed:
                aim(case, existing)
            case.call_and_validate(
                base_url=sidecar.url.removesuffix("/v1"),
                checks=CHECKS,
                timeout=_PATIENCE,
            )

    ask()
    assert sidecar.health()[0]["store"]["state"] == "ok"


def broken(body: bytes, chance: random.Random) -> bytes:
    """A body with one to four faults."""
    for _ in range(chance.randint(1, 4)):
        position, to = sorted(chance.randrange(len(body) + 1) for _ in range(2))
        body = chance.choice(
            (
                body[:position],
                body[:position] + body[to:],
                body[:position] + body[position:to] * 2 + body[to:],
                body[:position] + chance.choice(PIECES) + body[position:],
                body[:position] + chance.choice(PIECES) + body[to:],
                body[:position] + bytes([chance.randrange(256)]) + body[position + 1 :],
            )
        )[:200_000]
    return body


def routes_with_bodies() -> list[tuple[str, str, bytes]]:
    """Method, path and a body that fits, of each route that takes one."""
    routes = []
    for method, path, operation in described_operations():
        if "requestBody" in operation:
            body = operation["requestBody"]["content"]["application/json"]
            raw = json.dumps(good(body["schema"])).encode()
            routes.append((method.upper(), plain_path(path), raw))
    return routes


def test_broken_bodies_are_refused_and_nothing_else_happens(
    sidecar: Client, existing: dict[str, list[str]]
) -> None:
    """Each is answered, in the contract's shape, on a connection that lives on."""
    chance = random.Random(20261122)
    routes = [route for route in routes_with_bodies() if not route[1].startswith("/v1/test/")]
    before = sidecar.ask("GET", "/souls/s1/fingerprint")
    connection = http.client.HTTPConnection(sidecar.host, sidecar.port, timeout=30)
    statuses: Counter[int] = Counter()
    for _ in range(BODIES):
        method, path, body = chance.choice(routes)
        sent = broken(body, chance)
        connection.request(method, path, sent, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        raw = answer.read()
        problem = json.loads(raw) if answer.status != 204 else {}
        statuses[answer.status] += 1
        assert answer.status < 500, (method, path, sent[:500], problem)
        if answer.status >= 400:
            assert set(problem) <= {"error", "message", "field", "phrase"}, problem
            assert len(problem["message"]) < 2000
    connection.close()
    assert statuses[400] > BODIES / 3
    assert sidecar.ask("GET", "/souls/s1/fingerprint") == before
    assert sidecar.health()[0]["store"]["state"] == "ok"
