"""The default embedder: any sentence-transformers model, by hub name or folder, on the CPU."""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.errors import ModelUnavailable
from soulmem.ports.embedder import Embedder, EmbedderError

DEFAULT_MODEL = "intfloat/multilingual-e5-small"
# What each family was trained to see before a text; a name must contain the key. Both sides of a match get
# the same prompt: memory and message are the same kind of text.
FAMILY_PROMPTS = {"e5": "query: "}
_WEIGHTS = (
    "model.safetensors",
    "pytorch_model.bin",
    "model.safetensors.index.json",
    "pytorch_model.bin.index.json",
)
_REACH_SECONDS = 4.0  # a hub that does not answer by then is away: the fallback serves meanwhile
_SAMPLE_BYTES = 1 << 20


class SentenceTransformerEmbedder:
    """A loaded model with its prompt."""

    def __init__(self, model: Any, *, name: str, prompt: str, identity: str, batch: int) -> None:
        self._model = model
        self._prompt = prompt
        self._batch = batch
        self.name = name
        self.model = identity
        self.dim = int(_dimension(model))

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `soulmem.ports.embedder.Embedder`."""
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        try:
            raw = self._model.encode(
                list(texts), prompt=self._prompt, batch_size=self._batch, show_progress_bar=False
            )
        except (RuntimeError, ValueError) as error:
            raise EmbedderError(f"{self.name} failed on {len(texts)} texts: {error}") from error
        vectors = np.ascontiguousarray(raw, np.float32)
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(length).all() or not length.all():
            raise EmbedderError(f"{self.name} gave a vector without a direction")
        return np.asarray(vectors / length, np.float32)


def prompt_of(name: str) -> str:
    """The default prompt of a model by its name or folder; "" for a family that is not known."""
    leaf = name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1].lower()
    return next(
        (prompt for family, prompt in FAMILY_PROMPTS.items() if family in leaf.replace("_", "-").split("-")),
        "",
    )


def is_on_disk(name: str, *, cache_folder: str | None = None) -> bool:
    """Whether `name` can be loaded without the network. Never touches the network; imports nothing heavy."""
    return _folder_of(name, cache_folder) is not None


def load(
    name: str = DEFAULT_MODEL,
    *,
    query_prompt: str | None = None,
    cache_folder: str | None = None,
    max_tokens: int = 256,
    batch: int = 16,
    threads: int | None = None,
) -> Embedder:
    """Load `name` (hub name or folder). `query_prompt` None means `prompt_of(name)`.

    Blocks for 5-30 s, longer when it has to download. Raises ModelUnavailable, within seconds when the hub is
    away.
    """
    folder = _folder_of(name, cache_folder)
    if folder is None:
        if Path(name).is_absolute() or name.startswith((".", "~")):
            raise ModelUnavailable(
                f"no sentence-transformers model in the folder {name!r}: check embedder.model"
            )
        _require_hub(name)
    try:
        torch = import_module("torch")
        library = import_module("sentence_transformers")
    except ImportError as error:
        raise ModelUnavailable(
            f"{error.name} is not installed: run `pip install sentence-transformers`,"
            " or set embedder.model to `fallback`"
        ) from error
    if threads is not None:
        torch.set_num_threads(threads)
    try:
        model = library.SentenceTransformer(
            str(folder or name),
            device="cpu",  # the GPU belongs to the language model beside us
            cache_folder=None if folder else cache_folder,
            local_files_only=folder is not None,
            model_kwargs={"dtype": torch.float32},
        )
    except (OSError, ValueError, RuntimeError, KeyError, ImportError) as error:
        raise ModelUnavailable(f"{name!r} cannot be loaded: {error}") from error
    model.max_seq_length = min(model.max_seq_length or max_tokens, max_tokens)
    folder = folder or _folder_of(name, cache_folder)
    prompt = prompt_of(name) if query_prompt is None else query_prompt
    mark = _fingerprint(folder) if folder else "unknown"
    leaf = name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    return SentenceTransformerEmbedder(
        model,
        name=name,
        prompt=prompt,
        identity=f"{leaf}@{mark} prompt={prompt!r} {model.max_seq_length} tokens",
        batch=batch,
    )


def _dimension(model: Any) -> int:
    ask = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
    return int(ask())


def _folder_of(name: str, cache_folder: str | None) -> Path | None:
    """The folder that holds the whole model, or None."""
    here = Path(name).expanduser()
    if here.is_dir():
        return here if _is_complete(here) else None
    owner_and_name = name if "/" in name else f"sentence-transformers/{name}"
    cached = _cache(cache_folder) / ("models--" + owner_and_name.replace("/", "--"))
    try:
        revision = (cached / "refs" / "main").read_text(encoding="utf-8").strip()
    except OSError:
        return None
    snapshot = cached / "snapshots" / revision
    return snapshot if _is_complete(snapshot) else None


def _cache(cache_folder: str | None) -> Path:
    """Where the hub client keeps models; the order of its own documentation."""
    if cache_folder:
        return Path(cache_folder).expanduser()
    for variable, below in (("SENTENCE_TRANSFORMERS_HOME", ""), ("HF_HUB_CACHE", ""), ("HF_HOME", "hub")):
        if value := os.environ.get(variable):
            return Path(value).expanduser() / below
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "huggingface" / "hub"


def _is_complete(folder: Path) -> bool:
    inner = folder / "0_Transformer"  # how old releases laid a model out
    return any(
        (place / "config.json").is_file() and any((place / weights).is_file() for weights in _WEIGHTS)
        for place in (folder, inner)
    )


def _require_hub(name: str) -> None:
    """Raise ModelUnavailable unless the hub's door opens within `_REACH_SECONDS`."""
    remedy = "go online once, or put the model in a folder and set embedder.model to it"
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
        raise ModelUnavailable(f"{name!r} is not on disk and HF_HUB_OFFLINE is set: {remedy}")
    target = urlsplit(os.environ.get("HF_ENDPOINT") or "https://huggingface.co")
    door = urlsplit(getproxies().get(target.scheme) or target.geturl())
    if not _opens(door.hostname or "", door.port or (80 if door.scheme == "http" else 443)):
        raise ModelUnavailable(f"{name!r} is not on disk and {target.hostname} does not answer: {remedy}")


def _opens(host: str, port: int) -> bool:
    """Whether a TCP connection opens in time. In a thread: resolving a name has no timeout of its own."""
    opened: list[bool] = []

    def knock() -> None:
        try:
            with socket.create_connection((host, port), timeout=_REACH_SECONDS):
                opened.append(True)
        except OSError:
            return

    thread = Thread(target=knock, name="soulmem-hub-knock", daemon=True)
    thread.start()
    thread.join(_REACH_SECONDS)
    return bool(opened)


def _fingerprint(folder: Path) -> str:
    """12 hex digits that change with the weights: size and both ends of each file (all takes seconds)."""
    digest = hashlib.sha256()
    for path in sorted(
        [*folder.rglob("*.safetensors"), *folder.rglob("pytorch_model*.bin"), *folder.rglob("config.json")]
    ):
        size = path.stat().st_size
        digest.update(f"{path.name}:{size}\n".encode())
        with path.open("rb") as file:
            digest.update(file.read(_SAMPLE_BYTES))
            file.seek(max(0, size - _SAMPLE_BYTES))
            digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()[:12]
