"""The fake has the doors of the true engine: what passes here would pass there."""

from __future__ import annotations

import inspect

import pytest

from soulmem.engine.engine import Engine
from tests.server.fake_engine import FakeEngine

METHODS = [
    name for name in vars(FakeEngine) if not name.startswith("_") and name != "asked"
]


@pytest.mark.parametrize("name", METHODS)
def test_same_signature(name: str) -> None:
    fake, true = getattr(FakeEngine, name), getattr(Engine, name)
    assert [*inspect.signature(fake).parameters] == [
        *inspect.signature(true).parameters
    ]
    assert inspect.iscoroutinefunction(fake) == inspect.iscoroutinefunction(true)


def test_nothing_is_missing() -> None:
    true = {
        name
        for name, value in vars(Engine).items()
        if callable(value) and not name.startswith("_")
    }
    assert true == set(METHODS)
