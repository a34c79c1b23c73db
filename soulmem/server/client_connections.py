"""Connections of the server: invalid HTTP gets the JSON error, slow clients are disconnected."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from aiohttp import web

from soulmem.server.error_responses import http_problem

log = logging.getLogger(__name__)

_HEAD_SECONDS = 10.0  # from the connection or the first byte to the end of a request's head
_SILENT_SECONDS = 30.0  # longest pause within a body
_CHECK_SECONDS = 2.0  # between two checks of a connection
_MAX_OPEN = 1_000  # connections at once; each is an open file, and 1,024 files is a common limit


class Connections:
    """The open connections of one server."""

    def __init__(self, server: web.Server, loop: asyncio.AbstractEventLoop) -> None:
        self._server = server
        self._loop = loop
        self.open: set[Connection] = set()

    def __call__(self) -> Connection:
        """The protocol of a new connection. Bodies are never decompressed: no route accepts a compressed one."""
        return Connection(
            self.open,
            self._server,
            loop=self._loop,
            access_log=None,
            auto_decompress=False,
        )


class Connection(web.RequestHandler):
    """One client connection with its time limits. Times are those of the event loop, in seconds."""

    def __init__(self, open_connections: set[Connection], *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._open_connections = open_connections
        self._last_byte_at = 0.0
        self._head_since: float | None = None  # start of waiting for a request's head
        self._next_check: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._open_connections.add(self)
        self._last_byte_at = self._head_since = self._loop.time()
        is_one_too_many = len(self._open_connections) > _MAX_OPEN
        if is_one_too_many and isinstance(transport, asyncio.Transport):
            log.warning("more than %d connections are open: a new one is closed", _MAX_OPEN)
            transport.abort()
            return
        self._next_check = self._loop.call_later(_CHECK_SECONDS, self._check_limits)

    def connection_lost(self, exc: BaseException | None) -> None:
        self._open_connections.discard(self)
        if self._next_check is not None:
            self._next_check.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._last_byte_at = self._loop.time()
        super().data_received(data)
        if self._messages or self._current_request is not None:
            self._head_since = None
        elif self._head_since is None:
            self._head_since = self._last_byte_at

    def _check_limits(self) -> None:
        current_time = self._loop.time()
        request = self._current_request
        late = self._head_since is not None and current_time - self._head_since > _HEAD_SECONDS
        body_is_open = isinstance(request, web.BaseRequest) and not request.content.is_eof()
        silence = current_time - self._last_byte_at
        if late or (body_is_open and silence > _SILENT_SECONDS):
            if self.transport is not None:
                self.transport.abort()
            return
        self._next_check = self._loop.call_later(_CHECK_SECONDS, self._check_limits)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer with the JSON error. Nothing that the client sent is written into the log."""
        log.log(
            logging.ERROR if status >= 500 else logging.DEBUG,
            "invalid request: %s",
            type(exc).__name__,
        )
        if request.writer.output_size > 0:
            raise ConnectionError("the response has been started already")
        response = http_problem(status)
        response.force_close()
        return response
