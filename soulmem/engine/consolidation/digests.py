"""What was a day, a week, a month or a year about? As a language model tells it, or else in quotations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby
from typing import Any

from soulmem.consolidation.digests import DigestParams, Line, digest
from soulmem.conversation.episodes import spoken
from soulmem.conversation.text_analysis import read
from soulmem.domain.drafts import Passage, PassageLine
from soulmem.domain.llm import Failure, LlmFailed
from soulmem.domain.memories import Memory, MemoryKind
from soulmem.engine.consolidation.passages import speaker_of
from soulmem.engine.llm.calls import LlmCalls, LlmInterrupted, LlmTask
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.views.doubted import is_in_doubt
from soulmem.engine.views.timeline import overlapping
from soulmem.engine.world.world import World
from soulmem.prompts import digest as prompt
from soulmem.prompts.rendering import language_of

PERIODS = ("day", "week", "month", "year")
_DIGESTS = 366  # at most, the latest
_READ = 24  # memories that a model reads for one digest
_SIGNS = 300  # of each of them


@dataclass(frozen=True, slots=True)
class _Told:
    """One period: what is quoted without a model, and what a model would read."""

    start: datetime
    end: datetime
    quoted: Sequence[Memory]
    read: Sequence[Memory]


class DigestWriter:
    """Makes digests. Nothing is stored: they are as true as what they are made of at that moment."""

    def __init__(self, compute: Worker, asking: LlmCalls) -> None:
        self._compute = compute
        self._llm_calls = asking

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
        """Digests of the latest `most` periods that have something in them, oldest first, with an eye to what
        `context` says; the latest `calls` of them by the archivist, where there is one that may answer now.
        """
        mind = await world.mind(task.soul)
        found = await self._compute.run(_digests, mind, period, context, most)
        has_model = self._llm_calls.has_model
        task.left = min(calls, len(found)) if has_model else 0
        worded: list[str | None] = []
        for told in reversed(found):
            task.told()
            wanted = has_model and len(worded) < task.left
            text, has_model = (
                await self._worded(mind, task, told, period)
                if wanted
                else (None, has_model)
            )
            worded.append(text)
        pairs = zip(found, reversed(worded), strict=True)
        return [_result(told, text) for told, text in pairs]

    async def _worded(
        self, mind: Mind, task: LlmTask, told: _Told, period: str
    ) -> tuple[str | None, bool]:
        """The model's words, and whether it is worth asking on."""
        passage = await self._compute.run(_passage, mind, told.read)
        render, parse = (
            partial(prompt.render, passage, period),
            partial(prompt.parse, passage=passage),
        )
        try:
            return await self._llm_calls.ask(task, render, parse), True
        except LlmInterrupted:
            return None, False
        except LlmFailed as failure:
            return None, failure.kind is Failure.UNREADABLE


def _result(told: _Told, text: str | None) -> dict[str, Any]:
    rests_on = told.quoted if text is None else told.read
    return {
        "from": told.start.isoformat(),
        "to": told.end.isoformat(),
        "text": "\n".join(memory.text for memory in told.quoted)
        if text is None
        else text,
        "memories": [memory.id for memory in rests_on],
        "by": "quotes" if text is None else "model",
    }


def _digests(mind: Mind, period: str, context: str, most: int) -> list[_Told]:
    """The latest periods that have something in them, oldest first. Computes."""
    about = frozenset(term.key for term in read(context).terms)
    every = (
        m for m in overlapping(mind, None, None, None) if m.kind is MemoryKind.EPISODE
    )
    told = [memory for memory in every if not is_in_doubt(mind, memory.id)]
    runs = [
        list(run)
        for _, run in groupby(told, lambda memory: _begins(memory.happened, period))
    ]
    return [_told(run, period, about) for run in runs[-most:]]


def _told(memories: list[Memory], period: str, about: frozenset[str]) -> _Told:
    lines = []
    for memory in memories:
        keys = tuple(term.key for term in memory.terms)
        asked = len(about.intersection(keys)) / max(1, len(about))
        lines.append(Line(memory.text, memory.importance, keys, asked))
    start = _begins(memories[0].happened, period)
    wide = [memories[at] for at in digest(lines, DigestParams(lines=_READ))]
    return _Told(
        start, _ends(start, period), [memories[at] for at in digest(lines)], wide
    )


def _passage(mind: Mind, memories: Sequence[Memory]) -> Passage:
    texts = [spoken(memory) for memory in memories]
    known = (mind.names.concept(key) for key in mind.names.spot("\n".join(texts)))
    return Passage(
        language=language_of(texts),
        soul=mind.soul.name,
        users=(),
        lines=tuple(
            PassageLine(
                at,
                speaker_of(memory),
                text if len(text) <= _SIGNS else text[:_SIGNS] + "…",
            )
            for at, (memory, text) in enumerate(zip(memories, texts, strict=True), 1)
        ),
        known=tuple(memory.text for memory in known if memory is not None),
    )


def _begins(at: datetime, period: str) -> datetime:
    """When the day, week (from Monday), month or year began, in its own zone."""
    day = at.replace(hour=0, minute=0, second=0, microsecond=0)
    if period == "week":
        return day - timedelta(days=day.weekday())
    if period == "month":
        return day.replace(day=1)
    return day.replace(month=1, day=1) if period == "year" else day


def _ends(start: datetime, period: str) -> datetime:
    days = {"day": 1, "week": 7, "month": 32, "year": 367}[period]
    return _begins(start + timedelta(days=days), period)
