"""A cold start answers at once, reports that it compiles, and survives a failing compiler."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable

import pytest

from soulmem.engine.engine import Engine
from soulmem.engine.runtime.garbage import no_full_collections
from soulmem.engine.wiring import Ports, wire_engine
from tests.fakes.clock import StillClock
from tests.fakes.spool import FakeSpool
from tests.fakes.store import FakeStore


def engine_with(warm: Callable[[], object] | None) -> Engine:
    """An engine that compiles with `warm`."""
    return wire_engine(
        Ports(
            store=FakeStore(),
            clock=StillClock(),
            model=None,
            fallback=None,
            warm=warm,
            spool=FakeSpool(),
        )
    )


async def wait_until_warm(engine: Engine) -> None:
    """Wait until health reports compiled kernels."""
    for _ in range(1000):
        if engine.health().kernels == "ok":
            return
        await asyncio.sleep(0.005)
    raise AssertionError("still warming")


async def test_health_says_warming_until_it_is_done() -> None:
    go_on = threading.Event()
    engine = engine_with(lambda: go_on.wait(10))
    states = [engine.health().kernels]
    await engine.start()
    await engine.opened()
    await asyncio.sleep(0.02)
    states.append(engine.health().kernels)
    go_on.set()
    await wait_until_warm(engine)
    await engine.stop()
    assert states == ["warming", "warming"]
    assert engine.health().notes == ()


async def test_without_a_compiler_nothing_is_awaited() -> None:
    assert engine_with(None).health().kernels == "ok"


async def test_a_compiler_that_fails_is_a_note(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail() -> None:
        raise OSError("no compiler here")

    engine = engine_with(fail)
    await engine.start()
    await wait_until_warm(engine)
    await engine.stop()
    (note,) = engine.health().notes
    assert "no compiler here" in str(note)
    assert "Recall works" in str(note)
    assert engine.health().status == "ok"


async def test_no_full_collection_while_compiling() -> None:
    """A full one holds the event loop; afterwards the collector works as before."""
    usual = gc.get_threshold()
    gc.set_threshold(*usual[:2], 900)  # Python begins with 10, which would hold the loop here
    before = gc.get_threshold()
    during: list[tuple[int, int, int]] = []
    engine = engine_with(lambda: during.append(gc.get_threshold()))
    await engine.start()
    await wait_until_warm(engine)
    await engine.stop()
    after = gc.get_threshold()
    gc.set_threshold(*usual)
    assert during[0][:2] == before[:2]
    assert during[0][2] > 1000 * before[2]
    assert after == before


def test_of_two_who_want_no_full_collection_the_last_lets_them_begin_again() -> None:
    """The compiler and a soul that opens overlap, and either may end first."""
    usual = gc.get_threshold()
    gc.set_threshold(*usual[:2], 900)
    compiling, opening = no_full_collections(), no_full_collections()
    compiling.__enter__()
    opening.__enter__()
    compiling.__exit__(None, None, None)
    between = gc.get_threshold()
    opening.__exit__(None, None, None)
    after = gc.get_threshold()
    gc.set_threshold(*usual)
    assert between[2] > 1000 * 900
    assert after == (*usual[:2], 900)
