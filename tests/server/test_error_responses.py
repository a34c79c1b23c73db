"""Failures: one shape for all, the status of the class, and no text of a chat in the log."""

from __future__ import annotations

import logging

import pytest

from soulmem.domain import errors
from tests.server.conftest import Client, refused
from tests.server.fake_engine import FakeEngine
from tests.server.wire import exchange

SECRET = "the letter under the floorboard"
NOWHERE = [
    ("GET", "/"),
    ("GET", "/.env"),
    ("GET", "/v2/health"),
    ("GET", "/v1/souls/"),
]


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (errors.BadRequest("a"), 400, "bad_request"),
        (errors.Unauthorized("a"), 401, "unauthorized"),
        (errors.Forbidden("a"), 403, "forbidden"),
        (errors.NotFound("a"), 404, "not_found"),
        (errors.Conflict("a"), 409, "conflict"),
        (errors.ConfirmationRequired("a"), 409, "confirmation_required"),
        (errors.TooLarge("a"), 413, "too_large"),
        (errors.Unprocessable("a", field="x"), 422, "unprocessable"),
        (errors.Busy("a"), 503, "busy"),
        (errors.StoreFull("a"), 503, "busy"),
        (errors.StoreTooNew("a"), 503, "busy"),
        (errors.ModelUnavailable("a"), 503, "busy"),
        (errors.SoulMemError("a"), 500, "error"),
    ],
)
async def test_each_error_has_its_status(
    client: Client,
    engine: FakeEngine,
    error: errors.SoulMemError,
    status: int,
    code: str,
) -> None:
    engine.failure = error
    answer = await client.get("/v1/souls")
    assert await refused(answer, status, error.field) == "a"
    assert (await answer.json())["error"] == code


async def test_an_unknown_failure_is_logged_without_its_words(
    client: Client, engine: FakeEngine, caplog: pytest.LogCaptureFixture
) -> None:
    engine.failure = RuntimeError(SECRET)
    with caplog.at_level(logging.INFO):
        answer = await client.post("/v1/recall", json={"soul": "s1", "query": SECRET})
    message = await refused(answer, 500)
    assert (await answer.json())["error"] == "internal"
    assert SECRET not in message
    assert SECRET not in caplog.text
    assert "RuntimeError" in caplog.text
    assert "fake_engine.py" in caplog.text
    assert "/v1/recall" in caplog.text


async def test_nothing_of_a_request_is_logged(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        await client.post("/v1/memories", json={"soul": "s1", "kind": "note", "text": SECRET})
        await client.post("/v1/recall", json={"soul": "nobody", "query": SECRET})
        await client.get("/v1/memories", params={"soul": "s1", "q": SECRET, "oops": SECRET})
    assert SECRET not in caplog.text


@pytest.mark.parametrize(("method", "path"), NOWHERE)
async def test_what_is_not_there_is_not_found(client: Client, method: str, path: str) -> None:
    await refused(await client.request(method, path, json={}), 404)


async def test_a_wrong_method_names_the_right_ones(client: Client) -> None:
    answer = await client.post("/v1/chats/zz", json={})
    assert (await answer.json())["error"] == "method_not_allowed"
    await refused(answer, 405)
    assert set(answer.headers["Allow"].split(",")) == {"DELETE", "GET", "HEAD", "PUT"}


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/x",
        "..",
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e",
        "a%00b",
        "a%20b",
        "memory%3A1",
        "%E2%9F%A8x%E2%9F%A9",
        "a" * 65,
        "a" * 5000,
        "%ff%fe",
        "%F0%9F%98%80",
        "$auth",
        "a.b",
        "*",
        "%0d%0aX-Evil:1",
        "a%2fb",
        "a%0a",
    ],
)
async def test_a_path_that_names_no_id(client: Client, engine: FakeEngine, name: str) -> None:
    port = client.server.port
    for route in (
        "GET /v1/souls/{}",
        "DELETE /v1/chats/{}",
        "POST /v1/memories/{}/restore",
        "GET /v1/{}",
    ):
        head = f"{route.format(name)} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        status, body = await exchange(port or 0, head.encode())
        assert status in (404, 422), body
        assert set(body) <= {"error", "message", "field", "phrase"}
    assert engine.calls == []
