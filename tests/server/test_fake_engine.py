"""The fake has the methods of the true engine: what passes here would pass there."""

from __future__ import annotations

import inspect
from typing import get_type_hints

import pytest

from soulmem.engine.editing.memory_editor import MemoryEditor
from soulmem.engine.engine import Engine
from soulmem.engine.idle import IdleWork
from soulmem.engine.recall.recaller import Recaller
from soulmem.engine.sync.chats import ChatService
from soulmem.engine.sync.souls import SoulService
from tests.server.fake_engine import FakeEngine

SERVICES = {
    "souls": SoulService,
    "chats": ChatService,
    "memories": MemoryEditor,
    "recaller": Recaller,
    "idle": IdleWork,
}


def methods() -> list[tuple[str, str]]:
    """Each service of the fake with each of its methods."""
    pairs = []
    for service in SERVICES:
        pairs += [(service, method) for method in vars(getattr(FakeEngine(), service))]
    return pairs


OWN = ["start", "stop", "opened", "unsaved", "health", "touched", "advance_clock"]


def parameters(function: object) -> list[tuple[str, object]]:
    """Name and default of each parameter but self."""
    signature = inspect.signature(function)  # type: ignore[arg-type]
    return [
        (name, parameter.default)
        for name, parameter in signature.parameters.items()
        if name != "self"
    ]


@pytest.mark.parametrize(("service", "method"), methods())
def test_methods_of_services_have_the_same_parameters(service: str, method: str) -> None:
    fake = getattr(getattr(FakeEngine(), service), method)
    true = getattr(SERVICES[service], method)
    wanted = dict(parameters(true))
    assert inspect.iscoroutinefunction(fake) == inspect.iscoroutinefunction(true)
    names = [name for name, _ in parameters(fake)]
    assert names == [name for name in wanted if name in names]
    for name, default in wanted.items():
        assert name in names or default is not inspect.Parameter.empty


@pytest.mark.parametrize("method", OWN)
def test_own_methods_have_the_same_parameters(method: str) -> None:
    fake, true = getattr(FakeEngine, method), getattr(Engine, method)
    assert [name for name, _ in parameters(fake)] == [name for name, _ in parameters(true)]
    assert inspect.iscoroutinefunction(fake) == inspect.iscoroutinefunction(true)


def test_services_are_those_of_the_engine() -> None:
    hints = get_type_hints(Engine)
    assert {name: hints[name] for name in SERVICES} == SERVICES
