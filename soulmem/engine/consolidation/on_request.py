"""Jobs that the user starts on a soul's memory: `consolidate` and `digest`."""

from __future__ import annotations

from typing import Any

from soulmem.domain.errors import Unprocessable
from soulmem.engine.consolidation.consolidator import Consolidator
from soulmem.engine.consolidation.digests import PERIODS, DigestWriter
from soulmem.engine.learning.learner import Learner
from soulmem.engine.llm.calls import LlmTask
from soulmem.engine.llm.usage import DIGEST
from soulmem.engine.runtime.jobs import JobKind, JobRun
from soulmem.engine.world.services import Services


class ConsolidationJobs:
    """Registers the jobs `consolidate` and `digest`."""

    def __init__(
        self,
        services: Services,
        *,
        learner: Learner,
        digest_writer: DigestWriter,
        consolidator: Consolidator,
    ) -> None:
        self._world_of = services.world_of
        self._learner = learner
        self._digest_writer = digest_writer
        self._consolidator = consolidator

    def job_kinds(self) -> tuple[JobKind, ...]:
        """The jobs that this service runs."""
        return (
            JobKind("consolidate", self._consolidate, resumes=True),
            JobKind("digest", self._digest, arguments=("period",)),
        )

    async def _consolidate(self, run: JobRun) -> dict[str, Any]:
        """Store what recalls changed, consolidate what left short-term memory if there
        is a language model, and link memories that were active together often enough.
        """
        world = await self._world_of(run.owner)
        self._learner.teach_settled(world)
        await self._learner.drain()
        mind = await world.mind(run.soul)
        result = await self._consolidator.run_soul(
            world, mind, run.record.job, run.report
        )
        await self._learner.refresh_working_memory([mind])
        working = mind.recalls.working
        active = 0 if working is None else len(working.active(len(mind.memories)))
        return {"active": active, **result}

    async def _digest(self, run: JobRun) -> dict[str, Any]:
        """Digests of all the soul's periods of that length, worded by the language model if there is one."""
        period = run.arguments.get("period", "day")
        if period not in PERIODS:
            raise Unprocessable(
                f"a digest is of a {', '.join(PERIODS)}", field="arguments.period"
            )
        world = await self._world_of(run.owner)
        task = LlmTask(run.owner, run.soul, DIGEST, run.report)
        digests = await self._digest_writer.digests(world, task, period)
        return {"period": period, "digests": digests}
