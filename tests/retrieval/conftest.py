"""Compiled kernels for the tests that compare them with what does without."""

from __future__ import annotations

from pathlib import Path

import pytest

from soulmem.kernels.warm import installed_cache, warm


@pytest.fixture(scope="module")
def compiled() -> Path:
    """The kernels are compiled."""
    folder = installed_cache()
    warm(folder)
    return folder
