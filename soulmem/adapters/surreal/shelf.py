"""Memories without edges that seldom change, in a tenth of the room: compressed together, without any index.

A row holds a block of memories. The blocks of what is put, dropped or gets an edge are written again without it in
the same transaction.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from soulmem.adapters.surreal.compressed import packed, unpacked
from soulmem.adapters.surreal.connection import Connection, Run
from soulmem.adapters.surreal.graph_rows import Memories
from soulmem.adapters.surreal.link import Query, bound
from soulmem.adapters.surreal.rows import MEMORIES, Row
from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.domain.memories import Memory
from soulmem.graph.hash_index import HashIndex
from soulmem.ports.store import Change

Line = tuple[str, dict[str, Any]]  # a memory: its key, and the fields of its row that it has

# What most rows have in common; stored rows can be read with the same bytes alone.
_COMMON = (
    b'{"soul":"s","kind":"episode","text":"User: ","origin":"chat","created":"2026-01-01T00:00:00.000000Z",'
    b'"tags":[],"importance":0.35,"permanent":false,"locked":false,"timelines":"this","state":"forgotten",'
    b'"revision":2,"evidence":[[["","0123456789abcdef"]]],"situation":{"emotions":[],"participants":[{"kind":'
    b'"self","name":"User"},{"kind":"other","name":"User"},{"kind":"unknown","name":""}],"sensations":[],'
    b'"time_span":{"end":"2026-01-01T00:00:00Z","start":"2026-01-01T00:00:00Z"}},"terms":"[\\"\\",0.8,\\"",'
    b'"names":"[\\"\\"]"}'
)
_ROWS = 200  # memories of a block: larger ones gain little, and each change writes a whole one
_SMALL = 50  # a last block with fewer is filled up
_PAGE = 1000  # memories read at once
_READ = 20  # rows read at once
_MOVED = 500  # memories moved in one transaction


class Shelf:
    """Which memories of one soul are in which row: some 30 bytes for each."""

    def __init__(self, owner: Owner, soul: SoulId) -> None:
        self.owner, self.soul = owner, soul
        self._names: list[str] = []
        self._index = HashIndex()  # of keys, to places in:
        self._numbers = array("i")  # numbers of rows
        self._last = -1  # number of the newest block
        self._last_size = 0  # memories in it

    def note(self, name: str, keys: Sequence[str]) -> None:
        """Note a row and the keys in it."""
        self._names.append(name)
        self._last, self._last_size = len(self._names) - 1, 0
        self._add(len(self._names) - 1, keys)

    def fill_last(self, keys: Sequence[str]) -> None:
        """Note more keys in the newest block."""
        self._add(self._last, keys)

    def blocks(self, keys: Iterable[str]) -> dict[int, list[str]]:
        """Of these keys those that may be in a row, by its number."""
        out: dict[int, list[str]] = {}
        for key in keys:
            for place in self._index.find(_hash(key)):
                out.setdefault(self._numbers[place], []).append(key)
        return out

    def forget(self, number: int, keys: Sequence[str]) -> None:
        """Note that these keys are no longer in that row."""
        for key in map(_hash, keys):
            places = [p for p in self._index.find(key) if self._numbers[p] == number]
            for place in places[:1]:
                self._index.drop(key, place)
        if number == self._last:
            self._last_size -= len(keys)

    def small_block(self) -> int | None:
        """The number of the newest block if it has few memories."""
        return self._last if 0 < self._last_size < _SMALL else None

    def next_name(self) -> str:
        """A name for a block, after all others."""
        last = int(self._names[self._last]) if self._last >= 0 else 0
        return f"{last + 1:08}"

    def row_id(self, number: int) -> list[str]:
        """The id of a row."""
        return [self.owner, self.soul, self._names[number]]

    def _add(self, number: int, keys: Sequence[str]) -> None:
        for key in keys:
            self._index.put(_hash(key), len(self._numbers))
            self._numbers.append(number)
        if number == self._last:
            self._last_size += len(keys)


@dataclass(frozen=True, slots=True)
class ShelfChange:
    """Rows of blocks to write and ids of those to delete, and what is noted once that is stored."""

    put: list[Row] = field(default_factory=list)
    drop: list[list[str]] = field(default_factory=list)
    _taken: list[tuple[Shelf, int, list[str]]] = field(default_factory=list)

    async def take(self, run: Run, shelf: Shelf, number: int, keys: Sequence[str]) -> list[Line]:
        """Take these keys out of a row; returns the memories taken."""
        row_id = shelf.row_id(number)
        contents = await _contents(run, [row_id])
        lines = contents[0][1] if contents else []
        taken = [line for line in lines if line[0] in keys]
        rest = [line for line in lines if line[0] not in keys]
        if taken and rest:
            self.put.append(await asyncio.to_thread(_row, row_id, rest))
        elif taken:
            self.drop.append(row_id)
        self._taken.append((shelf, number, [key for key, _ in taken]))
        return taken

    def done(self) -> None:
        """Note that it was stored."""
        for shelf, number, keys in self._taken:
            shelf.forget(number, keys)


class Shelves:
    """The shelves of all souls. They are read when they are first needed."""

    def __init__(self) -> None:
        self.writing = asyncio.Lock()  # of who takes off or shelves
        self._shelves: dict[tuple[Owner, SoulId], Shelf | None] = {}

    async def load(self, run: Run) -> None:
        """Read which souls have one."""
        sql = "RETURN array::distinct(SELECT VALUE array::slice(record::id(id), 0, 2) FROM shelf);"
        (pairs,) = await run(bound(sql))
        self._shelves = {(Owner(owner), SoulId(soul)): None for owner, soul in pairs}

    def has(self, owner: Owner, soul: SoulId) -> bool:
        """Whether the soul may have memories here."""
        return (owner, soul) in self._shelves

    def concern(self, change: Change) -> bool:
        """Whether the change may be about memories here."""
        changes = change.put_memories or change.drop_memories or change.put_edges
        return bool(changes and self._concerned(change))

    async def shelf(self, run: Run, owner: Owner, soul: SoulId) -> Shelf:
        """The shelf of a soul, an empty one if it has none."""
        shelf = self._shelves.get((owner, soul))
        return shelf or (await self._read(run, owner, soul))[0]

    async def pages(self, run: Run, owner: Owner, soul: SoulId) -> list[str]:
        """All memories of the soul that are here, as pages of rows in the form of `Table.array`."""
        return (await self._read(run, owner, soul))[1]

    async def some(
        self, run: Run, owner: Owner, soul: SoulId, memories: Sequence[MemoryId]
    ) -> list[Memory]:
        """Those of these memories that are here."""
        shelf, lines = await self.shelf(run, owner, soul), list[Line]()
        for number, keys in shelf.blocks(memories).items():
            for _, some in await _contents(run, [shelf.row_id(number)]):
                lines += (line for line in some if line[0] in keys)
        return await asyncio.to_thread(_memories, lines)

    async def take_off(self, run: Run, change: Change) -> tuple[Change, ShelfChange]:
        """The change with the memories here that get an edge, and the blocks without what it puts or drops."""
        put = {memory.id for memory in change.put_memories}
        joined = {end for edge in change.put_edges for end in (edge.source, edge.target)}
        keys = [*put, *(joined - put), *change.drop_memories]
        off, taken = ShelfChange(), list[Line]()
        for owner, soul in self._concerned(change):
            shelf = await self.shelf(run, owner, soul)
            for number, some in shelf.blocks(keys).items():
                taken += await off.take(run, shelf, number, some)
        back = [line for line in taken if line[0] in joined - put]
        if back:
            memories = await asyncio.to_thread(_memories, back)
            change = replace(change, put_memories=(*change.put_memories, *memories))
        return change, off

    def _concerned(self, change: Change) -> list[tuple[Owner, SoulId]]:
        """Whose shelves may have memories that the change is about: others need not be read for it."""
        souls = change.souls_touched()
        return [
            (owner, soul)
            for owner, soul in self._shelves
            if owner == change.owner and (souls is None or soul in souls)
        ]

    async def shelve(
        self,
        connection: Connection,
        owner: Owner,
        soul: SoulId,
        memories: Sequence[MemoryId],
    ) -> None:
        """Move those of these memories here that have no edges."""
        async with self.writing:
            for start in range(0, len(memories), _MOVED):
                piece = memories[start : start + _MOVED]
                move = partial(self._moving, owner=owner, soul=soul, memories=piece)
                query = await connection.read(move)
                if query is not None:
                    await connection.write(query)

    async def _moving(
        self, run: Run, owner: Owner, soul: SoulId, memories: Sequence[MemoryId]
    ) -> Query | None:
        """The transaction that moves these memories here; None where there is nothing to move."""
        shelf = await self.shelf(run, owner, soul)
        here = {key for keys in shelf.blocks(memories).values() for key in keys}
        new = [key for key in memories if key not in here]
        (texts,) = await run(_rows_to_shelve(owner, new)) if new else ([],)
        return await _shelving(run, shelf, texts) if texts else None

    async def _read(self, run: Run, owner: Owner, soul: SoulId) -> tuple[Shelf, list[str]]:
        """The shelf, and its memories as pages."""
        shelf, pages, page = Shelf(owner, soul), list[str](), list[list[Any]]()
        which = "[$owner, $soul, '']..=[$owner, $soul, ..]"
        sql = f"SELECT VALUE record::id(id)[2] FROM shelf:{which};"
        (names,) = await run(bound(sql, owner=owner, soul=soul))
        for start in range(0, len(names), _READ):
            some = [[owner, soul, name] for name in names[start : start + _READ]]
            for name, lines in await _contents(run, some):
                shelf.note(name, [key for key, _ in lines])
                page += map(_array, lines)
            if len(page) >= _PAGE or start + _READ >= len(names):
                pages.append(await asyncio.to_thread(json.dumps, page))
                page = []
        self._shelves[owner, soul] = shelf
        return shelf, pages


def _rows_to_shelve(owner: Owner, memories: Sequence[MemoryId]) -> Query:
    """The stored rows of those of these memories that have no edges, as JSON texts."""
    ids = "$keys.map(|$key| type::record('memory', [$owner, $key]))"
    which = "key != NONE AND array::len(<->edge) = 0"
    sql = f"SELECT VALUE {MEMORIES.line} FROM {ids} WHERE {which};"
    return bound(sql, owner=owner, keys=list(memories))


async def _shelving(run: Run, shelf: Shelf, texts: Sequence[str]) -> Query:
    """The transaction that moves these rows here. They are noted first: also a cancelled call may store it."""
    lines = [_line(json.loads(text)) for text in texts]
    keys = [key for key, _ in lines]
    blocks: list[tuple[list[str], list[Line]]] = []
    small = shelf.small_block()
    if small is not None:
        contents = await _contents(run, [shelf.row_id(small)])
        old = contents[0][1] if contents else []
        more = lines[: _ROWS - len(old)]
        blocks.append((shelf.row_id(small), [*old, *more]))
        shelf.fill_last([key for key, _ in more])
        lines = lines[len(more) :]
    for start in range(0, len(lines), _ROWS):
        block, name = lines[start : start + _ROWS], shelf.next_name()
        shelf.note(name, [key for key, _ in block])
        blocks.append(([shelf.owner, shelf.soul, name], block))
    new = await asyncio.to_thread(lambda: [_row(*block) for block in blocks])
    put = "FOR $row IN $rows { UPSERT type::record('shelf', $row.id) CONTENT $row RETURN NONE };"
    drop = "DELETE $ids.map(|$id| type::record('memory', $id)) RETURN NONE;"
    ids = [[shelf.owner, key] for key in keys]
    return bound(f"BEGIN;{put}{drop}COMMIT;", rows=new, ids=ids, hand="engine")


async def _contents(run: Run, ids: list[list[str]]) -> list[tuple[str, list[Line]]]:
    """Names and memories of the rows with these ids."""
    sql = (
        "SELECT VALUE [record::id(id)[2], data] "
        "FROM $ids.map(|$id| type::record('shelf', $id)) WHERE data != NONE;"
    )
    (pairs,) = await run(bound(sql, ids=ids))
    return await asyncio.to_thread(lambda: [(name, _unpacked(data)) for name, data in pairs])


def _unpacked(data: bytes) -> list[Line]:
    return [(key, fields) for key, fields in json.loads(unpacked(data, _COMMON))]


def _row(row_id: list[str], lines: Sequence[Line]) -> Row:
    text = json.dumps(lines, ensure_ascii=False, separators=(",", ":"))
    return {"id": row_id, "data": packed(text.encode(), _COMMON)}


def _line(row: list[Any]) -> Line:
    """A memory of a row in the form of `Table.array`."""
    key, *values = row
    fields = zip(MEMORIES.fields, values, strict=True)
    return key, {name: value for name, value in fields if value is not None}


def _array(line: Line) -> list[Any]:
    """A row in the form of `Table.array`."""
    key, fields = line
    return [key, *(fields.get(name) for name in MEMORIES.fields)]


def _memories(lines: Iterable[Line]) -> list[Memory]:
    return Memories().page(json.dumps([_array(line) for line in lines]))


def _hash(key: str) -> int:
    return zlib.crc32(key.encode())
