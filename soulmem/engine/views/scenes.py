"""Scenes: lines of a chat that follow each other until time passes or the talk turns to something else.

Compute thread only. The talk turns where the lines before a place are least like those after it, as in
TextTiling (Hearst 1997), with sentence vectors. The start of a scene stays when lines are added far behind it.
Of the starts found so in four chats, their pauses left out, .58 (packaged) and .60 (e5) lay at a pause or beside
it; of places drawn at random .39.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import ChatId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.views.provenance import source_places
from soulmem.graph.association import MEMORY_KINDS

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

_EPISODE = MEMORY_KINDS.index(MemoryKind.EPISODE)
_PAUSE = 1800.0  # seconds without a line that end a scene
_LONGEST = 40  # lines of a scene
_COMPARED = 4  # lines before and after a place
_APART = 5  # lines between two turns at least


@compute_only
def scenes_of(mind: Mind, rows: Collection[int]) -> dict[int, Ints]:
    """For each of the rows that is a line of a chat: the rows of its scene, in the order of the chat."""
    out = {}
    for chat, own in _by_chat(mind, rows).items():
        order = mind.chat_rows(chat)
        happened = mind.columns.happened[order]
        pauses = np.flatnonzero(np.abs(np.diff(happened)) > _PAUSE) + 1
        pauses = np.concatenate([[0], pauses, [order.size]])
        scene = order[:0]
        until = 0
        for place in np.flatnonzero(np.isin(order, own)).tolist():
            if place >= until:
                run = int(np.searchsorted(pauses, place, side="right"))
                first, end = int(pauses[run - 1]), int(pauses[run])
                start, end = _around(mind, order[first:end], place - first)
                scene, until = order[first + start : first + end], first + end
            out[int(order[place])] = scene
    return out


def _by_chat(mind: Mind, rows: Collection[int]) -> dict[ChatId, list[int]]:
    """The rows that are lines of a chat, by the chat that a list shows of them."""
    out: dict[ChatId, list[int]] = {}
    for row in rows:
        if mind.columns.kind[row] == _EPISODE:
            for place in source_places(mind, mind.memory_at(row))[:1]:
                out.setdefault(place.chat, []).append(row)
    return out


def _around(mind: Mind, run: Ints, place: int) -> tuple[int, int]:
    """Start and end of the scene round a place, in lines without a pause.

    Looked for near the place only. Where nothing turns for very long, or lines have no vectors, a scene ends all
    the same.
    """
    margin = _COMPARED + _APART
    first = max(0, place - _LONGEST - margin)
    near = run[first : place + _LONGEST + margin]
    turns = [first + turn for turn in _turns(mind, near)]
    if first + near.size < run.size:
        turns = [turn for turn in turns if turn <= first + near.size - margin]
    if first:
        turns = [turn for turn in turns if turn >= first + margin]
    start = max((turn for turn in turns if turn <= place), default=0)
    end = min((turn for turn in turns if turn > place), default=run.size)
    start += (place - start) // _LONGEST * _LONGEST
    return start, min(end, start + _LONGEST)


def _turns(mind: Mind, rows: Ints) -> Iterator[int]:
    """Places among these lines where the talk turns, none within `_APART` lines of either end."""
    table = mind.vector_queue.text_vectors
    if table is None or rows.size <= 2 * _APART:
        return
    sums = np.cumsum(np.nan_to_num(table.rows(rows)), axis=0, dtype=np.float64)
    sums = np.concatenate([np.zeros((1, sums.shape[1])), sums])
    places = np.arange(1, rows.size)
    before = sums[places] - sums[np.maximum(places - _COMPARED, 0)]
    after = sums[np.minimum(places + _COMPARED, rows.size)] - sums[places]
    length = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    products = np.einsum("ij,ij->i", before, after)
    likeness = np.divide(products, length, out=np.ones(places.size), where=length > 0)
    for place in range(_APART, rows.size - _APART):
        first = max(0, place - 1 - _APART)
        near = likeness[first : place + _APART]
        if likeness[place - 1] < 1.0 and first + int(near.argmin()) == place - 1:
            yield place
