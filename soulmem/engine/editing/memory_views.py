"""Views of memories: a single memory, pages of lists and time spans, and a part of the graph.

Compute thread only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice

import numpy as np

from soulmem.domain.errors import NotFound, Unprocessable
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import BINNED, Memory, MemoryKind, MemoryState
from soulmem.engine.api.requests import MemoryFilter, TagMatch
from soulmem.engine.api.results import GraphView, MemoryView, Page
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.views.anchors import anchors_of
from soulmem.engine.views.concept_activation import (
    concept_activations,
    memory_strengths,
    places_mentioning,
)
from soulmem.engine.views.doubted import is_in_doubt, opinion_of
from soulmem.engine.views.fact_validity import fact_validities
from soulmem.engine.views.faded_edges import unfaded_edge, unfaded_edges
from soulmem.engine.views.provenance import source_places
from soulmem.engine.views.timeline import newest_first, overlapping, position_of
from soulmem.graph.association import MEMORY_KINDS

_CURSOR = re.compile(r"(-1|[0-4])_(-?\d{1,20})_([a-z0-9]{1,64})\Z")
_PLACES = 50  # most places shown of a concept
_NO_MATCH = 5  # rung of memories that do not match
_RANKED = -1  # rung of memories ranked by a recall


@compute_only
def whole(mind: Mind, memory: MemoryId, extra_turns: int) -> MemoryView:
    """A memory with its sources, and its edges with their present strength. Raises NotFound."""
    stored_memory = mind.memories.get(memory)
    if stored_memory is None:
        raise NotFound(f"no memory {memory!r}", field="id")
    edges = tuple(unfaded_edges(mind, memory, extra_turns))
    usage, standing = mind.recalls.usage(memory), fact_validities(mind, edges)
    if stored_memory.kind is not MemoryKind.CONCEPT:
        (view,) = viewed(mind, [stored_memory], extra_turns)
        return replace(
            view, edges=edges, usage=usage, anchors=anchors_of(mind, stored_memory)
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
def viewed(
    mind: Mind, memories: Sequence[Memory], extra_turns: int
) -> list[MemoryView]:
    """Memories with their sources, strength and the user's opinion."""
    rows = np.asarray([mind.row_of(memory) for memory in memories], np.int64)
    remaining = memory_strengths(mind, rows, extra_turns).tolist()
    return [
        MemoryView(
            memory,
            source_places(mind, memory),
            strength=1.0 if memory.permanent else strength,
            feedback=opinion_of(mind, memory.id).score,
            in_doubt=is_in_doubt(mind, memory.id),
        )
        for memory, strength in zip(memories, remaining, strict=True)
    ]


def _rung(mind: Mind, memory: Memory, wanted: MemoryFilter) -> int:
    """0 tag exact, 1 tag partial, 2 text exact, 3 text partial (design 9); 4 without a
    query; 5 no match.
    """
    if wanted.tag is not None:
        rung = _tag_rung(memory.tags, wanted.tag.casefold())
        if rung > (0 if wanted.match is TagMatch.EXACT else 1):
            return _NO_MATCH
        if wanted.q is None:
            return rung
    if wanted.q is None:
        return 4
    asked = wanted.q.casefold().strip()
    rung = _tag_rung(memory.tags, asked)
    if rung == _NO_MATCH:
        if asked in memory.text.casefold():
            rung = 2
        elif set(mind.tokeniser.tokens(asked)) & set(
            mind.tokeniser.tokens(memory.text)
        ):
            rung = 3
    if wanted.match is TagMatch.EXACT and rung not in (0, 2):
        return _NO_MATCH
    return rung


def _tag_rung(tags: Sequence[str], asked: str) -> int:
    folded = [t.casefold() for t in tags]
    return (
        0
        if asked in folded
        else 1
        if asked and any(asked in t for t in folded)
        else _NO_MATCH
    )


def _is_wanted(memory: Memory, wanted: MemoryFilter) -> bool:
    """Whether kind and protection match the filter."""
    if wanted.kind is not None and memory.kind is not wanted.kind:
        return False
    return wanted.permanent is None or memory.permanent is wanted.permanent


@compute_only
def page(
    mind: Mind,
    wanted: MemoryFilter,
    after: tuple[int, int, str] | None,
    extra_turns: int,
    ranked: Sequence[MemoryId] = (),
) -> Page:
    """One page after the cursor `after`: `ranked` in that order, then the best rung,
    then the newest.
    """
    if wanted.state is MemoryState.ACTIVE and wanted.q is wanted.tag is None:
        return _newest_page(mind, wanted, after, extra_turns)
    states = BINNED if wanted.state is MemoryState.BIN else (wanted.state,)
    place = {key: (_RANKED, position, str(key)) for position, key in enumerate(ranked)}
    matches = []
    for memory in mind.memories.values():
        if memory.state not in states or not _is_wanted(memory, wanted):
            continue
        if memory.id in place:
            matches.append((place[memory.id], memory))
        elif (rung := _rung(mind, memory, wanted)) < _NO_MATCH:
            matches.append(((rung, -_micros(memory), str(memory.id)), memory))
    return _cut(mind, matches, wanted.limit, after, extra_turns)


def _newest_page(
    mind: Mind,
    wanted: MemoryFilter,
    after: tuple[int, int, str] | None,
    extra_turns: int,
) -> Page:
    """As `page` for a filter without query and tag; uses columns alone."""
    n, columns = mind.size, mind.columns
    shown = columns.in_use[:n].copy()
    if wanted.kind is not None:
        shown &= columns.kind[:n] == MEMORY_KINDS.index(wanted.kind)
    if wanted.permanent is not None:
        shown &= columns.permanent[:n] == wanted.permanent
    if after is not None:
        shown &= columns.happened[:n] <= (1 - after[1]) / 1e6
    rest = (
        m
        for m in newest_first(mind, shown)
        if after is None or (4, -_micros(m), str(m.id)) > after
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
    after: tuple[int, int, str] | None,
    extra_turns: int,
) -> Page:
    """One page after the cursor `after` of memories that overlap the span, oldest first."""
    matches = list(
        islice(overlapping(mind, start, end, after and after[1:]), limit + 1)
    )
    cursor = (
        "_".join(("0", *map(str, position_of(matches[limit - 1]))))
        if len(matches) > limit
        else None
    )
    return Page(viewed(mind, matches[:limit], extra_turns), cursor)


def _cut(
    mind: Mind,
    candidates: list[tuple[tuple[int, int, str], Memory]],
    limit: int,
    after: tuple[int, int, str] | None,
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


def cursor_of(text: str) -> tuple[int, int, str]:
    """The sort key where the previous page ended. Raises Unprocessable."""
    match = _CURSOR.match(text)
    if match is None:
        raise Unprocessable(
            f"{text[:80]!r} is no cursor: pass on the one of the page before",
            field="cursor",
        )
    return int(match[1]), int(match[2]), match[3]


def _micros(memory: Memory) -> int:
    return position_of(memory)[0]


@compute_only
def surroundings(
    mind: Mind, center: MemoryId | None, hops: int, limit: int, extra_turns: int
) -> GraphView:
    """At most `limit` memories in use around `center`, the newest when None, and the
    edges among them.

    Raises NotFound.
    """
    turn = mind.lived_turns(extra_turns)
    if center is None:
        in_use = mind.columns.in_use[: mind.size]
        chosen = {m.id: None for m in islice(newest_first(mind, in_use), limit)}
    elif center in mind.memories:
        chosen = dict.fromkeys([center])
        ring = [center]
        for _ in range(hops):
            reached: dict[MemoryId, None] = {}
            for memory in ring:
                reached.update(dict.fromkeys(_beside(mind, memory, turn)))
            new = (memory for memory in reached if memory not in chosen)
            ring = list(islice(new, limit - len(chosen)))
            chosen.update(dict.fromkeys(ring))
    else:
        raise NotFound(f"no memory {center!r} in this soul", field="center")
    views = viewed(mind, [mind.memories[m] for m in chosen], extra_turns)
    remaining = [
        remaining
        for edge in mind.edges.between(chosen)
        if (remaining := unfaded_edge(mind, edge, turn)) is not None
    ]
    edges = sorted(remaining, key=lambda edge: edge.id)
    return GraphView(views, edges, fact_validities(mind, edges))


def _beside(mind: Mind, memory: MemoryId, turn: int) -> list[MemoryId]:
    """The memories in use that an edge joins to this one, strongest edge first."""
    remaining = (
        remaining
        for edge in mind.edges.of(memory)
        if (remaining := unfaded_edge(mind, edge, turn)) is not None
    )
    edges = sorted(remaining, key=lambda e: (-e.strength, e.source, e.target))
    others = (e.target if e.source == memory else e.source for e in edges)
    return [m for m in others if mind.memories[m].state is MemoryState.ACTIVE]


def _unique(keys: Iterable[MemoryId]) -> Iterator[MemoryId]:
    seen: set[MemoryId] = set()
    for key in keys:
        if key not in seen:
            seen.add(key)
            yield key
