"""The edges of one soul as columns, found by id, by both ends and by memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.calendar import EPOCH, MICROSECOND
from soulmem.domain.edges import Edge, EdgeKind, EdgePage, edge_id
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Origin
from soulmem.graph.change_log import ChangeLog, EdgeChange
from soulmem.graph.edge_arrays import EDGE_KINDS, EdgeArrays
from soulmem.graph.hash_index import HashIndex
from soulmem.graph.latest_mentions import Mentions
from soulmem.graph.packed_arrays import Arrays, named, packed_texts, part, unpacked_texts
from soulmem.graph.row_numbers import Rows
from soulmem.graph.slot_lists import Chains
from soulmem.graph.sparse import Sparse
from soulmem.kernels.arrays import Float64s, Int64s

_ORIGINS = tuple(Origin)
_KIND_CODE = {kind.value: code for code, kind in enumerate(EDGE_KINDS)}
_ORIGIN_CODE = {origin.value: code for code, origin in enumerate(_ORIGINS)}
_MENTIONS = EDGE_KINDS.index(EdgeKind.MENTIONS)
_FREE = 255  # the kind of a slot that holds no edge
_FIRST_SLOTS = 64
_MOST_USES = np.iinfo(np.uint32).max  # no more are counted

_COLUMNS = (
    *("_source", "_target", "_kind", "_origin", "_verb", "_strength", "_confidence"),
    *("_stability", "_at_turn", "_touched", "_uses"),
)


class EdgeTable(Mapping[str, Edge]):
    """The edges of one soul by id, some 100 bytes each with all indexes.

    Both ends of an edge must have a row in `rows` while the edge is here.
    """

    def __init__(self, soul: SoulId, rows: Rows[MemoryId]) -> None:
        self._changes = ChangeLog()
        self._soul = soul
        self._rows = rows
        self._ids = HashIndex()
        self._verbs: list[str | None] = [None]
        self._verb_code: dict[str | None, int] = {None: 0}
        self._size = 0  # slots ever used
        self._free: list[int] = []
        self._source = np.zeros(_FIRST_SLOTS, np.uint32)
        self._target = np.zeros(_FIRST_SLOTS, np.uint32)
        self._kind = np.full(_FIRST_SLOTS, _FREE, np.uint8)
        self._origin = np.zeros(_FIRST_SLOTS, np.uint8)
        self._verb = np.zeros(_FIRST_SLOTS, np.int32)
        self._strength = np.zeros(_FIRST_SLOTS, np.float64)
        self._confidence = np.zeros(_FIRST_SLOTS, np.float64)
        self._stability = np.zeros(_FIRST_SLOTS, np.float64)
        self._at_turn = np.zeros(_FIRST_SLOTS, np.float64)
        self._touched = np.zeros(_FIRST_SLOTS, np.int64)
        self._uses = np.zeros(_FIRST_SLOTS, np.uint32)
        self._probability = Sparse()  # by slot
        self._made = Sparse()  # by slot, in microseconds since 1970
        self._leaving = Chains()  # by source row
        self._arriving = Chains()  # by target row
        self._mentions = Mentions(_MENTIONS)

    def packed(self) -> dict[str, NDArray[Any]]:
        """Copies of all columns and indexes for a snapshot; rows are those of `Rows`."""
        columns = {name[1:]: getattr(self, name)[: self._size].copy() for name in _COLUMNS}
        return {
            **columns,
            "verbs": packed_texts(self._verbs),
            **named("ids", self._ids.packed()),
            **named("probability", self._probability.packed()),
            **named("made", self._made.packed()),
            **named("leaving", self._leaving.packed(self._size)),
            **named("arriving", self._arriving.packed(self._size)),
        }

    def restore(self, arrays: Arrays) -> None:
        """Replace the content by that of `packed`."""
        for name in _COLUMNS:
            setattr(self, name, arrays[name[1:]])
        self._size = self._kind.size
        self._free = np.flatnonzero(self._kind == _FREE).tolist()
        self._verbs = unpacked_texts(arrays["verbs"])
        self._verb_code = {verb: code for code, verb in enumerate(self._verbs)}
        self._ids = HashIndex.unpacked(part("ids", arrays))
        self._probability = Sparse.unpacked(part("probability", arrays))
        self._made = Sparse.unpacked(part("made", arrays))
        self._leaving = Chains.unpacked(part("leaving", arrays))
        self._arriving = Chains.unpacked(part("arriving", arrays))
        self._mentions.forget()
        self._changes.reset()

    @property
    def revision(self) -> int:
        """Grows with every change."""
        return self._changes.revision

    def __len__(self) -> int:
        return self._size - len(self._free)

    def __iter__(self) -> Iterator[str]:
        return (edge.id for edge in self.every())

    def __getitem__(self, key: str) -> Edge:
        slot = self.slot(key)
        if slot is None:
            raise KeyError(key)
        return self.edge_at(slot)

    def existing(self, key: str) -> Edge:
        """The edge of an id that is in the table; faster than indexing, as ids are rarely built."""
        slot = self._ids.only(_number(key))
        return self.edge_at(slot) if slot >= 0 else self[key]

    def verb_of(self, key: str) -> str | None:
        """Verb of the edge of an id that is in the table."""
        only = self._ids.only(_number(key))
        slot = only if only >= 0 else self.slot(key)
        return self._verbs[self._verb.item(slot)] if slot is not None else None

    def every(self) -> Iterator[Edge]:
        """All edges, without building their ids."""
        return (
            self.edge_at(int(slot)) for slot in np.flatnonzero(self._kind[: self._size] != _FREE)
        )

    def edge_at(self, slot: int) -> Edge:
        """The edge in a used slot."""
        at_turn, made = self._at_turn.item(slot), self._made.get(slot)
        return Edge(
            soul=self._soul,
            source=self._end(self._source.item(slot)),
            target=self._end(self._target.item(slot)),
            kind=EDGE_KINDS[self._kind.item(slot)],
            origin=_ORIGINS[self._origin.item(slot)],
            touched=EPOCH + self._touched.item(slot) * MICROSECOND,
            strength=self._strength.item(slot),
            confidence=self._confidence.item(slot),
            stability=self._stability.item(slot),
            uses=self._uses.item(slot),
            verb=self._verbs[self._verb.item(slot)],
            probability=self._probability.get(slot),
            at_turn=None if at_turn != at_turn else at_turn,
            made=None if made is None else EPOCH + int(made) * MICROSECOND,
        )

    def slot(self, key: str) -> int | None:
        """Slot of the edge of that id, None when there is none."""
        for slot in self._ids.find(_number(key)):
            if self._id(slot) == key:
                return slot
        return None

    def id_at(self, slot: int) -> str | None:
        """Id of the edge in a slot; None of a free one."""
        return None if self._kind[slot] == _FREE else self._id(slot)

    def find(
        self,
        kind: EdgeKind,
        source: MemoryId,
        target: MemoryId,
        verb: str | None = None,
    ) -> Edge | None:
        """The edge of that kind and verb from `source` to `target`, or None."""
        return self.get(edge_id(kind, source, target, verb))

    def of(self, memory: MemoryId, kind: EdgeKind | None = None) -> Iterator[Edge]:
        """Edges that start or end at the memory, of one kind if given, in no particular order."""
        return map(self.edge_at, self._touching(memory, kind))

    def targets(self, memory: MemoryId, kind: EdgeKind) -> list[MemoryId]:
        """The memories that edges of this kind lead to from the memory; builds no edge."""
        row = self._rows.row(memory)
        if row is None:
            return []
        code, kinds, target = EDGE_KINDS.index(kind), self._kind, self._target
        slots = self._leaving.of(row)
        return self._rows.ids(target.item(s) for s in slots if kinds.item(s) == code)

    def target_rows(self, rows: Int64s, kind: EdgeKind) -> tuple[Int64s, Int64s]:
        """Rows that edges of this kind lead to from these distinct rows, row by row, in the order of `targets`.

        Returns them, and how many there are up to each row.
        """
        codes = self._kind[: self._size]
        slots, ends = self._leaving.of_all(rows, codes, _wanted([kind]))
        return self._target[slots].astype(np.int64), ends

    @property
    def verbs(self) -> Sequence[str | None]:
        """Every verb that an edge has had in this table."""
        return self._verbs

    def relations(self, memory: MemoryId, verbs: Iterable[str | None]) -> list[Edge]:
        """Relations of the memory, either direction, whose verb is among `verbs`."""
        code_of = self._verb_code
        codes = {code_of[verb] for verb in verbs if verb in code_of}
        slots = self._touching(memory, EdgeKind.RELATES) if codes else ()
        return [self.edge_at(slot) for slot in slots if self._verb.item(slot) in codes]

    def between(self, memories: Collection[MemoryId]) -> list[Edge]:
        """Edges with both ends among the memories, in no particular order."""
        rows = set(self._rows_of(list(memories)).tolist()) - {-1}
        slots = chain.from_iterable(map(self._leaving.of, rows))
        return [self.edge_at(slot) for slot in slots if int(self._target[slot]) in rows]

    def put(self, edge: Edge) -> None:
        """Add an edge, or replace the one of the same id. Raises KeyError for an end without a row."""
        key = edge.id
        slot = self.slot(key)
        if slot is None:
            source, target = self._row(edge.source), self._row(edge.target)
            slot = self._free.pop() if self._free else self._new_slots(1)
            self._source[slot], self._target[slot] = source, target
            self._kind[slot] = _KIND_CODE[edge.kind.value]
            self._verb[slot] = self._code_of_verb(edge.verb)
            self._leaving.add(source, slot)
            self._arriving.add(target, slot)
            self._ids.put(_number(key), slot)
        self._origin[slot] = _ORIGIN_CODE[edge.origin.value]
        self._touched[slot] = (edge.touched - EPOCH) // MICROSECOND
        self._strength[slot] = edge.strength
        self._confidence[slot] = edge.confidence
        self._stability[slot] = edge.stability
        self._at_turn[slot] = np.nan if edge.at_turn is None else edge.at_turn
        self._uses[slot] = min(max(edge.uses, 0), _MOST_USES)
        self._probability.put(slot, edge.probability)
        made = None if edge.made is None else (edge.made - EPOCH) // MICROSECOND
        self._made.put(slot, made)
        if edge.kind is EdgeKind.MENTIONS:
            self._mentions.put(int(self._target[slot]), slot, self._touched, self._at_turn)
        self._note(slot)

    def load(self, page: EdgePage) -> None:
        """Add edges that are not in the table yet; those with an end without a row are skipped."""
        source, target = self._rows_of(page.source), self._rows_of(page.target)
        which = np.flatnonzero((source >= 0) & (target >= 0))
        if not which.size:
            return
        first = self._new_slots(which.size)
        slots = slice(first, first + which.size)
        self._source[slots], self._target[slots] = source[which], target[which]
        for column, values in (
            (self._kind, [_KIND_CODE[kind] for kind in page.kind]),
            (self._origin, [_ORIGIN_CODE[origin] for origin in page.origin]),
            (self._verb, [self._code_of_verb(verb) for verb in page.verb]),
            (self._touched, page.touched),
            (self._strength, page.strength),
            (self._confidence, page.confidence),
            (self._stability, page.stability),
            (self._at_turn, page.at_turn),
            (self._uses, np.clip(np.asarray(page.uses, np.int64), 0, _MOST_USES)),
        ):
            column[slots] = np.asarray(values, column.dtype)[which]  # None becomes NaN
        for few, given in (
            (self._probability, page.probability),
            (self._made, page.made),
        ):
            few.put_all(first, map(given.__getitem__, which.tolist()))
        numbers = np.arange(first, first + which.size, dtype=np.int32)
        self._leaving.add_all(source[which], numbers)
        self._arriving.add_all(target[which], numbers)
        self._ids.put_all(np.asarray([_number(key) for key in page.id], np.uint32)[which], numbers)
        self._mentions.forget()
        self._changes.reset()

    def drop(self, key: str) -> None:
        """Forget the edge of that id; an unknown one is ignored."""
        slot = self.slot(key)
        if slot is not None:
            self._drop(slot, key)

    def drop_of(self, memory: MemoryId) -> None:
        """Forget every edge that starts or ends at the memory."""
        for slot in list(self._touching(memory)):
            self._drop(slot, self._id(slot))

    def keep(self, slots: Int64s) -> None:
        """Let all edges go but those in these distinct slots, and the room they took; slots change."""
        for name in _COLUMNS:
            setattr(self, name, getattr(self, name)[slots])
        self._probability = self._probability.kept(slots)
        self._made = self._made.kept(slots)
        self._size = slots.size
        self._free = []
        self._ids.keep(slots)
        self._leaving, self._arriving = Chains(), Chains()
        self._mentions.forget()
        if slots.size:
            numbers = np.arange(slots.size, dtype=np.int32)
            self._leaving.add_all(self._source.astype(np.int64), numbers)
            self._arriving.add_all(self._target.astype(np.int64), numbers)
        self._changes.reset()

    def mentions(self, rows: Int64s) -> tuple[Int64s, Int64s, Float64s]:
        """The mentions that end at these distinct rows; of a row with very many, the latest.

        Returns target row, last touch in microseconds since 1970, and its turn (NaN if unknown).
        """
        slots = self.mention_slots(rows)
        return (
            self._target[slots].astype(np.int64),
            self._touched[slots],
            self._at_turn[slots],
        )

    def mention_slots(self, rows: Int64s) -> Int64s:
        """The slots of those mentions, ascending."""
        columns = self._kind[: self._size], self._target[: self._size]
        return self._mentions.of(rows, self._arriving, *columns, self._touched, self._at_turn)

    def worth_of_mentions(self, rows: Int64s, worth: NDArray[np.uint8], most: int) -> Int64s:
        """Worth of the texts that mention each of these rows; counted until it is `most`, -1 without a mention.

        worth  uint8[n] by row of a text
        """
        out = np.empty(rows.size, np.int64)
        self._arriving.add_worth(rows, self._kind, _MENTIONS, self._source, worth, most, out)
        return out

    def changed(self, since: int) -> list[EdgeChange] | None:
        """Edges put or dropped since that revision; None when the log does not reach back so far."""
        return self._changes.since(since)

    def arrays(
        self, kinds: Sequence[EdgeKind] = EDGE_KINDS, rows: Int64s | None = None
    ) -> EdgeArrays:
        """Edges of these kinds as columns; with `rows`, those that start or end at these distinct rows."""
        code = self._kind[: self._size]
        wanted = _wanted(kinds)
        if rows is None:
            slots = np.flatnonzero(wanted[code])
        else:
            # Marked, not sorted: some people have a hundred thousand.
            is_asked = np.zeros(self._size, np.bool_)
            is_asked[self._leaving.of_all(rows, code, wanted)[0]] = True
            is_asked[self._arriving.of_all(rows, code, wanted)[0]] = True
            slots = np.flatnonzero(is_asked)
        # Views of the columns where these are all.
        which: Any = slice(0, self._size) if slots.size == self._size else slots
        return self._arrays_at(slots, which)

    def touching(
        self, rows: Int64s, kinds: Sequence[EdgeKind], most: int
    ) -> tuple[Int64s, EdgeArrays]:
        """The edges of these kinds that start or end at these distinct rows; none of a row with more than `most`.

        Returns the index in `rows` for each edge, and the edges; an edge between two of the rows comes twice.
        """
        code, wanted = self._kind[: self._size], _wanted(kinds)
        places, slots = list[Int64s](), list[Int64s]()
        for chains in (self._leaving, self._arriving):
            found, ends = chains.of_all(rows, code, wanted)
            places.append(np.repeat(np.arange(rows.size), np.diff(ends, prepend=0)))
            slots.append(found)
        is_loop = self._source[slots[1]] == self._target[slots[1]]
        where = np.concatenate([places[0], places[1][~is_loop]])
        every = np.concatenate([slots[0], slots[1][~is_loop]])
        few = np.bincount(where, minlength=rows.size)[where] <= most
        where, every = where[few], every[few]
        return where, self._arrays_at(every, every)

    def _arrays_at(self, slots: Int64s, which: Any) -> EdgeArrays:
        return EdgeArrays(
            slot=slots,
            source=self._source[which],
            target=self._target[which],
            kind=self._kind[which],
            strength=self._strength[which],
            confidence=self._confidence[which],
            stability=self._stability[which],
            at_turn=self._at_turn[which],
            touched=self._touched[which],
        )

    def probabilities(self, slots: Int64s) -> Float64s:
        """Probabilities, 0..1, of the edges in these slots; NaN where an edge has none."""
        return self._probability.of(slots)

    def drawn_by_hand(self, slots: Int64s) -> NDArray[np.bool_]:
        """Mask of the slots whose edge was made by the user."""
        return np.asarray(self._origin[slots] == _ORIGIN_CODE[Origin.USER.value])

    def has_verb(self, slots: Int64s, verbs: Iterable[str | None]) -> NDArray[np.bool_]:
        """Mask of the slots whose edge has one of these verbs."""
        codes = [self._verb_code[verb] for verb in verbs if verb in self._verb_code]
        return np.isin(self._verb[slots], codes)

    def _note(self, slot: int) -> None:
        ends = self._source.item(slot), self._target.item(slot)
        self._changes.add(EdgeChange(slot, *ends, EDGE_KINDS[self._kind.item(slot)]))

    def _touching(self, memory: MemoryId, kind: EdgeKind | None = None) -> Iterator[int]:
        row = self._rows.row(memory)
        if row is not None and kind is not None:
            code = EDGE_KINDS.index(kind)
            yield from self._leaving.of_one(row, self._kind, code)
            arriving = self._arriving.of_one(row, self._kind, code)
            yield from (slot for slot in arriving if self._source[slot] != row)
        elif row is not None:
            yield from self._leaving.of(row)
            yield from (slot for slot in self._arriving.of(row) if self._source[slot] != row)

    def _drop(self, slot: int, key: str) -> None:
        self._ids.drop(_number(key), slot)
        self._leaving.remove(int(self._source[slot]), slot)
        self._arriving.remove(int(self._target[slot]), slot)
        self._mentions.forget(int(self._target[slot]))
        self._probability.put(slot, None)
        self._made.put(slot, None)
        self._note(slot)
        self._kind[slot] = _FREE
        self._free.append(slot)

    def _id(self, slot: int) -> str:
        source, target = (
            self._end(self._source.item(slot)),
            self._end(self._target.item(slot)),
        )
        return edge_id(
            EDGE_KINDS[self._kind.item(slot)],
            source,
            target,
            self._verbs[self._verb.item(slot)],
        )

    def _end(self, row: int) -> MemoryId:
        memory = self._rows.id(row)
        assert memory is not None  # a memory's edges go before its row does
        return memory

    def _row(self, memory: MemoryId) -> int:
        row = self._rows.row(memory)
        if row is None:
            raise KeyError(memory)
        return row

    def _rows_of(self, memories: Sequence[MemoryId]) -> Int64s:
        rows = (self._rows.row(memory) for memory in memories)
        return np.fromiter((-1 if row is None else row for row in rows), np.int64, len(memories))

    def _code_of_verb(self, verb: str | None) -> int:
        code = self._verb_code.get(verb)
        if code is None:
            code = self._verb_code[verb] = len(self._verbs)
            self._verbs.append(verb)
        return code

    def _new_slots(self, count: int) -> int:
        """Reserve `count` consecutive new slots; returns the first."""
        first, self._size = self._size, self._size + count
        size = self._kind.size
        if self._size > size:
            more = max(self._size, size + size // 4) - size
            for name in _COLUMNS:
                old, empty = getattr(self, name), _FREE if name == "_kind" else 0
                setattr(self, name, np.concatenate([old, np.full(more, empty, old.dtype)]))
        return first


def _wanted(kinds: Sequence[EdgeKind]) -> NDArray[np.uint8]:
    """1 for the codes of these kinds, uint8[256]."""
    wanted = np.zeros(256, np.uint8)
    wanted[[EDGE_KINDS.index(kind) for kind in kinds]] = 1
    return wanted


def _number(key: str) -> int:
    """32-bit hash of an id, the same in every process."""
    return int.from_bytes(blake2b(key.encode(), digest_size=4).digest(), "little")
