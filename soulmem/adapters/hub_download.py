"""Downloads the files of a model from a hub into the hub's cache on this disk, with progress."""

from __future__ import annotations

import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from soulmem.domain.errors import ModelUnavailable
from soulmem.domain.phrases import phrase
from soulmem.ports.model_fetching import Report

UNIT = "downloaded"  # of the progress: MiB of the model
_MIB = 1 << 20
_SMALL = (
    ".json",
    ".txt",
    ".model",
    ".md",
)  # ends of the names of what goes with the weights
_SAFE, _OLDER = (
    ".safetensors",
    "pytorch_model",
)  # weights; the older ones only where the others are missing
_OTHER_ENGINES = ("onnx", "openvino")  # folders with the same model for other libraries
_REPORT_SECONDS = 0.2


def download(name: str, hub: str, cache: Path, report: Report | None = None) -> None:
    """Download what is missing of the model `name` in the cache.

    Raises ModelUnavailable, and what `report` raises; what came so far stays and is not downloaded again.
    """
    library, httpx = import_module("huggingface_hub"), import_module("httpx")
    try:
        listed = library.HfApi(endpoint=hub).model_info(name, files_metadata=True)
        sizes = {file.rfilename: file.size or 0 for file in listed.siblings or ()}
        files = _wanted(list(sizes))
        meter = _Meter(report, sum(sizes[file] for file in files))
        for file in files:
            library.hf_hub_download(
                name,
                file,
                endpoint=hub,
                cache_dir=cache,
                tqdm_class=_bar(meter),
            )
            meter.file_done(sizes[file])
    except (OSError, ValueError, RuntimeError, LookupError, httpx.HTTPError) as error:
        raise ModelUnavailable(
            phrase(
                "embedder_not_downloaded",
                "'{name}' cannot be downloaded from {hub}: {error}",
                name=name,
                hub=hub,
                error=error,
            )
        ) from error


def _wanted(files: Sequence[str]) -> list[str]:
    """The files that the loader reads: the small ones, and weights of one form."""
    ours = [file for file in files if not file.startswith(_OTHER_ENGINES)]
    weights = [file for file in ours if file.endswith(_SAFE)] or [
        file for file in ours if file.rpartition("/")[2].startswith(_OLDER)
    ]
    small = [file for file in ours if file.endswith(_SMALL)]
    return list(dict.fromkeys((*small, *weights)))


class _Meter:
    """Reports how much of all files has come."""

    def __init__(self, report: Report | None, total: int) -> None:
        self._report = report
        self._total = total
        self._before = 0  # bytes of the files that are complete
        self._told = float("-inf")  # monotonic seconds

    def file_done(self, size: int) -> None:
        """A file is complete."""
        self._before += size
        self.tell(0)

    def tell(self, size: int) -> None:
        """So many bytes of the next file have come."""
        if self._report is None or time.monotonic() - self._told < _REPORT_SECONDS:
            return
        self._told = time.monotonic()
        done = min(self._before + size, self._total)
        self._report(done // _MIB, self._total // _MIB, UNIT)


def _bar(meter: _Meter) -> Any:
    """A class of progress bars that print nothing, and tell the meter."""

    class Bar(import_module("tqdm").tqdm):  # type: ignore[misc]  # has no types
        def __init__(self, *arguments: Any, **options: Any) -> None:
            options.pop("name", None)
            super().__init__(*arguments, **{**options, "disable": True})
            self.arrived = int(options.get("initial") or 0)

        def update(self, n: float | None = 1) -> None:
            self.arrived += int(n or 0)
            meter.tell(self.arrived)

    return Bar
