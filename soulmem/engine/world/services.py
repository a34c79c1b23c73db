"""The shared services that most services of the engine are built from."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from soulmem.domain.ids import Owner
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.world.attempts import Attempts
from soulmem.engine.world.audit import Auditor
from soulmem.engine.world.edge_loader import EdgeLoader
from soulmem.engine.world.world import World
from soulmem.ports.clock import Clock
from soulmem.ports.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Shared services; made once, by `wiring`."""

    store: Store
    compute: Worker
    clock: Clock
    auditor: Auditor
    loader: EdgeLoader
    attempts: Attempts
    world_of: Callable[[Owner], Awaitable[World]]  # waits until the store is open
