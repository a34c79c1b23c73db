"""What the engine asks of the place where images of open minds are kept: arrays by name, there or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from soulmem.domain.ids import Owner, SoulId


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An image as it was written."""

    head: Mapping[str, Any]  # what JSON can say
    arrays: Mapping[
        str, NDArray[Any]
    ]  # of booleans and numbers; whoever asked owns them


class SnapshotWriter(Protocol):
    """One image on its way. Methods block, and may raise StoreError; then the former image stays."""

    def add(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write these arrays; no name may come twice."""

    def finish(self, head: Mapping[str, Any]) -> None:
        """Put the image in the place of the former one, as a whole or not at all."""

    def give_up(self) -> None:
        """Leave nothing of it, unless it was finished."""


class SnapshotStore(Protocol):
    """A cache of images, one a soul at most. Everything in it may be deleted at any time. Methods block."""

    def read(self, owner: Owner, soul: SoulId, token: str) -> Snapshot | None:
        """The soul's image if it goes by that token; None for another one, for none, or a damaged one."""

    def write(self, owner: Owner, soul: SoulId, token: str) -> SnapshotWriter:
        """Begin an image that goes by that token. Raises StoreError."""

    def drop(self, owner: Owner, soul: SoulId) -> None:
        """Forget the soul's image; where there is none nothing happens."""
