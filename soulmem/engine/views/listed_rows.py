"""Which memories a list shows, in which order, and how they lie along time. Compute thread only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from soulmem.domain.calendar import at_seconds, from_local, local
from soulmem.domain.digests import Period, period_end, period_start
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import BINNED, MemoryKind, MemoryState
from soulmem.domain.micro_units import UNIT_STABILITY
from soulmem.engine.api.requests import ListOrder, MemoryFilter, Part
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.concept_activation import (
    ages_of_last_telling,
    memory_strengths,
)
from soulmem.engine.views.concept_descriptions import repeated_concepts
from soulmem.engine.views.doubted import waiting
from soulmem.engine.views.fact_validity import FactValidities
from soulmem.engine.views.text_ages import text_strengths
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.kernels.arrays import Bools, Float64s, Int64s

_TEXTS = [
    MEMORY_KINDS.index(kind)
    for kind in (
        MemoryKind.EPISODE,
        MemoryKind.ABSTRACT_EPISODE,
        MemoryKind.SUMMARY,
        MemoryKind.NOTE,
    )
]
_CONCEPT = MEMORY_KINDS.index(MemoryKind.CONCEPT)
_EPISODE = MEMORY_KINDS.index(MemoryKind.EPISODE)
_DIGEST = MEMORY_KINDS.index(MemoryKind.DIGEST)
# Recalled memories whose strength is worked out one by one, 20 us each; of others, more
# than that, spaced recalls are not counted.
_EXACT = 1000


@dataclass(frozen=True, slots=True)
class Share:
    """How many memories a period of the calendar has; `end` is exclusive."""

    start: datetime
    end: datetime
    count: int


@dataclass(frozen=True, slots=True)
class Density:
    """How many memories lie in equal shares of the time from `start` to `end`, both None without any.

    `periods` are the days, weeks or months that have any, as digests have them, the earliest first.
    """

    start: datetime | None
    end: datetime | None
    counts: tuple[int, ...]
    periods: tuple[Share, ...] = ()


@compute_only
def confirmed_rows(mind: Mind) -> Bools:
    """The rows in use, bool[rows], without drafts that wait to be confirmed or repeat a known concept."""
    shown: Bools = mind.columns.in_use[: mind.size].copy()
    repeated = _rows_of(mind, repeated_concepts(mind))
    shown[repeated[repeated < mind.size]] = False
    for key in waiting(mind):
        row = mind.row(MemoryId(key))
        if row is not None and row < mind.size:
            shown[row] = False
    return shown


@compute_only
def listed_rows(mind: Mind, wanted: MemoryFilter) -> Bools:
    """The rows that the filter selects, bool[rows]: active ones or the bin; text and tag are not looked at.

    With 100,000 memories some 5 ms.
    """
    n, columns = mind.size, mind.columns
    is_bin = wanted.state is MemoryState.BIN
    shown = columns.in_state(n, BINNED) if is_bin else confirmed_rows(mind)
    kind = columns.kind[:n]
    if wanted.kind is not None:
        shown &= kind == MEMORY_KINDS.index(wanted.kind)
    if wanted.permanent is not None:
        shown &= columns.permanent[:n] == wanted.permanent
    if wanted.period is not None:
        shown &= kind == _DIGEST
    return shown & part_rows(mind, wanted.part)


@compute_only
def part_rows(mind: Mind, part: Part) -> Bools:
    """The rows of a part of the soul's memories, bool[rows]. Raises NotFound."""
    n, columns = mind.size, mind.columns
    shown = np.ones(n, np.bool_)
    if part.only_texts:
        shown &= np.isin(columns.kind[:n], _TEXTS)
    if part.start is not None:
        shown &= columns.happened[:n] >= part.start.timestamp()
    if part.end is not None:
        shown &= columns.happened[:n] < part.end.timestamp()
    if part.chat is not None:
        shown &= _only(n, _rows_of_chat(mind, part.chat))
    if part.about is not None:
        shown &= _only(n, _rows_about(mind, part.about))
    return shown


@compute_only
def ordered_rows(mind: Mind, shown: Bools, order: ListOrder, extra: int) -> Int64s:
    """The rows that are shown, in order; those that are equal by the latest first."""
    rows = np.flatnonzero(shown)
    newest = -mind.columns.happened[rows]
    if order is ListOrder.NEWEST:
        return rows[np.argsort(newest, kind="stable")]
    if order is ListOrder.OLDEST:
        return rows[np.argsort(-newest, kind="stable")]
    return rows[np.lexsort((newest, -_values(mind, rows, order, extra)))]


@compute_only
def listed_density(mind: Mind, wanted: MemoryFilter, bins: int, period: Period | None) -> Density:
    """How what the filter selects lies along time: that of the episodes among it, if there are any.

    With 100,000 memories of a year some 10 ms.
    """
    n, columns = mind.size, mind.columns
    shown = listed_rows(mind, wanted)
    happened = columns.happened[:n]
    scenes = happened[shown & (columns.kind[:n] == _EPISODE)]
    times = np.sort(happened[shown])
    span = scenes if scenes.size else times
    if not span.size:
        return Density(None, None, (0,) * bins)
    first, last = float(span.min()), float(span.max())
    last = max(last, first + 1.0)
    counts, _ = np.histogram(times, bins, (first, last))
    periods = () if period is None else tuple(_shares(times, period))
    return Density(at_seconds(first), at_seconds(last), tuple(counts.tolist()), periods)


def _shares(times: Float64s, period: Period) -> Iterator[Share]:
    """The periods of this computer's calendar that hold any of the ascending times."""
    place = 0
    while place < times.size:
        wall = local(at_seconds(float(times[place]))).replace(tzinfo=None)
        start = period_start(wall, period)
        end = from_local(period_end(start, period))
        after = int(np.searchsorted(times, end.timestamp()))
        after = max(after, place + 1)
        yield Share(from_local(start), end, after - place)
        place = after


def _only(n: int, rows: Int64s) -> Bools:
    out = np.zeros(n, np.bool_)
    out[rows[rows < n]] = True
    return out


def _rows_of_chat(mind: Mind, chat: ChatId) -> Int64s:
    """The rows of the chat's episodes and of memories made from them."""
    made = _rows_of(mind, map(MemoryId, mind.derivations.products(chat)))
    return np.concatenate([mind.chat_rows(chat), made])


def _rows_about(mind: Mind, concept: MemoryId) -> Int64s:
    """The rows of a concept, its other names, what mentions them, and episodes of kinds that do."""
    rows = alias_rows(mind, concept)
    mentions = mind.edges.arrays([EdgeKind.MENTIONS], rows)
    # Edges of both directions: what the concept itself mentions is not about it
    source = mentions.source.astype(np.int64)
    texts = source[np.isin(mentions.target, rows)]
    return np.concatenate([rows, texts])


@compute_only
def alias_rows(mind: Mind, concept: MemoryId) -> Int64s:
    """The rows of a concept and of the concepts that stand for its other names."""
    accessible = mind.accessible_rows(None, None, lambda _, __: False)
    return _rows_of(mind, FactValidities(mind, accessible, None).alias_concepts(concept))


def _rows_of(mind: Mind, keys: Iterable[MemoryId]) -> Int64s:
    rows = (mind.row(key) for key in keys)
    return np.asarray([row for row in rows if row is not None], np.int64)


def _values(mind: Mind, rows: Int64s, order: ListOrder, extra: int) -> Float64s:
    """The sort key of the rows, the highest first."""
    if order is ListOrder.IMPORTANCE:
        return mind.columns.importance[rows].astype(np.float64)
    if order is ListOrder.RECALLED:
        return mind.recalls.last_turn(mind.size)[rows].astype(np.float64)
    return _strengths(mind, rows, extra)


def _strengths(mind: Mind, rows: Int64s, extra: int) -> Float64s:
    """As `text_strengths`, over arrays; but for spaced tellings, and for recalls beyond the latest 1,000."""
    columns, settings = mind.columns, mind.soul.settings
    exchanges = ages_of_last_telling(mind, None, extra, rows)
    age = mind.time.row_ages(rows, exchanges, extra)
    stability = UNIT_STABILITY * (1.0 + columns.feeling[rows])
    out = np.exp(-age * settings.forgetting / stability)
    is_concept = columns.kind[rows] == _CONCEPT
    if is_concept.any():
        out[is_concept] = memory_strengths(mind, rows[is_concept], extra)
    recalled = mind.recalls.last_turn(mind.size)[rows]
    used = np.flatnonzero(recalled >= 0)
    used = used[np.argsort(-recalled[used], kind="stable")[:_EXACT]]
    memories = [mind.memory_at(row) for row in rows[used].tolist()]
    out[used] = text_strengths(mind, memories, extra)
    out[columns.permanent[rows] | columns.locked[rows]] = 1.0
    return out
