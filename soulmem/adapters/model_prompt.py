"""Finds the prompt that an embedding model expects before each text: from its own files, or by its family.

Memories and messages get the same prompt, as they are the same kind of text. The name of a folder is ignored:
a copied model may have any name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


def prompt_for(
    name: str, folder: Path | None, prompts: Mapping[str, str] | None
) -> ModelPrompt:
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
        config: dict[str, Any] = json.loads(
            (folder / "config.json").read_text(encoding="utf-8")
        )
        names.append(str(config.get("_name_or_path") or ""))
    with suppress(OSError, ValueError):
        card = (folder / "README.md").read_text(encoding="utf-8")[:_CARD_CHARACTERS]
        names += _FAMILY_NAME.findall(card)[:1]
    return names
