"""Texts and lists of rows as arrays, for snapshot files, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]


def packed_texts(texts: Sequence[str | None]) -> NDArray[np.uint8]:
    """The texts as msgpack in a uint8 array. Raises UnicodeEncodeError for invalid Unicode."""
    return np.frombuffer(msgspec.msgpack.encode(texts), np.uint8)


def unpacked_texts(packed: NDArray[Any]) -> list[str | None]:
    """Inverse of `packed_texts`."""
    return msgspec.msgpack.decode(packed.data, type=list[str | None])


def packed_runs(runs: Sequence[NDArray[np.int64]]) -> dict[str, NDArray[Any]]:
    """Arrays of rows, concatenated, with their lengths."""
    nothing = np.zeros(0, np.int32)
    return {
        "lengths": np.asarray([run.size for run in runs], np.int64),
        "values": np.concatenate([nothing, *runs]).astype(np.int32),
    }


def unpacked_runs(arrays: Arrays) -> list[NDArray[np.int64]]:
    """Inverse of `packed_runs`."""
    ends = np.cumsum(arrays["lengths"])[:-1]
    return np.split(arrays["values"].astype(np.int64), ends) if arrays["lengths"].size else []


def named(prefix: str, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """The arrays under names prefixed with `prefix` and a dot."""
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def part(prefix: str, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """Inverse of `named`: the arrays of that prefix, without it."""
    start = len(prefix) + 1
    return {name[start:]: array for name, array in arrays.items() if name.startswith(f"{prefix}.")}
