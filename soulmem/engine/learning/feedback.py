"""The user's verdicts about recalled memories: stored, applied, and undone on request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from soulmem.consolidation.plasticity import PlasticityParams
from soulmem.consolidation.verdicts import OUTER, opinion_after, strength_after
from soulmem.domain.audit import Action, Actor
from soulmem.domain.edges import DECAYING, Edge
from soulmem.domain.errors import NotFound, Unprocessable, no_memory
from soulmem.domain.ids import ChatId, MemoryId, Owner, SoulId
from soulmem.domain.opinions import Opinion, Verdict
from soulmem.domain.phrases import phrase
from soulmem.engine.api.results import RecalledMemory, Trace
from soulmem.engine.learning.vector_update import (
    VectorUpdate,
    apply_vector_update,
    query_vector,
    vector_update,
)
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.doubted import opinion_of
from soulmem.engine.views.faded_edges import is_protected
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.governance.audit_values import (
    edge_difference,
    opinion_values,
)
from soulmem.governance.undoing import EDGES, OPINION, VECTORS
from soulmem.kernels.arrays import Float32s
from soulmem.ports.store import Change

_PLASTICITY = PlasticityParams()


@dataclass(frozen=True, slots=True)
class FeedbackResult:
    """What a verdict changed; `change` is the audit entry by which it can be undone."""

    opinion: Opinion
    edges: int
    change: str


@dataclass(kw_only=True, eq=False)
class FeedbackService:
    """Applies the user's verdicts about recalled memories."""

    services: Services
    trace_of: Callable[[Owner, str], Awaitable[Trace]]
    asked_in: Callable[[Trace], Awaitable[Float32s | None]]

    async def give(
        self, owner: Owner, trace_id: str, memory: MemoryId, verdict: Verdict
    ) -> FeedbackResult:
        """Apply a verdict about a memory of a recall.

        Raises NotFound for an unknown trace and for a memory that the recall did not
        look at or that is gone, Unprocessable for `never_here` of a recall without a
        chat.
        """
        world = await self.services.world_of(owner)
        trace = await self.trace_of(owner, trace_id)
        brought = _brought(trace, memory)
        chat = None if trace.chat is None else ChatId(trace.chat)
        if verdict is Verdict.NEVER_HERE and chat is None:
            raise Unprocessable(
                phrase(
                    "never_here_chat",
                    "`never_here` needs a recall for a chat: this one had none",
                ),
                field="verdict",
            )
        soul = SoulId(world.soul(SoulId(trace.soul)).id)
        asked = await self.asked_in(trace)
        async with world.writing as token:
            mind = await world.mind_while_writing(token, soul)
            if mind.row(memory) is None:
                raise no_memory(memory, field="memory")
            await self.services.loader.complete(
                world.owner, mind, [step.id for step in brought.path]
            )
            old = await self.services.compute.run(opinion_of, mind, memory)
            text = mind.text_of(memory)
            new = opinion_after(old, verdict, text, chat)
            edges = await self.services.compute.run(self._changed_edges, mind, brought, verdict)
            vectors = await self.services.compute.run(
                self._changed_vectors, mind, brought, verdict, asked
            )
            before, after = _audit_values(old, new, edges, vectors)
            author = ChangeAuthor(Actor.USER, source=trace.id, reason=verdict.value)
            entry = await self.services.auditor.entry(
                world.owner, soul, author, Action.FEEDBACK, memory, before, after
            )
            changed = [edge for _, edge in edges]
            await self.services.store.commit(
                Change(
                    world.owner,
                    put_edges=changed,
                    put_opinions=[new],
                    put_edge_vectors=vectors.put,
                    drop_edge_vectors=vectors.drop,
                    audit=[entry],
                    by=Actor.USER,
                )
            )
            await self.services.compute.run(apply_vector_update, mind, vectors)
            await self.services.compute.run(mind.put_edge_weights, changed)
            await self.services.compute.run(mind.opinions.put, [new])
        return FeedbackResult(new, len(edges), entry.id)

    @compute_only
    def _changed_edges(
        self, mind: Mind, brought: RecalledMemory, verdict: Verdict
    ) -> list[tuple[Edge, Edge]]:
        """The edges that led to the memory, before and after the verdict.

        These are the walked ones and all others between two memories of the path, as
        uses change those too.
        """
        turn = mind.lived_turns(self.services.clock.extra_turns)
        out = []
        for edge in _edges_of_path(mind, brought):
            current_strength = mind.edge_strength(edge, turn)
            keep = edge.uses > 0 or is_protected(mind, edge)
            new_strength = strength_after(
                current_strength,
                verdict,
                keep=keep,
                plasticity=_PLASTICITY,
            )
            if new_strength == current_strength:
                continue
            if verdict is Verdict.STRONGER:
                new = replace(
                    edge,
                    strength=new_strength,
                    touched=self.services.clock.now(),
                    at_turn=float(turn),
                )
            else:  # scale the stored strength; `touched` stays
                new = replace(edge, strength=edge.strength * (new_strength / current_strength))
            out.append((edge, new))
        return out

    @compute_only
    def _changed_vectors(
        self,
        mind: Mind,
        brought: RecalledMemory,
        verdict: Verdict,
        asked: Float32s | None,
    ) -> VectorUpdate:
        """What the verdict teaches the vectors of these edges, or of the memory itself where none led to it.

        A penalty takes out all that they have of the query: at least what any number of
        uses for it has added.
        """
        keys, own = [edge.id for edge in _edges_of_path(mind, brought)], str(brought.id)
        gains, losses = dict[str, float](), dict[str, float]()
        if verdict is Verdict.STRONGER:
            gains = dict.fromkeys(keys or [own], OUTER)
        elif verdict in (Verdict.WRONG, Verdict.NOT_NOW):
            losses = dict.fromkeys((*keys, own), 1.0)
        turn = mind.lived_turns(self.services.clock.extra_turns)
        query = query_vector(asked, mind.vector_queue.model)
        return vector_update(mind, query, gains, losses, turn)


def _brought(trace: Trace, memory: MemoryId) -> RecalledMemory:
    """The memory as the recall told it, or as one without a path where it was withheld. Raises NotFound."""
    for recalled in trace.answer.memories:
        if recalled.id == memory:
            return recalled
    for candidate in trace.considered:
        if candidate.id == memory:
            return RecalledMemory(
                id=memory,
                kind="",
                text=candidate.text,
                score=candidate.score,
                hops=0,
                permanent=False,
                fired=None,
                why="",
                path=(),
                sources=(),
                age_turns=0,
                visibility=1.0,
            )
    raise NotFound(
        phrase(
            "recall_not_looked",
            "the recall '{trace}' did not look at memory '{memory}'",
            trace=trace.id,
            memory=memory,
        ),
        field="memory",
    )


def _edges_of_path(mind: Mind, brought: RecalledMemory) -> list[Edge]:
    """The edges that led to the memory and fade, with all others between two memories of the path."""
    path = [step.id for step in brought.path]
    beside = [edge.id for edge in mind.edges.between(path)]
    # A fact is itself an edge.
    keys = dict.fromkeys((*brought.edges, str(brought.id), *beside))
    edges = (mind.edges.get(key) for key in keys)
    return [edge for edge in edges if edge is not None and edge.kind in DECAYING]


def _audit_values(
    old: Opinion, new: Opinion, edges: list[tuple[Edge, Edge]], vectors: VectorUpdate
) -> tuple[dict[str, Any], dict[str, Any]]:
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    if old != new:
        before[OPINION], after[OPINION] = opinion_values(old), opinion_values(new)
    if edges:
        pairs = {was.id: edge_difference(was, values_after) for was, values_after in edges}
        before[EDGES] = {key: was for key, (was, _) in pairs.items()}
        after[EDGES] = {key: values_after for key, (_, values_after) in pairs.items()}
    if values := vectors.audit_values():
        after[VECTORS] = values
    return before, after
