"""How do like scenes become a kind of episode? A cluster is found without a model, and one names its kind."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Set
from dataclasses import replace
from functools import partial
from weakref import WeakKeyDictionary

from soulmem.consolidation.clusters import clusters
from soulmem.domain.derivations import Work
from soulmem.domain.drafts import DraftAbstract, Drafts
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.llm import Failure, LlmFailed
from soulmem.engine.consolidation.draft_memories import DraftConverter
from soulmem.engine.consolidation.kind_instances import joined, named_in
from soulmem.engine.consolidation.passages import Reading, reading_of
from soulmem.engine.consolidation.plan import Task
from soulmem.engine.consolidation.scene_clusters import (
    Region,
    SceneClusterParams,
    bears_out,
    fresh,
    more_of,
    region_of,
    state_of,
)
from soulmem.engine.llm.calls import LlmCalls, LlmInterrupted, LlmTask
from soulmem.engine.llm.sources import LlmAccess
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.vectors.encoder import Read
from soulmem.engine.vectors.encoder import Reading as Reader
from soulmem.engine.world.world import World
from soulmem.ports.clock import Clock
from soulmem.prompts import kinds

log = logging.getLogger(__name__)

Write = Callable[
    [World, Mind, Callable[[Mind], MindChange | None], LlmTask], Awaitable[int]
]


class SceneKinds:
    """Finds kinds of episodes in the chats of a soul. Whoever asks does not hold `World.writing`."""

    def __init__(
        self,
        asking: LlmCalls,
        llms: LlmAccess,
        compute: Worker,
        clock: Clock,
        reader: Reader | None,
        write: Write,
        params: SceneClusterParams | None = None,
    ) -> None:
        """`write` stores what is made, to be undone by the errand's source."""
        self._llm_calls = asking
        self._llms = llms
        self._compute = compute
        self._clock = clock
        self._reader = reader
        self._write = write
        self._params = params or SceneClusterParams()
        self._seen: WeakKeyDictionary[Mind, dict[ChatId, frozenset[str]]] = (
            WeakKeyDictionary()
        )

    async def chat(
        self,
        world: World,
        mind: Mind,
        chat: ChatId,
        errand: LlmTask,
        within: Set[MemoryId] | None = None,
    ) -> None:
        """What a chat has room for; where somebody asks for it, the best of what has a scene `within`.

        Raises LlmInterrupted.
        """
        state = await self._compute.run(state_of, mind, chat)
        if within is None and self._seen.get(mind, {}).get(chat) == state:
            return
        region = await self._compute.run(region_of, mind, chat, self._params)
        if region is None:
            self._seen.setdefault(mind, {})[chat] = state
            return
        read = (
            await self._reader.read(region.texts) if self._reader is not None else None
        )
        if read is None:
            return
        if await self._name(world, mind, region, read, errand, within):
            await self._join(world, mind, region, read, errand)
            self._seen.setdefault(mind, {})[chat] = await self._compute.run(
                state_of, mind, chat
            )

    async def _name(
        self,
        world: World,
        mind: Mind,
        region: Region,
        read: Read,
        errand: LlmTask,
        within: Set[MemoryId] | None,
    ) -> bool:
        """Have the best clusters named; False when that is put off."""
        if within is None and region.room <= 0:
            return True
        if self._is_parked(errand, region):
            return False
        vectors, p = read.rows(region.texts), self._params
        found = await asyncio.to_thread(
            clusters, vectors, region.places, region.worth, p.clusters
        )
        tasks = await self._compute.run(fresh, mind, region, found)
        if within is None:
            tasks = tasks[: region.room]
        else:
            tasks = [task for task in tasks if not within.isdisjoint(task.read)][
                : p.asked
            ]
        for number, task in enumerate(tasks):
            errand.left = errand.done + len(tasks) - number
            errand.told()
            if not await self._carry_out(world, mind, task, region, read, errand):
                return False
        return True

    async def _join(
        self, world: World, mind: Mind, region: Region, read: Read, errand: LlmTask
    ) -> None:
        """Link further scenes to the kinds they are of, without a model."""
        named = await self._compute.run(named_in, mind, region)
        words = (
            await self._reader.read([one.text for one in named])
            if named and self._reader
            else None
        )
        if words is None:
            return
        vectors = read.rows(region.texts)
        for one in named:
            kind, p = words.rows([one.text])[0], self._params
            more = await asyncio.to_thread(
                more_of, kind, vectors, region.places, one.places, p
            )
            if more:
                scenes = [region.keys[at] for at in more]
                make = partial(
                    joined,
                    one=one,
                    scenes=scenes,
                    model=errand.model,
                    clock=self._clock,
                )
                await self._write(world, mind, make, errand)

    def _is_parked(self, errand: LlmTask, region: Region) -> bool:
        key = (errand.owner, errand.soul, region.chat, Work.KIND)
        now = self._clock.now()
        return errand.tell is None and self._llm_calls.deferrals.is_parked(
            key, len(region.keys), now
        )

    async def _carry_out(
        self,
        world: World,
        mind: Mind,
        task: Task,
        region: Region,
        read: Read,
        errand: LlmTask,
    ) -> bool:
        """Have a cluster named; False when the model made nothing of it, so that it is put off."""
        chat_log = await world.log(task.chat)
        if chat_log is None or not await self._compute.run(_stands, mind, task):
            return True
        reading = await self._compute.run(
            reading_of, mind, chat_log, task, self._llms.context_tokens
        )
        key, parking = (
            (errand.owner, errand.soul, task.chat, Work.KIND),
            self._llm_calls.deferrals,
        )
        try:
            drafts = await self._llm_calls.ask(
                errand,
                partial(kinds.render, reading.passage),
                partial(kinds.parse, passage=reading.passage),
            )
        except LlmFailed as failure:
            errand.failed[task.chat, Work.KIND] = failure.message
            log.info("a kind of episode is put off: %s", failure.message)
            if failure.kind is not Failure.UNREADABLE:
                parking.down(failure.message, self._clock.now())
                raise LlmInterrupted from failure
            parking.park(key, failure.message, len(region.keys), self._clock.now())
            return False
        parking.forget(key)
        fitting = await self._fitting(drafts, task, region, read)
        make = partial(self._made, task, reading, fitting, errand.model)
        errand.written += await self._write(world, mind, make, errand)
        return True

    async def _fitting(
        self, drafts: Drafts, task: Task, region: Region, read: Read
    ) -> Drafts:
        """The kind as far as its words fit the scenes; nothing where they do not."""
        kept = []
        for one in drafts.abstracts:
            named = (
                await self._reader.read([one.text])
                if self._reader is not None
                else None
            )
            if named is None:
                continue
            at = {key: place for place, key in enumerate(region.keys)}
            cited = {at[task.read[line - 1]]: line for line in one.lines}
            vectors = read.rows(region.texts)
            shown = bears_out(
                named.rows([one.text])[0], vectors, list(cited), self._params
            )
            if shown:
                kept.append(
                    DraftAbstract(
                        one.text, tuple(sorted(cited[s] for s in shown)), one.importance
                    )
                )
        return Drafts(abstracts=tuple(kept))

    def _made(
        self, task: Task, reading: Reading, drafts: Drafts, model: str, mind: Mind
    ) -> MindChange | None:
        """What the answer becomes; also of none it is kept that it was asked. None when the chat has changed
        meanwhile. Computes.
        """
        if not _stands(mind, task):
            return None
        now, turn = self._clock.now(), mind.turns(self._clock.extra_turns)
        change = DraftConverter(mind, task, reading, drafts, model, now, turn).change()
        (one,) = change.put_derivations
        return replace(
            change, put_derivations=(replace(one, work=task.work, drafts=Drafts()),)
        )


def _stands(mind: Mind, task: Task) -> bool:
    """Whether the chat still tells all of the scenes."""
    return all(task.chat in mind.lineages.holders(key) for key in task.read)
