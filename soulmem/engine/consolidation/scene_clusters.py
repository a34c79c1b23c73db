"""Which scenes of a chat may be of one kind, and does a kind that was named for them fit?

Everything here computes: worker only, but for `bears_out`, which is quick.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from soulmem.consolidation.clusters import Cluster, ClusterParams, standing_out
from soulmem.conversation.episodes import spoken
from soulmem.domain.derivations import Derivation, Work
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import MemoryState
from soulmem.engine.consolidation.plan import Task
from soulmem.engine.mind.mind import Mind

Floats = NDArray[np.float32]

_LOOKED_AT = 4  # episodes for one that is compared: small talk is left out


@dataclass(frozen=True, slots=True)
class SceneClusterParams:
    """Where kinds are looked for, and when one fits."""

    clusters: ClusterParams = field(default_factory=ClusterParams)
    region: int = (
        600  # episodes compared with each other at most: reading so many takes a second
    )
    least: int = 24  # .. and at least: among fewer nothing stands out
    terms: int = (
        2  # that an episode holds at least: "Yes." and "Hm." are alike, and of no kind
    )
    every: int = 60  # messages with drafts for one call; two more in eight that consolidation makes of them
    asked: int = 3  # calls that a replay which somebody asked for makes for a chat
    # By how many standard deviations the scenes are more like the words of their kind than other scenes are.
    # Of 20 right ones on the scenes of the tests 19 reached 2.7; of 60 wrong ones none exceeded 0.3.
    fits: float = 1.5  # on average
    shows: float = 0.5  # each single one
    # .. of a further scene, which is no less like the others than they are like each other. Left out of its
    # kind, each of 34 scenes found back; of 3,200 others none came.
    joins: float = 2.0
    instances: int = 30  # of a kind, at most


@dataclass(frozen=True, slots=True)
class Region:
    """The episodes of a chat that are compared, in its order."""

    chat: ChatId
    keys: tuple[MemoryId, ...]
    texts: tuple[str, ...]
    places: tuple[int, ...]  # in the chat, in messages
    worth: tuple[float, ...]  # 0..1
    room: int  # calls that may be made for what the chat tells


def state_of(mind: Mind, chat: ChatId) -> frozenset[str]:
    """What a region depends on: the ids of the chat's drafts, and of what was asked about its scenes."""
    strand = mind.lineages.strand(chat)
    waits = ("held",) if strand is not None and strand.held else ()
    held = (
        one.id
        for one in mind.derived.held(chat)
        if one.work in (Work.DRAFTS, Work.KIND)
    )
    return frozenset((*held, *waits))


def region_of(mind: Mind, chat: ChatId, params: SceneClusterParams) -> Region | None:
    """Of what drafts were made of, the episodes most worth comparing: by importance, recalls and how late
    they are in the chat (design 5). None where there is nothing to find.
    """
    strand = mind.lineages.strand(chat)
    if strand is None or strand.held:
        return None
    held = mind.derived.held(chat)
    drafted = {key for one in held if one.work is Work.DRAFTS for key in one.read}
    if len(drafted) < params.least:
        return None
    rows = mind.order(chat)
    worth = _worth(mind, rows)
    worth[[key not in drafted for key in strand.order]] = -1.0
    kept: dict[
        str, tuple[int, MemoryId]
    ] = {}  # by its words: what is said again is no other scene
    for at in np.argsort(-worth, kind="stable")[: _LOOKED_AT * params.region].tolist():
        memory = mind.memories[strand.order[at]]
        if (
            worth[at] >= 0.0
            and memory.state is MemoryState.ACTIVE
            and len(memory.terms) >= params.terms
        ):
            kept.setdefault(spoken(memory), (at, memory.id))
        if len(kept) == params.region:
            break
    if len(kept) < params.least:
        return None
    told = sorted((at, key, text) for text, (at, key) in kept.items())
    return Region(
        chat,
        tuple(key for _, key, _ in told),
        tuple(text for _, _, text in told),
        tuple(at for at, _, _ in told),
        tuple(float(worth[at]) for at, _, _ in told),
        len(drafted) // params.every - len(kinds_of(held)),
    )


def kinds_of(held: Iterable[Derivation]) -> list[Derivation]:
    """Of these the answers to what some scenes have in common, whatever they were."""
    return [one for one in held if one.work is Work.KIND and one.after is None]


def fresh(mind: Mind, region: Region, found: Sequence[Cluster]) -> list[Task]:
    """What is to be asked about these clusters, the best first: not again what was asked before, nor what
    differs from that by a scene or two.
    """
    asked = [frozenset(one.read) for one in kinds_of(mind.derived.held(region.chat))]
    tasks = []
    for one in found:
        read = tuple(region.keys[at] for at in one.scenes)
        if all(2 * len(before.intersection(read)) < len(read) for before in asked):
            tasks.append(Task(region.chat, Work.KIND, read))
    return tasks


def fits(kind: Floats, scenes: Floats, among: Sequence[int]) -> Floats:
    """By how many standard deviations each scene is more like the words of a kind than those that are not
    `among` the ones in question, float32[n]; 0 throughout where all of those are alike.

    kind    float32[d], unit
    scenes  float32[n, d], unit: of the whole region
    """
    likeness = (scenes - scenes.mean(axis=0)) @ kind
    asked = np.zeros(len(scenes), bool)
    asked[list(among)] = True
    others = likeness[~asked]
    deviation = float(others.std()) if others.size else 0.0
    if deviation < 1e-6:
        return np.zeros(len(scenes), np.float32)
    return np.asarray((likeness - others.mean()) / deviation, np.float32)


def bears_out(
    kind: Floats, scenes: Floats, cited: Sequence[int], params: SceneClusterParams
) -> list[int]:
    """Those of the `cited` scenes that the words of the kind fit; none where they do not fit on the whole."""
    score = fits(kind, scenes, cited)
    shown = [at for at in cited if score[at] >= params.shows]
    if len(shown) < params.clusters.least or float(score[shown].mean()) < params.fits:
        return []
    return shown


def more_of(
    kind: Floats,
    scenes: Floats,
    places: Sequence[int],
    known: Sequence[int],
    p: SceneClusterParams,
) -> list[int]:
    """Further scenes that are of a kind: as its words fit, and as they are like the `known` ones, each far
    enough from all others.
    """
    alike = standing_out(scenes)[:, list(known)].mean(axis=1)
    sure = np.minimum(fits(kind, scenes, known) - p.joins, alike - p.clusters.alike)
    there = [places[at] for at in known]
    out: list[int] = []
    for at in np.argsort(-sure, kind="stable").tolist():
        if len(known) + len(out) >= p.instances or not sure[at] >= 0.0:
            break
        if all(abs(places[at] - other) >= p.clusters.apart for other in there):
            there.append(places[at])
            out.append(at)
    return out


def _worth(mind: Mind, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """0..1 for each of a chat's episodes: importance, recalls and lateness, each of which may halve it."""
    late = np.arange(1, rows.size + 1) / max(1, rows.size)
    uses = mind.recalls.uses(mind.size)[rows]
    recalled = np.minimum(1.0, np.log1p(uses) / np.log1p(10))
    return np.asarray(
        mind.columns.importance[rows] * (0.5 + 0.5 * recalled) * (0.5 + 0.5 * late)
    )
