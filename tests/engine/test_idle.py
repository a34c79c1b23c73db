"""Whatever one part of the Idle work raises, of one soul or of all, the others go on and health names it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta

import pytest

from soulmem.domain.errors import StoreError, StoreFull, Unprocessable
from soulmem.engine.idle import IdleWork
from soulmem.engine.runtime import lifecycle
from soulmem.engine.runtime.lifecycle import Lifecycle
from soulmem.engine.world.attempts import Attempts, Piece
from tests.conftest import Failures
from tests.engine.stage import Stage, lines

Work = Callable[[], Awaitable[object]]


class Panic(BaseException):
    """As a library in another language raises it: no Exception."""


KINDS: tuple[type[BaseException], ...] = (
    OverflowError,
    KeyError,
    ValueError,
    RecursionError,
    MemoryError,
    OSError,
    AssertionError,
    TimeoutError,
    asyncio.TimeoutError,
    asyncio.CancelledError,
    Panic,
)
REFUSALS = (StoreError("broken"), StoreFull("full"), Unprocessable("odd"))
PARTS = tuple(Stage().engine.idle.parts())


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """Three souls with a chat each."""
    fresh_stage = Stage()
    await fresh_stage.start()
    for number in (1, 2, 3):
        await fresh_stage.soul(f"s{number}", f"Mira{number}")
        chat = lines(6, start=10 * number)
        await fresh_stage.sync(f"c{number}", chat, souls=(f"s{number}",))
    yield fresh_stage
    await fresh_stage.stop()


def notes(stage: Stage) -> list[str]:
    """What health says of the background work."""
    found = stage.engine.health().notes
    return [str(note) for note in found if getattr(note, "code", "").startswith("idle_")]


def raising(error: BaseException) -> Work:
    """Work that raises."""

    async def work() -> None:
        raise error

    return work


@pytest.mark.parametrize("part", PARTS)
async def test_any_part_may_raise_anything(
    stage: Stage, part: str, monkeypatch: pytest.MonkeyPatch, failures: Failures
) -> None:
    done: list[str] = []

    def recording(name: str) -> Work:
        async def work() -> None:
            done.append(name)

        return work

    parts = {name: recording(name) for name in PARTS}
    monkeypatch.setattr(IdleWork, "parts", lambda _: parts)
    errors = [*(kind() for kind in KINDS), *REFUSALS]
    for error in errors:
        done.clear()
        parts[part] = raising(error)
        await stage.engine.idle.run()
        assert done == [name for name in PARTS if name != part], error
        (note,) = notes(stage)
        assert part in note
    parts[part] = recording(part)
    await stage.engine.idle.run()
    assert notes(stage) == []
    assert len(failures.told) == len(errors)
    failures.told.clear()


async def test_any_part_may_fail_for_one_soul_and_goes_on_for_the_others(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, failures: Failures
) -> None:
    pieces: list[Piece] = []
    broken: dict[Piece, BaseException] = {}
    real = Attempts.carry_out

    async def watched(self: Attempts, piece: Piece, work: Work, **more: object) -> object:
        pieces.append(piece)
        if piece in broken:
            work = raising(broken[piece])
        return await real(self, piece, work, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Attempts, "carry_out", watched)
    await stage.engine.idle.run()
    pieces.clear()
    await stage.engine.idle.run()
    usual = list(pieces)
    of_soul = [piece for piece in usual if piece.soul == "s2"]
    assert len(of_soul) > 12
    for number, piece in enumerate(of_soul):
        kind = KINDS[number % len(KINDS)]
        broken = {piece: kind()}
        pieces.clear()
        await stage.engine.idle.run()
        assert pieces == usual
        (note,) = notes(stage)
        assert "Mira2" in note
        assert piece.part in note
        assert len(failures.told) == 1
        failures.told.clear()
    broken = {}
    await stage.engine.idle.run()
    assert notes(stage) == []


async def test_what_failed_is_tried_again_in_the_same_quiet_time(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, failures: Failures
) -> None:
    backups = stage.engine.idle.backups
    done: list[str] = []

    async def fails() -> None:
        done.append("failed")
        raise OverflowError

    async def works() -> None:
        done.append("worked")

    monkeypatch.setattr(backups, "run_idle", fails)
    await stage.engine.idle.run()
    monkeypatch.setattr(backups, "run_idle", works)
    await stage.engine.idle.go_on()
    assert done == ["failed"]
    stage.clock.advance(timedelta(minutes=10).total_seconds())
    await stage.engine.idle.go_on()
    await stage.engine.idle.go_on()
    assert done == ["failed", "worked"]
    assert notes(stage) == []
    failures.told.clear()


async def test_what_failed_of_a_soul_that_was_deleted_is_told_no_longer(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, failures: Failures
) -> None:
    attempts = stage.engine.services.attempts
    attempts.begin_round()
    await attempts.carry_out(Piece("digests", soul=None, what="x"), raising(KeyError()))
    attempts.end_round()
    assert len(notes(stage)) == 1
    await stage.engine.idle.run()
    assert notes(stage) == []
    failures.told.clear()


async def test_a_cancelled_round_ends_and_is_no_failure(stage: Stage) -> None:
    began = asyncio.Event()

    async def endless() -> None:
        began.set()
        await asyncio.Event().wait()

    attempts = stage.engine.services.attempts
    round_ = asyncio.create_task(attempts.carry_out(Piece("endless"), endless))
    await began.wait()
    round_.cancel()
    with pytest.raises(asyncio.CancelledError):
        await round_
    assert notes(stage) == []


@pytest.mark.parametrize("kind", [k for k in KINDS if k is not asyncio.CancelledError])
async def test_the_watch_goes_on_whatever_idle_raises(
    kind: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "_CHECK_SECONDS", 0.001)
    twice = asyncio.Event()
    count = 0

    async def work() -> None:
        nonlocal count
        count += 1
        if count == 2:
            twice.set()
        raise kind

    life = Lifecycle(0.0, work, work)
    life.start()
    await asyncio.wait_for(twice.wait(), 30)
    await life.stop()
