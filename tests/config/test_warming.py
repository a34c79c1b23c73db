"""The sidecar makes ready in the background what the first recall would wait for."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from soulmem import bootstrap
from soulmem.config.load import load


def test_kernels_come_first_then_what_recalls_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, done = list[str](), threading.Event()

    def prepare() -> None:
        made.append("recalls")
        done.set()

    monkeypatch.setattr(bootstrap, "warm", lambda cache: made.append("kernels"))
    monkeypatch.setattr(bootstrap, "prepare_recalls", prepare)
    env = {"SOULMEM_DATA": str(tmp_path), "SOULMEM_EMBEDDER_MODEL": "none"}
    bootstrap.build_engine(load(env=env)).warming.start()
    assert done.wait(10)
    assert made == ["kernels", "recalls"]
