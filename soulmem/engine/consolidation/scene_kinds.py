"""Kinds of episodes: clusters of like scenes are found without a model, then a model names what they share."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from weakref import WeakKeyDictionary

from soulmem.consolidation.clusters import scene_clusters
from soulmem.domain.derivations import Derivation, Product, Work
from soulmem.domain.drafts import DraftAbstract, Drafts
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import ChatId, MemoryId, derived_id
from soulmem.domain.llm import Failure, LlmFailed
from soulmem.domain.memories import MemoryState, Origin
from soulmem.engine.consolidation.draft_memories import DraftConverter
from soulmem.engine.consolidation.next_call import is_current
from soulmem.engine.consolidation.plan import PlannedCall
from soulmem.engine.consolidation.scene_clusters import (
    SceneRegion,
    confirmed_scenes,
    further_scenes,
    kind_derivations,
    new_calls,
    region_state,
    scene_region,
)
from soulmem.engine.consolidation.stretches import EpisodePassage, episode_passage
from soulmem.engine.llm.calls import LlmCalls, LlmInterrupted, LlmTask
from soulmem.engine.llm.retry import Key
from soulmem.engine.llm.sources import LlmAccess
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import Worker, compute_only
from soulmem.engine.vectors.encoder import EncodedTexts, SituationEncoder
from soulmem.engine.world.message_log import ChatLog
from soulmem.engine.world.world import World
from soulmem.ports.clock import Clock
from soulmem.prompts import kinds


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
        if not product.is_edge and memory is not None and memory.state is MemoryState.ACTIVE:
            return memory.id
    return None


log = logging.getLogger(__name__)

_ASKED = 3  # calls of a replay that the user asked for, for each chat

# Stores what the callable makes, to be undone by the task's source; returns the
# number of memories written.
Write = Callable[[World, Mind, Callable[[Mind], MindChange | None], LlmTask], Awaitable[int]]


@dataclass(kw_only=True, eq=False)
class SceneKinds:
    """Finds kinds of episodes in the chats of a soul. Callers do not hold `World.writing`."""

    llm_calls: LlmCalls
    llms: LlmAccess
    compute: Worker
    clock: Clock
    encoder: SituationEncoder | None
    write: Write

    def __post_init__(self) -> None:
        self._done: WeakKeyDictionary[Mind, dict[ChatId, frozenset[str]]] = (
            WeakKeyDictionary()
        )  # states of regions in which nothing is left to do

    async def run_chat(
        self,
        world: World,
        mind: Mind,
        chat: ChatId,
        task: LlmTask,
        within: Set[MemoryId] | None = None,
    ) -> None:
        """Name the kinds that a chat has room for; with `within` the best that have a scene of it.

        Raises LlmInterrupted.
        """
        done = self._done.get(mind, {}).get(chat) if within is None else None
        state, region = await self.compute.run(_region_unless, done, mind, chat)
        if region is None:
            self._done.setdefault(mind, {})[chat] = state
            return
        encoded = None
        if self.encoder is not None:
            encoded = await self.encoder.encode(region.texts)
        if encoded is None:
            return
        if await self._name_clusters(world, mind, region, encoded, task, within):
            await self._add_instances(world, mind, region, encoded, task)
            state = await self.compute.run(region_state, mind, chat)
            self._done.setdefault(mind, {})[chat] = state

    async def _name_clusters(
        self,
        world: World,
        mind: Mind,
        region: SceneRegion,
        encoded: EncodedTexts,
        task: LlmTask,
        within: Set[MemoryId] | None,
    ) -> bool:
        """Have the best clusters named; False if that is deferred."""
        if within is None and region.room <= 0:
            return True
        if self._is_deferred(task, region):
            return False
        vectors = encoded.rows(region.texts)
        clustered = await asyncio.to_thread(scene_clusters, vectors, region.places, region.worth)
        calls = await self.compute.run(new_calls, mind, region, clustered)
        if within is None:
            calls = calls[: region.room]
        else:
            calls = [call for call in calls if not within.isdisjoint(call.read)]
            calls = calls[:_ASKED]
        for number, call in enumerate(calls):
            task.calls_expected = task.calls_made + len(calls) - number
            task.report_progress()
            if not await self._carry_out(world, mind, call, region, encoded, task):
                return False
        return True

    async def _add_instances(
        self,
        world: World,
        mind: Mind,
        region: SceneRegion,
        encoded: EncodedTexts,
        task: LlmTask,
    ) -> None:
        """Link further scenes to their kinds, without a model."""
        named = await self.compute.run(named_kinds, mind, region)
        if not named or self.encoder is None:
            return
        words = await self.encoder.encode([kind.text for kind in named])
        if words is None:
            return
        for kind in named:
            scenes = await self._further_scenes(kind, region, encoded, words)
            if scenes:
                make = partial(
                    instance_change,
                    kind=kind,
                    scenes=scenes,
                    model=task.model,
                    clock=self.clock,
                )
                await self.write(world, mind, make, task)

    async def _further_scenes(
        self,
        kind: NamedKind,
        region: SceneRegion,
        encoded: EncodedTexts,
        words: EncodedTexts,
    ) -> list[MemoryId]:
        indices = await asyncio.to_thread(
            further_scenes,
            words.rows([kind.text])[0],
            encoded.rows(region.texts),
            region.places,
            kind.places,
        )
        return [region.keys[index] for index in indices]

    def _is_deferred(self, task: LlmTask, region: SceneRegion) -> bool:
        return task.is_idle and self.llm_calls.deferrals.is_deferred(
            _key(task, region), len(region.keys), self.clock.now()
        )

    async def _carry_out(
        self,
        world: World,
        mind: Mind,
        call: PlannedCall,
        region: SceneRegion,
        encoded: EncodedTexts,
        task: LlmTask,
    ) -> bool:
        """Have a cluster named; False if the answer was unreadable, so that the chat is deferred."""
        chat_log = await world.log(call.chat)
        if chat_log is None:
            return True
        passage = await self.compute.run(
            _current_passage, mind, chat_log, call, self.llms.context_tokens
        )
        if passage is None:
            return True
        key, deferrals = _key(task, region), self.llm_calls.deferrals
        try:
            drafts = await self.llm_calls.ask(
                task,
                kinds.render(passage.passage),
                partial(kinds.parse, passage=passage.passage),
            )
        except LlmFailed as failure:
            task.failures[call.chat, Work.KIND] = failure.wording
            log.info("a kind of episode is put off: %s", failure.message)
            if failure.kind is not Failure.UNREADABLE:
                deferrals.model_unavailable(failure.wording, self.clock.now())
                raise LlmInterrupted from failure
            deferrals.defer(key, failure.wording, len(region.keys), self.clock.now())
            return False
        deferrals.clear(key)
        fitting = await self._fitting(drafts, call, region, encoded)
        make = partial(self._change, call, passage, fitting, task.model)
        task.memories_written += await self.write(world, mind, make, task)
        return True

    async def _fitting(
        self,
        drafts: Drafts,
        call: PlannedCall,
        region: SceneRegion,
        encoded: EncodedTexts,
    ) -> Drafts:
        """The drafted kinds with those of their scenes that they fit; without kinds that do not fit."""
        if self.encoder is None:
            return Drafts()
        indices = {key: index for index, key in enumerate(region.keys)}
        vectors = encoded.rows(region.texts)
        fitting = []
        for draft in drafts.abstracts:
            words = await self.encoder.encode([draft.text])
            if words is None:
                continue
            cited = {indices[call.read[line - 1]]: line for line in draft.lines}
            kind = words.rows([draft.text])[0]
            shown = confirmed_scenes(kind, vectors, list(cited))
            if shown:
                lines = tuple(sorted(cited[index] for index in shown))
                fitting.append(DraftAbstract(draft.text, lines, draft.importance))
        return Drafts(abstracts=tuple(fitting))

    @compute_only
    def _change(
        self,
        call: PlannedCall,
        passage: EpisodePassage,
        drafts: Drafts,
        model: str,
        mind: Mind,
    ) -> MindChange | None:
        """Stores the kinds, and that the scenes were asked about; None if the chat has changed meanwhile."""
        if not is_current(mind, call):
            return None
        current_time, turn = (
            self.clock.now(),
            mind.lived_turns(self.clock.extra_turns),
        )
        converter = DraftConverter(mind, call, passage, drafts, model, current_time, turn)
        change = converter.change()
        (derivation,) = change.put_derivations
        derivation = replace(derivation, work=call.work, drafts=Drafts())
        return replace(change, put_derivations=(derivation,))


def _key(task: LlmTask, region: SceneRegion) -> Key:
    return task.owner, task.soul, region.chat, Work.KIND


def _region_unless(
    done: frozenset[str] | None, mind: Mind, chat: ChatId
) -> tuple[frozenset[str], SceneRegion | None]:
    """The state of the region, and the region unless its state is `done` or it has too few scenes."""
    state = region_state(mind, chat)
    return state, None if state == done else scene_region(mind, chat)


def _current_passage(
    mind: Mind, log: ChatLog, call: PlannedCall, context_tokens: int
) -> EpisodePassage | None:
    """The passage of the scenes; None if the chat no longer holds all of them."""
    if not is_current(mind, call):
        return None
    return episode_passage(mind, log, call, context_tokens)
