"""What a chat may see of a soul's memory, what stands beside what there, and how long ago it was."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.consolidation.promotion import PromotionParams
from soulmem.domain.ids import ChatId, MemoryId, SlotId
from soulmem.domain.memories import (
    DERIVED,
    Memory,
    MemoryKind,
    MemoryState,
    Origin,
    Place,
    Timelines,
)
from soulmem.domain.sequences import common_ends
from soulmem.domain.situation import ParticipantKind
from soulmem.domain.soul import Scope
from soulmem.graph.columns import ORIGINS, Columns
from soulmem.graph.derivations import Derivations
from soulmem.graph.lineage import Lineages, Strand
from soulmem.graph.packing import (
    Arrays,
    named,
    packed_runs,
    packed_texts,
    part,
    unpacked_runs,
    unpacked_texts,
)
from soulmem.graph.pairs import Pairs
from soulmem.graph.rows import Rows

_NO_ROWS = np.zeros(0, np.int64)
_MODEL = ORIGINS.index(Origin.MODEL)
_FROM_CHATS = [ORIGINS.index(origin) for origin in DERIVED]
_CHATS_AT_HAND = 2  # whose neighbours are kept: 20 bytes a row each

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
RowNumbers = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """For each row the rows before and after it, the rows of the two pairs, and its place in its chat;
    -1: none.
    """

    before: RowNumbers
    after: RowNumbers
    pair_in: RowNumbers
    pair_out: RowNumbers
    position: RowNumbers


class Visibility:
    """The strands of a soul as rows, and the flags of each row that decide who may see it."""

    def __init__(
        self,
        memories: Mapping[MemoryId, Memory],
        rows: Rows[MemoryId],
        pairs: Pairs,
        columns: Columns,
    ) -> None:
        self.lineages = Lineages(pairs)
        self.derivations = Derivations(self.lineages)
        self._memories = memories
        self._rows = rows
        self._pairs = pairs
        self._columns = columns
        self._families: Rows[ChatId] = Rows()
        self._strand_rows: dict[ChatId, tuple[Ints, Ints]] = {}
        self._bound: dict[
            MemoryId, Place
        ] = {}  # memories made by hand for one timeline
        self._in_many: dict[
            MemoryId, frozenset[ChatId]
        ] = {}  # drafted in chats of several families
        self._nearby: dict[
            ChatId | None, Neighbours
        ] = {}  # of the chats asked about last
        self._exchange_times: NDArray[np.float64] | None = (
            None  # what `told` says, until a row is another
        )
        self._created_times: Ints | None = None  # what `_learned` says, likewise

    def visible_rows(
        self,
        chat: ChatId | None,
        family: ChatId | None,
        scope: Scope,
        holds: Callable[[ChatId, Place], bool],
    ) -> Bools:
        """Which rows a recall in `chat` may show, shape (rows,): those it knows and of a kind to be shown."""
        known = self.accessible_rows(chat, family, scope, holds)
        return np.asarray(known & self._columns.active[: known.size])

    def accessible_rows(
        self,
        chat: ChatId | None,
        family: ChatId | None,
        scope: Scope,
        holds: Callable[[ChatId, Place], bool],
    ) -> Bools:
        """Which rows a recall in `chat` may use, shape (rows,): lineage, scope, timelines, bin and held
        removals.

        With `chat` None everything the soul knows. `holds(chat, place)` tells whether the chat's lineage has
        a place where a memory of one timeline was made by hand.
        """
        n = self._rows.capacity
        columns = self._columns
        usable = columns.in_use[:n] & columns.live[:n]
        if chat is None:
            return usable
        reach = columns.everywhere[:n].copy()
        code = self._families.row(family) if family is not None else None
        if scope is Scope.CHARACTER:
            told = columns.family[:n]
            reach |= (told >= 0) & (told != (-2 if code is None else code))
            reach[
                self.rows_of(
                    key for key, told_in in self._in_many.items() if family in told_in
                )
            ] = False
        strand = self.lineages.strand(chat)
        if strand is not None:
            reach[self._strand_rows[chat][0]] = True
            held = (
                row
                for m in strand.quarantined
                if (row := self._rows.row(m)) is not None
            )
            reach[[row for row in held if not columns.everywhere[row]]] = False
        if self.derivations:
            self._mark_drafts(reach, chat, family)
        for memory, place in self._bound.items():
            row = self._rows.row(memory)
            if row is not None:
                reach[row] = holds(chat, place)
        return np.asarray(usable & reach)

    def _mark_drafts(self, reach: Bools, chat: ChatId, family: ChatId | None) -> None:
        """Add what a model drafted from what `chat` holds: of its family all but what only others hold."""
        code, columns = (
            self._families.row(family) if family is not None else None,
            self._columns,
        )
        if code is not None:
            reach |= (columns.origin[: reach.size] == _MODEL) & (
                columns.family[: reach.size] == code
            )
        beside = self.rows_of(self._drafts_of_other_branches(chat, family))
        reach[[row for row in beside if columns.family[row] == code]] = False
        reach[
            self.rows_of(self.derivations.products(chat).intersection(self._in_many))
        ] = True

    def inaccessible_facts(
        self, chat: ChatId | None, family: ChatId | None, scope: Scope
    ) -> list[int]:
        """The rows of facts that a language model drafted from what `chat` does not hold."""
        if not self.derivations:
            return []
        unknown = self.derivations.loose()
        if chat is not None and scope is Scope.CHARACTER:
            unknown |= self._drafts_of_other_branches(chat, family)
        elif chat is not None:
            unknown = set(self.derivations.edges() - self.derivations.products(chat))
        return self.rows_of(unknown & self.derivations.edges())

    def _drafts_of_other_branches(
        self, chat: ChatId, family: ChatId | None
    ) -> set[str]:
        """What was drafted from what other chats of the family hold, and this one does not."""
        others = (
            s.chat for s in self.lineages if s.family == family and s.chat != chat
        )
        return set().union(
            *map(self.derivations.products, others)
        ) - self.derivations.products(chat)

    def _families_of(self, product: str) -> frozenset[ChatId]:
        strands = (
            self.lineages.strand(chat) for chat in self.derivations.holders(product)
        )
        return frozenset(strand.family for strand in strands if strand is not None)

    def rows_of(self, products: Iterable[str]) -> list[int]:
        """The rows of those of these memories and facts that have one."""
        return [
            row
            for key in products
            if (row := self._rows.row(MemoryId(key))) is not None
        ]

    def neighbours(self, chat: ChatId | None) -> Neighbours:
        """Along `next`, as `chat` tells it; elsewhere as the other chats do. The same arrays until a strand
        or the number of rows changes: nothing may be written to them.
        """
        n = self._rows.capacity
        known = self._nearby.get(chat)
        if known is not None and known.before.size == n:
            return known
        out = Neighbours(*(np.full(n, -1, np.int32) for _ in range(5)))
        strands = [s.chat for s in self.lineages if s.chat != chat]
        if chat is not None and self.lineages.strand(chat) is not None:
            strands.append(chat)
        for each in strands:
            rows, pairs = self._strand_rows[each]
            if (
                each == chat
            ):  # how another branch goes on after its last moment is not known here
                for column in (out.before, out.after, out.pair_in, out.pair_out):
                    column[rows] = -1
            out.before[rows[1:]] = rows[:-1]
            out.after[rows[:-1]] = rows[1:]
            out.pair_in[rows[1:]] = pairs
            out.pair_out[rows[:-1]] = pairs
            out.position[rows] = np.arange(rows.size)
        while len(self._nearby) >= _CHATS_AT_HAND:
            del self._nearby[next(iter(self._nearby))]
        self._nearby[chat] = out
        return out

    def exchange_times(self) -> NDArray[np.float64]:
        """When each exchange the soul lived took place, in POSIX seconds, ascending; to be read only."""
        if self._exchange_times is None:
            n = self._rows.capacity
            columns = self._columns
            self._exchange_times = columns.happened[:n][
                columns.opens_exchange[:n] & columns.live[:n]
            ]
            self._exchange_times.sort(
                kind="stable"
            )  # chats are runs in order, which are merged
        return self._exchange_times

    def _exchange_created_times(self) -> Ints:
        """When each exchange became known, but for those read in bulk; microseconds, ascending."""
        if self._created_times is None:
            n = self._rows.capacity
            columns = self._columns
            created = np.sort(
                columns.created[:n][columns.opens_exchange[:n] & columns.live[:n]]
            )
            _, place, count = np.unique(
                created, return_inverse=True, return_counts=True
            )
            self._created_times = np.asarray(
                created[2 * count[place] <= PromotionParams().imported], np.int64
            )
        return self._created_times

    def exchange_story_times(self) -> NDArray[np.float64]:
        """When each of them took place by the story's calendar, in the same order; 0: not known."""
        n = self._rows.capacity
        columns = self._columns
        told = np.flatnonzero(columns.opens_exchange[:n] & columns.live[:n])
        return columns.story[told[np.lexsort((told, columns.happened[told]))]]

    def exchange_count(self) -> int:
        """How many there were."""
        n = self._rows.capacity
        return int(
            np.count_nonzero(self._columns.opens_exchange[:n] & self._columns.live[:n])
        )

    def exchange_ages(
        self, chat: ChatId | None, extra: int, rows: Ints | None = None
    ) -> Ints:
        """For each of these rows, or of all, the exchanges the soul lived since: in `chat` those after it,
        elsewhere those told later.

        `extra` turns of a moved clock are added. Shape (rows,).
        """
        n = self._rows.capacity
        asked = np.arange(n) if rows is None else rows
        told = self.exchange_times()
        ages = told.size - np.searchsorted(told, self._columns.happened[asked], "right")
        # What was made by hand is as old as what was said since, whatever dates those messages bear.
        by_hand = np.flatnonzero(~np.isin(self._columns.origin[asked], _FROM_CHATS))
        if by_hand.size:
            lived = self._exchange_created_times()
            since = lived.size - np.searchsorted(
                lived, self._columns.created[asked[by_hand]], "right"
            )
            dated = (
                self._columns.happened[asked[by_hand]]
                < self._columns.created[asked[by_hand]] / 1e6 - 1.0
            )
            ages[by_hand] = np.where(dated, np.maximum(ages[by_hand], since), since)
        if chat is not None and self.lineages.strand(chat) is not None:
            inside = self._strand_rows[chat][0]
            opens = self._columns.opens_exchange[inside]
            since = np.full(n, -1, np.int64)
            since[inside] = np.cumsum(opens[::-1])[::-1] - opens
            ages = np.where(since[asked] >= 0, since[asked], ages)
        return np.asarray(ages + extra, np.int64)

    def tail_rows(self, chat: ChatId, is_inside: Callable[[SlotId], bool]) -> list[int]:
        """Rows told in `chat` from the first slot on that `is_inside`; scanned from the end."""
        strand = self.lineages.strand(chat)
        out: list[int] = []
        for memory in reversed(strand.order if strand else ()):
            known = self._memories.get(memory)
            if known is None:  # while the soul is being opened: nobody sees it yet
                continue
            if not is_inside(known.evidence[0][0].slot):
                break
            row = self._rows.row(memory)
            if row is not None:
                out.append(row)
        return out

    def chat_rows(self, chat: ChatId) -> Ints:
        """The rows of what the chat tells, in its order."""
        return self._strand_rows.get(chat, (_NO_ROWS, _NO_ROWS))[0]

    def packed(self) -> dict[str, NDArray[Any]]:
        """The strands as arrays, which nothing changes later; rows are those of the memories and pairs."""
        strands = list(self.lineages)
        told = [
            self._strand_rows.get(strand.chat, (_NO_ROWS, _NO_ROWS))
            for strand in strands
        ]
        held = [
            sorted(row for m in s.quarantined if (row := self._rows.row(m)) is not None)
            for s in strands
        ]
        bound = [
            text
            for key, place in self._bound.items()
            for text in (key, place.chat, place.slot)
        ]
        return {
            "chats": packed_texts([strand.chat for strand in strands]),
            "families": packed_texts([strand.family for strand in strands]),
            "known_families": self._families.packed(),
            "bound": packed_texts(bound),
            **named("rows", packed_runs([rows for rows, _ in told])),
            **named("pairs", packed_runs([pairs for _, pairs in told])),
            **named("held", packed_runs([np.asarray(rows, np.int64) for rows in held])),
        }

    def restore(
        self, arrays: Arrays, id_at: Callable[[int], MemoryId]
    ) -> Iterator[None]:
        """Take over what was packed, chat by chat, instead of anything there was; rows, pairs and columns are
        here.
        """
        self._families.restore(arrays["known_families"])
        bound = [text or "" for text in unpacked_texts(arrays["bound"])]
        for key, place, slot in zip(bound[::3], bound[1::3], bound[2::3], strict=True):
            self._bound[MemoryId(key)] = Place(ChatId(place), SlotId(slot))
        chats, families = (
            unpacked_texts(arrays["chats"]),
            unpacked_texts(arrays["families"]),
        )
        runs = (unpacked_runs(part(name, arrays)) for name in ("rows", "pairs", "held"))
        for chat, family, rows, pairs, held in zip(chats, families, *runs, strict=True):
            order = tuple(map(id_at, rows.tolist()))
            lost = frozenset(map(id_at, held.tolist()))
            strand = Strand(ChatId(chat or ""), ChatId(family or ""), order, lost)
            self.lineages.restore(strand)
            self._strand_rows[strand.chat] = rows, pairs
            self._nearby.clear()
            self._exchange_times = self._created_times = None
            yield

    def put_strand(self, strand: Strand, before: tuple[MemoryId, ...]) -> None:
        """Rows of the strand and of its pairs, as the lineages have them; only where its order differs from
        `before` are they looked up.
        """
        self._nearby.clear()
        rows, pairs = self._strand_rows.pop(strand.chat, (_NO_ROWS, _NO_ROWS))
        if not strand.order:
            return
        prefix, suffix = common_ends(before, strand.order)
        start, stop = max(0, prefix - 1), len(strand.order) - suffix
        fresh = strand.order[start : stop + 1]
        middle = np.asarray(
            [self._rows.add(m) for m in strand.order[prefix:stop]], np.int64
        )
        rows = np.concatenate([rows[:prefix], middle, rows[rows.size - suffix :]])
        between = np.asarray(
            [self._pairs.row(pair) for pair in pairwise(fresh)], np.int64
        )
        pairs = np.concatenate(
            [pairs[:start], between, pairs[pairs.size - max(0, suffix - 1) :]]
        )
        self._columns.grow(self._rows.capacity)
        self._columns.family[rows] = self._families.add(strand.family)
        self._strand_rows[strand.chat] = rows, pairs

    def refresh_flags(self, key: MemoryId) -> None:
        """Bring a row's flags in line with its memory and its holders."""
        self._exchange_times = self._created_times = None
        row, memory = self._rows.row(key), self._memories.get(key)
        if row is None or memory is None:
            return
        columns = self._columns
        told = bool(self.lineages.holders(key))
        by_hand = memory.origin is Origin.USER
        in_use = memory.state is MemoryState.ACTIVE
        shown = (
            memory.kind not in (MemoryKind.TRIGGER, MemoryKind.SUMMARY)
            and not memory.is_bare_name
        )
        columns.in_use[row] = in_use
        columns.active[row] = in_use and shown
        columns.live[row] = (
            self.lineages.is_live(key) if told else _stands_alone(memory)
        )
        if memory.origin is Origin.MODEL:
            families = self._families_of(key)
            columns.live[row] = told = bool(families)
            self._in_many.pop(key, None)
            if len(families) > 1:
                self._in_many[key] = families
            for family in families:
                columns.family[row] = self._families.add(family)
        columns.everywhere[row] = memory.timelines is Timelines.ALL
        columns.opens_exchange[row] = opens_exchange(memory)
        if not told:
            columns.family[row] = -1
        self._bound.pop(key, None)
        if (
            by_hand
            and not told
            and memory.timelines is Timelines.THIS
            and memory.place is not None
        ):
            self._bound[key] = memory.place

    def drop(self, key: MemoryId) -> None:
        """The memory is gone; its row's flags are the caller's to clear."""
        self._exchange_times = self._created_times = None
        self._bound.pop(key, None)
        self._in_many.pop(key, None)


def opens_exchange(memory: Memory) -> bool:
    """Whether the memory is a line somebody else said: one turn of the soul's clock."""
    if memory.kind is not MemoryKind.EPISODE or memory.origin is not Origin.CHAT:
        return False
    return all(
        p.kind is not ParticipantKind.SELF for p in memory.situation.participants
    )


def _stands_alone(memory: Memory) -> bool:
    """Whether it is there without a chat that tells it: learned names and found topics follow texts."""
    return memory.origin is not Origin.CHAT or memory.kind is MemoryKind.CONCEPT
