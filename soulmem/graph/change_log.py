"""Latest changes of an edge table, for caches that update themselves from them."""

from __future__ import annotations

from typing import NamedTuple

from soulmem.domain.edges import EdgeKind

_MOST = 4096  # changes that are remembered; who missed more makes everything anew


class EdgeChange(NamedTuple):
    """An edge that was put or dropped."""

    slot: int
    source: int  # row
    target: int  # row
    kind: EdgeKind


class ChangeLog:
    """The latest changes in order; `revision` counts all changes ever made."""

    def __init__(self) -> None:
        self.revision = 0
        self._latest: list[EdgeChange] = []

    def add(self, change: EdgeChange) -> None:
        """Append one change."""
        self.revision += 1
        self._latest.append(change)
        if len(self._latest) > 2 * _MOST:
            del self._latest[:_MOST]

    def reset(self) -> None:
        """Every edge may have changed: callers of `since` must rebuild."""
        self.revision += 1
        self._latest.clear()

    def since(self, revision: int) -> list[EdgeChange] | None:
        """Changes after that revision; None when they are not all in the log any more."""
        missed = self.revision - revision
        if not 0 <= missed <= len(self._latest):
            return None
        return self._latest[len(self._latest) - missed :]
