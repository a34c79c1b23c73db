"""How statements reach SurrealDB: the engine inside this process, or a server over a websocket."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from soulmem.adapters.surreal.faults import translate
from soulmem.domain.errors import StoreError

NAMESPACE = "soulmem"
DATABASE = "soulmem"

_SMALL = 16 << 10  # bytes of an answer that the loop may decode itself: a thread costs more than that

Params = Mapping[str, Any]
Statement = Mapping[str, Any]  # one statement's answer: status, result, kind, ..


@dataclass(frozen=True, slots=True)
class Query:
    """Statements and the values bound to their parameters."""

    sql: str
    params: Params


Work = Query | Callable[[], Query]  # a function, to be called in a worker thread, for anything large


def bound(sql: str, **params: Any) -> Query:
    """The query with these parameters."""
    return Query(sql, params)


class Link(Protocol):
    """One connection."""

    place: str  # as shown to the user

    async def open(self) -> None:
        """Connect; raises StoreError."""

    async def close(self) -> None:
        """Disconnect; calling twice is fine."""

    async def run(self, work: Work) -> list[Statement]:
        """The statements' answers; StoreError when not even one could run."""

    def written(self) -> int:
        """Bytes sent since the last open()."""

    def log_size(self) -> int:
        """Bytes of the write-ahead log on disk; reads the folder, so call it in a worker thread."""


class EmbeddedLink:
    """The engine inside this process, spoken to in CBOR.

    The native handle is used instead of the SDK's connection because that one encodes and decodes, in Python,
    on the event loop; here both happen in a worker thread.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._folder = folder_of(url)
        self.place = str(self._folder or url)
        self._handle: Any = None
        self._written = 0

    async def open(self) -> None:
        if self._handle is not None:
            return
        try:
            handle = await asyncio.to_thread(_construct, self._url, self._folder)
            await handle.connect()
        except (RuntimeError, OSError) as error:
            raise translate(str(error), self.place, opening=True) from error
        self._handle = handle
        self._written = 0
        await self._call(_encode("use", [NAMESPACE, DATABASE]))

    async def close(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            # A disk that is full or gone makes the farewell fail; the folder is let go all the same.
            with contextlib.suppress(RuntimeError):
                await handle.close()

    async def run(self, work: Work) -> list[Statement]:
        if isinstance(work, Query):
            request = _encode_query(work)
        else:
            request = await asyncio.to_thread(lambda: _encode_query(work()))
        statements: list[Statement] = await self._call(request)
        return statements

    def written(self) -> int:
        return self._written

    def log_size(self) -> int:
        return folder_size(self._folder / "wal") if self._folder else 0

    async def _call(self, request: bytes) -> Any:
        if self._handle is None:
            raise StoreError(f"the store in {self.place} is closed")
        self._written += len(request)
        try:
            response = await self._handle.execute(request)
        except RuntimeError as error:
            raise translate(str(error), self.place) from error
        if len(response) <= _SMALL:
            answer = _decode(response)
        else:
            answer = await asyncio.to_thread(_decode, response)
        return _result(answer, self.place)


class ServerLink:
    """A SurrealDB server."""

    def __init__(
        self, url: str, *, user: str | None, password: str | None, namespace: str, database: str
    ) -> None:
        self.place = url
        self._login = {"username": user, "password": password or ""} if user else None
        self._namespace, self._database = namespace, database
        self._connection: Any = None
        self._written = 0

    async def open(self) -> None:
        if self._connection is not None:
            return
        sdk = await asyncio.to_thread(_sdk)
        connection = sdk.AsyncSurreal(self.place)
        try:
            await connection.connect()
            if self._login:
                await connection.signin(self._login)
            await connection.use(self._namespace, self._database)
        except (sdk.SurrealError, OSError) as error:
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
            raise translate(str(error), self.place) from error
        statements: list[Statement] = _result(answer, self.place)
        return statements

    def written(self) -> int:
        return 0

    def log_size(self) -> int:
        return 0  # a server looks after its own log


def folder_of(url: str) -> Path | None:
    """The folder of a `surrealkv://` url; None for one that keeps nothing on this disk."""
    scheme, _, rest = url.partition("://")
    return Path(rest.partition("?")[0]) if scheme == "surrealkv" else None


def folder_size(folder: Path) -> int:
    """Bytes of the files right in `folder`; 0 when there is none."""
    size = 0
    with contextlib.suppress(FileNotFoundError):
        for file in folder.iterdir():
            with contextlib.suppress(FileNotFoundError):
                size += file.stat().st_size
    return size


def _construct(url: str, folder: Path | None) -> Any:
    """Open the store. In a worker thread: the imports and the engine's constructor take their time."""
    from surrealdb.data import cbor  # noqa: F401 - loaded here so that no later call has to
    from surrealdb_embedded import AsyncEmbeddedDB

    if folder is not None:
        folder.parent.mkdir(parents=True, exist_ok=True)
    return AsyncEmbeddedDB(url)


def _encode_query(query: Query) -> bytes:
    return _encode("query", [query.sql, query.params])


def _encode(method: str, params: list[Any]) -> bytes:
    from surrealdb.data.cbor import encode

    return encode({"id": "1", "method": method, "params": params})


def _decode(response: bytes) -> Any:
    from surrealdb.data.cbor import decode

    return decode(response)


def _result(answer: Any, place: str) -> Any:
    """What the engine made of a request as a whole; StoreError when it could make nothing of it."""
    if "error" in answer:
        raise translate(str(answer["error"].get("message", answer["error"])), place)
    return answer["result"]


def _sdk() -> Any:
    import surrealdb

    return surrealdb
