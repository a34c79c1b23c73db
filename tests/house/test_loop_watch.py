"""Does the watch over the event loop catch what it is there for, and only that?"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from types import CodeType

import pytest
from blockbuster import BlockingError

import soulmem
from tests.conftest import LOOP_BUDGET, LoopWatch


def compute(seconds: float) -> None:
    """Use this much CPU."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


async def test_computing_on_the_loop_is_caught(loop_watch: LoopWatch) -> None:
    compute(3 * LOOP_BUDGET)
    await asyncio.sleep(0)  # ends the step, and with it the measurement
    caught, loop_watch.blocked[:] = list(loop_watch.blocked), []
    assert len(caught) == 1
    assert "in compute" in caught[0]


async def test_computing_in_a_thread_is_allowed(loop_watch: LoopWatch) -> None:
    await asyncio.to_thread(compute, 3 * LOOP_BUDGET)
    await asyncio.sleep(0)
    assert loop_watch.blocked == []


async def test_many_short_steps_are_allowed(loop_watch: LoopWatch) -> None:
    for _ in range(10):
        compute(LOOP_BUDGET / 5)
        await asyncio.sleep(0)
    assert loop_watch.blocked == []


@pytest.fixture
def waits_in_soulmem() -> CodeType:
    """Code that sleeps, as if it stood in a file of soulmem."""
    home = Path(soulmem.__file__).parent
    return compile("import time\ntime.sleep(0.001)", str(home / "sleepy.py"), "exec")


async def test_waiting_on_the_loop_is_caught(waits_in_soulmem: CodeType) -> None:
    with pytest.raises(BlockingError, match=r"time\.sleep"):
        exec(waits_in_soulmem, {})


async def test_waiting_in_a_thread_is_allowed(waits_in_soulmem: CodeType) -> None:
    await asyncio.to_thread(exec, waits_in_soulmem, {})
