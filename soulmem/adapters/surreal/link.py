"""The interface of a connection to SurrealDB, embedded or over the network."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

NAMESPACE = "soulmem"
DATABASE = "soulmem"

Statement = Mapping[str, Any]  # the answer to one statement: status, result, kind, ..


@dataclass(frozen=True, slots=True)
class Query:
    """Statements and the values bound to their parameters."""

    sql: str
    params: Mapping[str, Any]


# A query, or for large ones a function that builds it in a worker thread.
Work = Query | Callable[[], Query]


def bound(sql: str, **params: Any) -> Query:
    """The query with these parameters."""
    return Query(sql, params)


class Link(Protocol):
    """One connection."""

    place: str  # folder or address, as shown to the user

    async def open(self) -> None:
        """Connect. Raises StoreError."""

    async def close(self) -> None:
        """Disconnect. May be called twice."""

    async def run(self, work: Work) -> list[Statement]:
        """The answers of the statements. Raises StoreError if none could run."""

    def written(self) -> int:
        """Bytes sent so far, also before the last reopening."""

    def held(self) -> int:
        """Bytes read since opening, which an embedded engine keeps in memory; 0 for a server."""

    def count_read(self, amount: int) -> None:
        """Add bytes to `held` that were read beside those in the answers."""

    def is_in_place(self) -> bool:
        """Whether the opened files still exist. Reads the disk: call it in a worker thread."""

    def log_size(self) -> int:
        """Bytes of the write-ahead log on disk. Reads the disk: call it in a worker thread."""

    def free(self) -> int:
        """Free bytes on the disk. Reads the disk: call it in a worker thread."""
