"""SurrealDB as a server, spoken to over a websocket."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from soulmem.adapters.surreal.faults import translate
from soulmem.adapters.surreal.link import Query, Statement, Work, result_of
from soulmem.domain.errors import StoreError


class ServerLink:
    """A SurrealDB server."""

    def __init__(
        self, url: str, *, user: str | None, password: str | None, namespace: str, database: str
    ) -> None:
        self.place = url
        self._login = {"username": user, "password": password or ""} if user else None
        self._namespace, self._database = namespace, database
        self._connection: Any = None

    async def open(self) -> None:
        if self._connection is not None:
            if not self._connection.recv_task.done():
                return
            # The SDK would connect again by itself, but forget the login and the database.
            await self.close()
        sdk = await asyncio.to_thread(_sdk)
        connection = sdk.AsyncSurreal(self.place)
        try:
            await connection.connect()
            if self._login:
                await connection.signin(self._login)
            await connection.use(self._namespace, self._database)
        except (sdk.SurrealError, OSError) as error:
            await connection.close()
            raise StoreError(
                f"the SurrealDB server {self.place} does not answer: start it, "
                f"or check its address and login ({error})"
            ) from error
        self._connection = connection

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def run(self, work: Work) -> list[Statement]:
        if self._connection is None:
            raise StoreError(f"the store in {self.place} is closed")
        sdk = _sdk()
        query = work if isinstance(work, Query) else await asyncio.to_thread(work)
        try:
            answer = await self._connection.query_raw(query.sql, dict(query.params))
        except (sdk.SurrealError, OSError) as error:
            await self.close()
            raise translate(str(error), self.place) from error
        except ValueError as error:  # half a surrogate pair, an integer beyond 64 bits
            raise StoreError(f"a value cannot be stored in {self.place}: {error}") from error
        statements: list[Statement] = result_of(answer, self.place)
        return statements

    def written(self) -> int:
        return 0

    def log_size(self) -> int:
        return 0  # a server looks after its own log

    def free(self) -> int:
        return sys.maxsize


def _sdk() -> Any:
    import surrealdb

    return surrealdb
