"""Places and scenes of a soul: where it often was, and what happened in one go.

Compute thread only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.calendar import at_seconds
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.people import episodes_by_concept
from soulmem.engine.views.provenance import source_places
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.kernels.arrays import Float64s, Int64s
from soulmem.language.name_tokens import fold

_EPISODE = MEMORY_KINDS.index(MemoryKind.EPISODE)
_PAUSE = 1800.0  # seconds without a line that end a scene
_LONGEST = 40  # lines of a scene
_COMPARED = 4  # lines before and after a place
_USUAL = 6  # places on either side of one, whose mean likeness its own is compared with
_APART = 3  # lines between two turns at least
_LEAST = 1e-6  # drop of likeness; less is a rounding error


@compute_only
def scenes_of(mind: Mind, rows: Collection[int]) -> dict[int, Int64s]:
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


def _around(mind: Mind, run: Int64s, place: int) -> tuple[int, int]:
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


def _turns(mind: Mind, rows: Int64s) -> Iterator[int]:
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


def _sums(values: Float64s, low: Int64s, high: Int64s) -> Float64s:
    """Of `values[low : high]` for each pair of bounds, which may lie outside."""
    sums = np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values, axis=0)])
    size = len(values)
    return np.asarray(sums[np.clip(high, 0, size)] - sums[np.clip(low, 0, size)])


# Episodes that are looked at, those that matter most: reading them takes some 20 ms.
_LOOKED = 400
_PLACES, _SCENES = 4, 4
MOST_SPOTS = _PLACES + _SCENES
_OFTEN = 2  # memories of a place
_WHOLE = 3  # memories of a scene
_WEIGHTY = 3  # memories that say how much a scene matters
_WEIGHTIEST = 24  # memories whose scenes are looked for: 2 ms each, and a recall waits


@dataclass(frozen=True, slots=True)
class Spot:
    """A place, or a scene of a chat.

    name    of the place; of a scene where most of it was, or empty
    began   of a scene
    rows    of its memories, ascending
    """

    id: MemoryId
    name: str
    began: datetime | None
    rows: Int64s


@compute_only
def spots_of(mind: Mind, taken: Collection[str]) -> list[Spot]:
    """The places where most happened, but those with a folded name in `taken`, and the scenes that matter most."""
    columns = mind.columns
    usable = mind.accessible_rows(None, None, lambda _, __: False)
    usable = usable & (columns.kind[: mind.size] == _EPISODE)
    rows = np.flatnonzero(usable)
    best = np.argsort(-columns.importance[rows], kind="stable")[:_LOOKED]
    weightiest, rows = rows[best[:_WEIGHTIEST]], np.sort(rows[best])
    located = {row: mind.memory_at(row).situation.location for row in rows.tolist()}
    return [*_places(mind, usable, located, taken), *_scenes(mind, weightiest, located)]


def _places(
    mind: Mind,
    usable: NDArray[np.bool_],
    located: Mapping[int, str | None],
    taken: Collection[str],
) -> list[Spot]:
    """Where something happened, with all memories that name it."""
    names: dict[str, str] = {}
    there: dict[str, list[int]] = {}
    for row, location in located.items():
        key = fold(location or "")
        if key and key not in taken:
            names.setdefault(key, location or "")
            there.setdefault(key, []).append(row)
    concepts = {key: set(mind.names.spot(name)) for key, name in names.items()}
    named = episodes_by_concept(mind, sorted(set().union(*concepts.values())))
    rows = {}
    for key, own in concepts.items():
        found = [np.asarray(there[key], np.int64), *(named[one] for one in own)]
        rows[key] = np.unique(np.concatenate(found))
        rows[key] = rows[key][usable[rows[key]]]
    often = [key for key in rows if rows[key].size >= _OFTEN]
    often.sort(key=lambda key: (-rows[key].size, key))
    return [Spot(MemoryId(f"place {key}"), names[key], None, rows[key]) for key in often[:_PLACES]]


def _scenes(mind: Mind, rows: Int64s, located: Mapping[int, str | None]) -> list[Spot]:
    """The scenes of these rows that matter most; none if they are all of one."""
    importance = mind.columns.importance
    scenes = {int(scene[0]): scene for scene in scenes_of(mind, rows.tolist()).values()}
    whole = [scene for scene in scenes.values() if scene.size >= _WHOLE]
    if len(scenes) < 2:
        return []
    weight = [float(np.sort(importance[scene])[-_WEIGHTY:].sum()) for scene in whole]
    order = sorted(range(len(whole)), key=lambda place: (-weight[place], place))
    return [_scene(mind, whole[place], located) for place in order[:_SCENES]]


def _scene(mind: Mind, rows: Int64s, located: Mapping[int, str | None]) -> Spot:
    began = at_seconds(float(mind.columns.happened[rows[0]]))
    places = Counter(filter(None, (located.get(row) for row in rows.tolist())))
    name = max(places, key=lambda place: (places[place], place), default="")
    key = MemoryId(f"scene {mind.id_at(int(rows[0]))}")
    return Spot(key, name, began, np.sort(rows))
