"""What was changed lately, for whoever keeps something that was made of it?"""

from __future__ import annotations

from typing import NamedTuple

from soulmem.domain.edges import EdgeKind

_MOST = 4096  # changes that are remembered; who missed more makes everything anew


class EdgeChange(NamedTuple):
    """An edge that was put or dropped, as it lay."""

    slot: int
    source: int  # row
    target: int  # row
    kind: EdgeKind


class ChangeLog:
    """The latest changes in their order; `revision` is how many there ever were."""

    def __init__(self) -> None:
        self.revision = 0
        self._latest: list[EdgeChange] = []

    def add(self, change: EdgeChange) -> None:
        """One more."""
        self.revision += 1
        self._latest.append(change)
        if len(self._latest) > 2 * _MOST:
            del self._latest[:_MOST]

    def reset(self) -> None:
        """Everything was changed."""
        self.revision += 1
        self._latest.clear()

    def since(self, revision: int) -> list[EdgeChange] | None:
        """The changes after that revision; None where not all of them are remembered."""
        missed = self.revision - revision
        if not 0 <= missed <= len(self._latest):
            return None
        return self._latest[len(self._latest) - missed :]
