"""A fact as a memory: the relation between two concepts, read as a sentence. Compute thread only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from soulmem.consolidation.validity import FactValidity
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.errors import StoreDamaged, no_memory
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import MemoryState
from soulmem.domain.soul import SoulState
from soulmem.engine.api.requests import ListOrder, MemoryFilter, TagMatch
from soulmem.engine.api.results import MemoryView, Page
from soulmem.engine.editing.cursors import Cursor, ordered_cursor, start_after
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.concept_descriptions import repeated_concepts
from soulmem.engine.views.doubted import is_in_doubt, is_waiting, opinion_of, waiting
from soulmem.engine.views.fact_validity import fact_validities
from soulmem.engine.views.faded_edges import remaining_strengths, unfaded_edge
from soulmem.engine.views.listed_rows import alias_rows
from soulmem.engine.views.provenance import source_places
from soulmem.engine.world.world import World
from soulmem.kernels.arrays import Bools, Float64s, Int64s


async def mind_with(world: World, memory: MemoryId) -> Mind:
    """The mind with a memory or a fact; souls that are not loaded yet are opened to look.

    Raises NotFound, or StoreDamaged where a soul that cannot be read may have it.
    """
    damage: StoreDamaged | None = None
    for mind in world.minds.values():
        if has_memory(mind, memory):
            return await world.mind(mind.soul.id)  # notes that the soul is used
    for soul in list(world.souls.values()):
        if soul.id not in world.minds and soul.state is SoulState.ACTIVE:
            try:
                mind = await world.mind(soul.id)
            except StoreDamaged as error:
                damage = error
                continue
            if has_memory(mind, memory):
                return mind
    for key in world.unreadable:
        world.check_readable(key)
    if damage is not None:
        raise damage
    raise no_memory(memory, field="id")


_MICROSECONDS = 1e6
_NONE: Int64s = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class _Relations:
    """Relations as columns, by ascending slot of the table of edges; rows are those of the ends."""

    slot: Int64s
    source: Int64s
    target: Int64s
    touched: Int64s  # microseconds since 1970
    strength: Float64s  # by now, 0..1

    def at(self, which: Bools | Int64s) -> _Relations:
        """Those of this mask or at these places."""
        return _Relations(
            self.slot[which],
            self.source[which],
            self.target[which],
            self.touched[which],
            self.strength[which],
        )


@compute_only
def listed_facts(
    mind: Mind, wanted: MemoryFilter, extra: int, ranked: Sequence[MemoryId] = ()
) -> Int64s:
    """The slots, in the table of edges, of the facts that the filter selects, in its order.

    Where words are asked for `ranked` comes first, then what has the words as they stand, then what has any of
    them. A fact has no tag and is never permanent. Active are those that have not faded and do not wait to be
    confirmed. With 100,000 facts some 20 ms.
    """
    if wanted.tag is not None or wanted.period is not None or wanted.permanent:
        return _NONE
    if wanted.state not in (MemoryState.ACTIVE, MemoryState.WAITING):
        return _NONE
    found = _selected(mind, wanted, extra)
    if wanted.q is None:
        return found.slot[_order(mind, found, wanted.order)]
    return _by_words(mind, found, wanted, ranked)


def _selected(mind: Mind, wanted: MemoryFilter, extra: int) -> _Relations:
    """The rows that the filter selects, its words left aside."""
    part = wanted.part
    about = None if part.about is None else alias_rows(mind, part.about)
    arrays = mind.edges.arrays([EdgeKind.RELATES], about)
    found = _Relations(
        arrays.slot,
        arrays.source.astype(np.int64),
        arrays.target.astype(np.int64),
        arrays.touched,
        remaining_strengths(mind, arrays, extra),
    )
    shown = _accessible(mind, found)
    waits = np.isin(found.slot, _slots(mind, waiting(mind)))
    if wanted.state is MemoryState.WAITING:
        shown &= waits
    else:
        shown &= ~waits & (found.strength > 0.0)
    if part.start is not None:
        shown &= found.touched >= part.start.timestamp() * _MICROSECONDS
    if part.end is not None:
        shown &= found.touched < part.end.timestamp() * _MICROSECONDS
    if part.chat is not None:
        shown &= np.isin(found.slot, _slots(mind, _products(mind, part.chat)))
    return found.at(shown)


def _accessible(mind: Mind, found: _Relations) -> Bools:
    """Which of the relations the soul may use in any chat."""
    rows = mind.accessible_rows(None, None, lambda _, __: False)
    shown = rows[found.source] & rows[found.target]
    gone = [
        key
        for key in mind.derivations.edges()
        if (row := mind.row(MemoryId(key))) is not None and not rows[row]
    ]
    return np.asarray(shown & ~np.isin(found.slot, _slots(mind, gone)))


def _products(mind: Mind, chat: ChatId) -> Iterable[str]:
    """Ids of the facts that were made from the chat."""
    return mind.derivations.products(chat) & mind.derivations.edges()


def _order(mind: Mind, found: _Relations, order: ListOrder) -> Int64s:
    """The places of the relations in the order; those that are equal by the latest first."""
    newest = -found.touched
    if order is ListOrder.NEWEST:
        return np.argsort(newest, kind="stable")
    if order is ListOrder.OLDEST:
        return np.argsort(found.touched, kind="stable")
    return np.lexsort((newest, -_values(mind, found, order)))


def _values(mind: Mind, found: _Relations, order: ListOrder) -> Float64s:
    """The sort key of the relations, the highest first."""
    if order is ListOrder.STRENGTH:
        return found.strength
    if order is ListOrder.IMPORTANCE:
        importance = mind.columns.importance
        ends = importance[found.source], importance[found.target]
        return np.maximum(*ends).astype(np.float64)
    return _last_recalls(mind, found)


def _last_recalls(mind: Mind, found: _Relations) -> Float64s:
    """The turn of the last recall of each relation, -1 for none."""
    turns = mind.recalls.last_turn(mind.size)
    rows = np.flatnonzero((turns >= 0) & mind.facts.row_flags(mind.size))
    of_slot = {
        slot: int(turns[row])
        for row, key in zip(rows.tolist(), mind.ids_at(rows.tolist()), strict=True)
        if (slot := mind.edges.slot(key)) is not None
    }
    return np.asarray([of_slot.get(s, -1) for s in found.slot.tolist()], np.float64)


def _by_words(
    mind: Mind, found: _Relations, wanted: MemoryFilter, ranked: Sequence[MemoryId]
) -> Int64s:
    """The slots of those of these relations that match the words that are asked for."""
    asked = (wanted.q or "").casefold().strip()
    some = _slots(mind, _with_any(mind, mind.tokeniser.tokens(asked)))
    hits = found.at(np.isin(found.slot, some))
    hits = hits.at(_order(mind, hits, ListOrder.NEWEST))
    keys = map(mind.edges.edge_at, hits.slot.tolist())
    texts = [mind.text_of(MemoryId(edge.id)).casefold() for edge in keys]
    is_exact = np.fromiter((asked in text for text in texts), np.bool_, len(texts))
    exact = hits.slot[is_exact]
    if wanted.match is TagMatch.EXACT:
        return exact
    first = np.asarray(_slots(mind, ranked), np.int64)
    first = first[np.isin(first, found.slot)]
    every = np.concatenate([first, exact, hits.slot[~is_exact]])
    _, places = np.unique(every, return_index=True)
    return every[np.sort(places)]


def _with_any(mind: Mind, tokens: Iterable[str]) -> list[MemoryId]:
    """The facts that have any of the tokens."""
    rows = [mind.words.rows(token) for token in tokens]
    if not rows:
        return []
    some = np.unique(np.concatenate(rows)).astype(np.int64)
    return mind.ids_at(some[mind.facts.row_flags(mind.size)[some]].tolist())


def _slots(mind: Mind, keys: Iterable[str]) -> list[int]:
    return [s for key in keys if (s := mind.edges.slot(key)) is not None]


@compute_only
def whole_fact(mind: Mind, fact: MemoryId, extra_turns: int) -> MemoryView:
    """The fact, which must exist, with its relation as it is now; one that has faded has strength 0."""
    (view,) = _viewed(mind, [mind.edges.existing(fact)], extra_turns)
    return view


@compute_only
def fact_page(
    mind: Mind,
    wanted: MemoryFilter,
    after: Cursor | None,
    extra_turns: int,
    ranked: Sequence[MemoryId] = (),
) -> Page:
    """One page of facts after the cursor `after`, each as `whole_fact`; see `listed_facts` for their order.

    Raises Unprocessable for a cursor of another list.
    """
    slots = listed_facts(mind, wanted, extra_turns, ranked)
    last = None if after is None else mind.edges.slot(after[2])
    start = start_after(after, slots, last)
    edges = [mind.edges.edge_at(slot) for slot in slots[start : start + wanted.limit].tolist()]
    end = start + len(edges)
    cursor = ordered_cursor(end, edges[-1].id) if edges and end < slots.size else None
    return Page(_viewed(mind, edges, extra_turns), cursor)


def has_memory(mind: Mind, key: MemoryId) -> bool:
    """Whether the mind has a memory or a fact of this id, or shows the word of a topic under it."""
    is_stored = mind.memories.get(key) is not None or key in mind.facts
    return is_stored or mind.names.topic_tags.word(key) is not None


def _viewed(mind: Mind, stored: Sequence[Edge], extra_turns: int) -> list[MemoryView]:
    """The facts of these relations."""
    turn = mind.lived_turns(extra_turns)
    edges = [unfaded_edge(mind, edge, turn) or replace(edge, strength=0.0) for edge in stored]
    standing, shown_as = fact_validities(mind, edges), repeated_concepts(mind)
    views = (_view(mind, edge, standing) for edge in edges)
    return [replace(view, shown_as=shown_as) for view in views]


def _view(mind: Mind, edge: Edge, standing: Mapping[str, FactValidity]) -> MemoryView:
    key = MemoryId(edge.id)
    memory = mind.facts[key]
    return MemoryView(
        memory,
        source_places(mind, memory),
        edges=(edge,),
        strength=edge.strength,
        usage=mind.recalls.usage(key),
        standing={edge.id: standing[edge.id]},
        feedback=opinion_of(mind, key).score,
        in_doubt=is_in_doubt(mind, key),
        is_waiting=is_waiting(mind, key),
        confidence=edge.confidence,
        is_fact=True,
    )
