"""TokenStore in memory, with the promises of the real one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.errors import StoreError
from soulmem.domain.ids import Owner, SoulId
from soulmem.kernels.token_codes import Center, PackedStates, half_width
from soulmem.ports.token_store import NO_RECORD, Numbers, PieceLists, TokenFile

Record = tuple[NDArray[np.uint8], NDArray[np.float16], NDArray[np.int32], NDArray[np.bool_]]


class FakeTokenFile:
    """One soul's states; `failure` is raised by the next `put`."""

    def __init__(self, model: str, width: int) -> None:
        self.model, self.width = model, width
        self.center: Center | None = None
        self.failure: StoreError | None = None
        self._numbers: dict[bytes, int] = {}
        self._kept: dict[int, Record] = {}
        self._next = 0

    @property
    def size(self) -> int:
        return sum(sum(part.nbytes for part in kept) for kept in self._kept.values())

    def __len__(self) -> int:
        return len(self._kept)

    def record(self, key: bytes) -> int:
        return self._numbers.get(key, NO_RECORD)

    def records(self) -> Numbers:
        return np.array(sorted(self._kept), np.int64)

    def put(self, keys: Sequence[bytes], states: PackedStates) -> list[int]:
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure
        if self.center is not None and not np.array_equal(states.center, self.center):
            raise ValueError("the states are packed with another center")
        if keys:
            self.center = states.center
        for number, key in enumerate(keys):
            if key not in self._numbers:
                tokens = slice(states.starts[number], states.starts[number + 1])
                parts = (
                    states.codes[tokens],
                    states.scale[tokens],
                    states.pieces[tokens],
                    states.begins[tokens],
                )
                self._kept[self._next] = parts
                self._numbers[key] = self._next
                self._next += 1
        return [self._numbers[key] for key in keys]

    def read(self, records: Numbers) -> PackedStates:
        nothing = (
            np.empty((0, half_width(self.width)), np.uint8),
            np.empty(0, np.float16),
            np.empty(0, np.int32),
            np.empty(0, np.bool_),
        )
        kept = [self._kept.get(number, nothing) for number in records.tolist()]
        starts = np.cumsum([0, *(len(scale) for _, scale, _, _ in kept)], dtype=np.int64)
        codes, scale, pieces, begins = zip(nothing, *kept, strict=True)
        center = self.center
        if center is None:
            center = np.zeros(self.width, np.float16)
        return PackedStates(
            np.concatenate(codes),
            np.concatenate(scale),
            np.concatenate(pieces),
            starts,
            np.concatenate(begins),
            center,
        )

    def pieces(self, records: Numbers) -> PieceLists:
        states = self.read(records)
        return PieceLists(states.pieces, states.starts, states.begins)

    def erase(self, records: Numbers) -> None:
        for number in records.tolist():
            self._kept.pop(number, None)
        self._numbers = {k: n for k, n in self._numbers.items() if n in self._kept}

    def compact(self) -> Iterator[None]:
        return iter(())

    def close(self) -> None:
        """Nothing to close."""


class FakeTokenStore:
    """Keeps files for as long as it lives, by owner and soul."""

    def __init__(self) -> None:
        self.files: dict[tuple[Owner, SoulId], FakeTokenFile] = {}

    def open(self, owner: Owner, soul: SoulId, model: str, width: int) -> TokenFile:
        file = self.files.get((owner, soul))
        if file is None or (file.model, file.width) != (model, width):
            file = self.files[owner, soul] = FakeTokenFile(model, width)
        return file

    def drop(self, owner: Owner, soul: SoulId) -> None:
        self.files.pop((owner, soul), None)
