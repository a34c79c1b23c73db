"""The world background: plain chat lines of many souls, against which the evidence of one soul is judged.

The files of `data/world` hold scenes of successive lines `Name: text`, with an empty line between two scenes.
Lines that begin with `#` are comments.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import chain

from .scripts import HAN
from .word_lists import FOLDER

WORLD_FOLDER = FOLDER / "world"
LANGUAGES = ("en", "ja", "zh")  # those with a file

_KANA = re.compile("[\u3041-\u30ff]")
_HAN = re.compile(f"[{HAN}]")
_LATIN = re.compile("[A-Za-z]")


@cache
def world_scenes(language: str) -> tuple[tuple[str, ...], ...]:
    """The scenes of a language code such as `en`; those of all languages where it has none of its own.

    A line of a scene stands directly after the line before it, as in a chat.
    """
    if language not in LANGUAGES:
        return tuple(chain.from_iterable(map(world_scenes, LANGUAGES)))
    text = (WORLD_FOLDER / f"{language}.txt").read_text(encoding="utf-8")
    blocks = (_lines_of(block) for block in text.split("\n\n"))
    return tuple(scene for scene in blocks if scene)


def world_language(text: str) -> str:
    """The language whose world background fits a text, told by its script; "" where none does.

    Languages in Latin letters share the English lines: their speakers talk of the same things.
    """
    if _KANA.search(text):
        return "ja"
    if _HAN.search(text):
        return "zh"
    return "en" if _LATIN.search(text) else ""


def _lines_of(block: str) -> tuple[str, ...]:
    """The lines of a block without its comments."""
    return tuple(line for line in block.splitlines() if line and line[0] != "#")
