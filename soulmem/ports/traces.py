"""Port: traces of recalls, kept over a restart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from soulmem.domain.ids import Owner, SoulId


class TraceLog(Protocol):
    """The latest traces of each soul, as bytes by id. Every method may raise StoreError.

    A trace added just before a crash may be lost; none is ever stored in part.
    """

    async def add(self, owner: Owner, soul: SoulId, key: str, trace: bytes) -> None:
        """Store a trace; the oldest traces of the soul are deleted when there are too many."""

    async def find(self, owner: Owner, key: str) -> bytes | None:
        """The trace of that id, None if it is not stored."""

    async def alter(
        self, owner: Owner, soul: SoulId, rewrite: Callable[[bytes], bytes | None]
    ) -> None:
        """Replace each trace of the soul by `rewrite(trace)`; None deletes it. Called in another
        thread.
        """

    async def drop(self, owner: Owner, soul: SoulId) -> None:
        """Delete all traces of the soul."""
