"""The archivist's wording of digests: a model tells a period in its own words, held to what was said in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from soulmem.conversation.episodes import spoken
from soulmem.domain.audit import Actor
from soulmem.domain.derivations import Derivation
from soulmem.domain.digests import Period, digest_span, period_of
from soulmem.domain.drafts import Passage, PassageLine
from soulmem.domain.ids import MemoryId
from soulmem.domain.llm import Failure, LlmFailed
from soulmem.domain.memories import Memory, MemoryState, Origin
from soulmem.engine.consolidation.stretches import speaker_of
from soulmem.engine.digests.digest_plan import digests_of, may_be_quoted
from soulmem.engine.llm.calls import LlmCalls, LlmInterrupted, LlmTask
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.prompts import digest as prompt
from soulmem.prompts.rendering import language_of

_FEW = 4  # messages: fewer are told best by themselves
_READ = 40  # lines that a model reads at most
_CHARACTERS = 300  # of each of them
_BELOW = {
    Period.WEEK: Period.DAY,
    Period.MONTH: Period.DAY,
    Period.YEAR: Period.MONTH,
    Period.CHAT: Period.DAY,
}


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a model reads for a digest: its lines, and all that was said in its period."""

    memory: Memory
    derivation: Derivation
    period: Period
    passage: Passage
    said: str


class DigestWording:
    """Words digests. Callers do not hold `World.writing`."""

    def __init__(self, services: Services, *, llm_calls: LlmCalls) -> None:
        self._compute = services.compute
        self._clock = services.clock
        self._auditor = services.auditor
        self._llm_calls = llm_calls

    def room(self, share: float) -> int:
        """How many calls remain of that share, 0..1, of the calls of an hour."""
        usage = self._llm_calls.usage
        made = usage.this_hour(self._clock.now()).calls
        return max(0, int(share * usage.params.calls) - made)

    async def word(
        self,
        world: World,
        mind: Mind,
        keys: Sequence[MemoryId],
        task: LlmTask,
        most: int | None = None,
    ) -> None:
        """Have the first `most` of the digests worded that no model was asked for yet, or all of them.

        Ends when no model is available, or when idle work may not go on.
        """
        if not self._llm_calls.has_model:
            return
        unworded = await self._compute.run(_unworded, mind, keys)
        wanted = unworded if most is None else unworded[:most]
        task.calls_expected = len(wanted)
        for key in wanted:
            task.report_progress()
            if not await self._word(world, mind, key, task):
                return

    async def _word(self, world: World, mind: Mind, key: MemoryId, task: LlmTask) -> bool:
        """Word one digest; whether further calls make sense."""
        reading = await self._compute.run(_reading, mind, key)
        if reading is None:
            return True
        asked = prompt.render(reading.passage, reading.period.value)
        parse = partial(_parsed, mind=mind, reading=reading)
        text = None
        try:
            text = await self._llm_calls.ask(task, asked, parse)
        except LlmInterrupted:
            return False
        except LlmFailed as failure:
            if failure.kind is not Failure.UNREADABLE:
                return False
        make = partial(_worded, reading, text, task.model)
        async with world.writing as token:
            if world.minds.get(mind.soul.id) is mind:
                author = ChangeAuthor(Actor.ARCHIVIST, source=task.source, reason=task.work)
                await self._auditor.carry_out_made(token, world, mind, make, author)
        return True


@compute_only
def _unworded(mind: Mind, keys: Sequence[MemoryId]) -> list[MemoryId]:
    """Those of the digests that no model was asked for and the user did not take over."""
    out = []
    for key in keys:
        memory = mind.memories.get(key)
        made_by = mind.derivations.of(key)
        if memory is None or not made_by or made_by[0].model:
            continue
        if len(made_by[0].read) < _FEW:
            continue
        if memory.origin is Origin.MODEL and not memory.locked:
            out.append(key)
    return out


@compute_only
def _reading(mind: Mind, key: MemoryId) -> _Reading | None:
    """What a model reads for the digest; None where it is gone."""
    memory, made_by = mind.memories.get(key), mind.derivations.of(key)
    period = None if memory is None else period_of(memory)
    if memory is None or period is None or not made_by:
        return None
    derivation = made_by[0]
    lines = _lines(mind, memory, period, derivation)
    texts = [mind.memories[k].text for k in derivation.read if may_be_quoted(mind, k)]
    shown = [line.text for line in lines]
    spotted = map(mind.names.concept, mind.names.spot("\n".join(shown)))
    passage = Passage(
        language=language_of(shown),
        soul=mind.soul.name,
        users=(),
        lines=tuple(lines),
        known_names=tuple(concept.text for concept in spotted if concept is not None),
    )
    return _Reading(memory, derivation, period, passage, "\n".join(texts))


def _lines(mind: Mind, memory: Memory, period: Period, derivation: Derivation) -> list[PassageLine]:
    """What the shorter digests tell, or else the messages themselves, those that are quoted before others."""
    start, end = digest_span(memory)
    below = _BELOW.get(period)
    read = frozenset(derivation.read)
    parts: list[tuple[str, str]] = []
    for other in digests_of(mind):
        if below is None or period_of(other) is not below:
            continue
        made_by = mind.derivations.of(other.id)
        is_inside = start <= other.happened < end and other.state is MemoryState.ACTIVE
        if is_inside and made_by and read.issuperset(made_by[0].read):
            parts.append(("", other.text))
    if not parts:
        parts = _messages(mind, derivation)
    out = []
    for number, (speaker, text) in enumerate(parts[-_READ:], 1):
        most = _CHARACTERS if speaker else 3 * _CHARACTERS
        shown = text if len(text) <= most else f"{text[:most]}…"
        out.append(PassageLine(number, speaker, shown))
    return out


def _messages(mind: Mind, derivation: Derivation) -> list[tuple[str, str]]:
    """Speaker and words of the messages to read, in their order: the quoted ones, then the most important."""
    cited = set(mind.derivations.cited(derivation.products[0].id))
    usable = [key for key in derivation.read if may_be_quoted(mind, key)]
    ranked = sorted(
        usable,
        key=lambda key: (
            key not in cited,
            -mind.line_kinds.importance_of(mind.memories[key]),
        ),
    )
    chosen = set(ranked[:_READ])
    memories = mind.memories.many(key for key in usable if key in chosen)
    return [(speaker_of(memory), spoken(memory)) for memory in memories]


def _parsed(text: str, mind: Mind, reading: _Reading) -> str:
    """The wording that the period's lines carry. Raises Unreadable where that is nothing."""
    known = [
        name for key in mind.names.spot(text) for name in mind.names.names_of(key) if name in text
    ]
    return prompt.parse(text, reading.passage, reading.said, known)


@compute_only
def _worded(reading: _Reading, text: str | None, model: str, mind: Mind) -> MindChange | None:
    """Stores the wording, and that a model was asked; nothing where the digest has changed meanwhile.

    text  None: no answer could be used, the quotations stay
    """
    memory = mind.memories.get(reading.memory.id)
    current = mind.derivations.get(reading.derivation.id)
    if memory != reading.memory or current != reading.derivation:
        return None
    asked = replace(reading.derivation, model=model or "unknown")
    if text is None:
        return MindChange(put_derivations=(asked,))
    head = memory.text.split("\n", 1)[0]
    worded = replace(memory, text=f"{head}\n{text}", revision=memory.revision + 1)
    return MindChange(put_memories=(worded,), put_derivations=(asked,))
