"""Which kernels a call gets before, while and after they are compiled, and where that failed."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import cast

import pytest

from soulmem.kernels import warm as module
from soulmem.kernels.compiled import Kernels
from soulmem.kernels.interpreted import INTERPRETED
from soulmem.kernels.warm import INTERPRETED_MOST, kernels, state, warm

COMPILED = cast(Kernels, object())


@pytest.fixture(autouse=True)
def _nothing_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ready", [])
    monkeypatch.setattr(module, "_failed", threading.Event())
    monkeypatch.setattr(module, "_compile", lambda cache: COMPILED)


def test_a_small_call_is_interpreted_and_waits_for_nothing() -> None:
    assert kernels() is INTERPRETED
    assert kernels(INTERPRETED_MOST) is INTERPRETED
    assert state() == "warming"


def test_a_large_call_is_compiled() -> None:
    assert kernels(INTERPRETED_MOST + 1) is COMPILED
    assert kernels() is COMPILED
    assert state() == "ok"


def test_a_large_call_waits_for_the_thread_that_compiles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started, go_on = threading.Event(), threading.Event()

    def compile_slowly(cache: Path | None) -> Kernels:
        started.set()
        assert go_on.wait(5)
        return COMPILED

    monkeypatch.setattr(module, "_compile", compile_slowly)
    compiling = threading.Thread(target=warm, args=(None,))
    compiling.start()
    assert started.wait(5)
    assert kernels(1) is INTERPRETED
    threading.Timer(0.05, go_on.set).start()
    assert kernels(INTERPRETED_MOST + 1) is COMPILED
    compiling.join(5)


def test_where_compilation_failed_everything_is_interpreted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(cache: Path | None) -> Kernels:
        raise OSError("no compiler")

    monkeypatch.setattr(module, "_compile", fail)
    with pytest.raises(OSError, match="no compiler"):
        warm(None)
    assert kernels(10 * INTERPRETED_MOST) is INTERPRETED
