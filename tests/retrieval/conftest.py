"""Compiled kernels for the tests that compare them with what does without."""

from __future__ import annotations

from pathlib import Path

import pytest

from soulmem.kernels.warm import warm


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kernels are compiled."""
    folder = tmp_path_factory.mktemp("kernels")
    warm(folder)
    return folder
