"""Snapshots of loaded souls as files in a folder, one for each soul, with checksums."""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
import shutil
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from soulmem.adapters.disk_files import snapshot_error, sync_folder
from soulmem.domain.ids import Owner, SoulId
from soulmem.ports.snapshot_store import Snapshot

log = logging.getLogger(__name__)

# A file consists of _BEGIN, the arrays, an index in JSON (head and list of arrays), the index's length and
# checksum (8 bytes each), _END. The index comes last, so a truncated file has none.
_BEGIN = b"SoulMem image 1\n"
_END = b"SoulMem end 1\n\x00\x00"
_NUMBER = 8  # bytes of a number
_TAIL = 2 * _NUMBER + len(_END)
_KINDS = "biuf"  # numpy's kinds for booleans, integers and floats
_RESERVED = 256 << 20  # bytes of the disk that snapshots leave free for the store


class SnapshotFolder:
    """Snapshots in `folder`, which is created with the first one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, owner: Owner, soul: SoulId, token: str) -> Snapshot | None:
        path = self._path(owner, soul)
        try:
            with path.open("rb") as file:
                return _read(file, token)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, MemoryError) as error:
            log.warning(
                "the snapshot of soul %s cannot be used, so its rows are read: %s",
                soul,
                error,
            )
            return None

    def write(self, owner: Owner, soul: SoulId, token: str) -> FileWriter:
        return FileWriter(self._path(owner, soul), token)

    def drop(self, owner: Owner, soul: SoulId) -> None:
        with suppress(OSError):
            self._path(owner, soul).unlink(missing_ok=True)

    def _path(self, owner: Owner, soul: SoulId) -> Path:
        name = hashlib.sha256(f"{owner}\x1f{soul}".encode()).hexdigest()[:32]
        return self._folder / f"{name}.image"


class FileWriter:
    """A snapshot that is being written."""

    def __init__(self, path: Path, token: str) -> None:
        self._path = path
        self._unfinished = path.with_suffix(".new")
        self._token = token
        # Name, type, shape and checksum of each array.
        self._arrays: list[tuple[str, str, list[int], int]] = []
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._unfinished.open("wb")
            self._file.write(_BEGIN)
        except OSError as error:
            raise snapshot_error(error) from error

    def add(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """See `SnapshotWriter`."""
        try:
            for name, array in arrays.items():
                data = np.ascontiguousarray(array)
                if data.dtype.kind not in _KINDS:
                    raise TypeError(f"an array of {data.dtype} cannot be stored")
                if shutil.disk_usage(self._path.parent).free < data.nbytes + _RESERVED:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                raw = data.reshape(-1).view(np.uint8)
                checksum = zlib.crc32(raw.data)
                self._file.write(raw.data)
                if zlib.crc32(raw.data) != checksum:
                    raise ValueError(f"the array {name} changed while it was written")
                self._arrays.append((name, data.dtype.str, list(data.shape), checksum))
        except OSError as error:
            raise snapshot_error(error) from error

    def finish(self, head: Mapping[str, Any]) -> None:
        """See `SnapshotWriter`."""
        index = {"token": self._token, "head": head, "arrays": self._arrays}
        data = json.dumps(index, ensure_ascii=False).encode()
        try:
            with self._file as file:
                file.write(data + _number(len(data)) + _number(zlib.crc32(data)) + _END)
                file.flush()
                os.fsync(file.fileno())
            os.replace(self._unfinished, self._path)
            sync_folder(self._path.parent)
        except OSError as error:
            raise snapshot_error(error) from error

    def give_up(self) -> None:
        """See `SnapshotWriter`."""
        with suppress(OSError):
            self._file.close()
            self._unfinished.unlink(missing_ok=True)


def _read(file: BinaryIO, token: str) -> Snapshot | None:
    """The snapshot in the file; None if it is of another token.

    Raises ValueError, KeyError or TypeError if the file is not a snapshot or is damaged.
    """
    size = file.seek(0, os.SEEK_END)
    data = _read_index(file, size)
    index = json.loads(data)
    if index["token"] != token:
        return None
    array_bytes = size - len(_BEGIN) - len(data) - _TAIL
    return Snapshot(index["head"], _read_arrays(file, index["arrays"], array_bytes))


def _read_index(file: BinaryIO, size: int) -> bytes:
    """The index as JSON; afterwards the file is at its first array. Raises ValueError."""
    if size < len(_BEGIN) + _TAIL:
        raise ValueError("it is truncated")
    file.seek(size - _TAIL)
    tail = file.read(_TAIL)
    length = int.from_bytes(tail[:_NUMBER], "little")
    checksum = int.from_bytes(tail[_NUMBER : 2 * _NUMBER], "little")
    if tail[2 * _NUMBER :] != _END or length > size - _TAIL - len(_BEGIN):
        raise ValueError("it is truncated, or of another version")
    file.seek(size - _TAIL - length)
    data = file.read(length)
    file.seek(0)
    if zlib.crc32(data) != checksum or file.read(len(_BEGIN)) != _BEGIN:
        raise ValueError("it is damaged")
    return data


def _read_arrays(file: BinaryIO, described: list[Any], size: int) -> dict[str, NDArray[Any]]:
    """The arrays by name; `size` is their number of bytes together. Raises ValueError."""
    arrays = {}
    remaining = size
    for name, kind, shape, expected in described:
        dtype = np.dtype(kind)
        count = int(np.prod(shape, dtype=np.int64))
        remaining -= count * dtype.itemsize
        if dtype.kind not in _KINDS or count < 0 or remaining < 0:
            raise ValueError("its index does not fit its size")
        array = np.fromfile(file, dtype, count)
        if array.size != count or zlib.crc32(array.view(np.uint8).data) != expected:
            raise ValueError(f"its array {name} is damaged")
        arrays[name] = array.reshape(shape)
    return arrays


def _number(value: int) -> bytes:
    return value.to_bytes(_NUMBER, "little")
