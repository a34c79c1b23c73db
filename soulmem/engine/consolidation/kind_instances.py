"""Which scenes of a region are instances of a kind already, and how does another become one?

Everything here computes: worker only. Nothing is changed: a change is made to be carried out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from soulmem.domain.derivations import Derivation, Product, Work
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import ChatId, MemoryId, derived_id
from soulmem.domain.memories import MemoryState, Origin
from soulmem.engine.consolidation.scene_clusters import Region, kinds_of
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.ports.clock import Clock


@dataclass(frozen=True, slots=True)
class Named:
    """A kind of episode that scenes of the region were found to be of."""

    derivation: str
    kind: MemoryId
    text: str
    chat: ChatId
    places: tuple[
        int, ...
    ]  # in the region, of the scenes it was asked about and of those that joined


def named_in(mind: Mind, region: Region) -> list[Named]:
    """The kinds in use that rest on scenes of the region."""
    at = {key: place for place, key in enumerate(region.keys)}
    held = mind.derived.held(region.chat)
    out = []
    for one in sorted(kinds_of(held), key=lambda one: one.id):
        kind = _kind(mind, one)
        looked_at = {
            key
            for other in held
            if one.id in (other.id, other.after)
            for key in other.read
        }
        places = tuple(sorted(at[key] for key in looked_at if key in at))
        if kind is not None and places:
            out.append(
                Named(one.id, kind, mind.memories[kind].text, region.chat, places)
            )
    return out


def joined(
    mind: Mind, *, one: Named, scenes: Iterable[MemoryId], model: str, clock: Clock
) -> MindChange | None:
    """The scenes as instances of the kind, each known where it and those of the kind are; None when the chat
    has changed meanwhile.
    """
    before = mind.derived.get(one.derivation)
    told = [key for key in scenes if one.chat in mind.lineages.holders(key)]
    if before is None or _kind(mind, before) is None or not told:
        return None
    soul, now = mind.soul.id, clock.now()
    edges = {
        key: Edge(
            soul,
            key,
            one.kind,
            EdgeKind.INSTANCE_OF,
            Origin.MODEL,
            now,
            1.0,
            at_turn=float(mind.turns(clock.extra_turns)),
        )
        for key in told
    }
    fresh = tuple(edge for edge in edges.values() if edge.id not in mind.edges)
    return MindChange(
        put_edges=fresh,
        put_derivations=tuple(
            Derivation(
                id=derived_id("v", soul, "instance", one.derivation, key),
                soul=soul,
                work=Work.KIND,
                chat=one.chat,
                read=(key,),
                made=now,
                after=one.derivation,
                products=(Product(edge.id, (key,), is_edge=True),),
                model=model,
            )
            for key, edge in edges.items()
        ),
    )


def _kind(mind: Mind, one: Derivation) -> MemoryId | None:
    """The kind that the derivation gave, if it is in use."""
    for made in one.products:
        memory = mind.memories.get(MemoryId(made.id))
        if (
            not made.is_edge
            and memory is not None
            and memory.state is MemoryState.ACTIVE
        ):
            return memory.id
    return None
