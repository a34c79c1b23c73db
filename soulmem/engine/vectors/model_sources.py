"""Where a model that turns texts into vectors comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from soulmem.ports.embedder import Embedder


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model that can be loaded.

    `load` blocks and raises SoulMemError; `is_at_hand` never touches the network.
    """

    name: str
    is_local: Callable[[], bool]
    load: Callable[[], Embedder]
