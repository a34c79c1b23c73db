"""The packaged encoder, loaded once by all tests of a process: each copy takes 130 MB and a second."""

from __future__ import annotations

from functools import cache

from soulmem.adapters import packaged_encoder
from soulmem.ports.embedder import Embedder


@cache
def the_encoder() -> Embedder:
    """The encoder, which holds no state of its texts."""
    return packaged_encoder.load()
