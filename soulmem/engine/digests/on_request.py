"""Jobs that the user starts on a soul's memory: `consolidate` and `digest`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from soulmem.domain.calendar import within_calendar
from soulmem.domain.digests import Period
from soulmem.domain.errors import Unprocessable, span_backwards
from soulmem.domain.phrases import phrase
from soulmem.engine.consolidation.consolidator import Consolidator
from soulmem.engine.digests.digest_writer import DigestWriter
from soulmem.engine.learning.learner import Learner
from soulmem.engine.llm.calls import LlmTask
from soulmem.engine.llm.usage import DIGEST
from soulmem.engine.runtime.jobs import JobKind, JobRun
from soulmem.engine.world.services import Services

PERIODS = ("hour", "day", "week", "month", "year", "chat")
_Time = Annotated[datetime, Meta(tz=True)]


class RequestedDigests(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which digests a job is to make: those of the periods of one length within a span."""

    period: Literal["hour", "day", "week", "month", "year", "chat"] = "day"
    start: _Time | None = msgspec.field(name="from", default=None)  # inclusive
    end: _Time | None = msgspec.field(name="to", default=None)  # exclusive


@dataclass(kw_only=True, eq=False)
class ConsolidationJobs:
    """Registers the jobs `consolidate` and `digest`."""

    services: Services
    learner: Learner
    digest_writer: DigestWriter
    consolidator: Consolidator

    def job_kinds(self) -> tuple[JobKind, ...]:
        """The jobs that this service runs."""
        return (
            JobKind("consolidate", self._consolidate, resumes=True),
            JobKind("digest", self._digest, arguments=("period", "from", "to")),
        )

    async def _consolidate(self, run: JobRun) -> dict[str, Any]:
        """Store what recalls changed, consolidate what left short-term memory if there
        is a language model, and link memories that were active together often enough.
        """
        world = await self.services.world_of(run.owner)
        self.learner.teach_settled(world)
        await self.learner.drain()
        mind = await world.mind(run.soul)
        result = await self.consolidator.run_soul(world, mind, run.record.job, run.report)
        await self.learner.refresh_working_memory([mind])
        working = mind.recalls.working
        active = 0 if working is None else len(working.active(len(mind.memories)))
        return {"active": active, **result}

    async def _digest(self, run: JobRun) -> dict[str, Any]:
        """Make the soul's digests of that length within the span, worded by the language model if there is one."""
        asked = requested_digests(run.arguments)
        world = await self.services.world_of(run.owner)
        task = LlmTask(run.owner, run.soul, DIGEST, run.report, source=run.record.job)
        span = asked.start, asked.end
        keys = await self.digest_writer.make(world, task, Period(asked.period), span)
        return {"digests": keys}


def requested_digests(arguments: object) -> RequestedDigests:
    """The arguments of a job, checked. Raises Unprocessable."""
    try:
        asked = msgspec.convert(arguments, RequestedDigests)
    except msgspec.ValidationError as error:
        words, _, place = str(error).partition(" - at `$")
        raise Unprocessable(
            phrase(
                "digest_arguments",
                "digest: {words}; `period` is one of {periods}",
                words=words,
                periods=", ".join(PERIODS),
            ),
            field=f"arguments{place.rstrip('`')}",
        ) from error
    if asked.start is not None and asked.end is not None and asked.end <= asked.start:
        raise span_backwards("arguments.to")
    start, end = within_calendar(asked.start), within_calendar(asked.end)
    return msgspec.structs.replace(asked, start=start, end=end)
