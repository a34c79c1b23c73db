"""Compiles the walk kernels in the background; until then walks use a slower path."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from soulmem.domain.phrases import Wording, phrase
from soulmem.engine.runtime.garbage import no_full_collections

log = logging.getLogger(__name__)


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
        try:
            # With full collections the event loop is late by 100 to 250 ms, without them by at most 35
            with no_full_collections():
                warm()
        except Exception as error:  # recall works without it, so any error becomes a note
            log.warning("the walks could not be compiled", exc_info=True)
            self._note = phrase(
                "kernels_uncompiled",
                "The fast way through the graph could not be made ready ({error})."
                " Recall works, more slowly.",
                error=str(error) or type(error).__name__,
            )
        finally:
            self._done.set()
