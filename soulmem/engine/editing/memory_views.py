"""Views of memories: a single memory, and pages of lists and time spans.

Compute thread only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice

from soulmem.domain.digests import period_of
from soulmem.domain.errors import NotFound
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import BINNED, Memory, MemoryKind, MemoryState
from soulmem.engine.api.requests import ListOrder, MemoryFilter, Part, TagMatch
from soulmem.engine.api.results import MemoryView, Page
from soulmem.engine.editing.cursors import (
    Cursor,
    ordered_cursor,
    start_after,
)
from soulmem.engine.editing.cursors import cursor_of as cursor_of
from soulmem.engine.editing.fact_views import fact_page, whole_fact
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.views.concept_activation import (
    concept_activations,
    places_mentioning,
)
from soulmem.engine.views.doubted import (
    is_in_doubt,
    is_waiting,
    opinion_of,
)
from soulmem.engine.views.fact_validity import fact_validities
from soulmem.engine.views.faded_edges import unfaded_edges
from soulmem.engine.views.faded_texts import blurs
from soulmem.engine.views.fading_ahead import turns_left
from soulmem.engine.views.listed_rows import (
    Bools,
    listed_rows,
    ordered_rows,
    part_rows,
)
from soulmem.engine.views.provenance import source_places
from soulmem.engine.views.read_texts import read_texts
from soulmem.engine.views.tag_levels import (
    NO_LEVEL,
    level_of,
    rows_with_a_word,
    tag_level,
    tags_of,
)
from soulmem.engine.views.text_ages import text_strengths
from soulmem.engine.views.timeline import newest_first, overlapping, position_of
from soulmem.engine.views.word_concepts import word_concept, word_edges, word_view

_PLACES = 50  # most places shown of a concept
_NO_MATCH = NO_LEVEL  # rung of memories that do not match
_RANKED = -1  # rung of memories ranked by a recall


@compute_only
def whole(mind: Mind, memory: MemoryId, extra_turns: int) -> MemoryView:
    """A memory with its sources, and its edges with their present strength. Raises NotFound."""
    stored_memory = mind.memories.get(memory)
    if stored_memory is None and memory in mind.facts:
        return whole_fact(mind, memory, extra_turns)
    if stored_memory is None:
        word = word_concept(mind, memory)
        if word is None:
            raise NotFound(f"no memory {memory!r}", field="id")
        return word_view(mind, word, extra_turns)
    edges = (
        *unfaded_edges(mind, memory, extra_turns),
        *word_edges(mind, memory),
    )
    usage, standing = mind.recalls.usage(memory), fact_validities(mind, edges)
    if stored_memory.kind is not MemoryKind.CONCEPT:
        (view,) = viewed(mind, [stored_memory], extra_turns)
        turn = float(mind.lived_turns(extra_turns))
        (read,) = read_texts(mind, [stored_memory], turn)
        faded = read.faded
        return replace(
            view,
            edges=edges,
            usage=usage,
            visibility=faded.visibility,
            reads=faded.text,
            reads_now=read.text,
            gone_in=turns_left(mind, stored_memory, extra_turns),
            fades=blurs(mind, stored_memory) and bool(faded.units),
            units=faded.units,
            anchors=faded.anchors,
        )
    present = concept_activations(mind, [memory], extra_turns)[memory]
    (view,) = viewed(mind, [stored_memory], extra_turns)
    return replace(
        view,
        sources=view.sources or places_mentioning(mind, memory, _PLACES),
        edges=edges,
        usage=usage,
        base_activation=present.activation,
        standing=standing,
    )


@compute_only
def as_read(
    mind: Mind, views: Sequence[MemoryView], extra_turns: int
) -> list[MemoryView]:
    """The views with what each memory reads now; the word of a topic, which is no memory, stays as it is."""
    turn = float(mind.lived_turns(extra_turns))
    stored = [v.memory for v in views if v.memory.id in mind.memories]
    read = read_texts(mind, stored, turn)
    texts = {memory.id: text for memory, text in zip(stored, read, strict=True)}
    return [
        replace(view, reads_now=text.text, visibility=text.visibility)
        if (text := texts.get(view.memory.id))
        else view
        for view in views
    ]


@compute_only
def viewed(
    mind: Mind, memories: Sequence[Memory], extra_turns: int
) -> list[MemoryView]:
    """Memories with their sources, strength and the user's opinion."""
    strengths = text_strengths(mind, memories, extra_turns)
    return [
        MemoryView(
            memory,
            source_places(mind, memory),
            strength=strength,
            usage=mind.recalls.usage(memory.id),
            told=1 + len(mind.tellings.merged(memory.id)),
            feedback=opinion_of(mind, memory.id).score,
            in_doubt=is_in_doubt(mind, memory.id),
            is_waiting=is_waiting(mind, memory.id),
            confidence=mind.derivations.confidence(memory.id),
        )
        for memory, strength in zip(memories, strengths, strict=True)
    ]


def _rung(
    mind: Mind, memory: Memory, wanted: MemoryFilter, with_word: Bools | None
) -> int:
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
    return rung


def listed_state(mind: Mind, memory: Memory) -> MemoryState:
    """The state by which lists show the memory."""
    is_active = memory.state is MemoryState.ACTIVE
    return (
        MemoryState.WAITING
        if is_active and is_waiting(mind, memory.id)
        else memory.state
    )


def _is_wanted(memory: Memory, wanted: MemoryFilter) -> bool:
    """Whether kind and protection match the filter."""
    if wanted.kind is not None and memory.kind is not wanted.kind:
        return False
    if wanted.period is not None and period_of(memory) is not wanted.period:
        return False
    return wanted.permanent is None or memory.permanent is wanted.permanent


@compute_only
def page(
    mind: Mind,
    wanted: MemoryFilter,
    after: Cursor | None,
    extra_turns: int,
    ranked: Sequence[MemoryId] = (),
) -> Page:
    """One page after the cursor `after`: `ranked` in that order, then the best rung,
    then the newest.
    """
    if wanted.only_facts:
        return fact_page(mind, wanted, after, extra_turns, ranked)
    listed = (MemoryState.ACTIVE, MemoryState.BIN)
    if wanted.state in listed and wanted.q is wanted.tag is None:
        is_newest = wanted.order is ListOrder.NEWEST or wanted.period is not None
        listing = _newest_page if is_newest else _ordered_page
        return listing(mind, wanted, after, extra_turns)
    states = BINNED if wanted.state is MemoryState.BIN else (wanted.state,)
    part = None if wanted.part == Part() else part_rows(mind, wanted.part)

    def is_selected(memory: Memory) -> bool:
        """By all but the words."""
        if listed_state(mind, memory) not in states or not _is_wanted(memory, wanted):
            return False
        return part is None or bool(part[mind.row_of(memory)])

    place = {key: (_RANKED, position, str(key)) for position, key in enumerate(ranked)}
    known = (mind.memories.get(key) for key in ranked)
    matches = [(place[m.id], m) for m in known if m is not None and is_selected(m)]
    if sum(after is None or key > after for key, _ in matches) > wanted.limit:
        return _cut(mind, matches, wanted.limit, after, extra_turns)
    # What nobody ranked is looked through only when the page is not full
    with_word = None if wanted.q is None else rows_with_a_word(mind, _asked(wanted.q))
    for memory in mind.memories.values():
        if memory.id in place or not is_selected(memory):
            continue
        rung = _rung(mind, memory, wanted, with_word)
        if rung < _NO_MATCH:
            matches.append(((rung, -_micros(memory), str(memory.id)), memory))
    return _cut(mind, matches, wanted.limit, after, extra_turns)


def _asked(words: str) -> str:
    return words.casefold().strip()


def _ordered_page(
    mind: Mind,
    wanted: MemoryFilter,
    after: Cursor | None,
    extra_turns: int,
) -> Page:
    """As `page` for a filter without query and tag, in any order; uses columns alone.

    The cursor is the place of the last memory and its id; when that has moved, the page begins behind it. Raises
    Unprocessable for a cursor of another order.
    """
    shown = listed_rows(mind, wanted)
    rows = ordered_rows(mind, shown, wanted.order, extra_turns)
    last = None if after is None else mind.row(MemoryId(after[2]))
    start = start_after(after, rows, last)
    piece = rows[start : start + wanted.limit]
    memories = [mind.memory_at(row) for row in piece.tolist()]
    end = start + len(memories)
    cursor = (
        ordered_cursor(end, memories[-1].id) if end < rows.size and memories else None
    )
    return Page(viewed(mind, memories, extra_turns), cursor)


def _newest_page(
    mind: Mind,
    wanted: MemoryFilter,
    after: Cursor | None,
    extra_turns: int,
) -> Page:
    """As `page` for a filter without query and tag; uses columns alone."""
    shown = listed_rows(mind, wanted)
    if after is not None:
        shown &= mind.columns.happened[: mind.size] <= (1 - after[1]) / 1e6
    rest = (
        m
        for m in newest_first(mind, shown)
        if (after is None or (4, -_micros(m), str(m.id)) > after)
        and (wanted.period is None or period_of(m) is wanted.period)
    )
    matches = list(islice(rest, wanted.limit + 1))
    cursor = None
    if len(matches) > wanted.limit:
        last = matches[wanted.limit - 1]
        cursor = f"4_{-_micros(last)}_{last.id}"
    return Page(viewed(mind, matches[: wanted.limit], extra_turns), cursor)


@compute_only
def span_page(
    mind: Mind,
    start: datetime | None,
    end: datetime | None,
    limit: int,
    after: Cursor | None,
    extra_turns: int,
) -> Page:
    """One page after the cursor `after` of memories that overlap the span, oldest first."""
    shown = (
        memory
        for memory in overlapping(mind, start, end, after and after[1:])
        if not is_waiting(mind, memory.id)
    )
    matches = list(islice(shown, limit + 1))
    cursor = (
        "_".join(("0", *map(str, position_of(matches[limit - 1]))))
        if len(matches) > limit
        else None
    )
    return Page(viewed(mind, matches[:limit], extra_turns), cursor)


def _cut(
    mind: Mind,
    candidates: list[tuple[Cursor, Memory]],
    limit: int,
    after: Cursor | None,
    extra_turns: int,
) -> Page:
    candidates.sort(key=lambda pair: pair[0])
    rest = (
        candidates
        if after is None
        else [pair for pair in candidates if pair[0] > after]
    )
    piece = rest[:limit]
    cursor = None
    if len(rest) > limit:
        rung, when, key = piece[-1][0]
        cursor = f"{rung}_{when}_{key}"
    return Page(viewed(mind, [memory for _, memory in piece], extra_turns), cursor)


def _micros(memory: Memory) -> int:
    return position_of(memory)[0]
