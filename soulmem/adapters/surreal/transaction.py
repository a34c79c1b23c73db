"""How is a change written down as one transaction?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from soulmem.adapters.surreal import governed_rows, graph_rows, rows
from soulmem.adapters.surreal.link import Query
from soulmem.adapters.surreal.marks import Marked
from soulmem.domain.ids import Owner
from soulmem.ports.store import Change

WRITE_ROWS = 500  # a statement

T = TypeVar("T")


def size_of(change: Change) -> int:
    """Rows that the change touches."""
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
    return (
        len(change.souls)
        + messages
        + sum(map(len, (*graph, *recalls, *governed, *derived)))
    )


def transaction(change: Change, marks: list[Marked] | None) -> Query:
    """The change as one transaction: what goes first, then what comes, edges after the memories they join.

    `marks` are those it takes away; None: every one of the owner's.

    Nothing that is put is deleted before: the engine in memory does not see it again in the same transaction.
    """
    script = _Script({"hand": change.by.value})
    owner = change.owner
    usages = {usage.memory for usage in change.put_usages}
    memories, edges = (
        {memory.id for memory in change.put_memories},
        {edge.id for edge in change.put_edges},
    )
    for chat in change.chats:
        slots = {ranked.message.slot for ranked in chat.put}
        script.drop(
            rows.MESSAGES,
            [[owner, chat.chat.id, slot] for slot in chat.drop if slot not in slots],
        )
    script.drop(
        rows.EDGES, [[owner, edge] for edge in change.drop_edges if edge not in edges]
    )
    script.drop(
        rows.MEMORIES,
        [[owner, key] for key in change.drop_memories if key not in memories],
    )
    script.drop_edges_of(
        [[owner, key] for key in change.drop_memories if key in memories], edges
    )
    gone = (
        *change.drop_memories,
        *change.drop_edges,
    )  # a relation is recalled as a fact by the edge's id
    script.drop(rows.USAGES, [[owner, key] for key in gone if key not in usages])
    records = {record.trace for record in change.put_recalls}
    script.drop(
        rows.RECALLS,
        [[owner, trace] for trace in change.drop_recalls if trace not in records],
    )
    script.put(rows.SOULS, [rows.soul_row(owner, soul) for soul in change.souls])
    script.put(rows.CHATS, [rows.chat_row(owner, chat.chat) for chat in change.chats])
    for chat in change.chats:
        script.put(
            rows.MESSAGES,
            [rows.message_row(owner, chat.chat.id, ranked) for ranked in chat.put],
        )
    script.put(
        rows.MEMORIES,
        [graph_rows.memory_row(owner, memory) for memory in change.put_memories],
    )
    script.put(
        rows.EDGES, [graph_rows.edge_row(owner, edge) for edge in change.put_edges]
    )
    script.put(
        rows.USAGES, [rows.usage_row(owner, usage) for usage in change.put_usages]
    )
    script.put(
        rows.RECALLS, [rows.recall_row(owner, record) for record in change.put_recalls]
    )
    script.purge_audit(owner, change.purge_audit)
    script.put(
        governed_rows.AUDIT,
        [governed_rows.audit_row(owner, entry) for entry in change.audit],
    )
    asked = [governed_rows.deletion_row(owner, one) for one in change.put_deletions]
    script.put(governed_rows.DELETIONS, asked)
    script.put(
        governed_rows.OPINIONS,
        [governed_rows.opinion_row(owner, o) for o in change.put_opinions],
    )
    derived, table = change.put_derivations, governed_rows.DERIVATIONS
    made = {one.id for one in derived}
    script.drop(
        table, [[owner, key] for key in change.drop_derivations if key not in made]
    )
    script.put(table, [governed_rows.derivation_row(owner, one) for one in derived])
    if marks is None:
        script.drop_all(rows.IMAGES, owner)
    else:
        script.drop(rows.IMAGES, [list(mark) for mark in marks])
    return script.query()


class _Script:
    """A transaction in the making."""

    def __init__(self, params: dict[str, Any]) -> None:
        self._statements: list[str] = []
        self._params = params

    def drop(self, table: rows.Table, ids: list[list[str]]) -> None:
        for piece in pieces(ids, WRITE_ROWS):
            name = self._bind(piece)
            self._statements.append(
                f"DELETE ${name}.map(|$id| type::record('{table.name}', $id)) RETURN NONE;"
            )

    def drop_all(self, table: rows.Table, owner: Owner) -> None:
        """Delete the owner's rows."""
        name = self._bind(owner)
        self._statements.append(
            f"DELETE {table.name}:[${name}, '']..=[${name}, ..] RETURN NONE;"
        )

    def drop_edges_of(self, memories: list[list[str]], kept: Collection[str]) -> None:
        """Delete what ends at these memories, but for the edges whose keys are `kept`."""
        for piece in pieces(memories, WRITE_ROWS):
            ends, keep = self._bind(piece), self._bind(list(kept))
            edges = f"(SELECT VALUE <->edge FROM ${ends}.map(|$id| type::record('memory', $id))).flatten()"
            dropped = f"{edges}.distinct().filter(|$edge| record::id($edge)[1] NOT IN ${keep})"
            self._statements.append(f"DELETE {dropped} RETURN NONE;")

    def purge_audit(self, owner: Owner, targets: Collection[str]) -> None:
        """Take the words out of entries about these targets, and the deletions that were asked for."""
        for piece in pieces(targets, WRITE_ROWS):
            whose, which = self._bind(owner), self._bind(piece)
            self._statements.append(
                f"UPDATE audit SET before = NONE, after = NONE, reason = '' "
                f"WHERE owner = ${whose} AND target IN ${which} RETURN NONE;"
                f"DELETE deletion:[${whose}, '']..=[${whose}, ..] WHERE memory IN ${which} RETURN NONE;"
            )

    def put(self, table: rows.Table, new: list[rows.Row]) -> None:
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
    while piece := list(islice(remaining, size)):
        yield piece
