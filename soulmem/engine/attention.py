"""What is active of a mind: its working memory, built from the records and kept up to date."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from soulmem.consolidation.promotion import PromotionParams, is_promoted
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.usage import RecallRecord
from soulmem.engine.mind import Mind
from soulmem.graph.working_memory import WorkingMemory, WorkingParams


@dataclass(frozen=True, slots=True)
class AttentionParams:
    """What becomes active, and what lasts."""

    working: WorkingParams = field(default_factory=WorkingParams)
    promotion: PromotionParams = field(default_factory=PromotionParams)


def wake(mind: Mind, params: AttentionParams) -> None:
    """Give the mind a working memory of its records, unless it has one. Computes; loads the graph library."""
    if mind.recalls.working is None:
        mind.recalls.working = working = WorkingMemory(params.working)
        for record in mind.recalls.records():
            working.recalled(_ways(mind, record), record.stamp.turn)


def recalled(mind: Mind, record: RecallRecord, params: AttentionParams) -> None:
    """A recall has taught: what it led to is active, and what was said of late in its chat. Computes."""
    working, turn = mind.recalls.working, record.stamp.turn
    if working is None:
        return
    working.recalled(_ways(mind, record), turn)
    _enter(mind, _late(mind, record.chat, params.working.grace), turn, params)
    working.release(turn, _kept(mind, params))


def look_round(mind: Mind, turn: int, extra: int, params: AttentionParams) -> None:
    """Every new memory comes in, what is cold goes out; for quiet moments, as it looks at every row.

    `extra` turns of a moved clock are in `turn`. Computes.
    """
    working = mind.recalls.working
    if working is None:
        return
    n = mind.size
    ages = mind.ages(None, extra)
    young = (ages < params.working.grace) & mind.columns.live[:n] & mind.columns.active[:n]
    _enter(mind, {mind.at(int(row)).id: int(ages[row]) for row in np.flatnonzero(young)}, turn, params)
    working.release(turn, _kept(mind, params))


def hot_and_core(mind: Mind, params: AttentionParams) -> list[MemoryId]:
    """What stays loaded: the memories recalled most often, then the permanent ones."""
    core = (memory.id for memory in mind.memories.values() if memory.permanent)
    return list(dict.fromkeys((*mind.recalls.hot(params.working.hot), *core)))


def _late(mind: Mind, chat: ChatId, turns: int) -> dict[MemoryId, int]:
    """What was said in the last `turns` exchanges of a chat, with its age in them."""
    strand = mind.lineages.strand(chat)
    order = strand.order[-2 * turns :] if strand else ()
    age, out = 0, {}
    for memory in reversed(order):
        out[memory] = age
        age += bool(mind.columns.opens_exchange[mind.row_of(mind.memories[memory])])
    return {memory: age for memory, age in out.items() if age < turns}


def _enter(mind: Mind, ages: Mapping[MemoryId, int], turn: int, params: AttentionParams) -> None:
    """Young memories enter the working memory until they are promoted; `ages` in turns."""
    working = mind.recalls.working
    assert working is not None
    together: defaultdict[datetime, int] = defaultdict(int)
    for memory in ages:  # one sync writes all its memories at one moment
        together[mind.memories[memory].created] += 1
    for memory in {**ages, **dict.fromkeys(working)}:
        known, usage = mind.memories[memory], mind.recalls.usage(memory)
        if is_promoted(known, usage, together[known.created], params.promotion):
            working.promote(memory)
        elif memory in ages:
            working.new(memory, turn - ages[memory])


def _kept(mind: Mind, params: AttentionParams) -> set[MemoryId]:
    """What of the active memories may not leave."""
    working = mind.recalls.working
    assert working is not None
    return {memory for memory in working if mind.memories[memory].permanent} | set(
        mind.recalls.hot(params.working.hot)
    )


def _ways(mind: Mind, record: RecallRecord) -> list[tuple[MemoryId, ...]]:
    """The ways of a recall, as far as they are still there."""
    ways = [(*trail.via, trail.memory) for trail in record.trails]
    return [way for way in ways if all(memory in mind.memories for memory in way)]
