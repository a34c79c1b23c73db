"""The writing lock hands out proof that it is held."""

from __future__ import annotations

import asyncio

import pytest

from soulmem.engine.runtime.write_lock import WriteLock


async def test_a_token_is_valid_while_the_lock_is_held() -> None:
    lock = WriteLock()
    async with lock as token:
        token.check()
    with pytest.raises(RuntimeError, match="released"):
        token.check()


async def test_one_writer_at_a_time() -> None:
    lock, order = WriteLock(), list[str]()

    async def write(name: str) -> None:
        async with lock:
            order.append(f"{name} begins")
            await asyncio.sleep(0)
            order.append(f"{name} ends")

    await asyncio.gather(write("first"), write("second"))
    assert order == ["first begins", "first ends", "second begins", "second ends"]


async def test_a_failed_write_releases_the_lock() -> None:
    lock = WriteLock()
    with pytest.raises(ValueError, match="full"):
        async with lock:
            raise ValueError("full")
    async with lock as token:
        token.check()
