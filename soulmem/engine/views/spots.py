"""Places and scenes of a soul: where it often was, and what happened in one go.

Compute thread only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.calendar import at_seconds
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.views.people import episodes_by_concept
from soulmem.engine.views.scenes import scenes_of
from soulmem.graph.association import MEMORY_KINDS
from soulmem.language.name_tokens import fold

Ints = NDArray[np.int64]

_EPISODE = MEMORY_KINDS.index(MemoryKind.EPISODE)
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
    rows: Ints


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
    return [
        Spot(MemoryId(f"place {key}"), names[key], None, rows[key])
        for key in often[:_PLACES]
    ]


def _scenes(mind: Mind, rows: Ints, located: Mapping[int, str | None]) -> list[Spot]:
    """The scenes of these rows that matter most; none if they are all of one."""
    importance = mind.columns.importance
    scenes = {int(scene[0]): scene for scene in scenes_of(mind, rows.tolist()).values()}
    whole = [scene for scene in scenes.values() if scene.size >= _WHOLE]
    if len(scenes) < 2:
        return []
    weight = [float(np.sort(importance[scene])[-_WEIGHTY:].sum()) for scene in whole]
    order = sorted(range(len(whole)), key=lambda place: (-weight[place], place))
    return [_scene(mind, whole[place], located) for place in order[:_SCENES]]


def _scene(mind: Mind, rows: Ints, located: Mapping[int, str | None]) -> Spot:
    began = at_seconds(float(mind.columns.happened[rows[0]]))
    places = Counter(filter(None, (located.get(row) for row in rows.tolist())))
    name = max(places, key=lambda place: (places[place], place), default="")
    key = MemoryId(f"scene {mind.id_at(int(rows[0]))}")
    return Spot(key, name, began, np.sort(rows))
