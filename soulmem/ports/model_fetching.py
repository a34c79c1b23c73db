"""Port: brings the wanted embedding model onto this computer, when the user asks for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

# Called often with how much is done, of how much, and in which unit; what it raises ends the work.
Report = Callable[[int, int, str], None]


class Way(str, Enum):
    """Where the model comes from."""

    PACKAGE = "package"  # from a Python package that carries its weights
    HUB = "hub"  # from the model hub
    DISK = "disk"  # it was put onto this computer by other means


class Lack(str, Enum):
    """What the wanted model lacks on this computer."""

    NOTHING = "nothing"
    WEIGHTS = "weights"
    LIBRARY = "library"  # the libraries that run it


@dataclass(frozen=True, slots=True)
class ModelOrigin:
    """Where the wanted model can come from.

    lack      what is missing on this computer
    hub       address of the model hub
    own_hub   whether the user chose this address with `set_hub`
    package   the Python package that carries the model, as pip wants it; empty if none does
    """

    lack: Lack
    hub: str
    own_hub: bool
    package: str


class ModelFetcher(Protocol):
    """Fetches the model of the settings. Every method blocks: never called on the event loop."""

    def origin(self) -> ModelOrigin:
        """Where the model can come from, without the network."""
        ...

    def set_hub(self, address: str) -> None:
        """Use this address of the hub from now on; empty: that of the settings.

        Raises Unprocessable for what is no address, StoreError if it cannot be stored.
        """
        ...

    def fetch(self, way: Way, report: Report) -> None:
        """Bring the model onto this computer; `DISK` only checks that it is there.

        Raises ModelUnavailable, StoreError, and what `report` raises; then what was there before stays.
        """
        ...
