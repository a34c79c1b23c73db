"""Builds the working memory of a mind from its recall records and keeps it up to date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from soulmem.consolidation.promotion import PromotionParams, is_promoted
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.usage import RecallRecord
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.graph.columns import moment_of
from soulmem.graph.working_memory import WorkingMemory, WorkingParams


@dataclass(frozen=True, slots=True)
class WorkingMemoryParams:
    """When memories become active, and when they are promoted."""

    working: WorkingParams = field(default_factory=WorkingParams)
    promotion: PromotionParams = field(default_factory=PromotionParams)


@compute_only
def build(mind: Mind, params: WorkingMemoryParams) -> None:
    """Build the mind's working memory from its records, unless it has one; loads the graph library."""
    if mind.recalls.working is None:
        mind.recalls.working = working = WorkingMemory(params.working)
        for record in mind.recalls.records():
            working.add_recall(_paths(mind, record), record.stamp.turn)


@compute_only
def recalled(mind: Mind, record: RecallRecord, params: WorkingMemoryParams) -> None:
    """After a lesson: the recalled memories and the latest messages of the chat become active."""
    working, turn = mind.recalls.working, record.stamp.turn
    if working is None:
        return
    working.add_recall(_paths(mind, record), turn)
    late = _latest(mind, record.chat, params.working.grace)
    came = [trail.memory for trail in record.trails if trail.memory in mind.memories]
    # Memories of one sync share a moment; older ones are checked in `refresh`.
    together = Counter(mind.memories[memory].created for memory in late)
    _promote_or_add(
        mind,
        late,
        {memory: turn - age for memory, age in late.items()},
        together,
        params,
    )
    _promote_or_add(mind, came, {}, together, params)
    working.release(turn, _kept(mind, params))


@compute_only
def refresh(mind: Mind, turn: int, extra: int, params: WorkingMemoryParams) -> None:
    """All new memories enter, cold ones leave; for Idle, as it looks at every memory.

    `extra` are turns of a moved clock, included in `turn`.
    """
    working = mind.recalls.working
    if working is None:
        return
    n = mind.size
    ages = mind.exchange_ages(None, extra)
    young = (ages < params.working.grace) & mind.columns.live[:n]
    young &= mind.columns.active[:n] & mind.columns.in_use[:n]
    rows = np.flatnonzero(young).tolist()
    keys = mind.frame().rows.ids(rows)
    written = {key: turn - int(ages[row]) for key, row in zip(keys, rows, strict=True)}
    active = dict.fromkeys(working, turn)
    created = mind.columns.created[:n]
    moments, counts = np.unique(created[created != 0], return_counts=True)
    together = dict(zip(map(moment_of, moments.tolist()), counts.tolist(), strict=True))
    _promote_or_add(
        mind, {**active, **written}, {**active, **written}, together, params
    )
    working.release(turn, _kept(mind, params))


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
    params: WorkingMemoryParams,
) -> None:
    """Mark promoted memories in the working memory, and add the others as new.

    Only those in `written` are added, at that turn.
    """
    working = mind.recalls.working
    assert working is not None
    for memory in memories:
        stored_memory, usage = mind.memories[memory], mind.recalls.usage(memory)
        siblings, activations = (
            together.get(stored_memory.created, 1),
            working.activations(memory),
        )
        if is_promoted(stored_memory, usage, siblings, params.promotion, activations):
            working.promote(memory)
        elif memory in written:
            working.add_new(memory, written[memory])


def _kept(mind: Mind, params: WorkingMemoryParams) -> set[MemoryId]:
    """Active memories that must stay."""
    working = mind.recalls.working
    assert working is not None
    core = {memory for memory in working if mind.memories[memory].permanent}
    return core | set(mind.recalls.hot(params.working.hot))


def _paths(mind: Mind, record: RecallRecord) -> list[tuple[MemoryId, ...]]:
    """The paths of a recall that still exist; a fact is a step between its two concepts."""
    paths = []
    for trail in record.trails:
        edge = mind.edges.get(trail.memory) if trail.memory in mind.facts else None
        path = (
            (*trail.via, trail.memory) if edge is None else (edge.source, edge.target)
        )
        if all(memory in mind.memories for memory in path):
            paths.append(path)
    return paths
