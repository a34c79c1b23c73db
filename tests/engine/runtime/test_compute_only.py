"""Functions that work on a mind fail when the engine calls them on the event loop."""

from __future__ import annotations

import asyncio

import pytest

from soulmem.engine.runtime.worker import compute_only


@compute_only
def double(number: int) -> int:
    """Twice the number."""
    return 2 * number


@compute_only
def quadruple(number: int) -> int:
    """Four times the number, by a marked function."""
    return double(double(number))


def in_module_of_soulmem(number: int) -> int:
    """Calls the marked function from code whose module is one of soulmem."""
    scope: dict[str, object] = {
        "__name__": "soulmem.engine.somewhere",
        "quadruple": quadruple,
        "number": number,
    }
    exec("result = quadruple(number)", scope)
    return int(str(scope["result"]))


async def test_on_the_loop_it_fails() -> None:
    with pytest.raises(AssertionError, match="quadruple computes on the event loop"):
        in_module_of_soulmem(2)


async def test_on_another_thread_it_works() -> None:
    assert await asyncio.to_thread(in_module_of_soulmem, 2) == 8


def test_without_a_loop_it_works() -> None:
    assert in_module_of_soulmem(2) == 8


async def test_a_test_may_call_it_itself() -> None:
    assert quadruple(2) == 8
