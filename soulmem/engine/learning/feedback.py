"""The user's verdicts about recalled memories: stored, applied, and undone on request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from soulmem.consolidation.feedback import FeedbackParams, opinion_after, strength_after
from soulmem.consolidation.plasticity import PlasticityParams
from soulmem.domain.audit import Action, Actor
from soulmem.domain.edges import DECAYING, Edge
from soulmem.domain.errors import NotFound, Unprocessable
from soulmem.domain.ids import ChatId, MemoryId, Owner, SoulId
from soulmem.domain.opinions import Opinion, Verdict
from soulmem.engine.api.results import RecalledMemory, Trace
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.views.doubted import opinion_of
from soulmem.engine.views.faded_edges import is_protected
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.governance.audit_values import (
    edge_difference,
    opinion_values,
)
from soulmem.governance.undoing import EDGES, OPINION
from soulmem.ports.store import Change


@dataclass(frozen=True, slots=True)
class FeedbackServiceParams:
    """How much a verdict counts, and how edges change with it."""

    feedback: FeedbackParams = field(default_factory=FeedbackParams)
    plasticity: PlasticityParams = field(default_factory=PlasticityParams)


@dataclass(frozen=True, slots=True)
class FeedbackResult:
    """What a verdict changed; `change` is the audit entry by which it can be undone."""

    opinion: Opinion
    edges: int
    change: str


class FeedbackService:
    """Applies the user's verdicts about recalled memories."""

    def __init__(
        self,
        services: Services,
        *,
        trace_of: Callable[[Owner, str], Awaitable[Trace]],
        params: FeedbackServiceParams | None = None,
    ) -> None:
        self._world_of = services.world_of
        self._trace_of = trace_of
        self._store = services.store
        self._compute = services.compute
        self._clock = services.clock
        self._auditor = services.auditor
        self._loader = services.loader
        self._params = params or FeedbackServiceParams()

    async def give(
        self, owner: Owner, trace_id: str, memory: MemoryId, verdict: Verdict
    ) -> FeedbackResult:
        """Apply a verdict about a memory of a recall.

        Raises NotFound for an unknown trace and for a memory that the recall did not
        return or that is gone, Unprocessable for `never_here` of a recall without a
        chat.
        """
        world = await self._world_of(owner)
        trace = await self._trace_of(owner, trace_id)
        brought = next(
            (
                recalled_memory
                for recalled_memory in trace.answer.memories
                if recalled_memory.id == memory
            ),
            None,
        )
        if brought is None:
            raise NotFound(
                f"the recall {trace.id!r} did not bring memory {memory!r}",
                field="memory",
            )
        chat = None if trace.chat is None else ChatId(trace.chat)
        if verdict is Verdict.NEVER_HERE and chat is None:
            raise Unprocessable(
                "`never_here` needs a recall for a chat: this one had none",
                field="verdict",
            )
        soul = SoulId(world.soul(SoulId(trace.soul)).id)
        async with world.writing as token:
            mind = await world.mind_while_writing(token, soul)
            if mind.row(memory) is None:
                raise NotFound(f"memory {memory!r} is gone", field="memory")
            await self._loader.complete(
                world.owner, mind, [step.id for step in brought.path]
            )
            old = await self._compute.run(opinion_of, mind, memory)
            text = mind.text_of(memory)
            new = opinion_after(old, verdict, text, chat, self._params.feedback)
            edges = await self._compute.run(self._changed_edges, mind, brought, verdict)
            before, after = _audit_values(old, new, edges)
            author = ChangeAuthor(Actor.USER, source=trace.id, reason=verdict.value)
            entry = await self._auditor.entry(
                world.owner, soul, author, Action.FEEDBACK, memory, before, after
            )
            changed = [edge for _, edge in edges]
            await self._store.commit(
                Change(
                    world.owner,
                    put_edges=changed,
                    put_opinions=[new],
                    audit=[entry],
                    by=Actor.USER,
                )
            )
            await self._compute.run(mind.put_edge_weights, changed)
            await self._compute.run(mind.opinions.put, [new])
        return FeedbackResult(new, len(edges), entry.id)

    @compute_only
    def _changed_edges(
        self, mind: Mind, brought: RecalledMemory, verdict: Verdict
    ) -> list[tuple[Edge, Edge]]:
        """The edges that led to the memory, before and after the verdict.

        These are the walked ones and all others between two memories of the path, as
        uses change those too.
        """
        turn = mind.lived_turns(self._clock.extra_turns)
        out = []
        path = [step.id for step in brought.path]
        beside = [edge.id for edge in mind.edges.between(path)]
        for key in dict.fromkeys(
            (*brought.edges, str(brought.id), *beside)
        ):  # a fact is itself an edge
            edge = mind.edges.get(key)
            if edge is None or edge.kind not in DECAYING:
                continue
            current_strength = mind.edge_strength(edge, turn)
            keep = edge.uses > 0 or is_protected(mind, edge)
            new_strength = strength_after(
                current_strength,
                verdict,
                keep=keep,
                plasticity=self._params.plasticity,
                params=self._params.feedback,
            )
            if new_strength == current_strength:
                continue
            if verdict is Verdict.STRONGER:
                new = replace(
                    edge,
                    strength=new_strength,
                    touched=self._clock.now(),
                    at_turn=float(turn),
                )
            else:  # scale the stored strength; `touched` stays
                new = replace(
                    edge, strength=edge.strength * (new_strength / current_strength)
                )
            out.append((edge, new))
        return out


def _audit_values(
    old: Opinion, new: Opinion, edges: list[tuple[Edge, Edge]]
) -> tuple[dict[str, Any], dict[str, Any]]:
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    if old != new:
        before[OPINION], after[OPINION] = opinion_values(old), opinion_values(new)
    if edges:
        pairs = {
            was.id: edge_difference(was, values_after) for was, values_after in edges
        }
        before[EDGES] = {key: was for key, (was, _) in pairs.items()}
        after[EDGES] = {key: values_after for key, (_, values_after) in pairs.items()}
    return before, after
