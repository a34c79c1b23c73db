"""Jobs and exports of the engine of dictionaries."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timezone
from typing import Any, Protocol

from soulmem.domain.ids import Owner, SoulId
from soulmem.engine.api.requests import ImportRequest
from soulmem.engine.runtime.jobs import JobState, JobView, Progress
from soulmem.ports.model_fetching import Lack, ModelOrigin, Way

NOW = datetime(2024, 3, 1, 12, 0, tzinfo=timezone.utc)


class Recorder(Protocol):
    """Notes what was asked of it."""

    def _called(self, name: str, what: Any) -> None: ...


class FakeJobs:
    """Jobs that are begun and never go on; `j1` counts pages."""

    def __init__(self, engine: Recorder) -> None:
        self._engine = engine

    async def ask(self, owner: Owner, kind: str, soul: SoulId, arguments: dict[str, Any]) -> str:
        self._engine._called("ask_job", (owner, kind, soul, arguments))
        return "j1"

    async def start(self, owner: Owner, request: ImportRequest) -> str:
        self._engine._called("import_file", (owner, request))
        return "j2"

    def get(self, owner: Owner, job: str) -> JobView:
        self._engine._called("get_job", (owner, job))
        return JobView(job, "count", SoulId("s1"), JobState.RUNNING, NOW, Progress(3, 9, "pages"))

    def of(self, owner: Owner, soul: SoulId) -> list[JobView]:
        self._engine._called("list_jobs", (owner, soul))
        return [JobView("j1", "count", soul, JobState.DONE, NOW, result={"pages": 9})]

    async def cancel(self, owner: Owner, job: str) -> JobView:
        self._engine._called("cancel_job", (owner, job))
        return JobView(job, "count", SoulId("s1"), JobState.CANCELLED, NOW)


class FakeFetching:
    """A model that lacks its weights, and a job that fetches it and never goes on."""

    job: str | None = None

    def __init__(self, engine: Recorder) -> None:
        self._engine = engine

    async def origin(self) -> ModelOrigin:
        return ModelOrigin(Lack.WEIGHTS, "https://hub.example", False, "pack==1.0")

    async def start(self, owner: Owner, way: Way, hub: str) -> str:
        self._engine._called("fetch_model", (owner, way, hub))
        return "j3"


class FakeExports:
    """Writes souls of two lines."""

    def __init__(self, engine: Recorder) -> None:
        self._engine = engine

    async def bundle(self, owner: Owner, soul: SoulId) -> AsyncIterator[bytes]:
        self._engine._called("export", (owner, soul))

        async def pieces() -> AsyncIterator[bytes]:
            yield b'{"type":"bundle"}\n'
            yield b'{"type":"end","lines":1}\n'

        return pieces()
