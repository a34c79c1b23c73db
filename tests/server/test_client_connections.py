"""Connections that never end a request are closed, and what is packed is not unpacked."""

from __future__ import annotations

import asyncio
import gzip
import logging
from collections.abc import AsyncIterator

import pytest

from soulmem.config.settings import ServerSettings
from soulmem.server import client_connections
from soulmem.server.app import create_app
from soulmem.server.run import serve
from tests.server.fake_engine import FakeEngine

HEAD = b"POST /v1/recall HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


@pytest.fixture
async def port(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[int]:
    """A served application; its deadlines are short."""
    for name, seconds in (
        ("_HEAD_SECONDS", 0.2),
        ("_SILENT_SECONDS", 0.2),
        ("_CHECK_SECONDS", 0.02),
    ):
        monkeypatch.setattr(client_connections, name, seconds)
    monkeypatch.setattr(client_connections, "_MAX_OPEN", 5)
    taken: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()
    app = create_app(FakeEngine(), ServerSettings(), test_mode=False)  # type: ignore[arg-type]
    ready = serve(app, "127.0.0.1", 0, ready=lambda _host, port: taken.set_result(port), stop=stop)
    serving = asyncio.create_task(ready)
    yield await taken
    stop.set()
    await serving


async def answer(port: int, sent: bytes) -> bytes:
    """All that comes until the connection is closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(sent)
        return await asyncio.wait_for(reader.read(), 5)
    finally:
        writer.close()


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET /v1/health HTTP/1.1\r\nHos", HEAD + b"Content-Length: 50\r\n\r\n{"],
)
async def test_what_never_ends_is_closed(port: int, sent: bytes) -> None:
    assert await answer(port, sent) == b""


@pytest.mark.alone
async def test_a_connection_that_is_used_again_is_not_closed(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(3):
        writer.write(b"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
        assert head.startswith(b"HTTP/1.1 200")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        await asyncio.sleep(0.3)
    writer.close()


async def test_a_packed_body_is_refused_and_not_unpacked(port: int) -> None:
    # The whole of it in a thread: filling 50 MB takes the loop over its limit on a loaded machine.
    packed = await asyncio.to_thread(lambda: gzip.compress(b" " * 50_000_000, 9))
    sent = (
        HEAD + f"Content-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n".encode() + packed
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    assert (await asyncio.wait_for(reader.readline(), 5)).startswith(b"HTTP/1.1 415")
    writer.close()


async def test_there_are_only_so_many_at_once(port: int) -> None:
    opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(5)]
    with pytest.raises((ConnectionError, AssertionError)):
        assert await answer(port, b"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    for _, writer in opened:
        writer.close()


async def test_what_is_no_request_is_answered_and_no_error_of_ours(
    port: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    assert b" 400 " in await answer(port, b"no request at all\r\n\r\n")
    (told,) = [r for r in caplog.records if r.getMessage().startswith("invalid request")]
    assert told.levelno == logging.DEBUG
    assert "no request at all" not in told.getMessage()
