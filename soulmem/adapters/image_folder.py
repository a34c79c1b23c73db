"""SnapshotStore of open minds as files in a folder, one a soul: written aside, checked whenever they are read."""

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

from soulmem.adapters.durable import sync_folder
from soulmem.domain.errors import StoreError, StoreFull
from soulmem.domain.ids import Owner, SoulId
from soulmem.ports.snapshot_store import Snapshot

log = logging.getLogger(__name__)

# A file: _BEGIN, the arrays one after the other, an index of them in JSON with the head, its length and
# checksum as 8 bytes each, _END. The index comes last, so a file that was cut off has none.
_BEGIN = b"SoulMem image 1\n"
_END = b"SoulMem end 1\n\x00\x00"
_NUMBER = 8
_TAIL = 2 * _NUMBER + len(_END)
_KINDS = "biuf"  # what numpy calls booleans, integers and floats
_ROOM = (
    256 << 20
)  # bytes of the disk that are left to the store: an image is worth less than a memory


class ImageFolder:
    """SnapshotStore in `folder`, which is made when the first one is written."""

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
                "the image of soul %s cannot be used, so its rows are read: %s",
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
    """An image that is being written."""

    def __init__(self, path: Path, token: str) -> None:
        self._path = path
        self._aside = path.with_suffix(".new")
        self._token = token
        self._arrays: list[
            tuple[str, str, list[int], int]
        ] = []  # name, type, shape, checksum
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._aside.open("wb")
            self._file.write(_BEGIN)
        except OSError as error:
            raise _fault(error) from error

    def add(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """See `SnapshotWriter`."""
        try:
            for name, array in arrays.items():
                data = np.ascontiguousarray(array)
                if data.dtype.kind not in _KINDS:
                    raise TypeError(f"an array of {data.dtype} cannot be kept")
                if shutil.disk_usage(self._path.parent).free < data.nbytes + _ROOM:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                raw = data.reshape(-1).view(np.uint8)
                self._file.write(raw.data)
                self._arrays.append(
                    (name, data.dtype.str, list(data.shape), zlib.crc32(raw.data))
                )
        except OSError as error:
            raise _fault(error) from error

    def finish(self, head: Mapping[str, Any]) -> None:
        """See `SnapshotWriter`."""
        index = {"token": self._token, "head": head, "arrays": self._arrays}
        data = json.dumps(index, ensure_ascii=False).encode()
        try:
            with self._file as file:
                file.write(data + _number(len(data)) + _number(zlib.crc32(data)) + _END)
                file.flush()
                os.fsync(file.fileno())
            os.replace(self._aside, self._path)
            sync_folder(self._path.parent)
        except OSError as error:
            raise _fault(error) from error

    def give_up(self) -> None:
        """See `SnapshotWriter`."""
        with suppress(OSError):
            self._file.close()
            self._aside.unlink(missing_ok=True)


def _read(file: BinaryIO, token: str) -> Snapshot | None:
    """The image in the file. Raises ValueError, KeyError or TypeError for anything that is none."""
    size = file.seek(0, os.SEEK_END)
    if size < len(_BEGIN) + _TAIL:
        raise ValueError("it is cut off")
    file.seek(size - _TAIL)
    tail = file.read(_TAIL)
    length, checksum = (
        int.from_bytes(tail[start : start + _NUMBER], "little")
        for start in (0, _NUMBER)
    )
    if tail[2 * _NUMBER :] != _END or length > size - _TAIL - len(_BEGIN):
        raise ValueError("it is cut off, or of another version")
    file.seek(size - _TAIL - length)
    data = file.read(length)
    file.seek(0)
    if zlib.crc32(data) != checksum or file.read(len(_BEGIN)) != _BEGIN:
        raise ValueError("it is damaged")
    index = json.loads(data)
    if index["token"] != token:
        return None
    arrays = {}
    remaining = size - len(_BEGIN) - length - _TAIL
    for name, kind, shape, expected in index["arrays"]:
        dtype = np.dtype(kind)
        count = int(np.prod(shape, dtype=np.int64))
        remaining -= count * dtype.itemsize
        if dtype.kind not in _KINDS or count < 0 or remaining < 0:
            raise ValueError("its parts do not fit it")
        array = np.fromfile(file, dtype, count)
        if array.size != count or zlib.crc32(array.view(np.uint8).data) != expected:
            raise ValueError(f"its part {name} is damaged")
        arrays[name] = array.reshape(shape)
    return Snapshot(index["head"], arrays)


def _number(value: int) -> bytes:
    return value.to_bytes(_NUMBER, "little")


def _fault(error: OSError) -> StoreError:
    if error.errno == errno.ENOSPC:
        return StoreFull("the disk has no room for an image of the soul's memory")
    return StoreError(f"an image of the soul's memory could not be written: {error}")
