"""Port: snapshots of open minds as named arrays, a cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from soulmem.domain.ids import Owner, SoulId


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot as it was written."""

    head: Mapping[str, Any]  # what JSON can say
    # Of booleans and numbers; the caller owns them
    arrays: Mapping[str, NDArray[Any]]


class SnapshotWriter(Protocol):
    """A snapshot being written. Methods block and may raise StoreError; then the old one stays."""

    def add(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write these arrays; names must be distinct over all calls."""

    def finish(self, head: Mapping[str, Any]) -> None:
        """Replace the former snapshot, completely or not at all."""

    def give_up(self) -> None:
        """Discard what was written, unless it was finished."""


class SnapshotStore(Protocol):
    """A cache of snapshots, at most one per soul; any may be deleted at any time. Methods block."""

    def read(self, owner: Owner, soul: SoulId, token: str) -> Snapshot | None:
        """The soul's snapshot with that token; None for another token, a damaged one, or none."""

    def write(self, owner: Owner, soul: SoulId, token: str) -> SnapshotWriter:
        """Begin a snapshot with that token. Raises StoreError."""

    def drop(self, owner: Owner, soul: SoulId) -> None:
        """Delete the soul's snapshot, if any."""
