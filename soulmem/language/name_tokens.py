"""Names and texts cut into tokens, so that names are found whatever their case, hyphens and apostrophes."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from soulmem.language.scripts import UNSPACED

# a single word of so many letters is hardly another word by chance, whatever its case
_FREE_LETTERS = 5

# A word, a sign of a script without spaces, or any other sign.
_TOKEN = re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}_])\w)+|.", re.DOTALL)
_SIGNS = (
    dict.fromkeys("\u2018\u2019\u02bc\u0060\u00b4", "'")
    | dict.fromkeys("\u2010\u2011\u2012\u2013", "-")
    | dict.fromkeys("\u30fb\u2022\u2027", "\u00b7")
)
_ALIKE = re.compile(f"[{''.join(_SIGNS)}]")
# names whose cut is kept: one is folded and put in several places, one after the other
_REMEMBERED = 1024


class CutName(NamedTuple):
    """A name in tokens."""

    raw: tuple[str, ...]  # as written
    folded: tuple[str, ...]  # without regard to case
    fold: str  # the same in one piece
    any_case: bool  # matches in any case


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text cut once, to be looked through by any number of indexes."""

    raw: list[str]
    folded: list[str]
    lower: bool  # it has no capital letter: its writer does not mark names

    @staticmethod
    def of(text: str) -> Tokens:
        """The tokens of a text, alike signs brought together (NFKC, apostrophes, hyphens, middle dots)."""
        plain = _plain(text)
        raw = raw_tokens(plain)
        return Tokens(raw, [token.casefold() for token in raw], plain == plain.lower())


def raw_tokens(text: str) -> list[str]:
    """The tokens of a text as it stands."""
    return _TOKEN.findall(text)


def fold(name: str) -> str:
    """What two spellings of one name have in common; empty for one without letter or digit."""
    name_cut = cut(name)
    return name_cut.fold if name_cut is not None else ""


@lru_cache(_REMEMBERED)
def cut(name: str) -> CutName | None:
    """The name in tokens; None without letter or digit."""
    plain = _plain(name)
    tokens = raw_tokens(plain)
    words = [token for token in tokens if token[0].isalnum()]
    if not words:
        return None
    any_case = (
        len(words) > 1
        or sum(map(str.isalpha, plain)) >= _FREE_LETTERS
        or plain == plain.lower()  # a plain word; at the start of a sentence it has a capital
    )
    folded = tuple(token.casefold() for token in tokens)
    return CutName(tuple(tokens), folded, "".join(folded), any_case)


def _plain(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return " ".join(_ALIKE.sub(_sign, text).split())


def _sign(match: re.Match[str]) -> str:
    return _SIGNS[match.group()]
