"""Views of memories: a single memory, and pages of lists and time spans.

Compute thread only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain, islice

from soulmem.conversation.episodes import narrative
from soulmem.domain.digests import period_of
from soulmem.domain.errors import no_memory
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState
from soulmem.domain.story_text import LeftOut
from soulmem.engine.api.requests import ListOrder, MemoryFilter
from soulmem.engine.api.results import MemoryView, Page
from soulmem.engine.editing.cursors import (
    Cursor,
    ordered_cursor,
    start_after,
)
from soulmem.engine.editing.cursors import cursor_of as cursor_of
from soulmem.engine.editing.fact_views import fact_page, whole_fact
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.concept_activation import (
    concept_activations,
    places_mentioning,
)
from soulmem.engine.views.concept_descriptions import (
    described,
    repeated_concepts,
    repeats_of,
)
from soulmem.engine.views.doubted import (
    is_in_doubt,
    is_waiting,
    opinion_of,
)
from soulmem.engine.views.fact_validity import fact_validities
from soulmem.engine.views.faded_edges import unfaded_edges
from soulmem.engine.views.faded_texts import blurs
from soulmem.engine.views.listed_rows import (
    listed_rows,
    ordered_rows,
)
from soulmem.engine.views.provenance import source_places
from soulmem.engine.views.read_texts import read_texts, turns_left
from soulmem.engine.views.spots import scenes_of
from soulmem.engine.views.text_ages import text_strengths
from soulmem.engine.views.timeline import newest_first, overlapping, position_of
from soulmem.engine.views.word_concepts import word_concept, word_edges, word_view
from soulmem.engine.world.message_log import ChatLog

_PLACES = 50  # most places shown of a concept
_EDGES = 200  # most edges shown of a memory


@compute_only
def whole(mind: Mind, memory: MemoryId, extra_turns: int) -> MemoryView:
    """A memory with its sources, and its strongest edges with their present strength. Raises NotFound."""
    stored_memory = mind.memories.get(memory)
    if stored_memory is None and memory in mind.facts:
        return whole_fact(mind, memory, extra_turns)
    if stored_memory is None:
        word = word_concept(mind, memory)
        if word is None:
            raise no_memory(memory, field="id")
        return word_view(mind, word, extra_turns)
    shown_as = repeated_concepts(mind)
    repeats = repeats_of(mind, stored_memory, shown_as)
    stored, count = unfaded_edges(mind, (stored_memory, *repeats), extra_turns, _EDGES)
    words = word_edges(mind, memory)
    edges, count = (*stored, *words), count + len(words)
    usage, standing = mind.recalls.usage(memory), fact_validities(mind, edges)
    if stored_memory.kind is not MemoryKind.CONCEPT:
        (view,) = viewed(mind, [stored_memory], extra_turns)
        turn = float(mind.lived_turns(extra_turns))
        (read,) = read_texts(mind, [stored_memory], turn)
        faded = read.faded
        return replace(
            view,
            edges=edges,
            shown_as=shown_as,
            edge_count=count,
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
        shown_as=shown_as,
        edge_count=count,
        usage=usage,
        base_activation=present.activation,
        standing=standing,
    )


@compute_only
def left_out(mind: Mind, memory: Memory, logs: Iterable[ChatLog | None]) -> tuple[LeftOut, ...]:
    """What of its message an episode leaves out, as far as one of these chats has the message."""
    for log in logs:
        if log is None:
            continue
        for version in chain.from_iterable(memory.evidence[:1]):
            index = log.index.get(version.slot)
            if index is not None:
                message = log.remembered(mind.soul)[index]
                if message.version == version and narrative(message) == memory.text:
                    return message.left_out
    return ()


@compute_only
def as_read(mind: Mind, views: Sequence[MemoryView], extra_turns: int) -> list[MemoryView]:
    """The views with what each memory reads now, and the first line of its scene; the word of a topic, which is no
    memory, stays as it is.
    """
    turn = float(mind.lived_turns(extra_turns))
    stored = [v.memory for v in views if v.memory.id in mind.memories]
    read = read_texts(mind, stored, turn)
    texts = {memory.id: text for memory, text in zip(stored, read, strict=True)}
    rows = [row for memory in stored if (row := mind.row(memory.id)) is not None]
    scenes = {
        mind.id_at(row): mind.id_at(int(scene[0])) for row, scene in scenes_of(mind, rows).items()
    }
    return [
        replace(
            view,
            reads_now=text.text,
            visibility=text.visibility,
            scene=scenes.get(view.memory.id),
        )
        if (text := texts.get(view.memory.id))
        else view
        for view in views
    ]


@compute_only
def viewed(mind: Mind, memories: Sequence[Memory], extra_turns: int) -> list[MemoryView]:
    """Memories with their sources, strength and the user's opinion."""
    strengths = text_strengths(mind, memories, extra_turns)
    shown_as = repeated_concepts(mind)
    return [
        MemoryView(
            described(mind, mind.line_kinds.weighed(memory), shown_as),
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


def listed_state(mind: Mind, memory: Memory) -> MemoryState:
    """The state by which lists show the memory."""
    is_active = memory.state is MemoryState.ACTIVE
    return MemoryState.WAITING if is_active and is_waiting(mind, memory.id) else memory.state


def is_by_columns(wanted: MemoryFilter) -> bool:
    """Whether `page` tells what the filter selects; else it is for `WordSearch`."""
    listed = (MemoryState.ACTIVE, MemoryState.BIN)
    is_plain = wanted.state in listed and wanted.q is wanted.tag is None
    return wanted.only_facts or is_plain


@compute_only
def page(
    mind: Mind,
    wanted: MemoryFilter,
    after: Cursor | None,
    extra_turns: int,
    ranked: Sequence[MemoryId] = (),
) -> Page:
    """One page after the cursor `after`, in the order that is asked for; of facts `ranked` first."""
    if wanted.only_facts:
        return fact_page(mind, wanted, after, extra_turns, ranked)
    is_newest = wanted.order is ListOrder.NEWEST or wanted.period is not None
    listing = _newest_page if is_newest else _ordered_page
    return listing(mind, wanted, after, extra_turns)


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
    cursor = ordered_cursor(end, memories[-1].id) if end < rows.size and memories else None
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
        if (after is None or (4, -micros(m), str(m.id)) > after)
        and (wanted.period is None or period_of(m) is wanted.period)
    )
    matches = list(islice(rest, wanted.limit + 1))
    cursor = None
    if len(matches) > wanted.limit:
        last = matches[wanted.limit - 1]
        cursor = f"4_{-micros(last)}_{last.id}"
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


def micros(memory: Memory) -> int:
    """When the memory happened, in microseconds since 1970."""
    return position_of(memory)[0]
