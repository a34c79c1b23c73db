"""Keeps track of the snapshot marks in the store, so that a commit only deletes marks that exist."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

from soulmem.adapters.surreal.connection import Run
from soulmem.adapters.surreal.link import bound
from soulmem.domain.ids import Owner, SoulId
from soulmem.ports.store import Change

Marked = tuple[Owner, SoulId]


class Marks:
    """The marks of a store that nobody else writes to. Each has a number, to tell it from a later one.

    A mark counts as existing from before it is written until a commit that deletes it has been stored.
    """

    def __init__(self) -> None:
        self._numbers: dict[Marked, int] = {}
        self._next_number = count()

    def put(self, owner: Owner, soul: SoulId) -> None:
        """Add a mark that is about to be written, or that was read from the store."""
        self._numbers[owner, soul] = next(self._next_number)

    def touched(self, change: Change) -> Mapping[Marked, int]:
        """The marks that the change makes invalid, with their numbers."""
        if not self._numbers:
            return {}
        souls = change.souls_touched()
        return {
            mark: number
            for mark, number in self._numbers.items()
            if mark[0] == change.owner and (souls is None or mark[1] in souls)
        }

    def remove(self, marks: Mapping[Marked, int]) -> None:
        """Remove these marks, except those that were put again meanwhile."""
        for mark, number in marks.items():
            if self._numbers.get(mark) == number:
                del self._numbers[mark]


async def stored_marks(run: Run) -> list[Marked]:
    """All marks in the store."""
    (ids,) = await run(bound("SELECT VALUE record::id(id) FROM image;"))
    return [(Owner(owner), SoulId(soul)) for owner, soul in ids]
