"""What of a chat is to be consolidated next? What slid out and no derivation that the chat holds has read.

Everything here computes: worker only.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from math import ceil

from soulmem.consolidation.marks import MarkParams, Said, slid, stretches
from soulmem.domain.derivations import Derivation, Work
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import Memory
from soulmem.engine.mind.mind import Mind
from soulmem.engine.mind.visibility import opens_exchange
from soulmem.engine.views.chat_summary import summary_chain
from soulmem.engine.world.message_log import ChatLog

_AHEAD = 400  # messages looked at behind what is consolidated: some 5 ms


@dataclass(frozen=True, slots=True)
class Task:
    """One call: the episodes to be read, which are told in this order in the chat."""

    chat: ChatId
    work: Work
    read: tuple[MemoryId, ...]
    after: str | None = None  # the derivation whose summary it goes on from


@dataclass(frozen=True, slots=True)
class Plan:
    """What is due in a chat, the oldest first, and what no longer fits the order of its messages."""

    tasks: tuple[Task, ...] = ()  # of the summary the next version alone
    outdated: tuple[str, ...] = ()  # derivations that no other chat holds
    slid: int = 0  # messages that have left short-term memory
    calls: int = 0  # it takes, later versions of the summary included


def plan_of(mind: Mind, log: ChatLog, params: MarkParams) -> Plan:
    """What is due in the chat."""
    strand = mind.lineages.strand(log.head.id)
    if strand is None or strand.held:
        return Plan()
    order = strand.order
    held = [
        one
        for one in mind.derived.held(strand.chat)
        if one.work in (Work.SUMMARY, Work.DRAFTS)
    ]
    place = {key: at for at, key in enumerate(order)}
    frontier = max((place[key] + 1 for one in held for key in one.read), default=0)
    ended = bool(log.messages) and log.head.settled_tail == log.messages[-1].version
    ended = (
        ended and 1 < len(order) <= frontier + _AHEAD
    )  # a greeting nobody answered is no chat yet
    ahead = [_said(mind.memories[key]) for key in order[frontier : frontier + _AHEAD]]
    free = frontier + (slid(ahead, ended=ended, params=params) if ahead else 0)
    drafted = [one for one in held if one.work is Work.DRAFTS]
    chain, outdated = summary_chain(
        order, [one for one in held if one.work is Work.SUMMARY]
    )
    covered = {key for one in drafted for key in one.read}
    most = ceil(
        len(order) / params.least
    )  # stretches of a chat that ends often, with little between
    folds = _summaries(
        strand.chat,
        order,
        chain,
        frontier,
        free,
        params,
        short=ended and len(chain) < most,
    )
    stops = [one.read[-1] for one in chain] + [fold.read[-1] for fold in folds]
    bounds = {place[key] + 1 for key in stops}
    may_be_short = ended and len(drafted) < most
    tasks = _drafts(
        strand.chat,
        order,
        covered,
        bounds,
        (frontier, free),
        params,
        short=may_be_short,
    )
    outdated = [
        key for key in outdated if mind.derived.holders_of(key) == {strand.chat}
    ]
    due = sorted(
        [*tasks, *folds[:1]],
        key=lambda task: (place[task.read[-1]], task.work is Work.DRAFTS),
    )
    calls = len(tasks) + len(folds)
    if (
        len(order) > frontier + _AHEAD
    ):  # two calls for each stretch, also of what was not looked at
        calls += 2 * (
            (len(order) - frontier) // params.least - (free - frontier) // params.least
        )
    return Plan(tuple(due), tuple(outdated), free, calls)


def _drafts(
    chat: ChatId,
    order: Sequence[MemoryId],
    covered: set[MemoryId],
    bounds: Set[int],
    upto: tuple[int, int],
    params: MarkParams,
    *,
    short: bool,
) -> list[Task]:
    """What no drafts were made of, in the stretches that the summary goes by (`bounds` are their ends).

    upto  how far anything is consolidated, and how far the chat has slid out
    """
    frontier, free = upto
    tasks = []
    at = 0
    while at < max(free, frontier):
        if order[at] in covered:
            at += 1
            continue
        stop = at + 1
        while (
            stop < max(free, frontier)
            and order[stop] not in covered
            and stop not in bounds
        ):
            stop += 1
        # What lost its drafts in between is drafted anew however short; at the end there must be enough.
        inside = stop < frontier or at < frontier or stop in bounds
        pieces = stretches(at, stop, params.least) or (
            [(at, stop)] if inside or short else []
        )
        tasks += [
            Task(chat, Work.DRAFTS, tuple(order[begin:end])) for begin, end in pieces
        ]
        at = stop
    return tasks


def _summaries(
    chat: ChatId,
    order: Sequence[MemoryId],
    chain: Sequence[Derivation],
    frontier: int,
    free: int,
    params: MarkParams,
    *,
    short: bool,
) -> list[Task]:
    """The next versions; only the first is known what it goes on from."""
    start = sum(len(one.read) for one in chain)
    after = chain[-1].id if chain else None
    if (
        start < frontier
    ):  # an early message changed: fold again up to where the drafts reach
        pieces = stretches(start, frontier, params.refold) or [(start, frontier)]
    else:
        pieces = stretches(start, free, params.least) or (
            [(start, free)] if short and start < free else []
        )
    return [Task(chat, Work.SUMMARY, tuple(order[b:e]), after) for b, e in pieces]


def _said(memory: Memory) -> Said:
    span = memory.situation.time_span
    return Said(
        opens_exchange=opens_exchange(memory),
        sent_at=span.start if span else None,
        story_at=_moment(span.story) if span and span.story else None,
        location=memory.situation.location,
    )


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
