"""Which memories are forgotten by now: texts that say little, concepts that no link holds. Compute thread only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from soulmem.consolidation.base_activation import FORGOTTEN
from soulmem.consolidation.plasticity import FLOOR
from soulmem.consolidation.promotion import ACTIVATIONS
from soulmem.domain.edges import DECAYING, EdgeKind
from soulmem.domain.forgetting_curve import SPACED, SPACING
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import DERIVED, Memory, MemoryKind
from soulmem.domain.usage import Usage
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.concept_activation import (
    ages_of_last_telling,
    concept_activations,
    turns_since_recall,
)
from soulmem.engine.views.faded_edges import remaining_strengths
from soulmem.engine.views.faded_texts import anchors_of
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.graph.columns import ORIGINS
from soulmem.graph.edge_arrays import EDGE_KINDS, EdgeArrays
from soulmem.kernels.arrays import Bools, Float64s, Int64s


@dataclass(frozen=True, slots=True)
class PruneParams:
    """When a text is put into the bin by itself; design 6."""

    unused: float = 500.0  # turns; no text goes sooner after its last recall
    stability: float = 600.0  # turns; S0 of plain talk
    plain: float = 0.1  # 0..1, importance of plain talk
    floor: float = FLOOR  # 0..1, what is left of a text at its end
    importance: float = 0.6  # 0..1; what matters as much as a promise never goes


@dataclass(frozen=True, slots=True)
class TextFactors:
    """What the life of n texts depends on; every array has shape (n,)."""

    importance: Float64s  # 0..1
    tellings: Float64s  # >= 1, how often it was told
    recalls: Float64s  # >= 0, spaced recalls


def lifetimes(texts: TextFactors, pace: float, params: PruneParams | None = None) -> Float64s:
    """Turns without a recall after which each text is forgotten, float64[n].

        unused >= S / pace * ln(1 / floor) * tellings,
        S = stability * (importance / plain)^2 * spacing^recalls

    Its length says nothing. `pace` is the soul's forgetting setting, 0 .. 2; at 0 nothing is ever forgotten.
    """
    p = params or PruneParams()
    if pace <= 0.0:
        return np.full(texts.importance.shape, np.inf)
    weight = (texts.importance / p.plain) ** 2
    stability = p.stability * weight * SPACING**texts.recalls
    told = np.maximum(texts.tellings, 1.0)
    turns = stability * log(1.0 / p.floor) * told / pace
    return np.asarray(np.maximum(turns, p.unused))


def spaced_recalls(usage: Usage) -> int:
    """How many recalls came at least `SPACED` turns after the one that counted before."""
    count, last = 0, None
    for turn in sorted(stamp.turn for stamp in (usage.first, *usage.stamps)):
        if last is None or turn - last >= SPACED:
            count, last = count + 1, turn
    return count


_MENTIONS = EDGE_KINDS.index(EdgeKind.MENTIONS)
_DERIVED = [ORIGINS.index(origin) for origin in DERIVED]
_CONCEPT = MEMORY_KINDS.index(MemoryKind.CONCEPT)
_TEXTS = [MEMORY_KINDS.index(kind) for kind in (MemoryKind.EPISODE, MemoryKind.ABSTRACT_EPISODE)]


PRUNING = PruneParams()


@compute_only
def unprotected_rows(mind: Mind) -> Bools:
    """Rows in use that something automatic may forget: derived, not permanent, not locked; bool[rows]."""
    n, columns = mind.size, mind.columns
    may = columns.in_use[:n] & np.isin(columns.origin[:n], _DERIVED)
    return np.asarray(may & ~columns.permanent[:n] & ~columns.locked[:n])


@compute_only
def due_texts(mind: Mind, extra: int, ahead: float = 0.0) -> list[MemoryId]:
    """Texts that were not recalled for as long as they last, what matters least first.

    `ahead` turns from now. Anchors are not looked at. About 10 ms for 100,000 links.
    """
    n, columns = mind.size, mind.columns
    may = unprotected_rows(mind) & np.isin(columns.kind[:n], _TEXTS)
    may &= columns.importance[:n] < PRUNING.importance
    rows = np.flatnonzero(may)
    lasts = _lifetimes(mind, rows)
    unused = turns_unused(mind, rows, extra)
    due = rows[unused + ahead >= lasts]
    least = due[np.argsort(columns.importance[due], kind="stable")]
    return mind.ids_at(least.tolist())


@compute_only
def unlinked_concepts(mind: Mind, extra: int) -> list[MemoryId]:
    """Concepts that no link holds any more."""
    n = mind.size
    may = unprotected_rows(mind) & (mind.columns.kind[:n] == _CONCEPT)
    edges = mind.edges.arrays([kind for kind in EdgeKind if kind in DECAYING])
    unheld = np.flatnonzero(may & _without_links(mind, edges, extra))
    return mind.ids_at(unheld.tolist())


@compute_only
def turns_unused(mind: Mind, rows: Int64s, extra: int) -> Float64s:
    """Turns of the soul's clock since each of these memories happened, was read or last recalled; float64[rows].

    What an old chat tells is as young as its import.
    """
    exchanges = ages_of_last_telling(mind, None, extra, rows)
    ages = mind.time.row_ages(rows, exchanges, extra)
    read = mind.time.turns_at(mind.columns.created[rows] / 1e6)
    ages = np.minimum(ages, np.maximum(mind.time.current_turn(extra) - read, 0.0))
    recalled = np.flatnonzero(mind.recalls.uses(mind.size)[rows])
    keys = mind.ids_at(rows[recalled].tolist())
    since = turns_since_recall(mind, keys, extra)
    for place, key in zip(recalled.tolist(), keys, strict=True):
        ages[place] = min(ages[place], since.get(key, np.inf))
    return ages


@compute_only
def is_kept(mind: Mind, memory: Memory) -> bool:
    """Whether a text stays whatever its age and weight: it has an anchor, recalls went over it of late, or the
    user brought it back.
    """
    if memory.brought_back:
        return True
    over = mind.recalls.activations(memory.id)
    return over >= ACTIVATIONS or bool(anchors_of(mind, memory))


@compute_only
def tellings(mind: Mind) -> Int64s:
    """How often each memory was told: itself, and those that it stands for; int64[rows]."""
    out = np.ones(mind.size, np.int64)
    for key in mind.tellings:
        row = mind.row(key)
        if row is not None:
            out[row] += len(mind.tellings.merged(key))
    return out


def _lifetimes(mind: Mind, rows: Int64s) -> Float64s:
    recalls = np.zeros(rows.size)
    for place in np.flatnonzero(mind.recalls.uses(mind.size)[rows]).tolist():
        usage = mind.recalls.usage(mind.id_at(int(rows[place])))
        recalls[place] = spaced_recalls(usage) if usage else 0
    factors = TextFactors(
        importance=mind.columns.importance[rows].astype(np.float64),
        tellings=tellings(mind)[rows].astype(np.float64),
        recalls=recalls,
    )
    return lifetimes(factors, mind.soul.settings.forgetting, PRUNING)


def _without_links(mind: Mind, edges: EdgeArrays, extra: int) -> Bools:
    """Rows that had links that fade, and have none left above zero.

    A text's mention of a concept does not count for the concept.
    """
    n = mind.size
    holds = remaining_strengths(mind, edges, extra) > 0.0
    own = (edges.kind == _MENTIONS) & (mind.columns.kind[edges.target] == _CONCEPT)
    by_text = own & ~mind.edges.drawn_by_hand(edges.slot)
    had = _end_counts(edges.source, n) + _end_counts(edges.target, n)
    strong_links = _end_counts(edges.source[holds], n) + _end_counts(
        edges.target[holds & ~by_text], n
    )
    return np.asarray((had > 0) & (strong_links == 0))


def _end_counts(rows: NDArray[np.uint32], n: int) -> Int64s:
    return np.bincount(rows, minlength=n).astype(np.int64)


@compute_only
def still_due(mind: Mind, keys: Sequence[MemoryId], extra: int) -> list[Memory]:
    """Those of these memories that are present, unprotected and that nothing else keeps.

    A text is kept by an anchor or recalls of late, a concept by being active or used of late.
    """
    may = unprotected_rows(mind)
    texts: list[Memory] = []
    concepts: list[Memory] = []
    for key in keys:
        row, memory = mind.row(key), mind.memories.get(key)
        if row is None or memory is None or not may[row]:
            continue
        if memory.kind is MemoryKind.CONCEPT:
            if not memory.brought_back:
                concepts.append(memory)
        elif not is_kept(mind, memory):
            texts.append(memory)
    return [*texts, *_inactive(mind, concepts, extra)]


def _inactive(mind: Mind, concepts: Sequence[Memory], extra: int) -> list[Memory]:
    """Concepts with a base activation below the floor that were not used for long."""
    ids = [memory.id for memory in concepts]
    activations = concept_activations(mind, ids, extra)
    return [
        memory
        for memory in concepts
        if activations[memory.id].activation < FORGOTTEN
        and activations[memory.id].idle >= PRUNING.unused
    ]
