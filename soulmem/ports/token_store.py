"""Port: packed token states of a soul's texts, a cache beside the store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import Owner, SoulId
from soulmem.kernels.token_codes import Center, PackedStates

Numbers = NDArray[np.int64]
KEY_BYTES = 16  # length of a key
NO_RECORD = -1


@dataclass(frozen=True, slots=True)
class PieceLists:
    """The pieces of m records, one record after the other.

    pieces  int32[t]
    starts  int64[m + 1]  pieces of record i: starts[i] .. starts[i + 1] - 1
    begins  bool[t]       whether a passage begins with the piece
    """

    pieces: NDArray[np.int32]
    starts: Numbers
    begins: NDArray[np.bool_]


class TokenFile(Protocol):
    """The token states of one soul's texts by key. Methods block; one thread at a time.

    Records have numbers, which stay until the file is opened again.
    """

    @property
    def width(self) -> int:
        """Length of a token's state."""
        ...

    @property
    def center(self) -> Center | None:
        """The center that all its states are packed with, float16[width]; None before the first record."""
        ...

    @property
    def size(self) -> int:
        """Bytes on disk."""
        ...

    def __len__(self) -> int:
        """Number of records."""
        ...

    def record(self, key: bytes) -> int:
        """Number of the record of a key; NO_RECORD without one."""
        ...

    def records(self) -> Numbers:
        """The numbers of all records, int64[n]."""
        ...

    def put(self, keys: Sequence[bytes], states: PackedStates) -> list[int]:
        """Add records, one for each text of `states`; returns their numbers.

        A key that has a record keeps that. The center of the first is that of the file from then
        on. Raises ValueError for another one, and StoreError; then nothing is added.
        """
        ...

    def read(self, records: Numbers) -> PackedStates:
        """The states of these records, in their order.

        A number without a record, and a damaged record, which is dropped, have no tokens.
        """
        ...

    def pieces(self, records: Numbers) -> PieceLists:
        """The pieces of these records, in their order; none for a number without a record."""
        ...

    def erase(self, records: Numbers) -> None:
        """Remove records and overwrite what they say. Raises StoreError."""
        ...

    def compact(self) -> Iterator[None]:
        """Free the room of erased records where that is worth it, in steps.

        It is given up if records are put or erased meanwhile. Raises StoreError; then the file
        stays as it was.
        """
        ...

    def close(self) -> None:
        """Close the file; it may not be used any more."""
        ...


class TokenStore(Protocol):
    """Token files, at most one per soul; any may be deleted at any time. Methods block."""

    def open(self, owner: Owner, soul: SoulId, model: str, width: int) -> TokenFile:
        """The soul's file. It is empty if it was missing, unreadable or of another model.

        Raises StoreError.
        """
        ...

    def drop(self, owner: Owner, soul: SoulId) -> None:
        """Delete the soul's file, if any; it must not be open."""
        ...
