"""One character's memory, loaded: rows, vectors, words, edges and strands, kept in step with the store.

Everything here computes, so it runs on the engine's compute thread alone; nothing awaits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from soulmem.assembly.tokens import estimate_tokens
from soulmem.domain.edges import Edge, EdgeKind, edge_id
from soulmem.domain.ids import ChatId, MemoryId, SlotId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin, Place, Timelines
from soulmem.domain.sequences import common_ends
from soulmem.domain.situation import ParticipantKind
from soulmem.domain.soul import Scope, Soul
from soulmem.engine.changes import MindChange, renamed
from soulmem.engine.embedded import Embedded, TextKey
from soulmem.graph.columns import Columns
from soulmem.graph.lineage import Lineages, Pair, Strand, StrandChange
from soulmem.graph.rows import Rows
from soulmem.retrieval.lexical import LexicalIndex
from soulmem.retrieval.words import Tokeniser

_NO_ROWS = np.zeros(0, np.int64)

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """For each row the rows before and after it, the rows of the two pairs, and its place in its chat;
    -1: none.
    """

    before: Ints
    after: Ints
    pair_in: Ints
    pair_out: Ints
    position: Ints


class Mind:
    """The loaded memory of one soul."""

    def __init__(self, soul: Soul) -> None:
        self.soul = soul
        self.memories: dict[MemoryId, Memory] = {}
        self.edges: dict[str, Edge] = {}
        self.lineages = Lineages()
        self.tokeniser = Tokeniser(soul.known_names())
        self.words = LexicalIndex()
        self._touching: defaultdict[MemoryId, set[str]] = defaultdict(set)
        self._rows: Rows[MemoryId] = Rows()
        self._pairs: Rows[Pair] = Rows()
        self._families: Rows[ChatId] = Rows()
        self._strand_rows: dict[ChatId, tuple[Ints, Ints]] = {}
        self._bound: dict[MemoryId, Place] = {}
        self.columns = Columns()
        self.embedded = Embedded(self._rows, self._pairs, self.text_of)

    @property
    def size(self) -> int:
        """Length of the arrays a search works on."""
        return self._rows.capacity

    @property
    def pair_count(self) -> int:
        """Length of the array of pairs."""
        return self._pairs.capacity

    def row(self, memory: MemoryId) -> int | None:
        """The array row of a memory."""
        return self._rows.row(memory)

    def row_of(self, memory: Memory) -> int:
        """The array row of a memory that has one. Raises KeyError."""
        row = self._rows.row(memory.id)
        if row is None:
            raise KeyError(memory.id)
        return row

    def at(self, row: int) -> Memory:
        """The memory at a row in use."""
        key = self._rows.id(row)
        if key is None:
            raise KeyError(f"row {row} is free")
        return self.memories[key]

    def sources(self, memory: Memory, first: ChatId | None = None) -> tuple[Place, ...]:
        """Where the memory was told, the chat `first` before all others."""
        chats = sorted(self.lineages.holders(memory.id), key=lambda chat: chat != first)
        slots = memory.evidence[0] if memory.evidence else ()
        return tuple(Place(chat, version.slot) for chat in chats for version in slots)

    def edges_of(self, memory: MemoryId) -> list[Edge]:
        """Every edge that starts or ends at the memory."""
        return [self.edges[key] for key in sorted(self._touching.get(memory, ()))]

    def ages(self, chat: ChatId | None, extra: int) -> Ints:
        """For each row the exchanges the soul lived since: in `chat` those after it, elsewhere those told
        later.

        `extra` turns of a moved clock are added. Shape (size,).
        """
        n = self.size
        opens = self.columns.opens_exchange[:n]
        told = np.sort(self.columns.happened[:n][opens & self.columns.live[:n]])
        ages = told.size - np.searchsorted(told, self.columns.happened[:n], "right")
        if chat is not None and self.lineages.strand(chat) is not None:
            rows = self._strand_rows[chat][0]
            since = np.cumsum(opens[rows][::-1])[::-1]
            ages[rows] = since - opens[rows]
        return np.asarray(ages + extra, np.int64)

    def visible(
        self, chat: ChatId | None, family: ChatId | None, holds: Callable[[ChatId, Place], bool]
    ) -> Bools:
        """Which rows a recall in `chat` may see, shape (size,): lineage, scope, timelines, bin and held
        removals.

        With `chat` None everything the soul knows. `holds(chat, place)` tells whether the chat's lineage has
        a
        place where a memory of one timeline was made by hand.
        """
        n = self.size
        usable = self.columns.active[:n] & self.columns.live[:n]
        if chat is None:
            return usable
        reach = self.columns.everywhere[:n].copy()
        code = self._families.row(family) if family is not None else None
        if self.soul.settings.scope is Scope.CHARACTER:
            told = self.columns.family[:n]
            reach |= (told >= 0) & (told != (-2 if code is None else code))
        strand = self.lineages.strand(chat)
        if strand is not None:
            reach[self._strand_rows[chat][0]] = True
            reach[
                [
                    row
                    for m in strand.held
                    if (row := self._rows.row(m)) is not None and not self.columns.everywhere[row]
                ]
            ] = False
        for memory, place in self._bound.items():
            row = self._rows.row(memory)
            if row is not None:
                reach[row] = holds(chat, place)
        return np.asarray(usable & reach)

    def neighbours(self, chat: ChatId | None) -> Neighbours:
        """Along `next`, as `chat` tells it; elsewhere as the other chats do."""
        n = self.size
        out = Neighbours(*(np.full(n, -1, np.int64) for _ in range(5)))
        strands = [s.chat for s in self.lineages if s.chat != chat]
        if chat is not None and self.lineages.strand(chat) is not None:
            strands.append(chat)
        for each in strands:
            rows, pairs = self._strand_rows[each]
            if each == chat:  # how another branch goes on after its last moment is not known here
                for column in (out.before, out.after, out.pair_in, out.pair_out):
                    column[rows] = -1
            out.before[rows[1:]] = rows[:-1]
            out.after[rows[:-1]] = rows[1:]
            out.pair_in[rows[1:]] = pairs
            out.pair_out[rows[:-1]] = pairs
            out.position[rows] = np.arange(rows.size)
        return out

    def rows_from(self, chat: ChatId, is_inside: Callable[[SlotId], bool]) -> list[int]:
        """Rows told in `chat` from the first slot on that `is_inside`; scanned from the end."""
        strand = self.lineages.strand(chat)
        out: list[int] = []
        for memory in reversed(strand.order if strand else ()):
            if not is_inside(self.memories[memory].evidence[0][0].slot):
                break
            row = self._rows.row(memory)
            if row is not None:
                out.append(row)
        return out

    def compare(
        self,
        strand: Strand,
        draft: Callable[[MemoryId], Memory],
        changed: Collection[MemoryId],
        now: datetime,
        *,
        retract: bool = False,
    ) -> MindChange:
        """What a chat's new strand means for this soul. `draft` makes the memory of an episode of the strand.

        `changed` are episodes whose message says something else beside its text. With `retract` what
        only this chat supports goes to the bin and can come back; without, it is dropped.
        """
        change = self.lineages.compare(strand)
        came = {key: draft(key) for key in change.came if self._is_missing(key)}
        former = self._former(strand, came)
        put = [self._arrival(fresh, former.get(key)) for key, fresh in came.items()]
        for key in changed:
            known = self.memories.get(key)
            if known is None or key in came or known.origin is Origin.USER:
                continue
            if (situation := draft(key).situation) != known.situation:
                put.append(replace(known, situation=situation))
        heirs = {memory.id for memory in former.values()}
        drop: list[MemoryId] = []
        for key in change.went:
            known = self.memories.get(key)
            if known is None or known.origin is Origin.USER:
                continue
            if known.state is MemoryState.BIN and key not in heirs:
                continue
            if retract:
                put.append(replace(known, state=MemoryState.RETRACTED))
            else:
                drop.append(key)
        return MindChange(
            put_memories=tuple(put),
            drop_memories=tuple(drop),
            put_edges=tuple(self._next_edge(pair, now) for pair in change.paired),
            drop_edges=tuple(edge_id(EdgeKind.NEXT, *pair) for pair in change.parted),
            strand=strand,
        )

    def _former(self, strand: Strand, came: Mapping[MemoryId, Memory]) -> dict[MemoryId, Memory]:
        """What episodes of the strand were when the chat told them under other ids."""
        old = self.lineages.strand(strand.chat)
        order = old.order if old else ()
        prefix, suffix = common_ends(order, strand.order)
        before, told = order[prefix : len(order) - suffix], strand.order[prefix : len(strand.order) - suffix]
        now = (came.get(key) or self.memories[key] for key in told)
        return renamed((self.memories[key] for key in before), now)

    def _is_missing(self, key: MemoryId) -> bool:
        known = self.memories.get(key)
        return known is None or known.state is MemoryState.RETRACTED

    def _arrival(self, fresh: Memory, former: Memory | None) -> Memory:
        """What to write of an episode that came: with what the user gave it, if it was here before."""
        known = self.memories.get(fresh.id)
        if known is not None:
            return replace(known, state=MemoryState.ACTIVE, situation=fresh.situation)
        kept = former or fresh
        return replace(fresh, tags=kept.tags, importance=kept.importance, state=kept.state)

    def apply(self, change: MindChange) -> None:
        """Take over what has been stored."""
        gone_pairs: Iterable[Pair] = ()
        before: tuple[MemoryId, ...] = ()
        touched: set[MemoryId] = {m.id for m in change.put_memories}
        if change.strand is not None:
            compared: StrandChange = self.lineages.compare(change.strand)
            old = self.lineages.strand(change.strand.chat)
            gone_pairs = compared.parted
            before = old.order if old else ()
            touched |= (
                {*compared.came, *compared.went} | (old.held if old else frozenset()) | change.strand.held
            )
            if any(strand.held for strand in self.lineages):
                touched |= set(change.strand.order)  # what another chat lost, this one may still tell
            self.lineages.put(change.strand)
        for memory in change.put_memories:
            self._put_memory(memory)
        for edge in change.put_edges:
            self._put_edge(edge)
        for key in change.drop_edges:
            self._drop_edge(key)
        for key in change.drop_memories:
            self._drop_memory(key)
        for pair in gone_pairs:
            self._drop_pair(pair)
        if change.strand is not None:
            self._take_strand(change.strand, before)
        for key in touched:
            self._refresh(key)

    def take_soul(self, soul: Soul) -> bool:
        """New name or settings; True when the known names changed, so that words must be indexed again."""
        renamed = soul.known_names() != self.soul.known_names()
        self.soul = soul
        if renamed:
            self.tokeniser = Tokeniser(soul.known_names())
        return renamed

    def index_words(self, memories: Iterable[MemoryId]) -> None:
        """Cut these memories into words again; unknown ones are ignored."""
        for key in memories:
            row = self._rows.row(key)
            if row is not None:
                self.words.put(row, self.tokeniser.tokens(self.memories[key].text))

    def text_of(self, key: TextKey) -> str:
        """What stands for a memory, or for two in a row, before an embedding model."""
        if isinstance(key, tuple):
            return f"{self.memories[key[0]].text}\n{self.memories[key[1]].text}"
        return self.memories[key].text

    def _next_edge(self, pair: Pair, now: datetime) -> Edge:
        return Edge(self.soul.id, pair[0], pair[1], EdgeKind.NEXT, Origin.CHAT, now, strength=1.0)

    def _put_memory(self, memory: Memory) -> None:
        old = self.memories.get(memory.id)
        self.memories[memory.id] = memory
        row = self._rows.add(memory.id)
        self.columns.grow(row + 1)
        self.columns.happened[row] = memory.happened.timestamp()
        if old is None or old.text != memory.text:
            self.columns.tokens[row] = estimate_tokens(memory.text)
            self.words.put(row, self.tokeniser.tokens(memory.text))
            self.embedded.want(memory.id)
            if old is not None:
                for pair, _ in list(self._pairs):
                    if memory.id in pair:
                        self.embedded.want(pair)

    def _drop_memory(self, key: MemoryId) -> None:
        self.memories.pop(key, None)
        for edge in list(self._touching.get(key, ())):
            self._drop_edge(edge)
        self._touching.pop(key, None)
        self._bound.pop(key, None)
        row = self._rows.drop(key)
        self.embedded.forget(key, row)
        if row is not None:
            self.words.drop(row)
            self.columns.clear(row)

    def _drop_pair(self, pair: Pair) -> None:
        self.embedded.forget(pair, self._pairs.drop(pair))

    def _put_edge(self, edge: Edge) -> None:
        key = edge.id
        self.edges[key] = edge
        self._touching[edge.source].add(key)
        self._touching[edge.target].add(key)

    def _drop_edge(self, key: str) -> None:
        edge = self.edges.pop(key, None)
        if edge is not None:
            self._touching[edge.source].discard(key)
            self._touching[edge.target].discard(key)

    def _take_strand(self, strand: Strand, before: tuple[MemoryId, ...]) -> None:
        """Rows of the strand and of its pairs; only where its order differs from `before` are they looked
        up.
        """
        rows, pairs = self._strand_rows.pop(strand.chat, (_NO_ROWS, _NO_ROWS))
        if not strand.order:
            return
        prefix, suffix = common_ends(before, strand.order)
        start, stop = max(0, prefix - 1), len(strand.order) - suffix
        fresh = strand.order[start : stop + 1]
        middle = np.asarray([self._rows.add(m) for m in strand.order[prefix:stop]], np.int64)
        rows = np.concatenate([rows[:prefix], middle, rows[rows.size - suffix :]])
        between = np.asarray([self._pair_row(pair) for pair in pairwise(fresh)], np.int64)
        pairs = np.concatenate([pairs[:start], between, pairs[pairs.size - max(0, suffix - 1) :]])
        self.columns.family[rows] = self._families.add(strand.family)
        self._strand_rows[strand.chat] = rows, pairs

    def _pair_row(self, pair: Pair) -> int:
        row = self._pairs.row(pair)
        if row is None:
            row = self._pairs.add(pair)
            self.embedded.want(pair)
        return row

    def _refresh(self, key: MemoryId) -> None:
        """Bring a row's flags in line with its memory and its holders."""
        row, memory = self._rows.row(key), self.memories.get(key)
        if row is None or memory is None:
            return
        told = bool(self.lineages.holders(key))
        by_hand = memory.origin is Origin.USER
        self.columns.active[row] = (
            memory.state is MemoryState.ACTIVE and memory.kind is not MemoryKind.TRIGGER
        )
        self.columns.live[row] = self.lineages.is_live(key) if told else by_hand
        self.columns.everywhere[row] = memory.timelines is Timelines.ALL
        self.columns.opens_exchange[row] = _opens_exchange(memory)
        if not told:
            self.columns.family[row] = -1
        self._bound.pop(key, None)
        if by_hand and not told and memory.timelines is Timelines.THIS and memory.place is not None:
            self._bound[key] = memory.place


def _opens_exchange(memory: Memory) -> bool:
    """Whether the memory is a line somebody else said: one turn of the soul's clock."""
    if memory.kind is not MemoryKind.EPISODE or memory.origin is not Origin.CHAT:
        return False
    return all(p.kind is not ParticipantKind.SELF for p in memory.situation.participants)
