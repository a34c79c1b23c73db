"""Calls that block run on few threads; what is cancelled before its turn is not done."""

from __future__ import annotations

import asyncio
import threading

import pytest

from soulmem.tools.mcp_server import Workers


async def test_results_and_errors_come_back() -> None:
    workers = Workers(2)
    assert await workers.run(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        await workers.run(lambda: 1 // 0)


async def test_a_thousand_calls_need_no_more_threads_than_allowed() -> None:
    workers, threads = Workers(3), set[str]()
    names = await asyncio.gather(*(workers.run(lambda: threading.get_ident()) for _ in range(1000)))
    threads.update(map(str, names))
    assert 1 <= len(threads) <= 3


async def test_what_was_cancelled_before_its_turn_is_not_done() -> None:
    workers, gate, done = Workers(1), threading.Event(), list[int]()
    first = asyncio.create_task(workers.run(gate.wait))
    second = asyncio.create_task(workers.run(lambda: done.append(2)))
    third = asyncio.create_task(workers.run(lambda: done.append(3)))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    gate.set()
    await asyncio.gather(first, third)
    assert done == [3]
