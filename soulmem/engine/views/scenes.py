"""Scenes: lines of a chat that follow each other until time passes or the talk turns to something else.

Compute thread only. The talk turns where the likeness of the lines before and after a place drops below that of
the places round about, as in TextTiling (Hearst 1997), with sentence vectors. The start of a scene stays when
lines are added far behind it. In four chats whose pauses were left out, the starts found and those at pauses, a
line more or less, had an F1 of .47 (packaged) and .51 (e5); as many places drawn at random .40.
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
Floats = NDArray[np.float64]

_EPISODE = MEMORY_KINDS.index(MemoryKind.EPISODE)
_PAUSE = 1800.0  # seconds without a line that end a scene
_LONGEST = 40  # lines of a scene
_COMPARED = 4  # lines before and after a place
_USUAL = 6  # places on either side of one, whose mean likeness its own is compared with
_APART = 3  # lines between two turns at least
_LEAST = 1e-6  # drop of likeness; less is a rounding error


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
    margin = _COMPARED + _USUAL + _APART
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
    vectors = np.nan_to_num(table.rows(rows)).astype(np.float64)
    places = np.arange(1, rows.size)
    before, after = (
        _sums(vectors, places + low, places + high)
        for low, high in ((-_COMPARED, 0), (0, _COMPARED))
    )
    length = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    products = np.einsum("ij,ij->i", before, after)
    likeness = np.divide(products, length, out=np.ones(places.size), where=length > 0)
    near = np.arange(places.size)
    low, high = near - _USUAL, near + _USUAL + 1
    usual = _sums(likeness, low, high) / _sums(np.ones(places.size), low, high)
    drop = usual - likeness
    for place in range(_APART, rows.size - _APART):
        first = max(0, place - 1 - _APART)
        most = first + int(drop[first : place + _APART].argmax())
        if most == place - 1 and drop[most] > _LEAST:
            yield place


def _sums(values: Floats, low: Ints, high: Ints) -> Floats:
    """Of `values[low : high]` for each pair of bounds, which may lie outside."""
    sums = np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values, axis=0)])
    size = len(values)
    return np.asarray(sums[np.clip(high, 0, size)] - sums[np.clip(low, 0, size)])
