"""Serving: the port answers, work in flight is finished, the engine stops, whatever is no HTTP is refused."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from soulmem.config.settings import ServerSettings
from soulmem.domain.ids import Owner
from soulmem.domain.soul import Soul, SoulState
from soulmem.server.app import create_app
from soulmem.server.run import PortTaken, serve
from tests.server.fake_engine import FakeEngine
from tests.server.wire import exchange

Serving = tuple[int, asyncio.Event, "asyncio.Task[None]"]


@asynccontextmanager
async def serving(engine: FakeEngine) -> AsyncIterator[Serving]:
    """A server on a free port: (port, what stops it, its task)."""
    app = create_app(engine, ServerSettings(), test_mode=False)  # type: ignore[arg-type]  # a fake
    stop, port = asyncio.Event(), asyncio.get_running_loop().create_future()
    task = asyncio.create_task(
        serve(
            app,
            "127.0.0.1",
            0,
            ready=lambda _, taken: port.set_result(taken),
            stop=stop,
        )
    )
    yield await port, stop, task
    stop.set()
    await task


ASK = b"GET /v1/souls HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


async def test_it_answers_and_stops(engine: FakeEngine) -> None:
    async with serving(engine) as (port, stop, task):
        assert await exchange(port, ASK) == (200, {"souls": [], "cursor": None})
        assert engine.running
        stop.set()
        await asyncio.wait_for(task, 5)
        assert not engine.running
        with pytest.raises(ConnectionRefusedError):
            await exchange(port, ASK)


async def test_a_request_in_flight_is_finished(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = asyncio.Event()

    async def slow(_owner: Owner, _state: SoulState) -> list[Soul]:
        begun.set()
        await asyncio.sleep(0.3)
        assert engine.running
        return []

    monkeypatch.setattr(engine.souls, "list", slow)
    async with serving(engine) as (port, stop, task):
        asked = asyncio.create_task(exchange(port, ASK))
        await begun.wait()
        stop.set()
        assert (await asked)[0] == 200
        await task


@pytest.mark.alone
async def test_an_idle_connection_does_not_delay_the_end(engine: FakeEngine) -> None:
    async with serving(engine) as (port, stop, task):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(ASK.replace(b"close", b"keep-alive"))
        assert b"200 OK" in await reader.readline()
        stop.set()
        await asyncio.wait_for(task, 2)
        writer.close()


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill ends a Windows process at once")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_stops_it(engine: FakeEngine, number: signal.Signals) -> None:
    async with serving(engine) as (_, _, task):
        os.kill(os.getpid(), number)
        await asyncio.wait_for(task, 5)
        assert not engine.running


async def test_a_taken_port_is_told_with_the_remedy(engine: FakeEngine) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        app = create_app(engine, ServerSettings(), test_mode=False)  # type: ignore[arg-type]  # a fake
        with pytest.raises(PortTaken, match=f"{port}.*server.port"):
            await serve(app, "127.0.0.1", port)
    assert not engine.running


@pytest.mark.parametrize(
    "raw",
    [
        b"GARBAGE\r\n\r\n",
        b"GET /v1/health HTTP/1.1\r\n\r\n",
        b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nX: \xff\x00\r\n\r\n",
        b"POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n{}",
        b"POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n{}",
        b"POST /v1/recall HTTP/1.1\r\nHost: localhost\r\n"
        b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        b"POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nExpect: a-miracle\r\nConnection: close\r\n\r\n",
    ],
)
async def test_what_is_no_http_is_refused_in_the_one_shape(engine: FakeEngine, raw: bytes) -> None:
    async with serving(engine) as (port, _, _):
        status, body = await exchange(port, raw)
        assert 400 <= status < 500
        assert set(body) == {"error", "message"}
    assert engine.calls == []
