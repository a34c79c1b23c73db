"""What the engine asks of the place where traces of recalls are kept over a restart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from soulmem.domain.ids import Owner, SoulId


class TraceLog(Protocol):
    """The last traces of each soul, each as bytes under its id. Every method may raise StoreError.

    A trace that was added just before a crash may be lost; none is ever half there.
    """

    async def add(self, owner: Owner, soul: SoulId, key: str, trace: bytes) -> None:
        """Keep a trace; the oldest of the soul leave when there are too many."""

    async def find(self, owner: Owner, key: str) -> bytes | None:
        """The trace of that id, None when it is not kept."""

    async def alter(
        self, owner: Owner, soul: SoulId, rewrite: Callable[[bytes], bytes | None]
    ) -> None:
        """Replace each trace of the soul by `rewrite(trace)`; None deletes it. Called in another
        thread.
        """

    async def drop(self, owner: Owner, soul: SoulId) -> None:
        """Forget all traces of the soul."""
