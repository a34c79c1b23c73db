"""Compiles the walk kernels in the background; until then walks use a slower path."""

from __future__ import annotations

import gc
import logging
import threading
from collections.abc import Callable

from soulmem.domain.phrases import Wording, phrase

log = logging.getLogger(__name__)

_NEVER = 1_000_000  # rounds of the collector's middle generation before a full one


class KernelCompilation:
    """Runs `warm` once, on a separate thread that no one waits for."""

    def __init__(self, warm: Callable[[], object] | None) -> None:
        self._warm = warm
        self._note: Wording | None = None
        self._done = threading.Event()
        if warm is None:
            self._done.set()

    @property
    def state(self) -> str:
        """`warming` or `ok`."""
        return "ok" if self._done.is_set() else "warming"

    def notes(self) -> tuple[Wording, ...]:
        """The notes for the user on a failed compilation."""
        return () if self._note is None else (self._note,)

    def start(self) -> None:
        """Begin the compilation; returns at once."""
        if self._warm is not None:
            # A daemon: stopping the sidecar does not wait for the compiler.
            threading.Thread(
                target=self._run, args=(self._warm,), name="soulmem-warm", daemon=True
            ).start()

    def _run(self, warm: Callable[[], object]) -> None:
        thresholds = gc.get_threshold()
        # The compiler creates so many objects that full collections would follow each other and
        # block the event loop for 100 to 250 ms each; without them it is late by at most 35 ms.
        gc.set_threshold(thresholds[0], thresholds[1], _NEVER)
        try:
            warm()
        except (
            Exception
        ) as error:  # recall works without it, so any error becomes a note
            log.warning("the walks could not be compiled", exc_info=True)
            self._note = phrase(
                "kernels_uncompiled",
                "The fast way through the graph could not be made ready ({error})."
                " Recall works, more slowly.",
                error=str(error) or type(error).__name__,
            )
        finally:
            gc.freeze()
            gc.set_threshold(*thresholds)
            self._done.set()
