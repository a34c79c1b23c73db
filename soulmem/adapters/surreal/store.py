"""The store on SurrealDB: each change is one transaction, each read consists of a few bulk queries."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

from soulmem.adapters.surreal import (
    audit_groups,
    governed_rows,
    graph_rows,
    rows,
)
from soulmem.adapters.surreal.connection import Connection, Run
from soulmem.adapters.surreal.damages import (
    OF_OWNER,
    damages,
    parsed,
    parsed_page,
    readable,
)
from soulmem.adapters.surreal.embedded import EmbeddedLink
from soulmem.adapters.surreal.link import DATABASE, NAMESPACE, Link, Query, bound
from soulmem.adapters.surreal.message_rows import MESSAGES, message_of
from soulmem.adapters.surreal.server import ServerLink
from soulmem.adapters.surreal.shelf import ShelfChange, Shelves
from soulmem.adapters.surreal.snapshot_marks import Marks, marking, read_mark, read_marks
from soulmem.adapters.surreal.stream_events import StreamEventRows
from soulmem.adapters.surreal.transaction import (
    WRITE_ROWS,
    pieces,
    size_of,
    transaction,
)
from soulmem.adapters.surreal.versions import prepare
from soulmem.domain.audit import AuditEntry, AuditQuery
from soulmem.domain.calendar import START
from soulmem.domain.deletions import Deletion
from soulmem.domain.derivations import Derivation
from soulmem.domain.dialogue import Chat
from soulmem.domain.edge_vectors import EdgeVector
from soulmem.domain.edges import Edge, EdgeKind, EdgePage
from soulmem.domain.fading_records import FadingRecord
from soulmem.domain.ids import ChatId, MemoryId, Owner, SoulId
from soulmem.domain.llm_usage import SoulLlmUsage
from soulmem.domain.memories import Memory
from soulmem.domain.opinions import Opinion
from soulmem.domain.soul import Soul
from soulmem.domain.usage import RecallRecord
from soulmem.ports.store import (
    Change,
    Damage,
    Mark,
    RankedMessage,
    SoulGraph,
    SoulRecalls,
    StoreHealth,
)

_VECTOR_BYTES = 1536  # of a vector of most models
_KEY_DIGITS = "0123456789abcdef"  # first characters of vector keys, equally frequent
READ_ROWS = 2000  # rows in one answer
READ_AROUND = 200  # memories whose edges are read in one call
_SMALL = 16  # rows that are encoded faster than a thread is started


T = TypeVar("T")


class SurrealStore(StreamEventRows):
    """A `Store` at `mem://`, `surrealkv:///folder` or `ws://host:port`. The other arguments are for a server."""

    def __init__(
        self,
        url: str,
        *,
        user: str | None = None,
        password: str | None = None,
        namespace: str = NAMESPACE,
        database: str = DATABASE,
    ) -> None:
        link: Link
        if url.startswith(("ws://", "wss://")):
            link = ServerLink(
                url,
                user=user,
                password=password,
                namespace=namespace,
                database=database,
            )
        else:
            link = EmbeddedLink(url)
        self._connection = Connection(link)
        self._shelves = Shelves()
        # Other processes may put marks on a server, so there a commit deletes all marks of the owner.
        self._marks = Marks() if isinstance(link, EmbeddedLink) else None

    async def open(self) -> None:
        await self._connection.open(prepare)
        await self._connection.read(self._shelves.load)
        if self._marks is not None:
            self._marks = await self._connection.read(read_marks)

    async def close(self) -> None:
        await self._connection.close()

    def health(self) -> StoreHealth:
        return self._connection.health()

    async def commit(self, change: Change) -> None:
        if not change:
            return
        if not self._shelves.concern(change):
            await self._write(change, ShelfChange())
            return
        async with self._shelves.writing:
            take_off = partial(self._shelves.take_off, change=change)
            change, off = await self._connection.read(take_off)
            await self._write(change, off)
            off.done()

    async def _write(self, change: Change, off: ShelfChange) -> None:
        """Store the change, and the shelves without what it takes off."""
        marks = None if self._marks is None else self._marks.touched(change)
        small = size_of(change) <= _SMALL
        make = partial(transaction, change, marks, off)
        await self._connection.write(make() if small else make)
        if self._marks is not None and marks is not None:
            self._marks.remove(marks.gone)

    async def owners(self) -> list[Owner]:
        sql = "RETURN array::distinct(SELECT VALUE record::id(id)[0] FROM soul, chat);"
        (names,) = await self._connection.read(lambda run: run(bound(sql)))
        return [Owner(owner) for owner in sorted(names)]

    async def damages(self, owner: Owner) -> list[Damage]:
        found: list[Damage] = []
        for table, parse, places in OF_OWNER:
            read = partial(damages, table, parse, places)
            found += await self._range(table, [owner], read)
        return found

    async def souls(self, owner: Owner) -> list[Soul]:
        read = partial(readable, rows.SOULS, rows.soul_of)
        souls = await self._range(rows.SOULS, [owner], read)
        return sorted(souls, key=_age)

    async def chats(self, owner: Owner) -> list[Chat]:
        read = partial(readable, rows.CHATS, rows.chat_of)
        chats = await self._range(rows.CHATS, [owner], read)
        return sorted(chats, key=_age)

    async def messages(self, owner: Owner, chat: ChatId) -> list[RankedMessage]:
        read = partial(parsed, MESSAGES, chat, message_of)
        messages = await self._range(MESSAGES, [owner, chat], read)
        return await asyncio.to_thread(sorted, messages, key=_rank)

    async def message_count(self, owner: Owner, chat: ChatId) -> int:
        which = "message:[$owner, $chat, '']..=[$owner, $chat, ..]"
        return await self._count(which, owner=owner, chat=chat)

    async def graph(self, owner: Owner, soul: SoulId) -> SoulGraph:
        memories = await self.memories(owner, soul)
        edges: list[Edge] = []
        async for page in self.edge_pages(owner, soul):
            edges += await asyncio.to_thread(graph_rows.edges_of, page, soul)
        return SoulGraph(memories, edges)

    async def memories(self, owner: Owner, soul: SoulId) -> list[Memory]:
        memories: list[Memory] = []
        async for page in self.memory_pages(owner, soul):
            memories += page
        return memories

    async def memory_pages(self, owner: Owner, soul: SoulId) -> AsyncIterator[Sequence[Memory]]:
        parse = graph_rows.Memories().page
        async for page in self._pages(
            rows.MEMORIES,
            owner,
            soul,
            parse,
            lambda page: [memory.id for memory in page],
        ):
            yield page
        if self._shelves.has(owner, soul):
            load = partial(self._shelves.pages, owner=owner, soul=soul)
            for text in await self._connection.read(load):
                yield await asyncio.to_thread(parsed_page, rows.MEMORIES, soul, parse, text)

    async def some_memories(
        self, owner: Owner, soul: SoulId, memories: Sequence[MemoryId]
    ) -> list[Memory]:
        found: list[Memory] = []
        read = partial(graph_rows.some, rows.MEMORIES, owner, soul, memories)
        for text in await self._connection.read(read):
            found += await asyncio.to_thread(graph_rows.Memories().page, text)
        if self._shelves.has(owner, soul):
            stored = {memory.id for memory in found}
            others = [key for key in memories if key not in stored]
            load = partial(self._shelves.some, owner=owner, soul=soul, memories=others)
            found += await self._connection.read(load)
        return found

    async def some_edges(self, owner: Owner, soul: SoulId, edges: Sequence[str]) -> EdgePage:
        read = partial(graph_rows.some, rows.EDGES, owner, soul, edges)
        texts = await self._connection.read(read)
        lines = ",".join(text[1:-1] for text in texts if text != "[]")
        return await asyncio.to_thread(graph_rows.edge_page, f"[{lines}]")

    async def shelve(self, owner: Owner, soul: SoulId, memories: Sequence[MemoryId]) -> None:
        await self._shelves.shelve(self._connection, owner, soul, memories)

    def edge_pages(self, owner: Owner, soul: SoulId) -> AsyncIterator[EdgePage]:
        return self._pages(rows.EDGES, owner, soul, graph_rows.edge_page, lambda page: page.id)

    async def memory_count(self, owner: Owner) -> int:
        return await self._count("memory:[$owner, '']..=[$owner, ..]", owner=owner)

    async def edge_count(self, owner: Owner, soul: SoulId | None = None) -> int:
        every = "edge:[$owner, '']..=[$owner, ..]"
        which = every if soul is None else "edge WHERE owner = $owner AND soul = $soul"
        return await self._count(which, owner=owner, soul=soul)

    async def _count(self, which: str, **values: str | None) -> int:
        """Number of rows. Those of a range of ids are counted without reading them; an index is not."""
        sql = f"SELECT VALUE count FROM (SELECT count() FROM {which} GROUP ALL);"
        query = bound(sql, **values)
        (counts,) = await self._connection.read(lambda run: run(query))
        return int(counts[0]) if counts else 0

    async def edges_around(
        self,
        owner: Owner,
        soul: SoulId,
        memories: Sequence[MemoryId],
        *,
        leaving: bool = False,
    ) -> EdgePage:
        ends = "$memories.map(|$key| type::record('memory', [$owner, $key]))"
        edges = f"{ends}->edge" if leaving else f"({ends}<->edge).distinct()"
        sql = f"SELECT VALUE {rows.EDGES.line} FROM {edges} WHERE soul = $soul;"

        async def load(run: Run) -> EdgePage:
            # Without repeats: an edge between memories of two pieces comes with both.
            unique: dict[str, None] = {}
            for piece in pieces(memories, READ_AROUND):
                (lines,) = await run(bound(sql, owner=owner, soul=soul, memories=piece))
                unique.update(dict.fromkeys(lines))
            text = f"[{','.join(unique)}]"
            return await asyncio.to_thread(graph_rows.edge_page, text)

        return await self._connection.read(load)

    async def edges_leaving(
        self, owner: Owner, soul: SoulId, memories: Sequence[MemoryId], kind: EdgeKind
    ) -> Mapping[MemoryId, int]:
        ends = "$memories.map(|$key| type::record('memory', [$owner, $key]))"
        each = f"SELECT in, count() AS count FROM {ends}->edge WHERE soul = $soul AND kind = $kind GROUP BY in"
        sql = f"SELECT VALUE [record::id(in)[1], count] FROM ({each});"

        async def load(run: Run) -> Mapping[MemoryId, int]:
            edge_counts: dict[MemoryId, int] = {}
            for piece in pieces(dict.fromkeys(memories), READ_AROUND):
                (counts,) = await run(
                    bound(sql, owner=owner, soul=soul, memories=piece, kind=kind.value)
                )
                edge_counts.update((MemoryId(key), count) for key, count in counts)
            return edge_counts

        return await self._connection.read(load)

    async def edges_known(self, owner: Owner, edges: Sequence[str]) -> set[str]:
        ids = "$keys.map(|$key| type::record('edge', [$owner, $key]))"
        sql = f"SELECT VALUE key FROM {ids} WHERE key != NONE;"

        async def load(run: Run) -> set[str]:
            existing: set[str] = set()
            for piece in pieces(edges, READ_ROWS):
                (keys,) = await run(bound(sql, owner=owner, keys=piece))
                existing.update(keys)
            return existing

        return await self._connection.read(load)

    async def recalls(self, owner: Owner, soul: SoulId) -> SoulRecalls:
        async def load(run: Run) -> SoulRecalls:
            usages = await _rows_of(run, rows.USAGES, owner, soul, rows.usage_of)
            records = await _rows_of(run, rows.RECALLS, owner, soul, rows.recall_of)
            return SoulRecalls(usages, sorted(records, key=_when))

        return await self._connection.read(load)

    async def edge_vectors(self, owner: Owner, soul: SoulId) -> list[EdgeVector]:
        which = "owner = $owner AND soul = $soul AND key > $after"
        sql = f"SELECT * OMIT id FROM edge_vector WHERE {which} ORDER BY key LIMIT $limit;"
        read = partial(parsed, rows.EDGE_VECTORS, soul, rows.edge_vector_of)

        async def load(run: Run) -> list[EdgeVector]:
            values: list[EdgeVector] = []
            last, limit = "", READ_ROWS
            while True:
                query = bound(sql, owner=owner, soul=soul, after=last, limit=limit)
                (page,) = await run(query)
                values += await asyncio.to_thread(read, page)
                if len(page) < limit:
                    return values
                last = values[-1].edge

        return await self._connection.read(load)

    async def audit(self, owner: Owner, wanted: AuditQuery) -> list[AuditEntry]:
        which, params = governed_rows.audit_filter(owner, wanted)
        table = governed_rows.AUDIT
        sql = f"SELECT VALUE {table.line} FROM audit WHERE {which} ORDER BY key DESC LIMIT $limit;"
        query = bound(sql, **params, limit=wanted.limit)
        some, values = audit_groups.group_filter(owner, wanted)
        groups = bound(
            f"SELECT VALUE {audit_groups.GROUPS.line} FROM audit_group WHERE {some} "
            "ORDER BY key DESC LIMIT $limit;",
            **values,
            limit=wanted.limit,
        )

        async def load(run: Run) -> list[AuditEntry]:
            (lines,) = await run(query)
            read = partial(readable, table, governed_rows.audit_of)
            entries = await asyncio.to_thread(read, lines)
            (lines,) = await run(groups)
            within = partial(readable, audit_groups.GROUPS, audit_groups.matching(wanted))
            lists = await asyncio.to_thread(within, lines)
            entries += (entry for some in lists for entry in some)
            entries.sort(key=lambda entry: entry.id, reverse=True)
            return entries[: wanted.limit]

        return await self._connection.read(load)

    async def deletions(self, owner: Owner) -> list[Deletion]:
        read = partial(readable, governed_rows.DELETIONS, governed_rows.deletion_of)
        deletions = await self._range(governed_rows.DELETIONS, [owner], read)
        return sorted(deletions, key=lambda deletion: (deletion.requested, deletion.id))

    async def opinions(self, owner: Owner, soul: SoulId) -> list[Opinion]:
        table, parse = governed_rows.OPINIONS, governed_rows.opinion_of
        return await self._connection.read(lambda run: _rows_of(run, table, owner, soul, parse))

    async def fading(self, owner: Owner, soul: SoulId) -> list[FadingRecord]:
        table, parse = governed_rows.FADING, governed_rows.fading_of
        return await self._connection.read(lambda run: _rows_of(run, table, owner, soul, parse))

    async def derivations(self, owner: Owner, soul: SoulId) -> list[Derivation]:
        table, parse = governed_rows.DERIVATIONS, governed_rows.derivation_of
        derivations = await self._connection.read(
            lambda run: _rows_of(run, table, owner, soul, parse)
        )
        return sorted(derivations, key=lambda derivation: (derivation.made, derivation.id))

    async def llm_usage(self, owner: Owner) -> list[SoulLlmUsage]:
        read = partial(readable, governed_rows.BOOKS, governed_rows.books_of)
        return await self._range(governed_rows.BOOKS, [owner], read)

    async def put_llm_usage(self, owner: Owner, books: SoulLlmUsage) -> None:
        put = "UPSERT type::record('books', $id) CONTENT { told: $told } RETURN NONE;"
        drop = "DELETE type::record('books', $id) RETURN NONE;"
        text = governed_rows.books_text(books)
        await self._connection.write(
            bound(put if books else drop, id=[owner, books.soul], told=text)
        )

    async def mark(self, owner: Owner, soul: SoulId, token: str) -> None:
        if self._marks is not None:
            self._marks.put(owner, soul)
        await self._connection.write(marking(owner, soul, token))

    async def marked(self, owner: Owner, soul: SoulId) -> Mark | None:
        read = partial(read_mark, owner=owner, soul=soul)
        return await self._connection.read(read)

    async def vectors(self, model: str, keys: Sequence[str]) -> Mapping[str, bytes]:
        sql = (
            "SELECT VALUE [record::id(id)[1], data] "
            "FROM $keys.map(|$key| type::record('vector', [$model, $key])) WHERE data != NONE;"
        )

        async def load(run: Run) -> Mapping[str, bytes]:
            data_of: dict[str, bytes] = {}
            for piece in pieces(keys, READ_ROWS):
                (pairs,) = await run(bound(sql, model=model, keys=piece))
                data_of.update((key, data) for key, data in pairs)
            return data_of

        return await self._connection.read(load)

    async def put_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        for piece in pieces(vectors.items(), WRITE_ROWS):
            new = [{"id": [model, key], "data": data} for key, data in piece]
            sql = f"BEGIN;{rows.VECTORS.put('rows')}COMMIT;"
            await self._connection.write(partial(bound, sql, rows=new))

    async def vector_keys(self, model: str) -> AsyncIterator[Sequence[tuple[str, str]]]:
        # The engine reads whole rows for their keys, and all rows of a range whatever its LIMIT. So the ranges
        # are small.
        starts = [f"[$model, '{digit}']" for digit in _KEY_DIGITS]
        bounds = ["[$model]", *starts, "[$after]"]
        for first, last in pairwise(["", *bounds, ""]):
            sql = f"SELECT VALUE record::id(id) FROM vector:{first}..{last};"
            query = bound(sql, model=model, after=f"{model}\u0001")
            (pairs,) = await self._connection.read(partial(_run_query, query))
            self._connection.count_read(_VECTOR_BYTES * len(pairs))
            yield [(of, key) for of, key in pairs]
            await self.maintain()

    async def drop_vectors(self, pairs: Sequence[tuple[str, str]]) -> None:
        sql = "DELETE $ids.map(|$id| type::record('vector', $id)) RETURN NONE;"
        for piece in pieces(pairs, WRITE_ROWS):
            await self._connection.write(bound(sql, ids=[list(pair) for pair in piece]))

    async def maintain(self) -> None:
        await self._connection.reopen_if_needed()

    async def compact(self) -> None:
        """See `Store`. A server compacts its files itself."""

    async def _pages(
        self,
        table: rows.Table,
        owner: Owner,
        soul: SoulId,
        parse: Callable[[str], T],
        keys: Callable[[T], Sequence[str]],
    ) -> AsyncIterator[T]:
        """A soul's rows, page by page. The next page is read while one is used."""
        sql = (
            f"RETURN encoding::json::encode((SELECT VALUE {table.array} FROM {table.name} "
            "WHERE owner = $owner AND soul = $soul AND key > $after ORDER BY key LIMIT $limit));"
        )
        limit = READ_ROWS

        async def load(after: str) -> str:
            query = bound(sql, owner=owner, soul=soul, after=after, limit=limit)
            (text,) = await self._connection.read(lambda run: run(query))
            return str(text)

        ahead = asyncio.ensure_future(load(""))
        try:
            while True:
                text = await ahead
                page = await asyncio.to_thread(parsed_page, table, soul, parse, text)
                page_keys = keys(page)
                if len(page_keys) == limit:
                    ahead = asyncio.ensure_future(load(page_keys[-1]))
                if page_keys:
                    yield page
                if len(page_keys) < limit:
                    return
        finally:
            ahead.cancel()

    async def _range(
        self,
        table: rows.Table,
        prefix: list[str],
        read: Callable[[Sequence[str]], list[T]],
    ) -> list[T]:
        """All rows whose id consists of `prefix` and a key."""
        start = ", ".join(f"$prefix[{place}]" for place in range(len(prefix)))
        which = f"SELECT VALUE record::id(id)[{table.key}] FROM {table.name}:[{start}, '']..=[{start}, ..];"
        page = f"SELECT VALUE {table.line} FROM {table.name}:[{start}, $first]..=[{start}, $last];"

        async def load(run: Run) -> list[T]:
            values: list[T] = []
            # The keys come first, because a range with a LIMIT is read to its end all the same.
            (keys,) = await run(bound(which, prefix=prefix))
            for piece in pieces(keys, READ_ROWS):
                (lines,) = await run(bound(page, prefix=prefix, first=piece[0], last=piece[-1]))
                values += await asyncio.to_thread(read, lines)
            return values

        return await self._connection.read(load)


def _run_query(query: Query, run: Run) -> Awaitable[list[Any]]:
    return run(query)


async def _rows_of(
    run: Run, table: rows.Table, owner: Owner, soul: SoulId, parse: Callable[[str], T]
) -> list[T]:
    """All rows of a soul."""
    sql = (
        f"SELECT VALUE {table.line} FROM {table.name} "
        "WHERE owner = $owner AND soul = $soul AND key > $after ORDER BY key LIMIT $limit;"
    )
    values: list[T] = []
    after = ""
    while True:
        (lines,) = await run(bound(sql, owner=owner, soul=soul, after=after, limit=READ_ROWS))
        values += await asyncio.to_thread(parsed, table, soul, parse, lines)
        if len(lines) < READ_ROWS:
            return values
        after = json.loads(lines[-1])[0]


def _rank(message: RankedMessage) -> int:
    return message.rank


def _when(record: RecallRecord) -> tuple[datetime, str]:
    return (record.stamp.moment, record.trace)


def _age(value: Soul | Chat) -> tuple[datetime, str]:
    return (value.created or START, value.id)
