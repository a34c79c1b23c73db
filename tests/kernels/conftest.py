"""Walkers with and without compiled code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from soulmem.kernels import compiled_walk
from soulmem.kernels.csr import Csr
from soulmem.kernels.walk import Walker
from soulmem.kernels.warm import kernels, warm

MakeWalker = Callable[[Csr], Walker]


@pytest.fixture(scope="session", autouse=True)
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kernels are compiled before the first test; the folder that numba keeps them in."""
    folder = tmp_path_factory.mktemp("kernels")
    warm(folder)
    assert kernels() is not None
    return folder


@pytest.fixture(params=["compiled", "pushing alone", "scipy"])
def make_walker(
    request: pytest.FixtureRequest, compiled: Path, monkeypatch: pytest.MonkeyPatch
) -> MakeWalker:
    """Makes walkers of one of the ways; on small graphs sweeps would soon take over from pushing."""
    if request.param == "pushing alone":
        monkeypatch.setattr(compiled_walk, "SWEEP_COST", 0.0)
    return (
        (lambda graph: Walker(graph, lambda: None))
        if request.param == "scipy"
        else Walker
    )
