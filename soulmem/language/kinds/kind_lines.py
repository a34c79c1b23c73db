"""The example lines of each kind of line, and what a kind says of itself: one file a kind in `data/kinds`.

A file has comments (`# ...`), settings (`# name: value`) and the lines of each language under `[code]`:

    importance  0..1, how much a line matters that surely is of this kind; without it the kind says nothing of that
    against     the only kinds that this one is told from, `theme_*` for all themes; without it, all that have none
    with        kinds whose lines are examples of this one, too
    whole       `yes`: a text is of the kind only if all its sentences are; else one is enough

In a line `X` stands for a name. Quotes round it are left out: they say how a chat is written, and the same words
in quotes were judged otherwise. A new file is a new kind.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain

from soulmem.language.segmentation import without_quotes
from soulmem.language.word_lists import FOLDER

KIND_FOLDER = FOLDER / "kinds"
_SETTING = re.compile(r"# (importance|against|with|whole): (.+)")
_NAME = re.compile(r"(?<![A-Za-z])X(?![A-Za-z])")
# For X in an example: names of people and what stands for them, so that no name makes a kind
_SOMEBODY: Mapping[str, tuple[str, ...]] = {
    "zh": ("那人", "阿青", "林远"),
    "ja": ("あの人", "健太", "美咲"),
}
_ANYBODY: tuple[str, ...] = ("someone", "Anna", "Robert")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of line; see above."""

    name: str
    lines: tuple[str, ...]
    importance: float | None = None
    against: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    whole: bool = False


@cache
def kinds() -> tuple[Kind, ...]:
    """All kinds, by name."""
    return tuple(map(_read, _names("*")))


def _names(pattern: str) -> list[str]:
    return sorted(path.stem for path in KIND_FOLDER.glob(f"{pattern}.txt"))


def stand_ins(language: str) -> tuple[str, ...]:
    """What stands for the name of anybody in texts of a language code."""
    return _SOMEBODY.get(language, _ANYBODY)


def _read(name: str) -> Kind:
    settings: dict[str, str] = {}
    lines: list[str] = []
    somebody = stand_ins("")
    text = (KIND_FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    for line in filter(None, text.splitlines()):
        if line.startswith("#"):
            if setting := _SETTING.fullmatch(line):
                settings[setting[1]] = setting[2]
        elif line.startswith("["):
            somebody = stand_ins(line[1:-1])
        else:
            line = _NAME.sub(somebody[len(lines) % len(somebody)], line)
            lines.append(without_quotes(line))
    importance = settings.get("importance")
    return Kind(
        name,
        tuple(dict.fromkeys(lines)),
        float(importance) if importance is not None else None,
        tuple(chain.from_iterable(map(_names, settings.get("against", "").split()))),
        tuple(settings.get("with", "").split()),
        settings.get("whole") == "yes",
    )
