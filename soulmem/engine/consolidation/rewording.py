"""Rewording: at rest a language model fills the gaps of blurred memories with what a kept reply made of them.

The memory's own text stays, and is what is searched; the rewording is what is told from then on. Nothing but
its wording follows from it: no name, no fact, no edge.
"""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from soulmem.conversation.episodes import episode_id
from soulmem.conversation.micro_units import unit_spans
from soulmem.domain import change_reasons
from soulmem.domain.audit import Actor
from soulmem.domain.dialogue import text_hash
from soulmem.domain.edges import EdgeKind
from soulmem.domain.fading_records import FadingRecord
from soulmem.domain.ids import MemoryId
from soulmem.domain.llm import Failure, LlmFailed
from soulmem.domain.memories import Memory
from soulmem.domain.micro_units import MicroUnit, Retention, unit_stability
from soulmem.engine.llm.calls import LlmCalls, LlmInterrupted, LlmTask
from soulmem.engine.llm.usage import REWORDING
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.read_texts import label_length, may_be_reworded
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.language.name_tokens import fold
from soulmem.language.names import names
from soulmem.prompts import rewording as prompt
from soulmem.prompts.rendering import language_of

log = logging.getLogger(__name__)

_MOST = 3  # rewordings of a soul in one idle round, each a call
_NUMBER = re.compile(r"\d+")
_REASON = str(change_reasons.REWORDED)


@dataclass(frozen=True, slots=True)
class _Due:
    """A memory that was told with gaps, and the record that says so."""

    memory: Memory
    record: FadingRecord


@dataclass(kw_only=True, eq=False)
class Rewording:
    """Words blurred memories anew. Callers must not hold `World.writing`."""

    services: Services
    llm_calls: LlmCalls

    async def run_idle(self, worlds: Iterable[World]) -> None:
        """Idle round: word anew what is due in the open souls, a few memories each, within the hourly limits."""
        if not self.llm_calls.has_model:
            return
        source = f"rewording-{self.services.clock.now():%Y%m%dT%H%M%S}"  # to undo the round by
        with contextlib.suppress(LlmInterrupted):
            await self.services.attempts.with_minds(
                "rewording",
                worlds,
                partial(self._reword_due, source=source),
                passing=LlmInterrupted,
            )

    async def _reword_due(self, world: World, mind: Mind, source: str) -> None:
        task = LlmTask(world.owner, mind.soul.id, REWORDING, source=source)
        for due in await self.services.compute.run(due_rewordings, mind):
            await self._reword(world, mind, due, task)

    async def _reword(self, world: World, mind: Mind, due: _Due, task: LlmTask) -> None:
        """Ask for one rewording and store it; without a usable answer the gaps stay, and are not asked again."""
        gapped, reply = await self._gapped(world, mind, due)
        filled = None
        if gapped is not None:
            try:
                filled = await self.llm_calls.ask(
                    task,
                    prompt.render(gapped),
                    partial(prompt.parse, gapped=gapped),
                )
            except LlmFailed as failure:
                log.info("a memory is not worded anew: %s", failure.message)
                if failure.kind is not Failure.UNREADABLE:
                    raise LlmInterrupted from failure
        make = partial(
            _change,
            due=due,
            gapped=gapped,
            filled=filled,
            reply=reply,
            moment=self.services.clock.now(),
        )
        extra = self.services.clock.extra_turns
        async with world.writing as token:
            if world.minds.get(mind.soul.id) is mind:
                author = ChangeAuthor(Actor.ARCHIVIST, source=task.source, reason=_REASON)
                await self.services.auditor.carry_out_made(
                    token, world, mind, partial(make, extra=extra), author
                )

    async def _gapped(
        self, world: World, mind: Mind, due: _Due
    ) -> tuple[prompt.Gapped | None, MemoryId | None]:
        """What the model is shown, and the episode of the reply; None where the reply is gone."""
        retold = due.record.retold
        chat_log = await world.log(retold.chat) if retold is not None else None
        if retold is None or chat_log is None or retold.slot not in chat_log.index:
            return None, None
        messages = await self.services.compute.run(chat_log.remembered, mind.soul)
        reply = messages[chat_log.index[retold.slot]]
        language = language_of([retold.text])
        gapped = prompt.Gapped(mind.soul.name, retold.text, reply.text, language)
        return gapped, episode_id(mind.soul.id, world.family(retold.chat), reply)


@compute_only
def due_rewordings(mind: Mind) -> list[_Due]:
    """The memories of a soul that may be worded anew, a few."""
    out: list[_Due] = []
    for record in mind.fading:
        memory = mind.memories.get(record.memory)
        if record.retold is None or memory is None or len(out) >= _MOST:
            continue
        fits = record.fits(memory.text) and not memory.is_binned
        if fits and may_be_reworded(mind, memory):
            out.append(_Due(memory, record))
    return out


@compute_only
def _change(
    mind: Mind,
    due: _Due,
    gapped: prompt.Gapped | None,
    filled: prompt.Filled | None,
    reply: MemoryId | None,
    moment: datetime,
    extra: int,
) -> MindChange | None:
    """Stores the rewording, or that there is none; None where memory or record changed meanwhile."""
    record = mind.fading.of(due.memory.id)
    if record != due.record or not may_be_reworded(mind, due.memory):
        return None
    settled = replace(record, retold=None, reply=reply)
    if gapped is None or filled is None or not is_borne_out(mind, gapped, filled, due.memory):
        return MindChange(put_fading=(replace(record, retold=None),))
    turn = float(mind.lived_turns(extra))
    return MindChange(put_fading=(_reworded(due.memory, settled, filled.text, moment, turn),))


@compute_only
def is_borne_out(mind: Mind, gapped: prompt.Gapped, filled: prompt.Filled, memory: Memory) -> bool:
    """Whether the fillings name nobody and no number that was not there, and contradict no fact.

    What looks like a name, and a number, has to stand in the reply or in the rest of the memory.
    """
    fillings = "\n".join(filled.fillings)
    there = f"{gapped.told_text}\n{gapped.reply}"
    if not set(_NUMBER.findall(fillings)) <= set(_NUMBER.findall(there)):
        return False
    named = set(mind.names.spot(fillings))
    if not named <= set(mind.names.spot(there)):
        return False
    present = fold(f"{there}\n{mind.soul.name}")
    if not all(fold(name) in present for name in names(fillings)):
        return False
    return not _contradicts(mind, memory, filled.text, named)


def _contradicts(mind: Mind, memory: Memory, text: str, named: set[MemoryId]) -> bool:
    """Whether the text says of somebody, with the verb of a fact, something else that was filled in."""
    subjects = mind.names.spot(text)
    own = {edge.target for edge in mind.edges.of(memory.id, EdgeKind.MENTIONS)}
    for subject in subjects:
        for edge in mind.edges.of(subject, EdgeKind.RELATES):
            is_other = edge.source == subject and edge.verb and edge.verb in text
            if is_other and edge.target not in subjects and named - own - {subject}:
                return True
    return False


def _reworded(
    memory: Memory, record: FadingRecord, text: str, moment: datetime, turn: float
) -> FadingRecord:
    """The record with the new wording, whose parts are as clear as on the first day."""
    label = label_length(memory)
    whole = memory.text[:label] + text
    emotion, gists = memory.strongest_emotion, dict.fromkeys(memory.names, "")
    units = tuple(
        MicroUnit(span, Retention(1.0, unit_stability(span, emotion), moment, turn))
        for span in unit_spans(whole, gists, memory.situation.location, label)
    )
    return replace(
        record,
        wording=text_hash(whole),
        units=units,
        own_units=False,
        reworded=whole,
        anchors=tuple(a for a in record.anchors if a.text in whole),
    )
