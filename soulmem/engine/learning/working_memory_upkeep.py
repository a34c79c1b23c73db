"""Builds the working memory of a mind from its recall records and keeps it up to date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

import numpy as np

from soulmem.consolidation.promotion import is_promoted
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.usage import RecallRecord
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.graph.columns import moment_of
from soulmem.graph.working_memory import WorkingMemory
from soulmem.kernels.arrays import Bools, Int64s
from soulmem.ports.clock import Clock

# Done in one step of `refresh`, about 10 ms: a recall may wait for one
_RECORDS = 50
_MEMORIES = 250


@compute_only
def recalled(mind: Mind, record: RecallRecord) -> None:
    """After a lesson: the recalled memories and the latest messages of the chat become active."""
    working, turn = mind.recalls.working, record.stamp.turn
    if working is None:
        return
    working.add_recall(_paths(mind, record), turn)
    late = _latest(mind, record.chat, working.params.grace)
    came = [trail.memory for trail in record.trails if trail.memory in mind.memories]
    # Memories of one sync share a moment; older ones are checked in `refresh`.
    together = Counter(mind.memories[memory].created for memory in late)
    _promote_or_add(
        mind,
        late,
        {memory: turn - age for memory, age in late.items()},
        together,
    )
    _promote_or_add(mind, came, {}, together)
    working.release(turn, _kept(working, mind))


def refresh(mind: Mind, clock: Clock) -> Iterator[None]:
    """All new memories enter, cold ones leave; for Idle, as it looks at every memory. The working memory is built
    from the recall records if there is none; that loads the graph library.

    The work is done by steps of the iterator, on the compute thread; anything may change between two of them.
    """
    if mind.recalls.working is None:
        yield from _build(mind)
    working = mind.recalls.working
    assert working is not None
    candidates = _candidates(mind, clock.extra_turns, working.params.grace)
    yield
    counts = _counts(mind, candidates.moments)
    yield
    for first in range(0, candidates.rows.size, _MEMORIES):
        some = slice(first, first + _MEMORIES)
        written = _still_there(mind, candidates, some)
        moments = map(moment_of, candidates.moments[some].tolist())
        together = dict(zip(moments, counts[some].tolist(), strict=True))
        _promote_or_add(mind, written, written, together)
        yield
    working = mind.recalls.working
    assert working is not None
    working.release(mind.lived_turns(clock.extra_turns), _kept(working, mind))


def _build(mind: Mind) -> Iterator[None]:
    """Build the working memory from the records, in steps as `refresh`."""
    working, taken = WorkingMemory(), set[str]()
    while records := [r for r in mind.recalls.records() if r.trace not in taken]:
        for record in records[:_RECORDS]:
            working.add_recall(_paths(mind, record), record.stamp.turn)
            taken.add(record.trace)
        yield
    for memory in working:
        if memory not in mind.memories:  # dropped since its record was read
            working.drop(memory)
    if mind.recalls.working is None:
        mind.recalls.working = working


class _Candidates(NamedTuple):
    """What may enter the working memory, or be promoted in it.

    rows      int64[m]
    moments   int64[m]  when the memory of each was made, as in `Columns.created`
    turns     int64[m]  when it was written
    is_young  bool[m]   in its time of grace; the others are active
    """

    rows: Int64s
    moments: Int64s
    turns: Int64s
    is_young: Bools


@compute_only
def _candidates(mind: Mind, extra: int, grace: int) -> _Candidates:
    n, turn = mind.size, mind.lived_turns(extra)
    ages = mind.exchange_ages(None, extra)
    is_young = (ages < grace) & mind.columns.live[:n]
    is_young &= mind.columns.active[:n] & mind.columns.in_use[:n]
    is_asked = is_young.copy()
    active = map(mind.row, mind.recalls.working or ())
    is_asked[[row for row in active if row is not None]] = True
    rows = np.flatnonzero(is_asked)
    turns = np.where(is_young[rows], turn - ages[rows], turn)
    return _Candidates(rows, mind.columns.created[rows], turns, is_young[rows])


@compute_only
def _counts(mind: Mind, moments: Int64s) -> Int64s:
    """How many memories were made at each of these moments."""
    distinct, index = np.unique(moments, return_inverse=True)
    created = mind.columns.created[: mind.size]
    place = np.searchsorted(distinct, created)
    is_one = np.searchsorted(distinct, created, "right") > place
    return np.bincount(place[is_one], minlength=distinct.size)[index]


@compute_only
def _still_there(mind: Mind, candidates: _Candidates, some: slice) -> dict[MemoryId, int]:
    """Those of the candidates that are still there, with the turn they were written at."""
    rows, moments, turns, is_young = (column[some] for column in candidates)
    is_same = mind.columns.created[rows] == moments  # no other memory took its row
    found = zip(
        map(mind.frame().rows.id, rows[is_same].tolist()),
        turns[is_same].tolist(),
        is_young[is_same].tolist(),
        strict=True,
    )
    working = mind.recalls.working
    assert working is not None
    return {
        memory: turn
        for memory, turn, young in found
        if memory is not None and memory in mind.memories and (young or memory in working)
    }


def _latest(mind: Mind, chat: ChatId, turns: int) -> dict[MemoryId, int]:
    """Memories of the last `turns` exchanges of a chat, with their age in exchanges."""
    branch = mind.branches.branch(chat)
    age, out = 0, {}
    for memory in reversed(branch.order[-2 * turns :] if branch else ()):
        out[memory] = age
        age += bool(mind.columns.opens_exchange[mind.row_of(mind.memories[memory])])
    return {memory: age for memory, age in out.items() if age < turns}


def _promote_or_add(
    mind: Mind,
    memories: Iterable[MemoryId],
    written: Mapping[MemoryId, int],
    together: Mapping[datetime, int],
) -> None:
    """Mark promoted memories in the working memory, and add the others as new.

    Only those in `written` are added, at that turn.
    """
    working = mind.recalls.working
    assert working is not None
    for memory in memories:
        stored_memory = mind.line_kinds.weighed(mind.memories[memory])
        usage = mind.recalls.usage(memory)
        siblings, activations = (
            together.get(stored_memory.created, 1),
            working.activations(memory),
        )
        if is_promoted(stored_memory, usage, siblings, activations):
            working.promote(memory)
        elif memory in written:
            working.add_new(memory, written[memory])


def _kept(working: WorkingMemory, mind: Mind) -> set[MemoryId]:
    """Active memories that must stay."""
    core = {memory for memory in working if mind.memories[memory].permanent}
    return core | set(mind.recalls.hot(working.params.hot))


def _paths(mind: Mind, record: RecallRecord) -> list[tuple[MemoryId, ...]]:
    """The paths of a recall that still exist; a fact is a step between its two concepts."""
    paths = []
    for trail in record.trails:
        edge = mind.edges.get(trail.memory) if trail.memory in mind.facts else None
        path = (*trail.via, trail.memory) if edge is None else (edge.source, edge.target)
        if all(memory in mind.memories for memory in path):
            paths.append(path)
    return paths
