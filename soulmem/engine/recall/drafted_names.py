"""Which drafted concepts does a cue name, and what else do the things go by that it names?

What texts are linked to must not depend on what a language model drafted (promise 2); what a cue brings to
mind may. Everything here computes: worker only.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryKind, Origin
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.scene import Scene
from soulmem.engine.views.fact_validity import Standings
from soulmem.graph.association import MEMORY_KINDS
from soulmem.graph.columns import ORIGINS
from soulmem.graph.names import NameIndex, fold

_MODEL = ORIGINS.index(Origin.MODEL)
_CONCEPT = MEMORY_KINDS.index(MemoryKind.CONCEPT)


class DraftedNames:
    """The names of a soul's drafted concepts, brought up to date when they are asked for."""

    def __init__(self) -> None:
        self._index: NameIndex[MemoryId] = NameIndex()
        self._held: set[MemoryId] = set()

    def added(self, mind: Mind, scene: Scene) -> Scene:
        """The scene with the drafted concepts that its cue names and that are known there.

        A name that texts are linked to leads to those already: from the drafted concept of that name no walk
        starts. But whatever else a thing goes by is looked for in texts.
        """
        if not mind.derived:
            return scene
        self._refresh(mind)
        standings = Standings(mind, scene.known, scene.request.chat)
        named, also = [], dict[str, float]()
        for (text, share), (concepts, _) in zip(
            scene.cue.said, scene.named, strict=True
        ):
            found = [key for key in self._index.find(text) if standings.is_known(key)]
            new = (key for key in found if _is_new(mind, mind.memories[key].text))
            named.append(((*concepts, *new), share))
            for key in (*concepts, *found):
                for other in standings.names_of(key):
                    name = mind.memories[other].text
                    also[name] = max(also.get(name, 0.0), share)
        return replace(scene, named=tuple(named), also=tuple(also.items()))

    def _refresh(self, mind: Mind) -> None:
        n, columns = mind.size, mind.columns
        drafted = (
            (columns.origin[:n] == _MODEL)
            & (columns.kind[:n] == _CONCEPT)
            & columns.in_use[:n]
        )
        now = {mind.id_at(row) for row in np.flatnonzero(drafted).tolist()}
        for key in self._held - now:
            self._index.drop(key)
        for key in now - self._held:
            self._index.put(key, (mind.memories[key].text,))
        self._held = now


def _is_new(mind: Mind, name: str) -> bool:
    """Whether nothing but drafts knows the name."""
    folded = fold(name)
    if mind.names.is_taken(folded) or mind.sightings.is_speaker(folded):
        return False
    return not mind.names.index.find(name)
