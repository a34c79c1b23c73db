"""A fetcher of models that has nothing to download: it says when the model is there."""

from __future__ import annotations

import threading
from collections.abc import Callable

from soulmem.domain.errors import ModelUnavailable, SoulMemError, Unprocessable
from soulmem.domain.web_addresses import is_web_address
from soulmem.ports.model_fetching import Lack, ModelOrigin, Report, Way

SETTING = "https://setting.example"


class FakeFetcher:
    """Fetches in two pieces, and waits between them while `goes_on` is clear.

    way      the ways that were asked for
    failure  what `fetch` raises
    came     called when the model is there
    """

    def __init__(self, came: Callable[[], None] = lambda: None) -> None:
        self.ways: list[Way] = []
        self.failure: SoulMemError | None = None
        self.goes_on = threading.Event()
        self.goes_on.set()
        self._came = came
        self._own = ""
        self._is_here = False

    def origin(self) -> ModelOrigin:
        """See `ModelFetcher`."""
        lack = Lack.NOTHING if self._is_here else Lack.WEIGHTS
        return ModelOrigin(lack, self._own or SETTING, bool(self._own), "pack==1.0")

    def set_hub(self, address: str) -> None:
        """See `ModelFetcher`."""
        if address and not is_web_address(address):
            raise Unprocessable(f"{address} is no address", field="hub")
        self._own = address

    def fetch(self, way: Way, report: Report) -> None:
        """See `ModelFetcher`."""
        self.ways.append(way)
        if way is Way.DISK:
            if not self._is_here:
                raise ModelUnavailable("it is not here")
            return
        report(1, 2, "pieces")
        while not self.goes_on.wait(0.01):
            report(1, 2, "pieces")
        if self.failure is not None:
            raise self.failure
        report(2, 2, "pieces")
        self._is_here = True
        self._came()
