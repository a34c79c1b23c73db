"""SnapshotStore in a dictionary, with the promises of the real ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.errors import StoreError
from soulmem.domain.ids import Owner, SoulId
from soulmem.ports.snapshot_store import Snapshot


class FakeImages:
    """Keeps images for as long as it lives. `given` counts those that were read, `failure` is raised by the
    next write.
    """

    def __init__(self) -> None:
        self.kept: dict[tuple[Owner, SoulId], tuple[str, Snapshot]] = {}
        self.given = 0
        self.failure: StoreError | None = None

    def read(self, owner: Owner, soul: SoulId, token: str) -> Snapshot | None:
        known, image = self.kept.get((owner, soul), ("", Snapshot({}, {})))
        if known != token:
            return None
        self.given += 1
        return Snapshot(image.head, {name: array.copy() for name, array in image.arrays.items()})

    def write(self, owner: Owner, soul: SoulId, token: str) -> FakeWriter:
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure
        return FakeWriter(self, (owner, soul), token)

    def drop(self, owner: Owner, soul: SoulId) -> None:
        self.kept.pop((owner, soul), None)


class FakeWriter:
    """An image that is being written."""

    def __init__(self, images: FakeImages, key: tuple[Owner, SoulId], token: str) -> None:
        self._images = images
        self._key = key
        self._token = token
        self._arrays: dict[str, NDArray[Any]] = {}

    def add(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """See `SnapshotWriter`."""
        assert self._arrays.keys().isdisjoint(arrays)
        for name, array in arrays.items():
            assert array.dtype.kind in "biuf", name
            self._arrays[name] = np.ascontiguousarray(
                array
            )  # as it was given: a view would change with its mind

    def finish(self, head: Mapping[str, Any]) -> None:
        """See `SnapshotWriter`."""
        self._images.kept[self._key] = self._token, Snapshot(dict(head), self._arrays)

    def give_up(self) -> None:
        """See `SnapshotWriter`."""
