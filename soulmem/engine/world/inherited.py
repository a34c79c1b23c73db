"""What was learned of an episode, for the id that its message has now.

The id of an episode depends on the name of its speaker and on the root of its family, so a renamed character's
lines get new ids. What the chat does not say goes over to them: recalls, verdicts, links and their vectors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from soulmem.domain.dialogue import text_hash
from soulmem.domain.edge_vectors import EdgeVector
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, Origin
from soulmem.domain.opinions import Opinion
from soulmem.domain.usage import Usage
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only

# Links that use has changed; the linker drops a mention that the text no longer makes.
_LEARNED = (EdgeKind.MENTIONS, EdgeKind.ASSOCIATES)


@dataclass(slots=True)
class Inherited:
    """What the new ids inherit."""

    usages: list[Usage] = field(default_factory=list)
    opinions: list[Opinion] = field(default_factory=list)
    edges: dict[str, Edge] = field(default_factory=dict)  # by id
    vectors: list[EdgeVector] = field(default_factory=list)


@compute_only
def inherited(
    mind: Mind, former: Mapping[MemoryId, Memory], came: Mapping[MemoryId, Memory]
) -> Inherited:
    """What the episodes that `came` inherit from their `former` versions, by new id."""
    out = Inherited()
    heirs = {
        old.id: key
        for key, old in former.items()
        if key in came and key not in mind.memories
    }
    for old_id, key in heirs.items():
        usage, opinion = mind.recalls.usage(old_id), mind.opinions.of(old_id)
        if usage is not None:
            out.usages.append(replace(usage, memory=key))
        if opinion is not None:
            is_doubted = opinion.doubted == text_hash(former[key].text)
            doubted = text_hash(came[key].text) if is_doubted else None
            out.opinions.append(replace(opinion, memory=key, doubted=doubted))
        vector = mind.edge_vectors.get(old_id)
        if vector is not None:
            out.vectors.append(replace(vector, edge=key, source=key, target=key))
        for edge in list(mind.edges.of(old_id)):
            is_own = edge.origin is Origin.USER and edge.kind is not EdgeKind.NEXT
            if edge.kind in _LEARNED or is_own:
                _add_edge(mind, out, edge, heirs)
    return out


def _add_edge(
    mind: Mind, out: Inherited, edge: Edge, heirs: Mapping[MemoryId, MemoryId]
) -> None:
    """The edge between the new ids of its ends, with its vector."""
    source = heirs.get(edge.source, edge.source)
    target = heirs.get(edge.target, edge.target)
    moved = replace(edge, source=source, target=target)
    out.edges[moved.id] = moved
    vector = mind.edge_vectors.get(edge.id)
    if vector is not None:
        out.vectors.append(replace(vector, edge=moved.id, source=source, target=target))
