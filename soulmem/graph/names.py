"""Which known names does a text hold? Longest first, without overlap; names come and go at any time."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

from soulmem.language.scripts import UNSPACED

_FREE_LETTERS = 5  # a single word of so many letters is hardly another word by chance, whatever its case

# A word, a sign of a script without spaces, or any other sign.
_TOKEN = re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}_])\w)+|.", re.DOTALL)
_SIGNS = (
    dict.fromkeys("\u2018\u2019\u02bc\u0060\u00b4", "'")
    | dict.fromkeys("\u2010\u2011\u2012\u2013", "-")
    | dict.fromkeys("\u30fb\u2022\u2027", "\u00b7")
)
_ALIKE = re.compile(f"[{''.join(_SIGNS)}]")

_AFTER_APOSTROPHE = frozenset(("s", "re", "ve", "ll", "m", "d"))
_FEW = 20  # names; more are looked for faster word by word

_CUT = 1024  # names whose cut is remembered: one is folded and put in several places, one after the other

Key = TypeVar("Key", bound=Hashable)


class _Cut(NamedTuple):
    """A name in tokens."""

    raw: tuple[str, ...]  # as written
    folded: tuple[str, ...]  # without regard to case
    fold: str  # the same in one piece
    any_case: bool  # matches in any case


class _Surface(NamedTuple):
    """One way a name is written, and whose it is."""

    key: Any
    raw: str | None  # as written; None where it matches in any case


class Spot(NamedTuple):
    """A place where a text may hold a name of `key`: `length` characters, tokens `start` .. `stop`
    (exclusive).
    """

    length: int
    start: int
    stop: int
    key: Any


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text cut once, to be looked through by any number of indexes."""

    raw: list[str]
    folded: list[str]
    lower: bool  # it has no capital letter: whoever typed it does not mark names

    @staticmethod
    def of(text: str) -> Tokens:
        """The tokens of a text, alike signs brought together (NFKC, apostrophes, hyphens, middle dots)."""
        plain = _plain(text)
        raw = _TOKEN.findall(plain)
        return Tokens(raw, [token.casefold() for token in raw], plain == plain.lower())


class NameIndex(Generic[Key]):
    """Names by key. A text of 500 characters takes some 0.1 ms, however many names; a name some 500 bytes."""

    def __init__(self) -> None:
        self._surfaces: dict[str, tuple[_Surface, ...]] = {}  # by the folded name
        # By the token a name begins with, in how many tokens names are cut that do, and how many are.
        self._lengths: dict[str, dict[int, int]] = {}
        self._held: dict[Key, tuple[str, ...]] = {}  # as written

    def __len__(self) -> int:
        """Keys with a name."""
        return len(self._held)

    def put(self, key: Key, names: Iterable[str]) -> None:
        """Let these be the names of `key`, instead of any it had; one without letter or digit is ignored."""
        self.drop(key)
        given, held = tuple(names), list[str]()
        for name in given:
            cut = _cut(name)
            if cut is None:
                continue
            folded, surface = (
                cut.fold,
                _Surface(key, None if cut.any_case else "".join(cut.raw)),
            )
            known = self._surfaces.get(folded, ())
            if surface in known:
                continue
            held.append(name)
            self._surfaces[folded] = (*known, surface)
            lengths = self._lengths.setdefault(cut.folded[0], {})
            lengths[len(cut.folded)] = lengths.get(len(cut.folded), 0) + 1
        if held:
            self._held[key] = (
                given if len(held) == len(given) else tuple(held)
            )  # one tuple for all who ask

    def drop(self, key: Key) -> None:
        """Forget the names of `key`."""
        for name in self._held.pop(key, ()):
            cut = _cut(name)
            assert cut is not None  # else it would not be held
            folded, surface = (
                cut.fold,
                _Surface(key, None if cut.any_case else "".join(cut.raw)),
            )
            left = tuple(other for other in self._surfaces[folded] if other != surface)
            if left:
                self._surfaces[folded] = left
            else:
                del self._surfaces[folded]
            first, count = cut.folded[0], len(cut.folded)
            self._lengths[first][count] -= 1
            if not self._lengths[first][count]:
                del self._lengths[first][count]
            if not self._lengths[first]:
                del self._lengths[first]

    def spots(self, text: Tokens) -> Iterator[Spot]:
        """Every place that holds a name, those inside others too."""
        folded, lengths_of = text.folded, self._lengths.get
        for start, token in enumerate(folded):
            lengths = lengths_of(token)
            for count in sorted(lengths) if lengths is not None else ():
                stop = start + count
                name = "".join(folded[start:stop])
                for surface in (
                    self._surfaces.get(name, ()) if stop <= len(folded) else ()
                ):
                    if _fits(text, start, stop, surface):
                        yield Spot(len(name), start, stop, surface.key)

    def find(self, text: str) -> list[Key]:
        """Whose names the text holds, in order of appearance, each key once."""
        return keys_of(self.spots(Tokens.of(text)))


def keys_of(spots: Iterable[Spot]) -> list[Any]:
    """The keys of the longest spots that do not overlap, the leftmost of equals; each once, in order.

    A place that several keys name is all of theirs.
    """
    kept: list[Spot] = []
    covered: dict[int, Spot] = {}
    for spot in sorted(spots, key=_longest_first):
        inside = [covered.get(at) for at in range(spot.start, spot.stop)]
        if any(inside) and not (inside[0] and inside[0][:3] == spot[:3]):
            continue
        kept.append(spot)
        covered.update(dict.fromkeys(range(spot.start, spot.stop), spot))
    kept.sort(key=_start)
    return list(dict.fromkeys(spot.key for spot in kept))


class Glance:
    """A quick first look for names: whether a text may hold one of them, wrong only in saying yes."""

    def __init__(self, names: Iterable[str]) -> None:
        cuts = [cut for name in names if (cut := _cut(name)) is not None]
        self._longest = frozenset(max(cut.folded, key=_word_length) for cut in cuts)

    def may_hold(self, text: str) -> bool:
        """Some 5 microseconds for 500 characters and a few names, 40 for many."""
        plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
        if len(self._longest) <= _FEW:
            folded = plain.casefold()
            return any(token in folded for token in self._longest)
        return not self._longest.isdisjoint(
            token.casefold() for token in _TOKEN.findall(plain)
        )


def fold(name: str) -> str:
    """What two spellings of one name have in common; empty for one without letter or digit."""
    cut = _cut(name)
    return cut.fold if cut is not None else ""


def _word_length(token: str) -> tuple[bool, int]:
    return token[0].isalnum(), len(token)


def _longest_first(spot: Spot) -> tuple[int, int]:
    return -spot.length, spot.start


def _start(spot: Spot) -> int:
    return spot.start


def _plain(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return " ".join(_ALIKE.sub(_sign, text).split())


def _sign(match: re.Match[str]) -> str:
    return _SIGNS[match.group()]


@lru_cache(_CUT)
def _cut(name: str) -> _Cut | None:
    """The name in tokens; None without letter or digit."""
    plain = _plain(name)
    tokens: list[str] = _TOKEN.findall(plain)
    words = [token for token in tokens if token[0].isalnum()]
    if not words:
        return None
    any_case = (
        len(words) > 1
        or sum(map(str.isalpha, plain)) >= _FREE_LETTERS
        or plain
        == plain.lower()  # a plain word; at the start of a sentence it has a capital
    )
    folded = tuple(token.casefold() for token in tokens)
    return _Cut(tuple(tokens), folded, "".join(folded), any_case)


def _fits(text: Tokens, start: int, stop: int, surface: _Surface) -> bool:
    """Whether what reads alike is the name: in its case, and not a part of a longer word."""
    if not (
        surface.raw is None
        or text.lower
        or "".join(text.raw[start:stop]) == surface.raw
    ):
        return False
    after = text.folded[stop : stop + 2]
    if (
        after[:1] == ["'"]
        and after[1:]
        and after[1][0].isalnum()
        and after[1] not in _AFTER_APOSTROPHE
    ):
        return False  # Don is not in "don't", nor Lyra in a word that goes on
    if start > 1 and text.raw[start - 1] == "'" and text.raw[start - 2][0].isalnum():
        return False  # nor Brien in O'Brien
    return not (after and _is_mark(after[0])) and not (
        start and _is_mark(text.raw[start - 1])
    )


def _is_mark(token: str) -> bool:
    """A sign that belongs to the letter before it, as vowels do in Hindi."""
    return (
        len(token) == 1
        and not token.isascii()
        and unicodedata.category(token).startswith("M")
    )
