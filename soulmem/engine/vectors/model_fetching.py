"""The job `fetch_model`: brings the wanted embedding model onto this computer, and takes it into use."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from soulmem.domain.errors import Conflict, NotFound, Unprocessable, model_of_main_user
from soulmem.domain.ids import DEFAULT_OWNER, Owner
from soulmem.domain.phrases import phrase
from soulmem.engine.runtime.jobs import ENDED, NO_SOUL, JobKind, JobRun, Jobs
from soulmem.engine.vectors.embedder import EmbeddingService
from soulmem.ports.model_fetching import Lack, ModelFetcher, ModelOrigin, Way

KIND = "fetch_model"
LOADING = "loading"  # unit of the progress while the model is loaded
_LOOK_SECONDS = 0.5  # between two looks whether the job is still wanted
_NOTHING = ModelOrigin(Lack.NOTHING, hub="", own_hub=False, package="")


@dataclass(kw_only=True, eq=False)
class ModelFetching:
    """Fetches the model when the user asks for it, one job at a time; nothing is fetched otherwise.

    The job's result has `in_use`: whether the model is in use already, or takes over at the next quiet moment.

    `fetcher` None: the settings want no model from elsewhere.
    """

    fetcher: ModelFetcher | None
    embedding: EmbeddingService
    jobs: Jobs

    def __post_init__(self) -> None:
        self._job: str | None = None  # the latest one
        self._starting = asyncio.Lock()

    def job_kinds(self) -> tuple[JobKind, ...]:
        """The jobs that this service runs."""
        return (JobKind(KIND, self._work, arguments=None, beside=True, serves_all=True),)

    @property
    def job(self) -> str | None:
        """The job that fetches the model now; None without one."""
        with suppress(NotFound):  # long ended
            if self._job and self.jobs.get(DEFAULT_OWNER, self._job).state not in ENDED:
                return self._job
        return None

    async def origin(self) -> ModelOrigin:
        """Where the wanted model can come from; nothing is lacking where none is wanted."""
        if self.fetcher is None:
            return _NOTHING
        return await asyncio.to_thread(self.fetcher.origin)

    async def start(self, owner: Owner, way: Way, hub: str) -> str:
        """Start to fetch the model this way; the id of the job.

        hub  address of the hub to use from now on, for `HUB` alone; empty: that of the settings

        Raises Forbidden for another user than the main one, Conflict while it is fetched already, Unprocessable
        for what is no address, and where the settings want no model.
        """
        if owner != DEFAULT_OWNER:
            raise model_of_main_user()
        fetcher = self._wanted()
        async with self._starting:
            if self.job is not None:
                raise Conflict(
                    phrase(
                        "model_is_fetched",
                        "the model is being fetched already: wait for it, or stop it first",
                    )
                )
            if way is Way.HUB:
                await asyncio.to_thread(fetcher.set_hub, hub)
            self._job = await self.jobs.start(owner, KIND, NO_SOUL, {"way": way.value})
            return self._job

    def _wanted(self) -> ModelFetcher:
        if self.fetcher is None:
            raise Unprocessable(
                phrase(
                    "model_not_wanted",
                    "embedder.model is `none` or `fallback`, so no model is fetched: remove it from config.toml"
                    " and start SoulMem again",
                ),
                field="way",
            )
        return self.fetcher

    async def _work(self, run: JobRun) -> dict[str, Any]:
        fetcher, way = self._wanted(), Way(run.arguments["way"])
        await asyncio.to_thread(fetcher.fetch, way, run.report)
        # Loading cannot be interrupted: a job that is stopped meanwhile leaves it alone.
        loading = asyncio.create_task(self.embedding.try_again())
        try:
            while not (await asyncio.wait({loading}, timeout=_LOOK_SECONDS))[0]:
                run.report(0, 0, LOADING)
        finally:
            loading.cancel()
        return {"in_use": loading.result()}
