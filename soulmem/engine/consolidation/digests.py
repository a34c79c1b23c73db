"""Digests of the days, weeks, months or years of a soul: worded by a language model, or else quotations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby
from typing import Any

from soulmem.consolidation.digests import DigestLine, DigestParams, choose_lines
from soulmem.conversation.episodes import spoken
from soulmem.conversation.text_analysis import read
from soulmem.domain.drafts import Passage, PassageLine
from soulmem.domain.llm import Failure, LlmFailed
from soulmem.domain.memories import Memory, MemoryKind
from soulmem.engine.consolidation.passages import speaker_of
from soulmem.engine.llm.calls import LlmCalls, LlmInterrupted, LlmTask
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.views.doubted import is_in_doubt
from soulmem.engine.views.timeline import overlapping
from soulmem.engine.world.world import World
from soulmem.prompts import digest as prompt
from soulmem.prompts.rendering import language_of

PERIODS = ("day", "week", "month", "year")
_DIGESTS = 366  # at most, the latest
_READ = 24  # memories that a model reads for one digest
_CHARACTERS = 300  # of each of them


@dataclass(frozen=True, slots=True)
class _Period:
    """One period: its quotations, and the memories that a model would read."""

    start: datetime
    end: datetime
    quoted: Sequence[Memory]
    read: Sequence[Memory]


class DigestWriter:
    """Makes digests. They are not stored, as the memories below them may change."""

    def __init__(
        self,
        *,
        compute: Worker,
        llm_calls: LlmCalls,
    ) -> None:
        self._compute = compute
        self._llm_calls = llm_calls

    async def digests(
        self,
        world: World,
        task: LlmTask,
        period: str,
        context: str = "",
        *,
        most: int = _DIGESTS,
        calls: int = _DIGESTS,
    ) -> list[dict[str, Any]]:
        """Digests of the latest `most` periods with episodes, oldest first.

        The latest `calls` of them are worded by the archivist, as long as it may be
        called. Episodes that share terms with `context` are preferred.
        """
        mind = await world.mind(task.soul)
        periods = await self._compute.run(_periods, mind, period, context, most)
        may_ask = self._llm_calls.has_model
        task.calls_expected = min(calls, len(periods)) if may_ask else 0
        texts: list[str | None] = []  # latest first
        for digested in reversed(periods):
            task.report_progress()
            text = None
            if may_ask and len(texts) < task.calls_expected:
                text, may_ask = await self._worded(mind, task, digested, period)
            texts.append(text)
        pairs = zip(periods, reversed(texts), strict=True)
        return [_result(digested, text) for digested, text in pairs]

    async def _worded(
        self, mind: Mind, task: LlmTask, digested: _Period, period: str
    ) -> tuple[str | None, bool]:
        """The model's text, and whether further calls make sense."""
        passage = await self._compute.run(_passage, mind, digested.read)
        render = partial(prompt.render, passage, period)
        parse = partial(prompt.parse, passage=passage)
        try:
            return await self._llm_calls.ask(task, render, parse), True
        except LlmInterrupted:
            return None, False
        except LlmFailed as failure:
            return None, failure.kind is Failure.UNREADABLE


def _result(digested: _Period, text: str | None) -> dict[str, Any]:
    """A digest as the job's result shows it; without `text` in quotations."""
    sources = digested.quoted if text is None else digested.read
    if text is None:
        shown, author = "\n".join(memory.text for memory in sources), "quotes"
    else:
        shown, author = text, "model"
    return {
        "from": digested.start.isoformat(),
        "to": digested.end.isoformat(),
        "text": shown,
        "memories": [memory.id for memory in sources],
        "by": author,
    }


@compute_only
def _periods(mind: Mind, period: str, context: str, most: int) -> list[_Period]:
    """The latest periods with episodes, oldest first."""
    context_terms = frozenset(term.key for term in read(context).terms)
    episodes = [
        memory
        for memory in overlapping(mind, None, None, None)
        if memory.kind is MemoryKind.EPISODE and not is_in_doubt(mind, memory.id)
    ]
    runs = groupby(episodes, lambda memory: _begins(memory.happened, period))
    by_period = [list(run) for _, run in runs]
    return [_period(run, period, context_terms) for run in by_period[-most:]]


def _period(
    memories: list[Memory], period: str, context_terms: frozenset[str]
) -> _Period:
    lines = []
    for memory in memories:
        keys = tuple(term.key for term in memory.terms)
        shared = len(context_terms.intersection(keys)) / max(1, len(context_terms))
        lines.append(DigestLine(memory.text, memory.importance, keys, shared))
    start = _begins(memories[0].happened, period)
    quoted = [memories[index] for index in choose_lines(lines)]
    to_read = [
        memories[index] for index in choose_lines(lines, DigestParams(lines=_READ))
    ]
    return _Period(start, _ends(start, period), quoted, to_read)


def _passage(mind: Mind, memories: Sequence[Memory]) -> Passage:
    texts = [spoken(memory) for memory in memories]
    spotted = (mind.names.concept(key) for key in mind.names.spot("\n".join(texts)))
    lines = []
    for number, (memory, text) in enumerate(zip(memories, texts, strict=True), 1):
        shown = text if len(text) <= _CHARACTERS else text[:_CHARACTERS] + "…"
        lines.append(PassageLine(number, speaker_of(memory), shown))
    return Passage(
        language=language_of(texts),
        soul=mind.soul.name,
        users=(),
        lines=tuple(lines),
        known_names=tuple(concept.text for concept in spotted if concept is not None),
    )


def _begins(moment: datetime, period: str) -> datetime:
    """Start of the day, week (from Monday), month or year around the moment, in its own time zone."""
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if period == "week":
        return day - timedelta(days=day.weekday())
    if period == "month":
        return day.replace(day=1)
    return day.replace(month=1, day=1) if period == "year" else day


def _ends(start: datetime, period: str) -> datetime:
    days = {"day": 1, "week": 7, "month": 32, "year": 367}[period]
    return _begins(start + timedelta(days=days), period)
