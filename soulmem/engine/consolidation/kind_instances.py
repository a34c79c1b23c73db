"""Kinds of episodes that exist in a region of a chat, and further scenes as their instances.

Compute thread only. Nothing is changed here: the result is a change to be carried out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from soulmem.domain.derivations import Derivation, Product, Work
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import ChatId, MemoryId, derived_id
from soulmem.domain.memories import MemoryState, Origin
from soulmem.engine.consolidation.scene_clusters import SceneRegion, kind_derivations
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.ports.clock import Clock


@dataclass(frozen=True, slots=True)
class NamedKind:
    """A kind of episode that was named for scenes of a region."""

    derivation: str
    kind: MemoryId
    text: str
    chat: ChatId
    places: tuple[int, ...]  # region indices of the scenes it was named for or got


@compute_only
def named_kinds(mind: Mind, region: SceneRegion) -> list[NamedKind]:
    """The kinds in use that rest on scenes of the region, ordered by derivation."""
    indices = {key: index for index, key in enumerate(region.keys)}
    derivations = mind.derivations.of_chat(region.chat)
    kinds = []
    for derivation in sorted(kind_derivations(derivations), key=lambda d: d.id):
        kind = _kind(mind, derivation)
        scenes = _scenes(derivation, derivations)
        places = tuple(sorted(indices[key] for key in scenes if key in indices))
        if kind is not None and places:
            text = mind.memories[kind].text
            kinds.append(NamedKind(derivation.id, kind, text, region.chat, places))
    return kinds


@compute_only
def instance_change(
    mind: Mind,
    *,
    kind: NamedKind,
    scenes: Iterable[MemoryId],
    model: str,
    clock: Clock,
) -> MindChange | None:
    """Stores the scenes as instances of the kind; None if the chat has changed meanwhile.

    Each instance is visible in chats that hold its scene and the kind.
    """
    before = mind.derivations.get(kind.derivation)
    current = [key for key in scenes if kind.chat in mind.branches.holders(key)]
    if before is None or _kind(mind, before) is None or not current:
        return None
    soul, current_time = mind.soul.id, clock.now()
    turn = float(mind.lived_turns(clock.extra_turns))
    edges, derivations = [], []
    for key in current:
        edge = Edge(
            soul,
            key,
            kind.kind,
            EdgeKind.INSTANCE_OF,
            Origin.MODEL,
            current_time,
            1.0,
            at_turn=turn,
        )
        derivation = Derivation(
            id=derived_id("v", soul, "instance", kind.derivation, key),
            soul=soul,
            work=Work.KIND,
            chat=kind.chat,
            read=(key,),
            made=current_time,
            after=kind.derivation,
            products=(Product(edge.id, (key,), is_edge=True),),
            model=model,
        )
        derivations.append(derivation)
        if edge.id not in mind.edges:
            edges.append(edge)
    return MindChange(put_edges=tuple(edges), put_derivations=tuple(derivations))


def _scenes(kind: Derivation, derivations: Sequence[Derivation]) -> set[MemoryId]:
    """The scenes that the kind was named for, and those that joined it."""
    scenes: set[MemoryId] = set()
    for derivation in derivations:
        if kind.id in (derivation.id, derivation.after):
            scenes.update(derivation.read)
    return scenes


def _kind(mind: Mind, derivation: Derivation) -> MemoryId | None:
    """The kind that the derivation made, if it is in use."""
    for product in derivation.products:
        memory = mind.memories.get(MemoryId(product.id))
        if (
            not product.is_edge
            and memory is not None
            and memory.state is MemoryState.ACTIVE
        ):
            return memory.id
    return None
