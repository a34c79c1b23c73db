"""SurrealDB as a server, over a websocket."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from soulmem.adapters.surreal import messages
from soulmem.adapters.surreal.link import Statement, Work
from soulmem.domain.errors import StoreError
from soulmem.domain.phrases import phrase

_ANSWER_SECONDS = 60.0  # without an answer, after which the connection counts as lost


class ServerLink:
    """One websocket. A request is only sent after the one before it was answered."""

    def __init__(
        self,
        url: str,
        *,
        user: str | None,
        password: str | None,
        namespace: str,
        database: str,
    ) -> None:
        self.place = url
        self._login = {"user": user, "pass": password or ""} if user else None
        self._namespace, self._database = namespace, database
        self._session: Any = None
        self._socket: Any = None

    async def open(self) -> None:
        if self._socket is not None and not self._socket.closed:
            return
        await self.close()
        await asyncio.to_thread(messages.load)
        import aiohttp

        self._session = aiohttp.ClientSession()
        try:
            address = f"{self.place.rstrip('/')}/rpc"
            self._socket = await self._session.ws_connect(
                address, protocols=["cbor"], max_msg_size=0
            )
            if self._login:
                await self._call(messages.message("signin", [self._login]))
            await self._call(messages.message("use", [self._namespace, self._database]))
        except (aiohttp.ClientError, OSError, StoreError) as error:
            await self.close()
            raise StoreError(
                phrase(
                    "server_away",
                    "the SurrealDB server {place} does not answer: start it, or check its address"
                    " and login ({error})",
                    place=self.place,
                    error=error,
                )
            ) from error

    async def close(self) -> None:
        socket, self._socket = self._socket, None
        session, self._session = self._session, None
        if socket is not None:
            await socket.close()
        if session is not None:
            await session.close()

    async def run(self, work: Work) -> list[Statement]:
        statements: list[Statement] = await self._call(
            await messages.query_message(work, self.place)
        )
        return statements

    async def _call(self, request: bytes) -> Any:
        if self._socket is None:
            raise StoreError(
                phrase("store_closed", "the store in {place} is closed", place=self.place)
            )
        try:
            await self._socket.send_bytes(request)
            response = await asyncio.wait_for(self._socket.receive_bytes(), _ANSWER_SECONDS)
        except (OSError, TypeError, asyncio.TimeoutError) as error:
            # TypeError: the server closed the connection.
            await self.close()
            raise StoreError(
                phrase(
                    "server_lost",
                    "the SurrealDB server {place} does not answer any more: start it again, SoulMem"
                    " continues by itself. It is not known whether the last change was stored",
                    place=self.place,
                )
            ) from error
        return await messages.result(response, self.place)

    def written(self) -> int:
        return 0

    def held(self) -> int:
        return 0

    def count_read(self, amount: int) -> None:
        pass

    def is_in_place(self) -> bool:
        return True

    def log_size(self) -> int:
        return 0  # a server manages its own log

    def free(self) -> int:
        return sys.maxsize
