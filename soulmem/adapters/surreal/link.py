"""How statements reach SurrealDB: what a connection does, whichever way it goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

NAMESPACE = "soulmem"
DATABASE = "soulmem"

Statement = Mapping[str, Any]  # one statement's answer: status, result, kind, ..


@dataclass(frozen=True, slots=True)
class Query:
    """Statements and the values bound to their parameters."""

    sql: str
    params: Mapping[str, Any]


Work = (
    Query | Callable[[], Query]
)  # a function, to be called in a worker thread, for anything large


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
        """Bytes sent so far, over all openings."""

    def held(self) -> int:
        """Bytes read since it was opened, which an engine in this process holds on to; else 0."""

    def pass_over(self, amount: int) -> None:
        """So many bytes were read beside what the answers hold: the engine holds on to those, too."""

    def is_in_place(self) -> bool:
        """Whether what was opened is still there; asks the disk, so call it in a worker thread."""

    def log_size(self) -> int:
        """Bytes of the write-ahead log on disk; reads the folder, so call it in a worker thread."""

    def free(self) -> int:
        """Bytes that are free on the disk; asks the disk, so call it in a worker thread."""
