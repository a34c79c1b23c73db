"""Visibility: which rows a chat may use, their neighbours in chats, and their ages in exchanges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from soulmem.engine.mind.exchange_times import ExchangeTimes
from soulmem.engine.mind.exchange_windows import ExchangeWindows
from soulmem.engine.mind.neighbours import NeighbourColumns
from soulmem.engine.mind.neighbours import Neighbours as Neighbours
from soulmem.graph.branches import Branch, Branches
from soulmem.graph.columns import ORIGINS, STATES, Columns
from soulmem.graph.derivations import Derivations
from soulmem.graph.packed_arrays import (
    Arrays,
    named,
    packed_runs,
    packed_texts,
    part,
    unpacked_runs,
    unpacked_texts,
)
from soulmem.graph.pairs import Pairs
from soulmem.graph.row_numbers import Rows
from soulmem.graph.telling_groups import Tellings
from soulmem.graph.windows import Windows
from soulmem.kernels.arrays import Bools, Int64s

_NO_ROWS = np.zeros(0, np.int64)
_MODEL = ORIGINS.index(Origin.MODEL)
_IS_FROM_CHATS = np.asarray([origin in DERIVED for origin in ORIGINS])  # by code
_CACHED_CHATS = 2  # chats whose Neighbours are cached: 20 bytes a row each

RowNumbers = NDArray[np.int32]


class Visibility:
    """The branches of a soul as row numbers, and the flags of rows that decide which chat may use them."""

    def __init__(
        self,
        memories: Mapping[MemoryId, Memory],
        rows: Rows[MemoryId],
        pairs: Pairs,
        columns: Columns,
    ) -> None:
        self.branches = Branches(pairs)
        self.derivations = Derivations(self.branches)
        self._memories = memories
        self._rows = rows
        self._pairs = pairs
        self._columns = columns
        self.tellings = Tellings(rows)
        self._families: Rows[ChatId] = Rows()
        self._branch_rows: dict[ChatId, tuple[Int64s, Int64s]] = {}
        # Memories made by hand for one timeline, and where.
        self._bound: dict[MemoryId, Place] = {}
        # Drafts that chats of several families hold, with the families.
        self._in_many: dict[MemoryId, frozenset[ChatId]] = {}
        # Digests that tell chats of several families at once.
        self._joint: set[MemoryId] = set()
        # Of the chats asked for last.
        self._neighbours: dict[ChatId | None, NeighbourColumns] = {}
        self._windows = ExchangeWindows(columns)
        self._last_chat: ChatId | None = None  # the chat whose branch was put last
        self._exchanges = ExchangeTimes(columns)

    def visible_rows(
        self,
        chat: ChatId | None,
        family: ChatId | None,
        scope: Scope,
        holds: Callable[[ChatId, Place], bool],
    ) -> Bools:
        """Which rows a recall in `chat` may show, bool[rows]: accessible and of a kind that is shown."""
        rows = self.accessible_rows(chat, family, scope, holds)
        return np.asarray(rows & self._columns.active[: rows.size])

    def accessible_rows(
        self,
        chat: ChatId | None,
        family: ChatId | None,
        scope: Scope,
        holds: Callable[[ChatId, Place], bool],
    ) -> Bools:
        """Which rows a recall in `chat` may use, bool[rows]: by branch, scope, timelines, bin and quarantine.

        With `chat` None all rows that the soul may use in any chat. `holds(chat, place)` says
        whether the chat's branch contains the place where a memory of one timeline was made.
        Of an event whose memory the chat does not know, the first telling that it knows.
        """
        reached = self.reached_rows(chat, family, scope, holds)
        rows = np.asarray(reached & self._columns.in_use[: reached.size])
        happened = self._columns.happened
        rows[self.tellings.stand_ins(reached, rows, happened)] = True
        return rows

    def reached_rows(
        self,
        chat: ChatId | None,
        family: ChatId | None,
        scope: Scope,
        holds: Callable[[ChatId, Place], bool],
    ) -> Bools:
        """As `accessible_rows`, with memories that are not in use, such as merged tellings."""
        n = self._rows.capacity
        live: Bools = self._columns.live[:n]
        if chat is None:
            return np.array(live)
        reach = self._columns.everywhere[:n].copy()
        if scope is Scope.CHARACTER:
            self._mark_other_families(reach, family)
        branch = self.branches.branch(chat)
        if branch is not None:
            reach[self._branch_rows[chat][0]] = True
            quarantined = self.rows_of(branch.quarantined)
            everywhere = self._columns.everywhere
            reach[[row for row in quarantined if not everywhere[row]]] = False
        if self.derivations:
            self._mark_drafts(reach, chat, family)
        if scope is Scope.CHAT:
            reach[self.rows_of(self._joint)] = False
        for memory, place in self._bound.items():
            row = self._rows.row(memory)
            if row is not None:
                reach[row] = holds(chat, place)
        return np.asarray(live & reach)

    def _mark_other_families(self, reach: Bools, family: ChatId | None) -> None:
        """Set in `reach` the memories of chats of other families, except what `family` holds too."""
        code = self._families.row(family) if family is not None else None
        families = self._columns.family[: reach.size]
        reach |= (families >= 0) & (families != (-2 if code is None else code))
        shared = (key for key, held_in in self._in_many.items() if family in held_in)
        reach[self.rows_of(shared)] = False

    def _mark_drafts(self, reach: Bools, chat: ChatId, family: ChatId | None) -> None:
        """Set in `reach` the drafts of the family of `chat`, except those only its other chats hold."""
        columns = self._columns
        code = self._families.row(family) if family is not None else None
        if code is not None:
            is_draft = columns.origin[: reach.size] == _MODEL
            reach |= is_draft & (columns.family[: reach.size] == code)
        others = self.rows_of(self._drafts_of_other_branches(chat, family))
        reach[[row for row in others if columns.family[row] == code]] = False
        shared = self.derivations.products(chat).intersection(self._in_many)
        reach[self.rows_of(shared)] = True

    def inaccessible_facts(
        self, chat: ChatId | None, family: ChatId | None, scope: Scope
    ) -> list[int]:
        """Rows of drafted facts that `chat` may not use, as it does not hold what they were drafted from."""
        if not self.derivations:
            return []
        unknown = self.derivations.orphaned_products()
        if chat is not None and scope is Scope.CHARACTER:
            unknown |= self._drafts_of_other_branches(chat, family)
        elif chat is not None:
            unknown = set(self.derivations.edges() - self.derivations.products(chat))
        return self.rows_of(unknown & self.derivations.edges())

    def _drafts_of_other_branches(self, chat: ChatId, family: ChatId | None) -> set[str]:
        """Ids of drafts that other chats of the family hold and `chat` does not."""
        others = (s.chat for s in self.branches if s.family == family and s.chat != chat)
        return set().union(*map(self.derivations.products, others)) - self.derivations.products(
            chat
        )

    def _families_of(self, product: str) -> frozenset[ChatId]:
        branches = (self.branches.branch(chat) for chat in self.derivations.holders(product))
        return frozenset(branch.family for branch in branches if branch is not None)

    def rows_of(self, products: Iterable[str]) -> list[int]:
        """The rows of these memories and facts, in order; ids without a row are left out."""
        return [row for key in products if (row := self._rows.row(MemoryId(key))) is not None]

    def first_rows(self) -> Int64s:
        """Rows of the first episode of each branch, int64[branches that have one]."""
        firsts = [rows[:1] for rows, _ in self._branch_rows.values()]
        return np.concatenate(firsts or [np.empty(0, np.int64)]).astype(np.int64)

    def neighbours(self, chat: ChatId | None) -> Neighbours:
        """Neighbours of all rows: in `chat` for the episodes it holds, in other chats for the rest.

        The arrays are cached until a branch changes, and continued where it only grows: read only.
        """
        n = self._rows.capacity
        cached = self._neighbours.get(chat)
        if cached is not None and cached.has_room(n):
            return cached.first(n)
        out = NeighbourColumns(n)
        branches = [s.chat for s in self.branches if s.chat != chat]
        if chat is not None and self.branches.branch(chat) is not None:
            branches.append(chat)
        for each in branches:
            # How another branch continues an episode does not count in this chat.
            out.put(*self._branch_rows[each], is_alone=each == chat)
        while len(self._neighbours) >= _CACHED_CHATS:
            del self._neighbours[next(iter(self._neighbours))]
        self._neighbours[chat] = out
        return out.first(n)

    def exchange_windows(self, chat: ChatId | None) -> Windows:
        """The exchanges of all rows: in `chat` for the episodes it holds, in other chats for the rest.

        An exchange is a line of somebody else and what the soul says before the next one. What the soul says
        before any, and rows of no chat, stand by themselves. Replies that several chats give to one line are in
        one window; so are they seen where all chats are looked at. Kept until a branch changes: read only.
        """
        chats = {key: rows for key, (rows, _) in self._branch_rows.items()}
        return self._windows.of(chat, chats, self._rows.capacity)

    def exchange_times(self) -> NDArray[np.float64]:
        """When each exchange the soul lived took place: POSIX seconds, ascending; read only."""
        return self._exchanges.happened(self._rows.capacity)

    def exchange_story_times(self) -> NDArray[np.float64]:
        """Story time of each exchange, in the order of `exchange_times`; 0 if it has none."""
        n = self._rows.capacity
        columns = self._columns
        rows = np.flatnonzero(columns.opens_exchange[:n] & columns.live[:n])
        return columns.story[rows[np.lexsort((rows, columns.happened[rows]))]]

    def exchange_count(self) -> int:
        """Number of exchanges the soul lived."""
        return self.exchange_times().size

    def exchange_ages(self, chat: ChatId | None, extra: int, rows: Int64s | None = None) -> Int64s:
        """Age of each of these rows, or of all, in exchanges; shape (rows,).

        For episodes of `chat` the exchanges after them in the chat, for other rows those
        that took place later. `extra` turns of a moved clock are added.
        """
        n = self._rows.capacity
        asked = np.arange(n) if rows is None else rows
        times = self.exchange_times()
        happened = self._columns.happened[asked]
        ages = times.size - np.searchsorted(times, happened, "right")
        # Memories made by hand age by the exchanges stored since, whatever their dates.
        by_hand = np.flatnonzero(~_IS_FROM_CHATS[self._columns.origin[asked]])
        if by_hand.size:
            lived = self._exchanges.created(n)
            since = lived.size - np.searchsorted(
                lived, self._columns.created[asked[by_hand]], "right"
            )
            dated = (
                self._columns.happened[asked[by_hand]]
                < self._columns.created[asked[by_hand]] / 1e6 - 1.0
            )
            ages[by_hand] = np.where(dated, np.maximum(ages[by_hand], since), since)
        if chat is not None and self.branches.branch(chat) is not None:
            inside = self._branch_rows[chat][0]
            place = self.neighbours(chat).position[asked]
            held = np.flatnonzero((place >= 0) & (place < inside.size))
            held = held[inside[place[held]] == asked[held]]
            ages[held] = self._exchanges.after(inside)[place[held]]
        return np.asarray(ages + extra, np.int64)

    def tail_rows(self, chat: ChatId, is_inside: Callable[[SlotId], bool]) -> list[int]:
        """Rows of the last episodes of `chat`, newest first, back to the first whose slot is not inside."""
        branch = self.branches.branch(chat)
        out: list[int] = []
        for memory in reversed(branch.order if branch else ()):
            episode = self._memories.get(memory)
            if episode is None:  # not loaded yet, while the soul is being opened
                continue
            if not is_inside(episode.evidence[0][0].slot):
                break
            row = self._rows.row(memory)
            if row is not None:
                out.append(row)
        return out

    def chat_rows(self, chat: ChatId) -> Int64s:
        """The rows of the chat's episodes, in its order."""
        return self._branch_rows.get(chat, (_NO_ROWS, _NO_ROWS))[0]

    def packed(self) -> dict[str, NDArray[Any]]:
        """The branches as arrays for a snapshot, by rows of memories and pairs."""
        branches = list(self.branches)
        empty = (_NO_ROWS, _NO_ROWS)
        branch_rows = [self._branch_rows.get(branch.chat, empty) for branch in branches]
        quarantined = [sorted(self.rows_of(s.quarantined)) for s in branches]
        bound: list[str] = []
        for key, place in self._bound.items():
            bound += (key, place.chat, place.slot)
        return {
            "chats": packed_texts([branch.chat for branch in branches]),
            "families": packed_texts([branch.family for branch in branches]),
            "known_families": self._families.packed(),
            "bound": packed_texts(bound),
            **named("rows", packed_runs([rows for rows, _ in branch_rows])),
            **named("pairs", packed_runs([pairs for _, pairs in branch_rows])),
            **named(
                "held",
                packed_runs([np.asarray(rows, np.int64) for rows in quarantined]),
            ),
        }

    def restore(self, arrays: Arrays, id_at: Callable[[int], MemoryId]) -> Iterator[None]:
        """Replace everything by what `packed` gave, one chat per step.

        Rows, pairs and columns must be restored already.
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
        branches = zip(chats, families, *runs, strict=True)
        for chat, family, rows, pairs, quarantined in branches:
            order = tuple(map(id_at, rows.tolist()))
            hidden = frozenset(map(id_at, quarantined.tolist()))
            branch = Branch(ChatId(chat or ""), ChatId(family or ""), order, hidden)
            self.branches.restore(branch)
            self._branch_rows[branch.chat] = rows, pairs
            self._neighbours.clear()
            self._windows.forget()
            self._last_chat = branch.chat
            self._exchanges.forget()
            yield

    def put_branch(self, branch: Branch, before: Sequence[MemoryId]) -> None:
        """Record the rows of the branch's episodes and pairs, after `branches` has taken it.

        Only where the order differs from `before`, the old order, rows are looked up.
        """
        rows, pairs = self._branch_rows.pop(branch.chat, (_NO_ROWS, _NO_ROWS))
        if not branch.order:
            self._neighbours.clear()
            self._windows.forget()
            self._last_chat = None
            return
        prefix, suffix = common_ends(before, branch.order)
        start, stop = max(0, prefix - 1), len(branch.order) - suffix
        fresh = branch.order[start : stop + 1]
        middle = np.asarray([self._rows.add(m) for m in branch.order[prefix:stop]], np.int64)
        rows = np.concatenate([rows[:prefix], middle, rows[rows.size - suffix :]])
        between = np.asarray([self._pairs.row(pair) for pair in pairwise(fresh)], np.int64)
        pairs = np.concatenate([pairs[:start], between, pairs[pairs.size - max(0, suffix - 1) :]])
        self._columns.grow(self._rows.capacity)
        self._columns.family[rows] = self._families.add(branch.family)
        self._branch_rows[branch.chat] = rows, pairs
        # Of a memory that several chats hold the chat that was put last tells the neighbours.
        has_grown = prefix == len(before) and self._holds_alone(branch.chat, fresh)
        if has_grown:
            self._windows.changed(middle.tolist())
        else:
            self._windows.forget()
        if has_grown and branch.chat == self._last_chat:
            for columns in self._neighbours.values():
                columns.extend(rows[start:], pairs[start:], start)
        else:
            self._neighbours.clear()
        self._last_chat = branch.chat

    def _holds_alone(self, chat: ChatId, episodes: Iterable[MemoryId]) -> bool:
        """Whether no other chat holds any of these episodes."""
        return all(self.branches.holders(episode) == (chat,) for episode in episodes)

    def refresh_flags(self, key: MemoryId) -> None:
        """Compute the flags of a memory's row anew, from the memory and the chats that hold it."""
        row, memory = self._rows.row(key), self._memories.get(key)
        if row is not None and memory is not None:
            self.load_flags(row, memory)

    def load_flags(self, row: int, memory: Memory) -> None:
        """`refresh_flags` of the memory at this row."""
        key, columns = memory.id, self._columns
        was_exchange = bool(columns.opens_exchange[row] & columns.live[row])
        in_use = memory.state is MemoryState.ACTIVE
        is_merged = memory.state is MemoryState.MERGED  # may stand in for its event
        columns.in_use[row] = in_use
        columns.state[row] = STATES.index(memory.state)
        columns.active[row] = (in_use or is_merged) and _is_shown(memory)
        is_held = bool(self.branches.holders(key))
        columns.live[row] = self.branches.is_live(key) if is_held else _needs_no_chat(memory)
        if memory.origin is Origin.MODEL and not _is_of_stream(memory):
            families = self._families_of(key)
            columns.live[row] = is_held = bool(families)
            self._in_many.pop(key, None)
            self._joint.discard(key)
            if len(families) > 1:
                self._in_many[key] = families
                if memory.kind is MemoryKind.DIGEST:
                    self._joint.add(key)
            for family in families:
                columns.family[row] = self._families.add(family)
        columns.everywhere[row] = memory.timelines is Timelines.ALL
        self._set_opens(row, opens=opens_exchange(memory))
        self._exchanges.forget_chat()
        if not is_held:
            columns.family[row] = -1
        if was_exchange:  # its time may be another one now
            self._exchanges.forget()
        elif columns.opens_exchange[row] and columns.live[row]:
            self._exchanges.add(row)
        self._bound.pop(key, None)
        if memory.place is not None and not is_held and _is_of_one_timeline(memory):
            self._bound[key] = memory.place

    def _set_opens(self, row: int, *, opens: bool) -> None:
        if opens != self._columns.opens_exchange[row]:
            self._columns.opens_exchange[row] = opens
            self._windows.changed([row])

    def drop(self, key: MemoryId) -> None:
        """Forget a memory that was dropped; the caller clears the flags of its row."""
        self._exchanges.forget()
        self._bound.pop(key, None)
        self._in_many.pop(key, None)
        self._joint.discard(key)


def opens_exchange(memory: Memory) -> bool:
    """Whether the memory is a message of somebody else: it advances the soul's clock by one turn."""
    if memory.kind is not MemoryKind.EPISODE or memory.origin is not Origin.CHAT:
        return False
    return all(p.kind is not ParticipantKind.SELF for p in memory.situation.participants)


def _is_shown(memory: Memory) -> bool:
    """Whether memories of its kind are shown: no triggers, summaries or bare names of the card."""
    is_inner = memory.kind in (MemoryKind.TRIGGER, MemoryKind.SUMMARY)
    return not is_inner and not memory.is_bare_name


def _is_of_one_timeline(memory: Memory) -> bool:
    """Whether the user made it by hand for one timeline."""
    return memory.origin is Origin.USER and memory.timelines is Timelines.THIS


def _is_of_stream(memory: Memory) -> bool:
    """Whether it is the digest of a stream, which no chat holds."""
    return memory.kind is MemoryKind.DIGEST and memory.timelines is Timelines.ALL


def _needs_no_chat(memory: Memory) -> bool:
    """Whether it is live without a chat that holds it: all but episodes made from messages."""
    return memory.origin is not Origin.CHAT or memory.kind is MemoryKind.CONCEPT
