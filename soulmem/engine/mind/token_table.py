"""TokenTable: which record of the token file each text of a soul has, and how common each piece is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import MemoryId
from soulmem.graph.columns import Columns
from soulmem.graph.pairs import Pair, Pairs
from soulmem.graph.row_numbers import Rows
from soulmem.kernels.token_codes import PackedStates
from soulmem.ports.embedder import TextInContext
from soulmem.ports.token_store import KEY_BYTES, NO_RECORD, Numbers, TokenFile
from soulmem.retrieval.rarity import piece_rarity

TextKey = MemoryId | Pair  # a memory or fact, or two successive episodes

_UNKNOWN = -2  # the file was not asked for the text yet
_UNCOUNTED = -1


@dataclass(kw_only=True, eq=False)
class TokenTable:
    """Records of a soul's texts in its token file. Compute thread only.

    An episode after another has the states of the pass over both; the first of a chat, and every
    memory that is no message, those of the pass over its text alone. A record is looked up when it
    is first needed, so nothing is read when a soul is opened.
    """

    file: TokenFile
    rows: Rows[MemoryId]
    pairs: Pairs
    columns: Columns
    first_rows: Callable[[], Numbers]
    content_of: Callable[[TextKey], TextInContext]

    def __post_init__(self) -> None:
        self._own = _numbers(0)  # record of each row's text alone
        self._paired = _numbers(0)  # record of each pair
        # Record of each row whose pieces are counted for it.
        self._counted = np.full(0, _UNCOUNTED, np.int32)
        self._frequency = np.zeros(0, np.int32)  # by piece
        self.count = 0  # memories whose pieces are counted

    def forget(self, key: TextKey, row: int) -> None:
        """The text of a row or pair row was changed or dropped."""
        self._grow()
        if isinstance(key, tuple):
            self._paired[row] = _UNKNOWN
            return
        self._own[row] = _UNKNOWN
        self._discount(np.array([row]))

    def records(self, rows: Numbers, pair_rows: Numbers) -> Numbers:
        """Records of memories by row; `pair_rows` has for each the row of its pair, or -1.

        NO_RECORD where the states are not made yet.
        """
        self._grow()
        paired = pair_rows >= 0
        alone = rows[~paired & (self._own[rows] == _UNKNOWN)].tolist()
        after = pair_rows[paired & (self._paired[pair_rows] == _UNKNOWN)].tolist()
        keys: list[tuple[TextKey | None, int]] = []
        keys += ((self.rows.id(row), row) for row in alone)
        keys += ((self.pairs.id(row), row) for row in after)
        self._look_up([(key, row) for key, row in keys if key is not None])
        return np.where(paired, self._paired[pair_rows], self._own[rows]).astype(int)

    def read(self, rows: Numbers, pair_rows: Numbers) -> PackedStates:
        """The states of memories by row, as `records`; a memory without states has no tokens."""
        records = self.records(rows, pair_rows)
        states = self.file.read(records)
        damaged = records[(records >= 0) & (np.diff(states.starts) == 0)]
        if damaged.size:
            self._lose(damaged)
        return states

    def idf(self, pieces: NDArray[np.int32]) -> NDArray[np.float32]:
        """Inverse document frequency of each piece among the memories of this soul, .3 to 9."""
        return piece_rarity(self._frequency, pieces, self.count)

    def needs(self, key: TextKey) -> bool:
        """Whether the states of this text are kept: of a pair whose second is searched, and of a text that a
        chat begins with.
        """
        row = self.rows.row(key[1] if isinstance(key, tuple) else key)
        if row is None or isinstance(key, tuple):
            return row is not None and bool(self.columns.searched[row])
        return bool(self._needs_own()[row])

    def store(self, keys: Sequence[TextKey], states: PackedStates) -> None:
        """Keep the states of these texts, which are present ones. Raises StoreError."""
        contents = [self.content_of(key) for key in keys]
        numbers = self.file.put([_hash(content) for content in contents], states)
        self._grow()
        self._set(
            [
                (key, row, number)
                for key, number in zip(keys, numbers, strict=True)
                if (row := self._row(key)) is not None
            ]
        )

    def look_up(self, limit: int) -> bool:
        """Look up at most `limit` texts that were not looked up yet, the newest first; False if there
        are no more.
        """
        self._grow()
        keys = self._keys_with(_UNKNOWN, limit)
        self._look_up(keys)
        return len(keys) == limit

    def missing(self, limit: int) -> list[TextKey]:
        """At most `limit` of the texts that have no states as far as they were looked up, the newest first."""
        self._grow()
        return [key for key, _ in self._keys_with(NO_RECORD, limit)]

    def unneeded(self) -> Numbers:
        """Records that no text of this soul needs any more; every text must have been looked up."""
        self._grow()
        needed = self._needs_own()
        own = self._own[: needed.size][needed]
        used = np.concatenate([own, self._paired])
        records = self.file.records()
        return records[~np.isin(records, used)]

    def erase(self, records: Numbers) -> None:
        """Remove records from the file. Raises StoreError."""
        self._lose(records)
        self.file.erase(records)

    def _keys_with(self, record: int, limit: int) -> list[tuple[TextKey, int]]:
        """Texts that need states and have this record, with their rows, the newest first."""
        needed = self._needs_own()
        own = np.flatnonzero(needed & (self._own[: needed.size] == record))
        ends = self.pairs.ends()[:, 1]
        alike = (ends >= 0) & (self._paired[: ends.size] == record)
        paired = np.flatnonzero(alike)
        age = np.concatenate([own, ends[paired]])
        keys: list[tuple[TextKey, int]] = []
        for place in np.argsort(-age, kind="stable")[:limit].tolist():
            is_own = place < own.size
            row = int(own[place] if is_own else paired[place - own.size])
            key = self.rows.id(row) if is_own else self.pairs.id(row)
            if key is not None:
                keys.append((key, row))
        return keys

    def _needs_own(self) -> NDArray[np.bool_]:
        """Rows whose text alone needs states, bool[rows]."""
        n = self.rows.capacity
        needed: NDArray[np.bool_] = self.columns.searched[:n].copy()
        seconds = self.pairs.ends()[:, 1]
        needed[seconds[seconds >= 0]] = False
        firsts = self.first_rows()
        needed[firsts] = self.columns.searched[firsts]
        return needed

    def _look_up(self, keys: Sequence[tuple[TextKey, int]]) -> None:
        """Note the records of these texts, each with its row or pair row."""
        contents = (self.content_of(key) for key, _ in keys)
        numbers = [self.file.record(_hash(content)) for content in contents]
        self._set([(*key, n) for key, n in zip(keys, numbers, strict=True)])

    def _set(self, records: Sequence[tuple[TextKey, int, int]]) -> None:
        """Note records of texts, each with its row or pair row, and count the pieces of their memories."""
        uncounted: dict[int, int] = {}
        for key, row, record in records:
            memory: int | None = row
            if isinstance(key, tuple):
                self._paired[row] = record
                memory = self.rows.row(key[1])
            else:
                self._own[row] = record
            if record != NO_RECORD and memory is not None:
                uncounted.setdefault(memory, record)
        rows = np.fromiter(uncounted, np.int64, len(uncounted))
        numbers = np.fromiter(uncounted.values(), np.int64, len(uncounted))
        fresh = self._counted[rows] == _UNCOUNTED
        self._counted[rows[fresh]] = numbers[fresh]
        self._add(numbers[fresh], 1)

    def _discount(self, rows: Numbers) -> None:
        """Count the pieces of these memories no longer."""
        records = self._counted[rows]
        self._add(records[records != _UNCOUNTED].astype(np.int64), -1)
        self._counted[rows] = _UNCOUNTED

    def _add(self, records: Numbers, times: int) -> None:
        if not records.size:
            return
        lists = self.file.pieces(records)
        texts = np.repeat(np.arange(records.size), np.diff(lists.starts))
        distinct = np.unique(texts << 32 | lists.pieces) & 0xFFFF_FFFF
        most = int(distinct.max(initial=-1)) + 1
        if most > self._frequency.size:
            more = np.zeros(most - self._frequency.size, np.int32)
            self._frequency = np.concatenate([self._frequency, more])
        np.add.at(self._frequency, distinct, times)
        self.count += times * records.size

    def _lose(self, records: Numbers) -> None:
        """These records are about to be removed, or are damaged: their texts must be looked up again."""
        counted = np.flatnonzero(np.isin(self._counted, records))
        self._discount(counted)
        self._own[np.isin(self._own, records)] = _UNKNOWN
        self._paired[np.isin(self._paired, records)] = _UNKNOWN
        # A memory that is counted by a former record is counted by its present one when that is looked up.
        self._own[counted] = _UNKNOWN
        seconds = self.pairs.ends()[:, 1]
        self._paired[: seconds.size][np.isin(seconds, counted)] = _UNKNOWN

    def _row(self, key: TextKey) -> int | None:
        if isinstance(key, tuple):
            return self.pairs.row(key)
        return self.rows.row(key)

    def _grow(self) -> None:
        rows, pairs = self.rows.capacity, self.pairs.capacity
        if rows > self._own.size:
            spare = rows + rows // 4
            self._own = _grown(self._own, spare, _UNKNOWN)
            self._counted = _grown(self._counted, spare, _UNCOUNTED)
        if pairs >= self._paired.size:  # one more, that stands for no pair
            self._paired = _grown(self._paired, pairs + pairs // 4 + 1, _UNKNOWN)


def _hash(content: TextInContext) -> bytes:
    digest = hashlib.blake2b(digest_size=KEY_BYTES)
    for part in (content.context, content.text):
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.digest()


def _numbers(size: int) -> NDArray[np.int32]:
    return np.full(size, _UNKNOWN, np.int32)


def _grown(values: NDArray[np.int32], size: int, rest: int) -> NDArray[np.int32]:
    more = np.full(size - values.size, rest, np.int32)
    return np.concatenate([values, more])
