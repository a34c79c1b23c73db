"""One connection: what is no HTTP is refused in the one shape, and what never ends is closed."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from aiohttp import web

from soulmem.server.errors import http_problem

log = logging.getLogger(__name__)

_HEAD_SECONDS = 10.0  # until the head of a request must be there, from its first byte or the connection on
_SILENT_SECONDS = 30.0  # that a body may pause
_LOOK_SECONDS = 2.0
_MOST = 1_000  # connections at once: each is an open file, of which a process may have 1,024 often


class Connections:
    """The open connections of one server."""

    def __init__(self, server: web.Server, loop: asyncio.AbstractEventLoop) -> None:
        self._server = server
        self._loop = loop
        self.open: set[Connection] = set()

    def __call__(self) -> Connection:
        """The protocol of a new connection. Bodies stay as they were sent: none is unpacked before it was
        let in, and no door takes a packed one.
        """
        return Connection(
            self.open,
            self._server,
            loop=self._loop,
            access_log=None,
            auto_decompress=False,
        )


class Connection(web.RequestHandler):
    """See the module."""

    def __init__(self, every: set[Connection], *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._every = every
        self._heard = 0.0  # when the last byte came
        self._head_since: float | None = (
            None  # since when the head of a request is waited for
        )
        self._looking: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._every.add(self)
        self._heard = self._head_since = self._loop.time()
        if len(self._every) > _MOST and isinstance(transport, asyncio.Transport):
            log.warning("more than %d connections are open: a new one is closed", _MOST)
            transport.abort()
            return
        self._looking = self._loop.call_later(_LOOK_SECONDS, self._look)

    def connection_lost(self, exc: BaseException | None) -> None:
        self._every.discard(self)
        if self._looking is not None:
            self._looking.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._heard = self._loop.time()
        super().data_received(data)
        if self._messages or self._current_request is not None:
            self._head_since = None
        elif self._head_since is None:
            self._head_since = self._heard

    def _look(self) -> None:
        now = self._loop.time()
        request = self._current_request
        late = self._head_since is not None and now - self._head_since > _HEAD_SECONDS
        body_is_open = (
            isinstance(request, web.BaseRequest) and not request.content.is_eof()
        )
        if late or (body_is_open and now - self._heard > _SILENT_SECONDS):
            if self.transport is not None:
                self.transport.abort()
            return
        self._looking = self._loop.call_later(_LOOK_SECONDS, self._look)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Refuse in the one shape, and write none of what was sent into the log."""
        log.log(
            logging.ERROR if status >= 500 else logging.DEBUG,
            "no answer: %s",
            type(exc).__name__,
        )
        if request.writer.output_size > 0:
            raise ConnectionError("the answer is on its way already")
        response = http_problem(status)
        response.force_close()
        return response
