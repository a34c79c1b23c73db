"""Which scenes of a chat may be of one kind, and does a kind that was named for them fit?

Everything here computes: worker only, but for `bears_out`, which is quick.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import log1p

import numpy as np
from numpy.typing import NDArray

from soulmem.consolidation.clusters import Cluster, ClusterParams
from soulmem.conversation.episodes import spoken
from soulmem.domain.derivations import Derivation, Work
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import Memory, MemoryState
from soulmem.engine.consolidation_plan import Task
from soulmem.engine.mind import Mind

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class AlikeParams:
    """Where kinds are looked for, and when one fits."""

    clusters: ClusterParams = field(default_factory=ClusterParams)
    region: int = 600  # episodes compared with each other at most: reading so many takes a second
    least: int = 24  # .. and at least: among fewer nothing stands out
    terms: int = 2  # that an episode holds at least: "Yes." and "Hm." are alike, and of no kind
    every: int = 60  # messages with drafts for one call; two more in eight that consolidation makes of them
    asked: int = 3  # calls that a replay which somebody asked for makes for a chat
    # By how many standard deviations the scenes are more like the words of their kind than other scenes are.
    # Of 20 right ones on the scenes of the tests 19 reached 2.7; of 60 wrong ones none exceeded 0.3.
    fits: float = 1.5  # on average
    shows: float = 0.5  # each single one


@dataclass(frozen=True, slots=True)
class Region:
    """The episodes of a chat that are compared, in its order."""

    chat: ChatId
    keys: tuple[MemoryId, ...]
    texts: tuple[str, ...]
    places: tuple[int, ...]  # in the chat, in messages
    worth: tuple[float, ...]  # 0..1
    room: int  # calls that may be made for what the chat tells
    state: frozenset[str]  # ids of the derivations that it depends on


def region_of(mind: Mind, chat: ChatId, params: AlikeParams) -> Region | None:
    """Of what drafts were made of, the episodes most worth comparing: by importance, recalls and how late
    they are in the chat (design 5). None where there is nothing to find.
    """
    strand = mind.lineages.strand(chat)
    if strand is None or strand.held:
        return None
    held = mind.derived.held(chat)
    drafted = {key for one in held if one.work is Work.DRAFTS for key in one.read}
    kinds = kinds_of(held)
    found = [(at, mind.memories[key]) for at, key in enumerate(strand.order) if key in drafted]
    usable = [(at, memory) for at, memory in found if _tells(memory, params)]
    firsts = {
        spoken(memory): at for at, memory in reversed(usable)
    }  # what is said again is not another scene
    usable = [(at, memory) for at, memory in usable if firsts[spoken(memory)] == at]
    if len(usable) < params.least:
        return None
    worth = {at: _worth(mind, memory, at / len(strand.order)) for at, memory in usable}
    best = sorted(usable, key=lambda one: (-worth[one[0]], one[0]))[: params.region]
    kept = sorted(best, key=lambda one: one[0])
    return Region(
        chat,
        tuple(memory.id for _, memory in kept),
        tuple(spoken(memory) for _, memory in kept),
        tuple(at for at, _ in kept),
        tuple(worth[at] for at, _ in kept),
        len(drafted) // params.every - len(kinds),
        frozenset(one.id for one in held if one.work in (Work.DRAFTS, Work.KIND)),
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


def bears_out(kind: Floats, scenes: Floats, cited: Sequence[int], params: AlikeParams) -> list[int]:
    """Those of the `cited` scenes that the words of the kind fit; none where they do not fit on the whole.

    kind    float32[d], unit
    scenes  float32[n, d], unit: of the whole region
    """
    likeness = (scenes - np.nanmean(scenes, axis=0)) @ kind
    mine = np.zeros(len(scenes), bool)
    mine[list(cited)] = True
    others = likeness[~mine & ~np.isnan(likeness)]
    deviation = float(others.std()) if others.size else 0.0
    if deviation < 1e-6:
        return []
    score = (likeness - others.mean()) / deviation
    shown = [at for at in cited if score[at] >= params.shows]
    if len(shown) < params.clusters.least or float(score[shown].mean()) < params.fits:
        return []
    return shown


def _tells(memory: Memory, params: AlikeParams) -> bool:
    return memory.state is MemoryState.ACTIVE and len(memory.terms) >= params.terms


def _worth(mind: Mind, memory: Memory, late: float) -> float:
    """0..1: importance, recalls and lateness, each of which may halve or double it."""
    usage = mind.recalls.usage(memory.id)
    recalled = min(1.0, log1p(usage.count) / log1p(10)) if usage is not None else 0.0
    return memory.importance * (0.5 + 0.5 * recalled) * (0.5 + 0.5 * late)
