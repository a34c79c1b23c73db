"""What of a chat is to be consolidated next: messages that left short-term memory and were not read yet.

Compute thread only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from math import ceil

import numpy as np
from numpy.typing import NDArray

from soulmem.consolidation.short_term import (
    MarkedMessage,
    MarkParams,
    count_slid_out,
    stretches,
)
from soulmem.domain.calendar import bounded
from soulmem.domain.derivations import Derivation, Work
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import Memory
from soulmem.engine.mind.mind import Mind
from soulmem.engine.mind.visibility import opens_exchange
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.chat_summary import summary_chain
from soulmem.engine.world.message_log import ChatLog
from soulmem.kernels.arrays import Bools

Floats = NDArray[np.floating]


# Size of what is compared, and how deep a fall is a change.
#
# Measured on bundled plain scenes of about four exchanges, joined at random: a third of the ends of scenes are
# detected, and of 100 detected changes 59 (en), 71 (zh), 64 (ja) are ends, by chance 29. With two or three
# exchanges on each side fewer are detected, and fewer of these are ends.
AROUND = 1  # exchanges on each side of a gap
# Standard deviations by which the fall at a gap is above the mean of all gaps.
DEPTH = 1.0
FEWEST = 8  # gaps at least; the mean of fewer says little


def topic_changes(vectors: Floats) -> Bools:
    """Whether the topic changes before each exchange; bool[n]. Never before the first one, nor the last:
    whether one goes on with another topic shows one exchange later.

    vectors  float[n, d]  one for each exchange, in order; an exchange with a NaN is like none
    """
    n = len(vectors)
    out = np.zeros(n, np.bool_)
    if n - 1 < FEWEST:
        return out
    filled = np.nan_to_num(np.asarray(vectors, np.float64))
    sums = np.concatenate([np.zeros((1, filled.shape[1])), np.cumsum(filled, axis=0)])
    gaps = np.arange(1, n)
    before = sums[gaps] - sums[np.maximum(gaps - AROUND, 0)]
    behind = sums[np.minimum(gaps + AROUND, n)] - sums[gaps]
    length = np.linalg.norm(before, axis=1) * np.linalg.norm(behind, axis=1)
    likeness = np.einsum("ij,ij->i", before, behind) / np.maximum(length, 1e-9)
    likeness[length == 0] = 1.0  # nothing is known of one side
    fall = _rise(likeness[::-1])[::-1] + _rise(likeness) - 2.0 * likeness
    bar = fall.mean() + DEPTH * fall.std()
    left = np.concatenate([[np.inf], likeness[:-1]])
    right = np.concatenate([likeness[1:], [-np.inf]])
    lowest = (likeness <= left) & (likeness < right)
    out[gaps] = lowest & (fall > bar)
    return out


def _rise(likeness: Floats) -> NDArray[np.float64]:
    """The peak that one comes to when one walks on from each gap as long as it rises."""
    peak = np.array(likeness, np.float64)
    for gap in range(peak.size - 2, -1, -1):
        if likeness[gap + 1] >= likeness[gap]:
            peak[gap] = peak[gap + 1]
    return peak


_AHEAD = 400  # messages looked at behind what is consolidated: some 5 ms


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One call to a language model: the episodes that it reads, in chat order."""

    chat: ChatId
    work: Work
    read: tuple[MemoryId, ...]
    after: str | None = None  # the derivation whose summary it continues


@dataclass(frozen=True, slots=True)
class ChatPlan:
    """The calls due in a chat, and the summaries that no longer fit the order of its messages."""

    due: tuple[PlannedCall, ...] = ()  # oldest first; of summaries the next one only
    outdated: tuple[str, ...] = ()  # derivations that no other chat shares
    slid: int = 0  # messages that left short-term memory
    calls: int = 0  # calls in all, with later summaries


@compute_only
def chat_plan(mind: Mind, log: ChatLog, params: MarkParams) -> ChatPlan:
    """The plan of a chat; empty while its vanished messages wait for confirmation."""
    branch = mind.branches.branch(log.head.id)
    if branch is None or branch.quarantined:
        return ChatPlan()
    chat, order = branch.chat, branch.order
    summaries = _derivations(mind, chat, Work.SUMMARY)
    drafts = _derivations(mind, chat, Work.DRAFTS)
    positions = {key: index for index, key in enumerate(order)}
    frontier = _frontier(positions, [*summaries, *drafts])
    ended = _is_ended(log, len(order), frontier)
    slid_until = _slid_until(mind, order, frontier, params, ended=ended)
    chain, outdated = summary_chain(order, summaries)
    # Stretches of a chat that ends often, with few messages in between:
    most_short = ceil(len(order) / params.least)
    next_summaries = _summary_calls(
        chat,
        order,
        chain,
        (frontier, slid_until),
        params,
        short=ended and len(chain) < most_short,
    )
    bounds = {positions[summary.read[-1]] + 1 for summary in chain}
    bounds |= {positions[call.read[-1]] + 1 for call in next_summaries}
    next_drafts = _draft_calls(
        chat,
        order,
        _read_by(drafts),
        bounds,
        (frontier, slid_until),
        params,
        short=ended and len(drafts) < most_short,
    )
    due = sorted(
        [*next_drafts, *next_summaries[:1]],
        key=lambda call: (positions[call.read[-1]], call.work is Work.DRAFTS),
    )
    unshared = [key for key in outdated if mind.derivations.holders_of(key) == {chat}]
    calls = len(next_drafts) + len(next_summaries)
    calls += _later_calls(len(order), frontier, slid_until, params.least)
    return ChatPlan(tuple(due), tuple(unshared), slid_until, calls)


def _derivations(mind: Mind, chat: ChatId, work: Work) -> list[Derivation]:
    """The derivations of one kind of work that the chat holds."""
    return [d for d in mind.derivations.of_chat(chat) if d.work is work]


def _later_calls(length: int, frontier: int, slid_until: int, least: int) -> int:
    """Two calls for each stretch of the messages that were not looked at."""
    if length <= frontier + _AHEAD:
        return 0
    return 2 * ((length - frontier) // least - (slid_until - frontier) // least)


def _read_by(derivations: Iterable[Derivation]) -> set[MemoryId]:
    """All episodes that these derivations read."""
    read: set[MemoryId] = set()
    for derivation in derivations:
        read.update(derivation.read)
    return read


def _frontier(positions: Mapping[MemoryId, int], derivations: Iterable[Derivation]) -> int:
    """The position behind the last episode that any of the derivations read; 0 if there is none."""
    return max((positions[key] + 1 for key in _read_by(derivations)), default=0)


def _is_ended(log: ChatLog, length: int, frontier: int) -> bool:
    """Whether the chat was closed behind its last message, and is short enough to be read to the end.

    A single message, such as a greeting that nobody answered, is no chat yet.
    """
    if not log.messages or log.head.settled_tail != log.messages[-1].version:
        return False
    return 1 < length <= frontier + _AHEAD


def _slid_until(
    mind: Mind,
    order: Sequence[MemoryId],
    frontier: int,
    params: MarkParams,
    *,
    ended: bool,
) -> int:
    """The position up to which messages left short-term memory, `frontier` or later."""
    memories = mind.memories.many(order[frontier : frontier + _AHEAD])
    ahead = _with_topic_changes(mind, memories, list(map(_said, memories)))
    return frontier + (count_slid_out(ahead, ended=ended, params=params) if ahead else 0)


def _with_topic_changes(
    mind: Mind, memories: Sequence[Memory], messages: Sequence[MarkedMessage]
) -> list[MarkedMessage]:
    """The messages; the first one of each exchange that changes the topic is marked so."""
    out = list(messages)
    table = mind.vector_queue.text_vectors
    opening = [i for i, message in enumerate(messages) if message.opens_exchange]
    if table is None or not opening:
        return out
    rows = [mind.row_of(memory) for memory in memories[opening[0] :]]
    vectors = np.nan_to_num(table.rows(np.asarray(rows, np.int64)))
    starts = np.asarray(opening, np.int64) - opening[0]
    changes = topic_changes(np.add.reduceat(vectors, starts, axis=0))
    for index in np.flatnonzero(changes).tolist():
        out[opening[index]] = replace(out[opening[index]], changes_topic=True)
    return out


def _draft_calls(
    chat: ChatId,
    order: Sequence[MemoryId],
    covered: Set[MemoryId],
    bounds: Set[int],
    limits: tuple[int, int],
    params: MarkParams,
    *,
    short: bool,
) -> list[PlannedCall]:
    """Calls for the episodes not `covered` by drafts, in stretches that end at `bounds` at the latest.

    limits  positions up to which the chat is consolidated, and up to which it left
            short-term memory
    short   whether a last stretch of fewer messages than usual is read, too
    """
    frontier, slid_until = limits
    last = max(slid_until, frontier)
    calls = []
    start = 0
    while start < last:
        if order[start] in covered:
            start += 1
            continue
        stop = start + 1
        while stop < last and order[stop] not in covered and stop not in bounds:
            stop += 1
        # A gap is drafted again however short; the last stretch needs enough messages.
        is_gap = stop < frontier or start < frontier or stop in bounds
        pieces = stretches(start, stop, params.least)
        if not pieces and (is_gap or short):
            pieces = [(start, stop)]
        for begin, end in pieces:
            calls.append(PlannedCall(chat, Work.DRAFTS, tuple(order[begin:end])))
        start = stop
    return calls


def _summary_calls(
    chat: ChatId,
    order: Sequence[MemoryId],
    chain: Sequence[Derivation],
    limits: tuple[int, int],
    params: MarkParams,
    *,
    short: bool,
) -> list[PlannedCall]:
    """Calls for the next summaries; all name the last stored one, which only the first of them continues.

    limits, short  as in `_draft_calls`
    """
    frontier, slid_until = limits
    start = sum(len(summary.read) for summary in chain)
    after = chain[-1].id if chain else None
    if start < frontier:
        # An early message changed: summarise again up to where the drafts reach.
        pieces = stretches(start, frontier, params.refold) or [(start, frontier)]
    else:
        pieces = stretches(start, slid_until, params.least)
        if not pieces and short and start < slid_until:
            pieces = [(start, slid_until)]
    return [
        PlannedCall(chat, Work.SUMMARY, tuple(order[begin:end]), after) for begin, end in pieces
    ]


def _said(memory: Memory) -> MarkedMessage:
    span = memory.situation.time_span
    return MarkedMessage(
        opens_exchange=opens_exchange(memory),
        sent_at=span.start if span else None,
        story_at=_moment(span.story) if span and span.story else None,
        location=memory.situation.location,
    )


def _moment(text: str) -> datetime | None:
    """The moment that an ISO text states, if it states its zone, too."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return bounded(moment) if moment.tzinfo is not None else None
