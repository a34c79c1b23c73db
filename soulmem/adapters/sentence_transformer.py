"""Loads and runs a sentence-transformers model."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.adapters.hub_address import HubAddress
from soulmem.adapters.hub_download import download
from soulmem.adapters.model_hub import (
    cache_of,
    fingerprint,
    folder_of,
    full_name,
    is_complete,
    require_hub,
)
from soulmem.adapters.model_passes import ModelPasses
from soulmem.adapters.own_tokens import TokenReader
from soulmem.domain.errors import ModelUnavailable
from soulmem.domain.phrases import phrase
from soulmem.ports.embedder import (
    Embedder,
    EmbedderError,
    TextInContext,
    TokenStates,
)
from soulmem.ports.model_fetching import Report

# The query prompt of each known family, by a word in the names of its models.
FAMILY_PROMPTS = {"e5": "query: "}
# Keys of a query prompt in a model's own files.
_PROMPT_KEYS = ("query", "search_query", "s2p_query", "web_search_query")
_CARD_CHARACTERS = 20_000  # of a model card that are searched
_FAMILY_NAME = re.compile(r"\be5-(?:small|base|large)\b", re.IGNORECASE)  # in a card


@dataclass(frozen=True, slots=True)
class ModelPrompt:
    """`text` is put before every text; `family` is the model's known family, if any."""

    text: str
    family: str | None = None


def prompt_for(name: str, folder: Path | None, prompts: Mapping[str, str] | None) -> ModelPrompt:
    """The prompt of a model by its own files, its model card, or its name at the hub.

    name     name in the settings: a hub name or a folder
    folder   folder of its files, if they are on this machine
    prompts  the prompts in its own files, by key
    """
    family = _family_of(name, folder)
    own_prompts = prompts or {}
    own = next((own_prompts[key] for key in _PROMPT_KEYS if own_prompts.get(key)), None)
    if own is not None:
        return ModelPrompt(own, family)
    return ModelPrompt(FAMILY_PROMPTS.get(family or "", ""), family)


def _family_of(name: str, folder: Path | None) -> str | None:
    names = [] if folder is not None and Path(name).expanduser() == folder else [name]
    if folder is not None:
        names += _names_in(folder)
        # A folder of the hub's cache has the model's name.
        names += [part for part in folder.parts if part.startswith("models--")]
    for model_name in names:
        words = re.split(r"[^a-z0-9]+", model_name.lower())
        for family in FAMILY_PROMPTS:
            if family in words:
                return family
    return None


def _names_in(folder: Path) -> list[str]:
    """The model's names in its configuration and its card."""
    names = []
    with suppress(OSError, ValueError, AttributeError):
        config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        names.append(str(config.get("_name_or_path") or ""))
    with suppress(OSError, ValueError):
        card = (folder / "README.md").read_text(encoding="utf-8")[:_CARD_CHARACTERS]
        names += _FAMILY_NAME.findall(card)[:1]
    return names


DEFAULT_MODEL = "intfloat/multilingual-e5-small"


class SentenceTransformerEmbedder:
    """A loaded model with its prompt."""

    def __init__(
        self,
        model: Any,
        *,
        name: str,
        prompt: str,
        lacks_prompt: bool,
        identity: str,
        batch: int,
        threads: int | None,
    ) -> None:
        """`lacks_prompt`: the model was trained with a prompt and is used without one."""
        self.prompt = prompt
        self.lacks_prompt = lacks_prompt
        self.name = name
        self.model = identity
        self.dim = int(_dimension(model))
        self._passes = ModelPasses(model, prompt, batch=batch, threads=threads)
        self._reader = TokenReader(model, prompt, self._passes)
        self.token_width = self._reader.width()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `soulmem.ports.embedder.Embedder`."""
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        try:
            vectors = self._reader.vectors(texts)
        except (RuntimeError, ValueError) as error:
            raise self._failed(len(texts), error) from error
        return self._unit(np.stack(vectors))

    def embed_tokens(self, texts: Sequence[TextInContext]) -> list[TokenStates]:
        """See `soulmem.ports.embedder.Embedder`."""
        if not self.token_width:
            raise ValueError(f"{self.name} has no token states ({len(texts)} texts)")
        if not texts:
            return []
        try:
            read = self._reader.read(texts)
        except (RuntimeError, ValueError) as error:
            raise self._failed(len(texts), error) from error
        pooled = self._unit(np.stack([states.pooled for states in read]))
        return [
            TokenStates(vector, self._unit(text.states), text.pieces, text.begins)
            for vector, text in zip(pooled, read, strict=True)
        ]

    def _failed(self, texts: int, error: Exception) -> EmbedderError:
        """The error for a pass over so many texts."""
        return EmbedderError(
            phrase(
                "embedder_failed",
                "{model} failed on {texts} texts: {error}",
                model=self.name,
                texts=texts,
                error=error,
            )
        )

    def _unit(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """The rows with length 1. Raises EmbedderError for one without a direction."""
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(length).all() or not length.all():
            raise EmbedderError(
                phrase(
                    "embedder_no_direction",
                    "{model} gave a vector without a direction",
                    model=self.name,
                )
            )
        return np.asarray(vectors / length, np.float32)


def is_on_disk(name: str, *, cache_folder: str | None = None, unpacked: Path | None = None) -> bool:
    """Whether `name` can be loaded without the network. Fast: no network, no large imports.

    `unpacked` is the folder of the same model from a package, if it was fetched.
    """
    return _folder(name, cache_folder, unpacked) is not None


def _folder(name: str, cache_folder: str | None, unpacked: Path | None) -> Path | None:
    """The complete model on this disk: that of the hub before that of the package."""
    folder = folder_of(name, cache_folder)
    if folder is None and unpacked is not None and is_complete(unpacked):
        return unpacked
    return folder


def load(
    name: str = DEFAULT_MODEL,
    *,
    query_prompt: str | None = None,
    cache_folder: str | None = None,
    max_tokens: int = 256,
    batch: int = 16,
    threads: int | None = None,
    hub: HubAddress | None = None,
    unpacked: Path | None = None,
) -> Embedder:
    """Load `name` (hub name or folder). If `query_prompt` is None, `prompt_for` chooses it.

    `threads` is the number of passes at a time; None: as many as cores are free. `hub` is where it is
    downloaded from, if it is not on this disk; `unpacked` as for `is_on_disk`.

    Blocks for 5-30 s, longer if it has to download. Raises ModelUnavailable; within seconds if the hub does
    not answer.
    """
    source = _Source(name, (hub or HubAddress()).current(), cache_folder, unpacked)
    if source.folder is None:
        source.require()
    torch, library = _libraries()
    model, folder = _load_model(torch, library, source)
    model.max_seq_length = min(model.max_seq_length or max_tokens, max_tokens)
    own = prompt_for(name, folder, getattr(model, "prompts", None))
    prompt = own.text if query_prompt is None else query_prompt
    weights = fingerprint(folder)
    embedder = SentenceTransformerEmbedder(
        model,
        name=name,
        prompt=prompt,
        lacks_prompt=own.family is not None and not prompt,
        identity=f"{_leaf(name)}@{weights} prompt={prompt!r} {model.max_seq_length} tokens a window",
        batch=batch,
        threads=threads,
    )
    embedder.embed(["warm"])  # the first text takes several times as long as the next
    return embedder


@dataclass(frozen=True, slots=True)
class _Source:
    """A model by its name, the hub that may have it, the hub's cache, and the folder of the package."""

    name: str
    hub: str
    cache_folder: str | None
    unpacked: Path | None

    @property
    def folder(self) -> Path | None:
        """The complete model on this disk."""
        return _folder(self.name, self.cache_folder, self.unpacked)

    def require(self) -> None:
        """Raise ModelUnavailable unless the model, which is not on disk, can be downloaded."""
        path = Path(self.name)
        is_path = path.is_absolute() or self.name.startswith((".", "~"))
        if is_path or path.expanduser().is_dir():
            raise self._missing()
        require_hub(self.name, self.hub)

    def download(self, report: Report | None = None) -> Path:
        """Download it; its folder. Raises ModelUnavailable."""
        cache = cache_of(self.cache_folder)
        download(full_name(self.name), self.hub, cache, report)
        folder = folder_of(self.name, self.cache_folder)
        if folder is None:
            raise self._missing()
        return folder

    def _missing(self) -> ModelUnavailable:
        return ModelUnavailable(
            phrase(
                "embedder_no_model",
                "no sentence-transformers model in '{name}': check embedder.model",
                name=self.name,
            )
        )


def download_model(
    name: str, hub: HubAddress, report: Report, *, cache_folder: str | None = None
) -> None:
    """Download the model unless it is on this disk. Raises ModelUnavailable, and what `report` raises."""
    source = _Source(name, hub.current(), cache_folder, None)
    if source.folder is None:
        source.require()
        source.download(report)


def _load_model(torch: Any, library: Any, source: _Source) -> tuple[Any, Path]:
    """The model from its folder, or from the hub, and its folder then. Raises ModelUnavailable."""
    folder = source.folder
    if folder is None:
        folder = source.download()
        return _open(torch, library, folder), folder
    try:
        return _open(torch, library, folder), folder
    except ModelUnavailable:
        if folder in (Path(source.name).expanduser(), source.unpacked):
            raise
        source.require()  # the cached download is incomplete: complete it
        folder = source.download()
        return _open(torch, library, folder), folder


def _libraries() -> tuple[Any, Any]:
    try:
        torch, library = import_module("torch"), import_module("sentence_transformers")
        # Its messages about an unused layer and its progress bars do not belong into our log.
        logging = import_module("transformers").logging
    except ImportError as error:
        raise ModelUnavailable(
            phrase(
                "embedder_package_missing",
                "{package} is not installed: run `python3 start.py install`, or set embedder.model to `fallback`",
                package=error.name,
            )
        ) from error
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    return torch, library


def _open(torch: Any, library: Any, folder: Path) -> Any:
    """The model in a folder. It runs on the CPU: the GPU is left to the language model."""
    broken = import_module("safetensors").SafetensorError
    try:
        return library.SentenceTransformer(
            str(folder),
            device="cpu",
            local_files_only=True,
            model_kwargs={"dtype": torch.float32},  # half precision is slower on most CPUs
        )
    except (
        OSError,
        ValueError,
        RuntimeError,
        LookupError,
        TypeError,
        ImportError,
        broken,
    ) as error:
        raise ModelUnavailable(
            phrase(
                "embedder_unloadable",
                "the embedding model '{place}' cannot be loaded: {error}",
                place=folder,
                error=error,
            )
        ) from error


def _dimension(model: Any) -> int:
    ask = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
    return int(ask())


def _leaf(name: str) -> str:
    return name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
