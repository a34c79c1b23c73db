"""Scenes of a chat that may be of one kind, and how well the words of a kind fit scenes.

Compute thread only, but for `confirmed_scenes`, which is quick.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.consolidation.clusters import (
    ALIKE,
    APART,
    LEAST,
    SceneCluster,
    pair_deviations,
)
from soulmem.conversation.episodes import spoken
from soulmem.domain.derivations import Derivation, Work
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import MemoryState
from soulmem.engine.consolidation.plan import PlannedCall
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.kernels.arrays import Float32s

_LOOKED_AT = 4  # episodes for one that is compared: small talk is left out


_REGION = 600  # most episodes compared with each other: reading takes a second
_FEWEST = 24  # episodes: among fewer nothing stands out
_TERMS = 2  # fewest terms of an episode: "Yes." and "Hm." are of no kind
_EVERY = 60  # drafted messages for one call, beside eight other calls for them
# By how many standard deviations the scenes are more like the words of their kind than other scenes are. On the
# scenes of the tests 19 of 20 right kinds reached 2.7, and none of 60 wrong ones exceeded 0.3.
_FITS = 1.5  # on average
_SHOWS = 0.5  # each single scene
# The same for a further scene, which is no less like the others than they are like each other. Left out of its
# kind, each of 34 scenes was found again; none of 3,200 other scenes was.
_JOINS = 2.0
_INSTANCES = 30  # of a kind, at most


@dataclass(frozen=True, slots=True)
class SceneRegion:
    """The episodes of a chat that are compared with each other, in chat order."""

    chat: ChatId
    keys: tuple[MemoryId, ...]
    texts: tuple[str, ...]
    places: tuple[int, ...]  # positions in the chat, in messages
    worth: tuple[float, ...]  # 0..1
    room: int  # calls that the length of the chat allows


@compute_only
def region_state(mind: Mind, chat: ChatId) -> frozenset[str]:
    """Changes whenever the region of the chat may change: ids of its drafts and kinds."""
    branch = mind.branches.branch(chat)
    state = {
        derivation.id
        for derivation in mind.derivations.of_chat(chat)
        if derivation.work in (Work.DRAFTS, Work.KIND)
    }
    if branch is not None and branch.quarantined:
        state.add("held")
    return frozenset(state)


@compute_only
def scene_region(mind: Mind, chat: ChatId) -> SceneRegion | None:
    """Of the episodes with drafts those most worth comparing; None if there are too few.

    Worth is importance, recalls and lateness in the chat (design 5).
    """
    branch = mind.branches.branch(chat)
    if branch is None or branch.quarantined:
        return None
    derivations = mind.derivations.of_chat(chat)
    drafted: set[MemoryId] = set()
    for derivation in derivations:
        if derivation.work is Work.DRAFTS:
            drafted.update(derivation.read)
    if len(drafted) < _FEWEST:
        return None
    worth = _worth(mind, mind.chat_rows(chat))
    worth[[key not in drafted for key in branch.order]] = -1.0
    scenes = _scenes(mind, branch.order, worth)
    if len(scenes) < _FEWEST:
        return None
    return SceneRegion(
        chat,
        tuple(key for _, key, _ in scenes),
        tuple(text for _, _, text in scenes),
        tuple(place for place, _, _ in scenes),
        tuple(float(worth[place]) for place, _, _ in scenes),
        len(drafted) // _EVERY - len(kind_derivations(derivations)),
    )


def _scenes(
    mind: Mind, order: Sequence[MemoryId], worth: NDArray[np.float64]
) -> list[tuple[int, MemoryId, str]]:
    """The worthiest episodes with different texts: position in the chat, id and text, in chat order."""
    by_text: dict[str, tuple[int, MemoryId]] = {}
    best = np.argsort(-worth, kind="stable")[: _LOOKED_AT * _REGION]
    for place in best.tolist():
        memory = mind.memories[order[place]]
        if (
            worth[place] >= 0.0
            and memory.state is MemoryState.ACTIVE
            and len(memory.terms) >= _TERMS
        ):
            by_text.setdefault(spoken(memory), (place, memory.id))
        if len(by_text) == _REGION:
            break
    return sorted((place, key, text) for text, (place, key) in by_text.items())


def kind_derivations(derivations: Iterable[Derivation]) -> list[Derivation]:
    """Of these the answers to what some scenes have in common, including answers without a kind."""
    return [d for d in derivations if d.work is Work.KIND and d.after is None]


@compute_only
def new_calls(
    mind: Mind, region: SceneRegion, clusters: Sequence[SceneCluster]
) -> list[PlannedCall]:
    """Calls about these clusters, the best first, without those that share half their scenes with an old one."""
    old = kind_derivations(mind.derivations.of_chat(region.chat))
    asked = [frozenset(derivation.read) for derivation in old]
    calls = []
    for cluster in clusters:
        read = tuple(region.keys[index] for index in cluster.scenes)
        if all(2 * len(before.intersection(read)) < len(read) for before in asked):
            calls.append(PlannedCall(region.chat, Work.KIND, read))
    return calls


def fits(kind: Float32s, scenes: Float32s, among: Sequence[int]) -> Float32s:
    """By how many standard deviations each scene is more like the words of a kind than other scenes.

    kind    float32[d], unit vector of the words
    scenes  float32[n, d], unit vectors of the whole region
    among   scenes in question; all others are the other scenes

    Returns float32[n]; zeros if the other scenes are all alike.
    """
    likeness = (scenes - scenes.mean(axis=0)) @ kind
    asked = np.zeros(len(scenes), bool)
    asked[list(among)] = True
    others = likeness[~asked]
    deviation = float(others.std()) if others.size else 0.0
    if deviation < 1e-6:
        return np.zeros(len(scenes), np.float32)
    return np.asarray((likeness - others.mean()) / deviation, np.float32)


def confirmed_scenes(kind: Float32s, scenes: Float32s, cited: Sequence[int]) -> list[int]:
    """Those of the `cited` scenes that the words of the kind fit; none if they do not fit on average."""
    score = fits(kind, scenes, cited)
    shown = [index for index in cited if score[index] >= _SHOWS]
    if len(shown) < LEAST or float(score[shown].mean()) < _FITS:
        return []
    return shown


def further_scenes(
    kind: Float32s, scenes: Float32s, places: Sequence[int], instances: Sequence[int]
) -> list[int]:
    """Further scenes of a kind, the surest first: the words fit, and they are like the `instances`.

    places  position of each scene in the chat, in messages; instances are apart by
            `APART` at least
    """
    alike = pair_deviations(scenes)[:, list(instances)].mean(axis=1)
    sure = np.minimum(fits(kind, scenes, instances) - _JOINS, alike - ALIKE)
    taken = [places[index] for index in instances]
    further: list[int] = []
    for index in np.argsort(-sure, kind="stable").tolist():
        count = len(instances) + len(further)
        if count >= _INSTANCES or not sure[index] >= 0.0:
            break
        if all(abs(places[index] - place) >= APART for place in taken):
            taken.append(places[index])
            further.append(index)
    return further


def _worth(mind: Mind, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """0..1 for each of a chat's episodes, by importance, recalls and lateness; each may halve it."""
    late = np.arange(1, rows.size + 1) / max(1, rows.size)
    uses = mind.recalls.uses(mind.size)[rows]
    recalled = np.minimum(1.0, np.log1p(uses) / np.log1p(10))
    return np.asarray(mind.columns.importance[rows] * (0.5 + 0.5 * recalled) * (0.5 + 0.5 * late))
