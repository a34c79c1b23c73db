"""Token states in a folder, two files for each soul: the states, and an index of them.

The index is a header, the center of the states and one entry for each record, so a soul's pieces are read without
its states. The piece that a passage begins with is written as its complement.
States are written before their entry and each has a checksum: after a process was killed, what is not
whole at the end is cut off. A record that does not fit its checksum is dropped when it is read.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import mmap
import os
import shutil
import struct
import zlib
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from soulmem.adapters.disk_files import sync_folder, token_file_error
from soulmem.domain.ids import Owner, SoulId
from soulmem.graph.hash_index import HashIndex
from soulmem.kernels.token_codes import Center, PackedStates, half_width
from soulmem.ports.token_store import (
    KEY_BYTES,
    NO_RECORD,
    Numbers,
    PieceLists,
    TokenFile,
)

log = logging.getLogger(__name__)

_MAGIC = b"SoulMem tokens 3"
_HEADER = struct.Struct("<16s32sII")  # magic, hash of the model, width, generation
_ENTRY = struct.Struct(f"<{KEY_BYTES}sQII")  # key, offset, tokens, checksum of the states
_CHECK = struct.Struct("<I")  # checksum, after an entry and its pieces and after the center
_ERASED = bytes(KEY_BYTES)
_SCALE = np.dtype("<f2")
_PIECE = np.dtype("<i4")
_MOST_TOKENS = 1 << 16  # of a record: a greater number is damage
_RESERVED = 256 << 20  # bytes of the disk that are left free for the store
_WASTED = 1 << 20  # erased bytes from which compaction is worth it, if they are a quarter
_COPIED = 100  # records copied in one step of compaction: about 1 MB


class TokenFolder:
    """Token files in `folder`, which is created with the first one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, owner: Owner, soul: SoulId, model: str, width: int) -> TokenFile:
        """See `soulmem.ports.token_store.TokenStore`."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            return SoulTokens(self._folder / _name(owner, soul), model, width)
        except OSError as error:
            raise token_file_error(error) from error

    def drop(self, owner: Owner, soul: SoulId) -> None:
        """See `soulmem.ports.token_store.TokenStore`."""
        for path in self._folder.glob(f"{_name(owner, soul)}.*"):
            with suppress(OSError):
                path.unlink()


class SoulTokens:
    """An open file of token states. `base` is its path without a suffix."""

    def __init__(self, base: Path, model: str, width: int) -> None:
        self.width = width
        self.center: Center | None = None  # in the index with the first record
        self._half = half_width(width)
        self._base = base
        self._model = hashlib.sha256(model.encode()).digest()
        self._places = _Places()
        self._generation = 0
        self._live = self._wasted = 0  # bytes of states
        self._revision = 0  # grows with each change
        if not self._load():
            self._generation += 1
            self._begin()
        self._clean()
        self._open()

    @property
    def size(self) -> int:
        """See `soulmem.ports.token_store.TokenFile`."""
        return self._end + self._index_end

    def __len__(self) -> int:
        return self._places.count

    def record(self, key: bytes) -> int:
        """See `soulmem.ports.token_store.TokenFile`."""
        return self._places.find(key)

    def records(self) -> Numbers:
        """See `soulmem.ports.token_store.TokenFile`."""
        return self._places.records()

    def put(self, keys: Sequence[bytes], states: PackedStates) -> list[int]:
        """See `soulmem.ports.token_store.TokenFile`."""
        if self.center is not None and not np.array_equal(states.center, self.center):
            raise ValueError("the states are packed with another center")
        blobs, entries = bytearray(), bytearray()
        if self.center is None:
            entries += _center_bytes(states.center)
        fresh: list[tuple[bytes, int, int, int, int]] = []
        seen: set[bytes] = set()
        for number, key in enumerate(keys):
            if key in seen or self._places.find(key) != NO_RECORD:
                continue
            seen.add(key)
            tokens = slice(states.starts[number], states.starts[number + 1])
            scale = states.scale[tokens].astype(_SCALE)
            blob = states.codes[tokens].tobytes() + scale.tobytes()
            offset, check = self._end + len(blobs), zlib.crc32(blob)
            fresh.append((key, offset, scale.size, check, self._index_end + len(entries)))
            pieces = _marked(states.pieces[tokens], states.begins[tokens])
            entries += _entry(key, offset, check, pieces)
            blobs += blob
        if fresh:
            self._append(blobs, entries)
            self.center = states.center
            for place in fresh:
                self._places.add(*place)
                self._live += self._bytes(place[2])
        return [self._places.find(key) for key in keys]

    def read(self, records: Numbers) -> PackedStates:
        """See `soulmem.ports.token_store.TokenFile`."""
        numbers = records.tolist()
        with _mapped(self._data, self._end) as view:
            blobs = [self._blob(view, number) for number in numbers]
        counts = [len(blob) // self._bytes(1) for blob in blobs]
        starts = np.cumsum([0, *counts], dtype=np.int64)
        codes = np.empty((int(starts[-1]), self._half), np.uint8)
        scale = np.empty(codes.shape[0], np.float16)
        for blob, start, count in zip(blobs, starts[:-1].tolist(), counts, strict=True):
            split, stop = count * self._half, start + count
            split_codes = np.frombuffer(blob, np.uint8, split)
            codes[start:stop] = split_codes.reshape(count, self._half)
            scale[start:stop] = np.frombuffer(blob, _SCALE, count, split)
        whole = [n if c else NO_RECORD for n, c in zip(numbers, counts, strict=True)]
        lists = self.pieces(np.asarray(whole, np.int64))
        unknown = np.zeros(self.width, np.float16)
        center = unknown if self.center is None else self.center
        return PackedStates(codes, scale, lists.pieces, starts, lists.begins, center)

    def pieces(self, records: Numbers) -> PieceLists:
        """See `soulmem.ports.token_store.TokenFile`."""
        numbers = records.tolist()
        counts = [self._places.tokens(number) for number in numbers]
        starts = np.cumsum([0, *counts], dtype=np.int64)
        blobs = []
        with _mapped(self._index, self._index_end) as view:
            for number, count in zip(numbers, counts, strict=True):
                if count:
                    start = self._places.entry[number] + _ENTRY.size
                    blobs.append(view[start : start + count * _PIECE.itemsize])
        marked = np.frombuffer(b"".join(blobs), _PIECE).astype(np.int32)
        begins = marked < 0
        return PieceLists(np.where(begins, ~marked, marked), starts, begins)

    def erase(self, records: Numbers) -> None:
        """See `soulmem.ports.token_store.TokenFile`."""
        try:
            # The states first: an entry that is still there shows where they are.
            numbers = [n for n in records.tolist() if self._places.is_used(n)]
            for number in numbers:
                count = self._places.tokens(number)
                self._data.seek(self._places.offset[number])
                self._data.write(bytes(self._bytes(count)))
            for number in numbers:
                self._erase_entry(number)
        except OSError as error:
            raise token_file_error(error) from error

    def compact(self) -> Iterator[None]:
        """See `soulmem.ports.token_store.TokenFile`."""
        if self._wasted < max(_WASTED, (self._live + self._wasted) // 4):
            return
        try:
            yield from self._rewrite()
        except OSError as error:
            raise token_file_error(error) from error

    def close(self) -> None:
        """See `soulmem.ports.token_store.TokenFile`."""
        self._data.close()
        self._index.close()

    def _append(self, blobs: bytearray, entries: bytearray) -> None:
        """Write states, then their entries. Raises StoreError; then both files are as before."""
        try:
            free = shutil.disk_usage(self._base.parent).free
            if free < len(blobs) + len(entries) + _RESERVED:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._data.seek(self._end)
            self._data.write(blobs)
            self._index.seek(self._index_end)
            self._index.write(entries)
        except OSError as error:
            with suppress(OSError):
                self._data.truncate(self._end)
                self._index.truncate(self._index_end)
            raise token_file_error(error) from error
        self._revision += 1
        self._end += len(blobs)
        self._index_end += len(entries)

    def _blob(self, view: mmap.mmap | bytes, number: int) -> bytes:
        """The states of a record; empty without one, or for a damaged one, which is dropped."""
        places = self._places
        if not places.is_used(number):
            return b""
        start, size = places.offset[number], self._bytes(places.tokens(number))
        blob = view[start : start + size]
        # A file that something else cut short while it is open lacks records that were whole before.
        is_whole = len(blob) == size
        if is_whole and not places.checked[number]:
            is_whole = zlib.crc32(blob) == places.check[number]
        if not is_whole:
            log.warning("damaged token states are made again")
            with suppress(OSError):
                self._erase_entry(number)
            return b""
        places.checked[number] = 1
        return blob

    def _erase_entry(self, number: int) -> None:
        count, start = self._places.tokens(number), self._places.entry[number]
        blank = np.zeros(count, _PIECE)
        self._index.seek(start)
        self._index.write(_entry(_ERASED, self._places.offset[number], 0, blank))
        self._places.drop(number)
        self._revision += 1
        self._live -= self._bytes(count)
        self._wasted += self._bytes(count)

    def _bytes(self, tokens: int) -> int:
        return tokens * (self._half + _SCALE.itemsize)

    def _data_path(self, generation: int) -> Path:
        return Path(f"{self._base}.{generation}.tokens")

    @property
    def _index_path(self) -> Path:
        return Path(f"{self._base}.index")

    def _load(self) -> bool:
        """Read the index; False where it is missing, not readable, or of another model."""
        try:
            content = self._index_path.read_bytes()
            magic, model, width, generation = _HEADER.unpack_from(content)
        except (FileNotFoundError, struct.error):
            return False
        if magic != _MAGIC:
            return False
        self._generation = generation
        data = self._data_path(generation)
        if (model, width) != (self._model, self.width) or not data.is_file():
            return False
        self._index_end = self._read_entries(content, data.stat().st_size)
        os.truncate(self._index_path, self._index_end)
        os.truncate(data, self._end)
        return True

    def _read_entries(self, content: bytes, most: int) -> int:
        """Note the places of the records of an index whose states lie in `most` bytes; returns where it ends."""
        self._end = 0
        self.center = self._read_center(content)
        place = self._first_entry
        if self.center is None:
            return place
        while place + _ENTRY.size <= len(content):
            key, offset, count, check = _ENTRY.unpack_from(content, place)
            stop = place + _ENTRY.size + count * _PIECE.itemsize
            length = self._bytes(count)
            if (
                count > _MOST_TOKENS
                or stop + _CHECK.size > len(content)
                or _CHECK.unpack_from(content, stop)[0] != zlib.crc32(content[place:stop])
                or offset + length > most
            ):
                break
            if key == _ERASED:
                self._wasted += length
            else:
                self._places.add(key, offset, count, check, place)
                self._live += length
            self._end = max(self._end, offset + length)
            place = stop + _CHECK.size
        return place

    def _read_center(self, content: bytes) -> Center | None:
        """The center of an index; None where it is not there whole."""
        stop = _HEADER.size + self.width * _SCALE.itemsize
        if len(content) < stop + _CHECK.size:
            return None
        center = np.frombuffer(content[_HEADER.size : stop], _SCALE)
        is_whole = content[_HEADER.size : stop + _CHECK.size] == _center_bytes(center)
        return center.astype(np.float16) if is_whole else None

    @property
    def _first_entry(self) -> int:
        """Where the entries begin in the index."""
        center = self.center
        return _HEADER.size + (0 if center is None else len(_center_bytes(center)))

    def _begin(self) -> None:
        """Begin an empty file of this model."""
        self._data_path(self._generation).write_bytes(b"")
        self._write_index([])
        self._end, self._index_end = 0, self._first_entry
        self._live = self._wasted = 0

    def _write_index(self, entries: Sequence[bytes]) -> None:
        """Replace the index, completely or not at all."""
        fresh = Path(f"{self._base}.new")
        head = _HEADER.pack(_MAGIC, self._model, self.width, self._generation)
        if self.center is not None:
            head += _center_bytes(self.center)
        with fresh.open("wb") as file:
            file.write(head + b"".join(entries))
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, self._index_path)
        sync_folder(self._base.parent)

    def _clean(self) -> None:
        """Delete the states of other generations, as of a compaction that was broken off."""
        for path in self._base.parent.glob(f"{self._base.name}.*.tokens"):
            if path != self._data_path(self._generation):
                with suppress(OSError):
                    path.unlink()

    def _open(self) -> None:
        self._data: BinaryIO = self._data_path(self._generation).open("r+b", 0)
        self._index: BinaryIO = self._index_path.open("r+b", 0)

    def _rewrite(self) -> Iterator[None]:
        """Copy what is in use into files of the next generation, in steps, and open these."""
        numbers, revision = self.records(), self._revision
        generation, offset = self._generation + 1, 0
        starts: list[int] = []
        entries: list[bytes] = []
        with self._data_path(generation).open("wb") as file:
            for first in range(0, numbers.size, _COPIED):
                part = numbers[first : first + _COPIED]
                for number in part.tolist():
                    length = self._bytes(self._places.tokens(number))
                    self._data.seek(self._places.offset[number])
                    file.write(self._data.read(length))
                    starts.append(offset)
                    offset += length
                entries += self._moved(part, starts[first:])
                yield
            file.flush()
            os.fsync(file.fileno())
        if self._revision != revision:
            self._clean()
            return
        self.close()
        try:
            self._generation = generation
            self._write_index(entries)
        except OSError:
            self._generation = generation - 1
            self._open()
            raise
        place = self._first_entry
        for number, start, entry in zip(numbers.tolist(), starts, entries, strict=True):
            self._places.offset[number], self._places.entry[number] = start, place
            place += len(entry)
        self._end, self._index_end, self._wasted = offset, place, 0
        self._clean()
        self._open()

    def _moved(self, records: Numbers, offsets: Sequence[int]) -> list[bytes]:
        """The entries of records whose states have moved to these offsets."""
        lists, places = self.pieces(records), self._places
        each = np.split(_marked(lists.pieces, lists.begins), lists.starts[1:-1])
        return [
            _entry(places.key(number), offset, places.check[number], pieces)
            for number, offset, pieces in zip(records.tolist(), offsets, each, strict=True)
        ]


class _Places:
    """Where the records lie, by number: some 45 bytes each."""

    def __init__(self) -> None:
        self.offset = array("q")  # of the states
        self.entry = array("q")  # offset of the entry in the index
        self.check = array("I")  # checksum of the states
        self.checked = bytearray()  # 1 where the states fit it
        self.count = 0  # records in use
        self._tokens = array("i")  # -1 where there is no record any more
        self._keys = bytearray()
        self._numbers = HashIndex()

    def add(self, key: bytes, offset: int, tokens: int, check: int, entry: int) -> None:
        """Add a record with the next number; of two with one key the last counts."""
        former = self.find(key)
        if former != NO_RECORD:
            self.drop(former)
        number = len(self.offset)
        self.offset.append(offset)
        self.entry.append(entry)
        self.check.append(check)
        self.checked.append(0)
        self._tokens.append(tokens)
        self._keys += key
        self._numbers.put(_short(key), number)
        self.count += 1

    def find(self, key: bytes) -> int:
        """The number of a key's record, or NO_RECORD."""
        for number in self._numbers.find(_short(key)):
            if self.key(number) == key:
                return number
        return NO_RECORD

    def key(self, number: int) -> bytes:
        """The key of a record."""
        return bytes(self._keys[number * KEY_BYTES : (number + 1) * KEY_BYTES])

    def is_used(self, number: int) -> bool:
        """Whether there is a record of that number."""
        return 0 <= number < len(self._tokens) and self._tokens[number] >= 0

    def tokens(self, number: int) -> int:
        """Number of tokens of a record; 0 without one."""
        return self._tokens[number] if self.is_used(number) else 0

    def records(self) -> Numbers:
        """The numbers of all records, int64[n]."""
        return np.flatnonzero(np.frombuffer(self._tokens, np.int32) >= 0)

    def drop(self, number: int) -> None:
        """Remove a record."""
        self._numbers.drop(_short(self.key(number)), number)
        self._tokens[number] = -1
        self.count -= 1


@contextmanager
def _mapped(file: BinaryIO, size: int) -> Iterator[mmap.mmap | bytes]:
    """The first `size` bytes of a file, or all if it has less, mapped for as long as a read takes.

    A read call for each record would let another thread in each time. A lasting map would count as memory in use:
    systems map up to megabytes around a page.
    """
    size = min(size, os.fstat(file.fileno()).st_size)
    if not size:
        yield b""
        return
    with mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) as view:
        yield view


def _marked(pieces: NDArray[np.int32], begins: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Pieces as they are written."""
    return np.where(begins, ~pieces, pieces).astype(_PIECE)


def _entry(key: bytes, offset: int, check: int, pieces: np.ndarray) -> bytes:
    """The entry of a record in the index."""
    body = _ENTRY.pack(key, offset, pieces.size, check) + pieces.tobytes()
    return body + _CHECK.pack(zlib.crc32(body))


def _center_bytes(center: Center) -> bytes:
    """The center in the index, after the header."""
    body = center.astype(_SCALE).tobytes()
    return body + _CHECK.pack(zlib.crc32(body))


def _short(key: bytes) -> int:
    return int.from_bytes(key[:4], "little")


def _name(owner: Owner, soul: SoulId) -> str:
    return hashlib.sha256(f"{owner}\x1f{soul}".encode()).hexdigest()[:32]
