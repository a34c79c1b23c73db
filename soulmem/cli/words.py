"""Texts of the command line, from `texts/`, one file per language."""

from __future__ import annotations

import json
from importlib import resources


class Words:
    """The texts in one language: "en" or "zh"."""

    def __init__(self, language: str) -> None:
        self.language = language
        source = resources.files(__package__).joinpath(f"texts/{language}.json")
        self._texts: dict[str, str] = json.loads(source.read_text(encoding="utf-8"))

    def __call__(self, key: str, **values: object) -> str:
        """The text of `key` with its placeholders filled."""
        text = self._texts[key]
        return text.format(**values) if values else text
