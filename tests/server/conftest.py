"""What the tests of the HTTP routes share: the application over a fake engine, and a client to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient, TestServer

from soulmem.config.settings import ServerSettings
from soulmem.server.app import create_app
from tests.server.fake_engine import FakeEngine

TOKEN = "a-token-for-the-tests-only"
OWN_PAGE = "http://127.0.0.1:8000"

Client = TestClient[web.Request, web.Application]
Opener = Callable[..., Awaitable[Client]]


@pytest.fixture
def engine() -> FakeEngine:
    """The engine behind the routes."""
    return FakeEngine()


@pytest.fixture
async def opened(engine: FakeEngine) -> AsyncIterator[Opener]:
    """Open a client to an application: `await opened(test_mode=False, host="0.0.0.0")`."""
    async with AsyncExitStack() as stack:

        async def open_client(*, test_mode: bool = True, **settings: Any) -> Client:
            section = ServerSettings(**{"token": TOKEN, **settings})
            app = create_app(engine, section, test_mode=test_mode)  # type: ignore[arg-type]  # a fake
            return await stack.enter_async_context(TestClient(TestServer(app)))

        yield open_client


@pytest.fixture
async def client(opened: Opener) -> Client:
    """A client on loopback, in test mode."""
    return await opened()


async def refused(answer: ClientResponse, status: int, field: str | None = None) -> str:
    """Check that the answer is an error in the contract's shape; gives its message."""
    body = await answer.json()
    assert answer.status == status, body
    assert set(body) <= {"error", "message", "field", "phrase"}
    assert isinstance(body["error"], str)
    assert body.get("field") == field, body
    message = body["message"]
    assert isinstance(message, str)
    assert message
    return message
