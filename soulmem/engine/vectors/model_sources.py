"""ModelSource: an embedding model that can be loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from soulmem.ports.embedder import Embedder


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model that can be loaded.

    `load` blocks and raises SoulMemError. `is_local` says whether it needs no download,
    without using the network.
    """

    name: str
    is_local: Callable[[], bool]
    load: Callable[[], Embedder]
