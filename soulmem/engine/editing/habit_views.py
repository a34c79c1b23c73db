"""Habits as a page shows them: each trigger with what sets it off and what it sets off. Compute thread only."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.results import HabitAction, HabitPage, HabitView, MemoryView
from soulmem.engine.editing.cursors import Cursor, ordered_cursor, start_after
from soulmem.engine.editing.memory_views import viewed
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.doubted import waiting
from soulmem.engine.views.listed_rows import confirmed_rows
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.kernels.arrays import Bools, Int64s

_ACTION = MEMORY_KINDS.index(MemoryKind.ACTION)


class _Links:
    """The edges of one kind between memories in use, by row: what leads to a row, and by which edge."""

    def __init__(self, mind: Mind, kind: EdgeKind, shown: Bools) -> None:
        edges = mind.edges.arrays([kind])
        slots = (mind.edges.slot(key) for key in waiting(mind))
        waits = [slot for slot in slots if slot is not None]
        kept = shown[edges.source] & shown[edges.target] & ~np.isin(edges.slot, waits)
        self.sources: defaultdict[int, list[int]] = defaultdict(list)
        self.targets: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        ends = (edges.source[kept], edges.target[kept], edges.slot[kept])
        for source, target, slot in zip(*(c.tolist() for c in ends), strict=True):
            self.sources[target].append(source)
            self.targets[source].append((target, slot))


@compute_only
def habit_page(mind: Mind, limit: int, after: Cursor | None, extra_turns: int) -> HabitPage:
    """One page of habits after the cursor `after`, the newest first; an action without a trigger is one by itself.

    Raises Unprocessable for a cursor of another list.
    """
    shown = confirmed_rows(mind)
    fires = _Links(mind, EdgeKind.FIRES, shown)
    keys = _ordered(mind, shown, fires)
    last = None if after is None else mind.row(MemoryId(after[2]))
    start = start_after(after, keys, last)
    page = keys[start : start + limit].tolist()
    end = start + len(page)
    starts = _Links(mind, EdgeKind.TRIGGERS, shown)
    actions = {key: fires.targets.get(key, [(key, None)]) for key in page}
    rows = {row for some in actions.values() for row, _ in some}
    rows.update(row for key in page for row in starts.sources.get(key, ()))
    views = _views(mind, sorted(rows), extra_turns)
    habits = [
        HabitView(
            trigger=mind.id_at(key) if key in fires.targets else None,
            situations=[views[row] for row in starts.sources.get(key, ())],
            actions=[
                HabitAction(views[row], _probability(mind, slot)) for row, slot in actions[key]
            ],
        )
        for key in page
    ]
    cursor = ordered_cursor(end, mind.id_at(page[-1])) if page and end < keys.size else None
    return HabitPage(habits, cursor)


def _ordered(mind: Mind, shown: Bools, fires: _Links) -> Int64s:
    """The rows of the triggers, and of actions that none sets off, by their newest action."""
    n, columns = mind.size, mind.columns
    alone = np.flatnonzero(shown & (columns.kind[:n] == _ACTION)).tolist()
    alone = [row for row in alone if row not in fires.sources]
    happened = columns.happened
    newest = {
        key: max(float(happened[row]) for row, _ in some) for key, some in fires.targets.items()
    }
    newest |= {row: float(happened[row]) for row in alone}
    return np.asarray(sorted(newest, key=lambda key: (-newest[key], key)), np.int64)


def _views(mind: Mind, rows: list[int], extra_turns: int) -> dict[int, MemoryView]:
    memories = [mind.memory_at(row) for row in rows]
    return dict(zip(rows, viewed(mind, memories, extra_turns), strict=True))


def _probability(mind: Mind, slot: int | None) -> float | None:
    return None if slot is None else mind.edges.edge_at(slot).probability
