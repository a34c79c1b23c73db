"""Lists of memories by words or a tag: those that a recall ranks, then those that match, best level first.

Tags and texts are in no index of letters, so all that may match are read: in pieces, so that a recall need not
wait for a search.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from itertools import islice
from weakref import WeakKeyDictionary

import numpy as np

from soulmem.domain.digests import period_of
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import BINNED, Memory, MemoryState
from soulmem.engine.api.requests import MemoryFilter, Part, TagMatch
from soulmem.engine.api.results import Page
from soulmem.engine.editing.cursors import Cursor
from soulmem.engine.editing.memory_views import listed_state, micros, viewed
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import Worker, compute_only
from soulmem.engine.views.concept_descriptions import repeated_concepts
from soulmem.engine.views.listed_rows import part_rows
from soulmem.engine.views.tag_levels import (
    NO_LEVEL,
    TEXT_PARTIAL,
    level_of,
    rows_with_a_word,
    tag_level,
    tags_of,
)
from soulmem.kernels.arrays import Bools, Int64s

_NO_MATCH = NO_LEVEL  # rung of memories that do not match
_RANKED = -1  # rung of memories ranked by a recall
_PIECE = 500  # memories read at a time on the compute thread: some 15 ms
_KEPT = 10_000  # matches that are kept for the next page: 2 MB


@dataclass(frozen=True, slots=True)
class _Found:
    """The matches of a filter in one state of a mind: pieces, each of them ascending."""

    state: tuple[object, ...]
    wanted: MemoryFilter
    pieces: list[list[Cursor]]


class WordSearch:
    """Pages of the memories with certain words or a tag."""

    def __init__(self, compute: Worker) -> None:
        self._compute = compute
        self._found: WeakKeyDictionary[Mind, _Found] = WeakKeyDictionary()

    async def page(
        self,
        mind: Mind,
        wanted: MemoryFilter,
        after: Cursor | None,
        extra_turns: int,
        ranked: Sequence[MemoryId],
    ) -> Page:
        """One page after the cursor `after`: `ranked` in that order, then the best rung, then the newest."""
        run = self._compute.run
        page = await run(_page, mind, wanted, after, extra_turns, ranked, None)
        if page is None:  # what nobody ranked is looked through only then
            pieces = await self._pieces(mind, replace(wanted, limit=1, cursor=None))
            page = await run(_page, mind, wanted, after, extra_turns, ranked, pieces)
        assert page is not None
        return page

    async def _pieces(self, mind: Mind, wanted: MemoryFilter) -> list[list[Cursor]]:
        """All that match; kept for the next page."""
        state = (mind.revision, mind.soul)
        found = self._found.get(mind)
        if found is not None and (found.state, found.wanted) == (state, wanted):
            return found.pieces
        rows = await self._compute.run(_may_match, mind, wanted)
        pieces: list[list[Cursor]] = []
        for start in range(0, rows.size, _PIECE):
            some = rows[start : start + _PIECE]
            pieces.append(await self._compute.run(_matching, mind, wanted, some))
        if sum(map(len, pieces)) <= _KEPT:
            self._found[mind] = _Found(state, wanted, pieces)
        return pieces


@compute_only
def _may_match(mind: Mind, wanted: MemoryFilter) -> Int64s:
    """The rows that the filter selects, but for kind, protection and words."""
    shown = mind.columns.in_state(mind.size, _stored_states(wanted))
    if wanted.part != Part():
        shown &= part_rows(mind, wanted.part)
    return np.flatnonzero(shown)


@compute_only
def _matching(mind: Mind, wanted: MemoryFilter, rows: Int64s) -> list[Cursor]:
    """Those at these rows that match, ascending; some may have gone meanwhile."""
    is_selected = _selection(mind, replace(wanted, part=Part()))
    with_word = None if wanted.q is None else rows_with_a_word(mind, _asked(wanted.q))
    out: list[Cursor] = []
    there = rows[mind.columns.created[rows] != 0]
    for memory in mind.memories.many(mind.ids_at(there.tolist())):
        if is_selected(memory):
            rung = _rung(mind, memory, wanted, with_word)
            if rung < _NO_MATCH:
                out.append((rung, -micros(memory), str(memory.id)))
    return sorted(out)


@compute_only
def _page(
    mind: Mind,
    wanted: MemoryFilter,
    after: Cursor | None,
    extra_turns: int,
    ranked: Sequence[MemoryId],
    pieces: Sequence[list[Cursor]] | None,
) -> Page | None:
    """One page of the ranked, then of those that match; None when these are not known and it is not full."""
    is_selected = _selection(mind, wanted)
    is_active = wanted.state is MemoryState.ACTIVE
    shown_as = repeated_concepts(mind) if is_active else {}
    first = [(_RANKED, place, str(key)) for place, key in enumerate(ranked)]
    known = {str(key) for key in ranked}
    ahead = (_behind(piece, after) for piece in (first, *(pieces or ())))

    def shown() -> Iterator[tuple[Cursor, Memory]]:
        yielded: set[MemoryId] = set()
        for place in merge(*ahead):
            key = MemoryId(place[2])
            memory = mind.memories.get(shown_as.get(key, key))
            is_twice = place[0] != _RANKED and place[2] in known
            if memory is None or is_twice or memory.id in yielded:
                continue
            if is_selected(memory):
                yielded.add(memory.id)
                yield place, memory

    some = list(islice(shown(), wanted.limit + 1))
    is_last = len(some) <= wanted.limit
    if is_last and pieces is None:
        return None
    piece = some[: wanted.limit]
    cursor = None if is_last else "_".join(map(str, piece[-1][0]))
    return Page(viewed(mind, [memory for _, memory in piece], extra_turns), cursor)


def _behind(piece: list[Cursor], after: Cursor | None) -> list[Cursor]:
    """The part of an ascending piece that follows the cursor."""
    return piece if after is None else piece[bisect_right(piece, after) :]


def _selection(mind: Mind, wanted: MemoryFilter) -> Callable[[Memory], bool]:
    """Whether a memory is selected by all but the words."""
    states = BINNED if wanted.state is MemoryState.BIN else (wanted.state,)
    part = None if wanted.part == Part() else part_rows(mind, wanted.part)

    def is_selected(memory: Memory) -> bool:
        if listed_state(mind, memory) not in states or not _is_wanted(memory, wanted):
            return False
        return part is None or bool(part[mind.row_of(memory)])

    return is_selected


def _stored_states(wanted: MemoryFilter) -> Sequence[MemoryState]:
    """The states that those are stored with that have the state asked for."""
    if wanted.state is MemoryState.BIN:
        return BINNED
    is_draft = wanted.state is MemoryState.WAITING
    return (MemoryState.ACTIVE,) if is_draft else (wanted.state,)


def _is_wanted(memory: Memory, wanted: MemoryFilter) -> bool:
    """Whether kind and protection match the filter."""
    if wanted.kind is not None and memory.kind is not wanted.kind:
        return False
    if wanted.period is not None and period_of(memory) is not wanted.period:
        return False
    return wanted.permanent is None or memory.permanent is wanted.permanent


def _rung(mind: Mind, memory: Memory, wanted: MemoryFilter, with_word: Bools | None) -> int:
    """0 tag exact, 1 tag partial, 2 text exact, 3 text partial (design 9); 4 without a
    query; 5 no match. `with_word`: the rows that have a word of the query.
    """
    if wanted.tag is not None:
        rung = tag_level(tags_of(memory), wanted.tag.casefold())
        if rung > (0 if wanted.match is TagMatch.EXACT else 1):
            return _NO_MATCH
        if wanted.q is None:
            return rung
    if wanted.q is None:
        return 4
    asked = _asked(wanted.q)
    rung = level_of(mind, memory, asked, with_word)
    if wanted.match is TagMatch.EXACT and rung not in (0, 2):
        # A tag that contains the words may stand beside a text that has them as they are.
        return 2 if asked in memory.text.casefold() else _NO_MATCH
    if wanted.match is TagMatch.MEANING and rung == TEXT_PARTIAL:
        return _NO_MATCH  # a text that shares some word is found by how much the recall makes of it
    return rung


def _asked(words: str) -> str:
    return words.casefold().strip()
