"""What the tests of adapters share: a place for a store."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Where a store on disk may be."""
    return f"surrealkv://{tmp_path}/data"
