"""When are walks compiled? In the background after the start; until then they take a slower way."""

from __future__ import annotations

import gc
import logging
import threading
from collections.abc import Callable

log = logging.getLogger(__name__)

_NEVER = 1_000_000  # rounds of the collector's middle generation before a full one


class KernelCompilation:
    """Runs `warm` once, on a thread of its own that nobody waits for."""

    def __init__(self, warm: Callable[[], object] | None) -> None:
        self._warm = warm
        self._note: str | None = None
        self._done = threading.Event()
        if warm is None:
            self._done.set()

    @property
    def state(self) -> str:
        """`warming` or `ok`."""
        return "ok" if self._done.is_set() else "warming"

    def notes(self) -> tuple[str, ...]:
        """What the user should know, in words."""
        return () if self._note is None else (self._note,)

    def start(self) -> None:
        """Begin; returns at once."""
        if self._warm is not None:
            # A daemon: whoever stops the sidecar does not wait for a compiler.
            threading.Thread(
                target=self._run, args=(self._warm,), name="soulmem-warm", daemon=True
            ).start()

    def _run(self, warm: Callable[[], object]) -> None:
        thresholds = gc.get_threshold()
        # A compiler makes so many objects that the collector would go over all memory again and again, and
        # hold the event loop for 100 to 250 ms each time; without it the loop is late by 35 ms at most.
        gc.set_threshold(thresholds[0], thresholds[1], _NEVER)
        try:
            warm()
        except Exception as error:  # recall goes on, so whatever a compiler may raise is worth a note only
            log.warning("the walks could not be compiled", exc_info=True)
            self._note = (
                f"The fast way through the graph could not be made ready ({error or type(error).__name__})."
                " Recall works, more slowly."
            )
        finally:
            gc.freeze()
            gc.set_threshold(*thresholds)
            self._done.set()
