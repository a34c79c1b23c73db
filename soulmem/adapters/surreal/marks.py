"""Which marks must a commit take away? Those that are known to be there; where there are none it is free."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

from soulmem.adapters.surreal.connection import Run
from soulmem.adapters.surreal.link import bound
from soulmem.domain.ids import Owner, SoulId
from soulmem.ports.store import Change

Marked = tuple[Owner, SoulId]


class Marks:
    """The marks of a store that nobody else writes to, each with a number that tells it from a later one.

    A mark counts as there from before it is written until a commit that took it away has been stored.
    """

    def __init__(self) -> None:
        self._known: dict[Marked, int] = {}
        self._number = count()

    def put(self, owner: Owner, soul: SoulId) -> None:
        """A mark is about to be written, or was found."""
        self._known[owner, soul] = next(self._number)

    def touched(self, change: Change) -> Mapping[Marked, int]:
        """Which ones the change takes away."""
        if not self._known:
            return {}
        souls = change.souls_touched()
        return {
            mark: number
            for mark, number in self._known.items()
            if mark[0] == change.owner and (souls is None or mark[1] in souls)
        }

    def gone(self, marks: Mapping[Marked, int]) -> None:
        """These have been taken away, unless they were put anew meanwhile."""
        for mark, number in marks.items():
            if self._known.get(mark) == number:
                del self._known[mark]


async def stored_marks(run: Run) -> list[Marked]:
    """All that are there; a store of an older schema has no table for them."""
    (tables,) = await run(bound("RETURN (INFO FOR DB).tables.keys();"))
    if "image" not in tables:
        return []
    (ids,) = await run(bound("SELECT VALUE record::id(id) FROM image;"))
    return [(Owner(owner), SoulId(soul)) for owner, soul in ids]
