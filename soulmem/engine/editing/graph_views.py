"""A part of a soul's graph: memories and the edges among them, with the words of topics. Compute thread only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from soulmem.domain.edges import Edge
from soulmem.domain.errors import no_memory
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryState
from soulmem.engine.api.results import GraphView, MemoryView
from soulmem.engine.editing.memory_views import listed_state, viewed
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.concept_descriptions import (
    repeated_concepts,
    repeats_of,
    shown_rows,
)
from soulmem.engine.views.doubted import is_waiting
from soulmem.engine.views.fact_validity import fact_validities
from soulmem.engine.views.faded_edges import remaining_strengths, unfaded_edge
from soulmem.engine.views.listed_rows import confirmed_rows
from soulmem.engine.views.timeline import newest_first
from soulmem.engine.views.word_concepts import (
    topics_of_word,
    word_concept,
    word_edges,
    word_view,
    words_of_topic,
)
from soulmem.kernels.arrays import Bools, Float64s, Int64s


class _Drawn(NamedTuple):
    """What a graph shows: the usable rows, and which concept each repeated one is drawn as."""

    usable: Bools
    shown_as: Mapping[MemoryId, MemoryId]
    shown_rows: Int64s


@compute_only
def surroundings(
    mind: Mind,
    center: MemoryId | None,
    hops: int,
    limit: int,
    extra_turns: int,
    also: Sequence[MemoryId] = (),
) -> GraphView:
    """At most `limit` memories in use around `center`, the newest when None, and the
    edges among them. Those of `also` that are in use come first; a topic is followed by
    its words.

    Raises NotFound.
    """
    turn = mind.lived_turns(extra_turns)
    usable, shown_as = confirmed_rows(mind), repeated_concepts(mind)
    if center is not None:
        center = shown_as.get(center, center)
    wanted = (shown_as.get(key, key) for key in also if _is_shown(mind, key))
    chosen = dict.fromkeys(islice(_unique(wanted), limit))
    if center is None:
        newest = (memory.id for memory in newest_first(mind, usable))
        shown = (key for memory in newest for key in _with_words(mind, memory))
        others = (memory for memory in _unique(shown) if memory not in chosen)
        chosen |= dict.fromkeys(list(islice(others, limit - len(chosen))))
    elif center in mind.memories or word_concept(mind, center) is not None:
        chosen = dict.fromkeys(islice(dict.fromkeys([center, *chosen]), limit))
        drawn = _Drawn(usable, shown_as, shown_rows(mind, shown_as))

        def beside(memory: MemoryId, most: int) -> list[MemoryId]:
            return _beside(mind, memory, drawn, extra_turns, most)

        _surround(center, hops, limit, chosen, beside)
    else:
        raise no_memory(center, field="center")
    drafts = [key for key, known in shown_as.items() if known in chosen]
    among = _among(mind, {**chosen, **dict.fromkeys(drafts)}, turn)
    edges = sorted(among, key=lambda edge: edge.id)
    views = _views(mind, chosen, extra_turns)
    standing = fact_validities(mind, edges)
    return GraphView(views, edges, standing, shown_as=shown_as)


def _surround(
    center: MemoryId,
    hops: int,
    limit: int,
    chosen: dict[MemoryId, None],
    beside: Callable[[MemoryId, int], list[MemoryId]],
) -> None:
    """Add to `chosen` what is within so many hops of the center, up to `limit` memories.

    `beside` gives at most so many neighbours of a memory, strongest first.
    Of each ring that comes first which more of the ring before leads to. A ring with too many for the room leaves
    half of it to the next ones: somebody met in a thousand scenes is seen with others, not with scenes alone.
    """
    passed, ring = {center}, [center]
    left: list[MemoryId] = []
    for hops_left in reversed(range(hops)):
        most = limit + len(chosen)  # some of them may be chosen already
        near = (dict.fromkeys(beside(memory, most)) for memory in ring)
        reached = Counter(chain.from_iterable(near))
        new = [memory for memory, _ in reached.most_common() if memory not in chosen]
        room = limit - len(chosen)
        if hops_left and len(new) > room:
            room = (room + 1) // 2
        chosen.update(dict.fromkeys(new[:room]))
        left += new[room:]
        ring = [m for m in reached if m in chosen and m not in passed]
        passed.update(ring)
    rest = (memory for memory in left if memory not in chosen)
    chosen.update(dict.fromkeys(list(islice(rest, limit - len(chosen)))))


def _with_words(mind: Mind, memory: MemoryId) -> Iterator[MemoryId]:
    """The memory, and the words of a topic behind it."""
    yield memory
    if mind.names.topic_tags.is_topic(memory):
        yield from words_of_topic(mind, memory)


def _among(mind: Mind, chosen: dict[MemoryId, None], turn: int) -> Iterator[Edge]:
    """The edges between these memories, with their strength at that turn."""
    for edge in mind.edges.between(chosen):
        remaining = unfaded_edge(mind, edge, turn)
        if remaining is not None and not is_waiting(mind, edge.id):
            yield remaining
    topics = filter(mind.names.topic_tags.is_topic, chosen)
    of_words = chain.from_iterable(word_edges(mind, topic) for topic in topics)
    yield from (edge for edge in of_words if edge.source in chosen)


def _views(mind: Mind, chosen: Iterable[MemoryId], extra_turns: int) -> list[MemoryView]:
    """The views of these memories and words, in order."""
    keys = list(chosen)
    stored = [mind.memories[key] for key in keys if key in mind.memories]
    views = {view.memory.id: view for view in viewed(mind, stored, extra_turns)}
    for key in keys:
        word = word_concept(mind, key) if key not in views else None
        if word is not None:
            views[key] = word_view(mind, word, extra_turns)
    return [views[key] for key in keys]


def _beside(
    mind: Mind,
    memory: MemoryId,
    drawn: _Drawn,
    extra_turns: int,
    most: int,
) -> list[MemoryId]:
    """At most `most` of the usable memories that an edge joins to this one, strongest first, and its words."""
    if memory not in mind.memories:
        return topics_of_word(mind, memory)
    stored = mind.memories[memory]
    repeats = repeats_of(mind, stored, drawn.shown_as)
    rows = np.asarray([mind.row_of(m) for m in (stored, *repeats)], np.int64)
    edges = mind.edges.arrays(rows=np.sort(rows))
    is_source = np.isin(edges.source, rows)
    other = np.where(is_source, edges.target, edges.source).astype(np.int64)
    other = drawn.shown_rows[other]
    strength = remaining_strengths(mind, edges, extra_turns)
    kept = (strength > 0.0) & drawn.usable[other] & ~np.isin(other, rows)
    others, strengths = _strongest_of_each(other[kept], strength[kept])
    if others.size > most:  # and all that are as strong as the last of them
        weakest = np.partition(strengths, -most)[-most]
        others, strengths = (
            others[strengths >= weakest],
            strengths[strengths >= weakest],
        )
    keys = mind.ids_at(others.tolist())
    ordered = sorted(zip((-strengths).tolist(), keys, strict=True))
    beside = [key for _, key in ordered[:most]]
    return [*beside, *islice(_with_words(mind, memory), 1, None)]


def _strongest_of_each(rows: Int64s, strengths: Float64s) -> tuple[Int64s, Float64s]:
    """Each of the rows once, with the greatest of its strengths."""
    order = np.lexsort((-strengths, rows))
    distinct, first = np.unique(rows[order], return_index=True)
    return distinct, strengths[order][first]


def _is_shown(mind: Mind, key: MemoryId) -> bool:
    """Whether a memory of this id is in use and waits for nothing, or a word of a topic has it."""
    memory = mind.memories.get(key)
    if memory is None:
        return word_concept(mind, key) is not None
    return listed_state(mind, memory) is MemoryState.ACTIVE


def _unique(keys: Iterable[MemoryId]) -> Iterator[MemoryId]:
    seen: set[MemoryId] = set()
    for key in keys:
        if key not in seen:
            seen.add(key)
            yield key
