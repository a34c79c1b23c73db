"""Writes a change as one transaction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from soulmem.adapters.surreal import audit_groups, governed_rows, graph_rows, rows
from soulmem.adapters.surreal.link import Query
from soulmem.adapters.surreal.message_rows import MESSAGES, message_row
from soulmem.adapters.surreal.shelf import ShelfChange
from soulmem.adapters.surreal.snapshot_marks import Touched
from soulmem.domain.ids import ChatId, MemoryId, Owner, SlotId
from soulmem.ports.store import Change, RankedMessage

WRITE_ROWS = 500  # rows of a statement

T = TypeVar("T")


def size_of(change: Change) -> int:
    """The number of rows that the change touches."""
    messages = sum(1 + len(chat.put) + len(chat.drop) for chat in change.chats)
    graph = (
        change.put_memories,
        change.drop_memories,
        change.put_edges,
        change.drop_edges,
    )
    recalls = (change.put_usages, change.put_recalls, change.drop_recalls)
    governed = (
        change.audit,
        change.purge_audit,
        change.put_deletions,
        change.put_opinions,
    )
    derived = (change.put_derivations, change.drop_derivations)
    taught = (change.put_edge_vectors, change.drop_edge_vectors, change.put_fading)
    return (
        len(change.souls)
        + messages
        + sum(map(len, (*graph, *recalls, *governed, *derived, *taught)))
    )


def transaction(change: Change, marks: Touched | None, off: ShelfChange) -> Query:
    """The change as one transaction: first what is deleted, then what is stored, edges after their memories.

    marks    what it means for the snapshot marks; None: all of the owner's are deleted
    off      the shelves without what the change takes off

    Nothing that is stored is deleted before: the in-memory engine would not see it again in this transaction.
    """
    script = _Script(change.owner, {"hand": change.by.value})
    _drop_rows(script, change)
    script.drop(rows.SHELF, off.drop)
    script.put_rows(rows.SHELF, off.put)
    _put_rows(script, change)
    _put_governed(script, change)
    if marks is None:
        script.drop_all(rows.IMAGES)
    else:
        script.drop(rows.IMAGES, [list(mark) for mark in marks.gone])
        for mark in marks.gone:
            script.drop_all(rows.IMAGE_CHANGES, *mark[1:])
        script.put_rows(rows.IMAGE_CHANGES, marks.lists)
    return script.query()


def _drop_rows(script: _Script, change: Change) -> None:
    """Delete messages, edges, memories and what is stored about their recalls."""
    for chat in change.chats:
        slots = {ranked.message.slot for ranked in chat.put}
        script.drop_messages(chat.chat.id, [s for s in chat.drop if s not in slots])
    memories = {memory.id for memory in change.put_memories}
    edges = {edge.id for edge in change.put_edges}
    script.drop_keys(rows.EDGES, change.drop_edges, kept=edges)
    script.drop_keys(rows.MEMORIES, change.drop_memories, kept=memories)
    replaced = [key for key in change.drop_memories if key in memories]
    script.drop_edges_of(replaced, kept=edges)
    # Usages of relations, too: they are recalled as facts under the edge's id.
    used = (*change.drop_memories, *change.drop_edges)
    script.drop_keys(rows.USAGES, used, kept={u.memory for u in change.put_usages})
    traces = {record.trace for record in change.put_recalls}
    script.drop_keys(rows.RECALLS, change.drop_recalls, kept=traces)
    taught = {vector.edge for vector in change.put_edge_vectors}
    cut = dict.fromkeys((*change.drop_edge_vectors, *change.drop_edges))
    script.drop_keys(rows.EDGE_VECTORS, cut, kept=taught)
    script.drop_vectors_at([key for key in change.drop_memories if key not in memories])


def _put_rows(script: _Script, change: Change) -> None:
    """Store souls, chats, messages, memories, edges and what recalls left."""
    script.put(rows.SOULS, rows.soul_row, change.souls)
    script.put(rows.CHATS, rows.chat_row, [chat.chat for chat in change.chats])
    for chat in change.chats:
        script.put_messages(chat.chat.id, chat.put)
    script.put(rows.MEMORIES, graph_rows.memory_row, change.put_memories)
    script.put(rows.EDGES, graph_rows.edge_row, change.put_edges)
    script.put(rows.USAGES, rows.usage_row, change.put_usages)
    script.put(rows.RECALLS, rows.recall_row, change.put_recalls)
    script.put(rows.EDGE_VECTORS, rows.edge_vector_row, change.put_edge_vectors)


def _put_governed(script: _Script, change: Change) -> None:
    """Erase and store audit entries; store deletions and opinions; delete and store fading and derivations."""
    script.purge_audit(change.purge_audit)
    single, groups = audit_groups.grouped(change.audit)
    script.put(governed_rows.AUDIT, governed_rows.audit_row, single)
    script.put(audit_groups.GROUPS, audit_groups.group_row, groups)
    script.put(governed_rows.DELETIONS, governed_rows.deletion_row, change.put_deletions)
    script.put(governed_rows.OPINIONS, governed_rows.opinion_row, change.put_opinions)
    states = {r.memory: r for r in change.put_fading if not r.is_empty}
    unfaded = [r.memory for r in change.put_fading if r.is_empty]
    dropped = (*change.drop_memories, *unfaded)
    script.drop_keys(governed_rows.FADING, dropped, kept=states)
    script.put(governed_rows.FADING, governed_rows.fading_row, states.values())
    table, derived = governed_rows.DERIVATIONS, change.put_derivations
    stored = {derivation.id for derivation in derived}
    script.drop_keys(table, change.drop_derivations, kept=stored)
    script.put(table, governed_rows.derivation_row, derived)


class _Script:
    """Collects the statements of one owner's transaction."""

    def __init__(self, owner: Owner, params: dict[str, Any]) -> None:
        self._owner = owner
        self._statements: list[str] = []
        self._params = params

    def drop(self, table: rows.Table, ids: list[list[str]]) -> None:
        """Delete the rows with these ids."""
        for piece in pieces(ids, WRITE_ROWS):
            name = self._bind(piece)
            self._statements.append(
                f"DELETE ${name}.map(|$id| type::record('{table.name}', $id)) RETURN NONE;"
            )

    def drop_keys(self, table: rows.Table, keys: Iterable[str], *, kept: Collection[str]) -> None:
        """Delete the owner's rows with these keys, except those in `kept`."""
        self.drop(table, [[self._owner, key] for key in keys if key not in kept])

    def drop_messages(self, chat: ChatId, slots: Iterable[SlotId]) -> None:
        """Delete messages of a chat."""
        self.drop(MESSAGES, [[self._owner, chat, slot] for slot in slots])

    def drop_all(self, table: rows.Table, *within: str) -> None:
        """Delete all of the owner's rows whose ids go on with `within`."""
        prefix = ", ".join(f"${self._bind(part)}" for part in (self._owner, *within))
        self._statements.append(f"DELETE {table.name}:[{prefix}, '']..=[{prefix}, ..] RETURN NONE;")

    def drop_edges_of(self, memories: list[MemoryId], *, kept: Collection[str]) -> None:
        """Delete the edges of these memories, except those whose keys are in `kept`."""
        ids = [[self._owner, memory] for memory in memories]
        for piece in pieces(ids, WRITE_ROWS):
            ends, keep = self._bind(piece), self._bind(list(kept))
            edges = f"(SELECT VALUE <->edge FROM ${ends}.map(|$id| type::record('memory', $id))).flatten()"
            dropped = f"{edges}.distinct().filter(|$edge| record::id($edge)[1] NOT IN ${keep})"
            self._statements.append(f"DELETE {dropped} RETURN NONE;")

    def drop_vectors_at(self, memories: list[MemoryId]) -> None:
        """Delete the memory vectors of edges that start or end at these memories."""
        for piece in pieces(memories, WRITE_ROWS):
            whose, ends = self._bind(self._owner), self._bind(piece)
            for end in ("source", "target"):
                which = f"{end} IN ${ends} AND owner = ${whose}"
                self._statements.append(f"DELETE edge_vector WHERE {which} RETURN NONE;")

    def purge_audit(self, targets: Collection[str]) -> None:
        """Erase the texts of entries about these targets, and the requested deletions of them."""
        for piece in pieces(targets, WRITE_ROWS):
            whose, which = self._bind(self._owner), self._bind(piece)
            self._statements.append(
                f"UPDATE audit SET before = NONE, after = NONE, reason = '' "
                f"WHERE owner = ${whose} AND target IN ${which} RETURN NONE;"
                f"UPDATE audit_group SET erased = array::union(erased, array::intersect(targets, ${which})) "
                f"WHERE owner = ${whose} AND targets CONTAINSANY ${which} RETURN NONE;"
                f"DELETE deletion:[${whose}, '']..=[${whose}, ..] WHERE memory IN ${which} RETURN NONE;"
            )

    def put(
        self,
        table: rows.Table,
        row_of: Callable[[Owner, T], rows.Row],
        values: Iterable[T],
    ) -> None:
        """Store the values as rows."""
        self.put_rows(table, [row_of(self._owner, value) for value in values])

    def put_messages(self, chat: ChatId, messages: Iterable[RankedMessage]) -> None:
        """Store messages of a chat."""
        new = [message_row(self._owner, chat, message) for message in messages]
        self.put_rows(MESSAGES, new)

    def put_rows(self, table: rows.Table, new: list[rows.Row]) -> None:
        """Store these rows."""
        for piece in pieces(new, WRITE_ROWS):
            self._statements.append(table.put(self._bind(piece)))

    def query(self) -> Query:
        return Query(f"BEGIN;{''.join(self._statements)}COMMIT;", self._params)

    def _bind(self, value: Any) -> str:
        name = f"p{len(self._params)}"
        self._params[name] = value
        return name


def pieces(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of at most `size`."""
    remaining = iter(items)
    piece = list(islice(remaining, size))
    while piece:
        yield piece
        piece = list(islice(remaining, size))
