"""What does an embedding model want to see before a text? Its own files say it, or the family it is of.

Both sides of a match get the same prompt: memory and message are the same kind of text. The name of a folder
says nothing: whoever copies a model may call it anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# What each known family was trained to see before a question, by a word of its names.
FAMILY_PROMPTS = {"e5": "query: "}
_NAMES = (
    "query",
    "search_query",
    "s2p_query",
    "web_search_query",
)  # of a prompt for questions
_CARD = 20_000  # characters of a model card that are looked at
_NAMED = re.compile(
    r"\be5-(?:small|base|large)\b", re.IGNORECASE
)  # what a card calls a model of a family


@dataclass(frozen=True, slots=True)
class ModelPrompt:
    """`text` stands before every text; `family` is the known one that the model is of, if any."""

    text: str
    family: str | None = None

    @property
    def is_missing(self) -> bool:
        """Whether a family that was trained with a prompt is used without one."""
        return self.family is not None and not self.text


def prompt_for(
    name: str, folder: Path | None, prompts: Mapping[str, str] | None
) -> ModelPrompt:
    """The prompt of a model by its own files, by its model card, by the name it has at the hub.

    name     as the settings call it: a hub name, or a folder
    folder   where its files are, if they are on this machine
    prompts  those that its own files give, by their names
    """
    family = _family_of(name, folder)
    own = next((prompts[key] for key in _NAMES if prompts and prompts.get(key)), None)
    if own is not None:
        return ModelPrompt(own, family)
    return ModelPrompt(FAMILY_PROMPTS.get(family or "", ""), family)


def _family_of(name: str, folder: Path | None) -> str | None:
    names = [] if folder is not None and Path(name).expanduser() == folder else [name]
    if folder is not None:
        names += _names_in(folder)
        names += [
            part for part in folder.parts if part.startswith("models--")
        ]  # the hub's own cache
    for model_name in names:
        words = re.split(r"[^a-z0-9]+", model_name.lower())
        for family in FAMILY_PROMPTS:
            if family in words:
                return family
    return None


def _names_in(folder: Path) -> list[str]:
    """The names that the model's files give it: in its configuration, or in its card."""
    names = []
    with suppress(OSError, ValueError, AttributeError):
        config: dict[str, Any] = json.loads(
            (folder / "config.json").read_text(encoding="utf-8")
        )
        names.append(str(config.get("_name_or_path") or ""))
    with suppress(OSError, ValueError):
        card = (folder / "README.md").read_text(encoding="utf-8")[:_CARD]
        names += _NAMED.findall(card)[:1]
    return names
