"""Traces in a dictionary."""

from __future__ import annotations

from collections.abc import Callable

from soulmem.domain.errors import StoreError
from soulmem.domain.ids import Owner, SoulId

KEPT = 2_000


class FakeTraces:
    """Keeps traces for as long as it lives; `failure` is raised by every write while it is set."""

    def __init__(self) -> None:
        self.kept: dict[tuple[Owner, SoulId, str], bytes] = {}
        self.failure: StoreError | None = None

    async def add(self, owner: Owner, soul: SoulId, key: str, told: bytes) -> None:
        if self.failure is not None:
            raise self.failure
        self.kept[owner, soul, key] = told
        mine = [one for one in self.kept if one[:2] == (owner, soul)]
        for one in mine[:-KEPT]:
            del self.kept[one]

    async def find(self, owner: Owner, key: str) -> bytes | None:
        found = [
            told for (whose, _, name), told in self.kept.items() if (whose, name) == (owner, key)
        ]
        return found[0] if found else None

    async def alter(
        self, owner: Owner, soul: SoulId, rewrite: Callable[[bytes], bytes | None]
    ) -> None:
        for one in [one for one in self.kept if one[:2] == (owner, soul)]:
            after = rewrite(self.kept.pop(one))
            if after is not None:
                self.kept[one] = after

    async def drop(self, owner: Owner, soul: SoulId) -> None:
        await self.alter(owner, soul, lambda told: None)
