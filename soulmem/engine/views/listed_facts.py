"""Which facts a list shows, and in which order. Compute thread only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import MemoryState
from soulmem.engine.api.requests import ListOrder, MemoryFilter, TagMatch
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.views.doubted import waiting
from soulmem.engine.views.faded_edges import remaining_strengths
from soulmem.engine.views.listed_rows import alias_rows

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_MICROSECONDS = 1e6
_NONE: Ints = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class _Relations:
    """Relations as columns, by ascending slot of the table of edges; rows are those of the ends."""

    slot: Ints
    source: Ints
    target: Ints
    touched: Ints  # microseconds since 1970
    strength: Floats  # by now, 0..1

    def at(self, which: Bools | Ints) -> _Relations:
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
) -> Ints:
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
    """What the filter selects but for its words."""
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


def _order(mind: Mind, found: _Relations, order: ListOrder) -> Ints:
    """The places of the relations in the order; those that are equal by the latest first."""
    newest = -found.touched
    if order is ListOrder.NEWEST:
        return np.argsort(newest, kind="stable")
    if order is ListOrder.OLDEST:
        return np.argsort(found.touched, kind="stable")
    return np.lexsort((newest, -_values(mind, found, order)))


def _values(mind: Mind, found: _Relations, order: ListOrder) -> Floats:
    """What the relations are ordered by, the highest first."""
    if order is ListOrder.STRENGTH:
        return found.strength
    if order is ListOrder.IMPORTANCE:
        importance = mind.columns.importance
        ends = importance[found.source], importance[found.target]
        return np.maximum(*ends).astype(np.float64)
    return _last_recalls(mind, found)


def _last_recalls(mind: Mind, found: _Relations) -> Floats:
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
) -> Ints:
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
