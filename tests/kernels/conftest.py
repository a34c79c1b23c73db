"""Walkers over compiled kernels, with and without sweeps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from soulmem.kernels import laid_out_graph
from soulmem.kernels.csr import Csr
from soulmem.kernels.walk import Walker
from soulmem.kernels.warm import installed_cache, state, warm

MakeWalker = Callable[[Csr], Walker]


@pytest.fixture(scope="session", autouse=True)
def compiled() -> Path:
    """The kernels are compiled before the first test; the folder that numba keeps them in."""
    folder = installed_cache()
    warm(folder)
    assert state() == "ok"
    return folder


@pytest.fixture(params=["with sweeps", "pushing alone"])
def make_walker(
    request: pytest.FixtureRequest, compiled: Path, monkeypatch: pytest.MonkeyPatch
) -> MakeWalker:
    """Makes walkers; on small graphs sweeps would soon take over from pushing."""
    if request.param == "pushing alone":
        monkeypatch.setattr(laid_out_graph, "SWEEP_COST", 0.0)
    return Walker
