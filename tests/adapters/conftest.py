"""What the tests of adapters share: a small heap, a place for a store."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def small_heap() -> None:
    """Take what pytest holds out of the garbage collector's sight: a full pass takes 100 ms on the loop."""
    gc.freeze()


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Where a store on disk may be."""
    return f"surrealkv://{tmp_path}/data"
