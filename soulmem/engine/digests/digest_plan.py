"""Which digests a soul should have, by the messages of its chats, and which of them are to be made.

Compute thread only. Days begin where this computer stands, as the words for time in a query are counted from
there. Of each tree of chats a period has one digest for each timeline that the others do not hold: what a
branch shares with its parent is told once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain

import numpy as np

from soulmem.domain.calendar import at_seconds, from_local, local
from soulmem.domain.digests import (
    Period,
    period_end,
    period_of,
    period_start,
)
from soulmem.domain.ids import ChatId, MemoryId, derived_id
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.domain.soul import Scope
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.doubted import is_in_doubt
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.graph.columns import ORIGINS
from soulmem.kernels.arrays import Int64s

_EPISODE = MEMORY_KINDS.index(MemoryKind.EPISODE)
_DIGEST = MEMORY_KINDS.index(MemoryKind.DIGEST)
_CHAT = ORIGINS.index(Origin.CHAT)
_QUARTER = 900  # seconds: zones differ by whole quarters of an hour
_TIMELINES = 4  # digests of one period and tree of chats at most, those with most messages


@dataclass(frozen=True, slots=True)
class PlannedDigest:
    """A digest that a soul should have.

    timeline  tells digests of one period apart: empty for that of all chats
    read      the messages of the period, in order
    """

    period: Period
    start: datetime
    end: datetime
    timeline: str
    chat: ChatId  # one that holds some of the messages
    read: tuple[MemoryId, ...]

    def key(self, soul: str) -> str:
        """The id of its derivation, and of its memory but for the first letter."""
        # A chat is the same whichever its first message is.
        of_chat = self.period is Period.CHAT
        start = "" if of_chat else str(int(self.start.timestamp()))
        return derived_id("v", soul, "digest", self.period.value, start, self.timeline)


@dataclass(frozen=True, slots=True)
class DueDigest:
    """A digest to be made anew; `memory` is the one that it replaces, `key` the id of its derivation."""

    planned: PlannedDigest
    key: str
    memory: Memory | None = None


@compute_only
def planned_digests(mind: Mind, period: Period) -> list[PlannedDigest]:
    """The digests of all periods of that length with messages, the earliest first."""
    rows = _message_rows(mind)
    if period is Period.CHAT:
        return _planned_of_chats(mind, rows)
    out = []
    for start, members in _by_start(mind, rows, period):
        end = from_local(period_end(start, period))
        for timeline, chat, some in _timelines(mind, members):
            read = tuple(mind.ids_at(some.tolist()))
            begin = from_local(start)
            out.append(PlannedDigest(period, begin, end, timeline, chat, read))
    return out


@dataclass(frozen=True, slots=True)
class DigestState:
    """The digests of one length that are to be made, and those to be dropped first."""

    due: list[DueDigest]
    outdated: list[Memory]


@compute_only
def digest_state(
    mind: Mind,
    period: Period,
    now: datetime,
    *,
    going_on: bool = False,
    only_present: bool = False,
) -> DigestState:
    """The state of the digests of that length; `going_on`: those that are not over, too; `only_present`: no
    digest is due where none is.

    What the user took over, protected or threw away stays as it is.
    """
    existing, state = Existing(mind, period), DigestState([], [])
    wanted = set[MemoryId]()
    for planned in planned_digests(mind, period):
        key = planned.key(mind.soul.id)
        memory = existing.of(mind, planned, key)
        if memory is not None:
            wanted.add(memory.id)
        is_over = going_on or planned.end <= now
        if is_over and (memory is not None or not only_present):
            _add_if_due(mind, state, DueDigest(planned, key, memory))
    for memory in existing:
        is_derived = memory.state is MemoryState.ACTIVE and _may_be_made_anew(memory)
        if is_derived and memory.id not in wanted:
            state.outdated.append(memory)
    return state


def _add_if_due(mind: Mind, state: DigestState, candidate: DueDigest) -> None:
    """Add the digest to the due ones if it is missing or its messages have changed."""
    planned, memory = candidate.planned, candidate.memory
    if memory is None:
        derivation = mind.derivations.get(candidate.key)
        if derivation is None or derivation.read != planned.read:
            state.due.append(candidate)
    elif not _may_be_made_anew(memory) or _is_current(mind, memory, planned):
        return
    elif memory.state is MemoryState.RETRACTED:
        # Its words are of messages in the bin, which may be erased: no later version may quote them.
        state.outdated.append(memory)
        state.due.append(replace(candidate, memory=None))
    else:
        key = _derivation_key(mind, memory, candidate.key)
        state.due.append(replace(candidate, key=key))


@compute_only
def digests_of(mind: Mind) -> list[Memory]:
    """All digests of the soul, those in the bin included, the earliest first."""
    columns = mind.columns
    rows = np.flatnonzero(columns.kind[: mind.size] == _DIGEST)
    rows = rows[columns.created[rows] != 0]
    rows = rows[np.lexsort((rows, columns.happened[rows]))]
    return [mind.memory_at(int(row)) for row in rows]


class Existing:
    """The digests of a soul of one length, by their start."""

    def __init__(self, mind: Mind, period: Period) -> None:
        self._by_start: defaultdict[datetime, list[Memory]] = defaultdict(list)
        for memory in digests_of(mind):
            if period_of(memory) is period:
                self._by_start[memory.happened].append(memory)

    def __iter__(self) -> Iterator[Memory]:
        return chain.from_iterable(self._by_start.values())

    def of(self, mind: Mind, planned: PlannedDigest, key: str) -> Memory | None:
        """The digest with that key, else one of the same messages: a bundle may have brought it."""
        wanted = memory_id(key)
        memory = mind.memories.get(wanted)
        if memory is not None:
            return memory
        for other in self._by_start.get(planned.start, ()):
            if any(d.read == planned.read for d in mind.derivations.of(other.id)):
                return other
        return None


def memory_id(key: str) -> MemoryId:
    """The id of the digest that a derivation makes."""
    return MemoryId(f"d{key[1:]}")


def _derivation_key(mind: Mind, memory: Memory, key: str) -> str:
    """The id of the derivation that made the digest."""
    made_by = mind.derivations.of(memory.id)
    return made_by[0].id if made_by else key


def _may_be_made_anew(memory: Memory) -> bool:
    is_free = not (memory.permanent or memory.locked)
    is_there = memory.state not in (MemoryState.BIN, MemoryState.FORGOTTEN)
    return memory.origin is Origin.MODEL and is_free and is_there


def _is_current(mind: Mind, memory: Memory, planned: PlannedDigest) -> bool:
    """Whether the digest is in use and tells these messages, all of them still kept by the user."""
    derivations = mind.derivations.of(memory.id)
    if memory.state is not MemoryState.ACTIVE or not derivations:
        return False
    if derivations[0].read != planned.read:
        return False
    return all(may_be_quoted(mind, key) for key in mind.derivations.cited(memory.id))


@compute_only
def may_be_quoted(mind: Mind, key: MemoryId) -> bool:
    """Whether a digest may tell an episode: the user has neither thrown it away nor called it wrong."""
    memory = mind.memories.get(key)
    if memory is None or memory.state is MemoryState.BIN:
        return False
    return not is_in_doubt(mind, key)


def _message_rows(mind: Mind) -> Int64s:
    """Rows of all messages that a chat holds, in the order of time, those that were forgotten too."""
    n, columns = mind.size, mind.columns
    which = (columns.kind[:n] == _EPISODE) & (columns.origin[:n] == _CHAT)
    rows = np.flatnonzero(which & columns.live[:n])
    place = mind.neighbours(None).position[rows]
    return rows[np.lexsort((rows, place, columns.happened[rows]))]


def _by_start(mind: Mind, rows: Int64s, period: Period) -> Iterator[tuple[datetime, Int64s]]:
    """The rows of each period, with its local start without a zone, the earliest first."""
    quarters = (mind.columns.happened[rows] // _QUARTER).astype(np.int64)
    distinct, place = np.unique(quarters, return_inverse=True)
    starts: dict[datetime, int] = {}
    number = np.zeros(distinct.size, np.int64)
    for index, quarter in enumerate(distinct.tolist()):
        start = period_start(_local(quarter * _QUARTER), period)
        number[index] = starts.setdefault(start, len(starts))
    group = number[place]
    for start, which in starts.items():
        yield start, rows[group == which]


def _timelines(mind: Mind, rows: Int64s) -> Iterator[tuple[str, ChatId, Int64s]]:
    """The rows as timelines: the first of each tree of chats together, then what other branches alone hold.

    For a soul whose chats know nothing of each other each tree has its own.
    """
    joined: list[tuple[ChatId, Int64s]] = []
    more: list[tuple[str, ChatId, Int64s]] = []
    families = mind.columns.family[rows]
    for family in np.unique(families).tolist():
        first, *others = _of_family(mind, rows[families == family])
        joined.append(first)
        more += [(chat, chat, some) for chat, some in others]
    if mind.soul.settings.scope is Scope.CHAT:
        for chat, some in joined:
            yield _root(mind, some), chat, some
    elif joined:
        wanted = np.concatenate([some for _, some in joined])
        yield "", joined[0][0], rows[np.isin(rows, wanted)]
    yield from more


def _root(mind: Mind, rows: Int64s) -> ChatId:
    """The root of the tree of chats that holds these rows."""
    return mind.branches.family_of(mind.id_at(int(rows[0]))) or ChatId("")


def _of_family(mind: Mind, rows: Int64s) -> list[tuple[ChatId, Int64s]]:
    """The timelines of one tree of chats, each with a chat that holds it, the longest first.

    A branch that holds only what another one holds as well has none of its own.
    """
    keys = mind.ids_at(rows.tolist())
    chats = sorted({c for key in keys for c in mind.branches.holders(key)})
    if len(chats) == 1:
        return [(chats[0], rows)]
    held = []
    for chat in chats:
        shown = np.isin(rows, _shown_rows(mind, chat))
        held.append((chat, rows[shown]))
    held.sort(key=lambda pair: (-pair[1].size, pair[0]))
    out: list[tuple[ChatId, Int64s]] = []
    for chat, some in held:
        is_new = all(not np.isin(some, other).all() for _, other in out)
        if is_new and len(out) < _TIMELINES:
            out.append((chat, some))
    return out


def _shown_rows(mind: Mind, chat: ChatId) -> Int64s:
    """Rows of a chat's episodes, without those that vanished from the client's view."""
    branch = mind.branches.branch(chat)
    rows = mind.chat_rows(chat)
    if branch is None or not branch.quarantined:
        return rows
    held = [mind.row(key) for key in branch.quarantined]
    return rows[~np.isin(rows, [row for row in held if row is not None])]


def _planned_of_chats(mind: Mind, rows: Int64s) -> list[PlannedDigest]:
    """One digest for each timeline of each tree of chats, from its first message to its last."""
    out = []
    families = mind.columns.family[rows]
    for family in np.unique(families).tolist():
        for chat, some in _of_family(mind, rows[families == family]):
            out.append(_planned_of_chat(mind, chat, some))
    return sorted(out, key=lambda planned: (planned.start, planned.chat))


def _planned_of_chat(mind: Mind, chat: ChatId, rows: Int64s) -> PlannedDigest:
    happened = mind.columns.happened[rows]
    start = local(at_seconds(float(happened.min())))
    last = _local(float(mind.columns.ended[rows].max()))
    read = tuple(mind.ids_at(rows.tolist()))
    # The day of its last message has to be over: until then the chat goes on.
    over = from_local(period_end(period_start(last, Period.DAY), Period.DAY))
    return PlannedDigest(Period.CHAT, start, over, chat, chat, read)


def _local(moment: float) -> datetime:
    """The time on this computer's clock, without a zone, at so many seconds since 1970."""
    return local(at_seconds(moment)).replace(tzinfo=None)
