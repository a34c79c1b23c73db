"""Which known names does a text hold? Longest first, without overlap; names come and go at any time."""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

from soulmem.language.name_tokens import CutName, Tokens, cut, raw_tokens
from soulmem.language.scripts import is_unspaced

_AFTER_APOSTROPHE = frozenset(("s", "re", "ve", "ll", "m", "d"))
_FEW = 20  # names; more are looked for faster word by word

Key = TypeVar("Key", bound=Hashable)


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


class NameIndex(Generic[Key]):
    """Names by key. A text of 500 characters takes some 0.1 ms, however many names; a name some 500 bytes."""

    def __init__(self) -> None:
        self._surfaces: dict[str, tuple[_Surface, ...]] = {}  # by the folded name
        # By the token a name begins with, in how many tokens names are cut that do, and how many are.
        self._lengths: dict[str, dict[int, int]] = {}
        self._names: dict[Key, tuple[str, ...]] = {}  # as written

    def __len__(self) -> int:
        """Keys with a name."""
        return len(self._names)

    def __contains__(self, key: object) -> bool:
        return key in self._names

    def put(self, key: Key, names: Iterable[str]) -> None:
        """Let these be the names of `key`, instead of any it had; one without letter or digit is ignored."""
        all_names = tuple(names)
        self.put_cut(key, all_names, map(cut, all_names))

    def put_cut(self, key: Key, all_names: tuple[str, ...], cuts: Iterable[CutName | None]) -> None:
        """The same with what `cut` gives for each name."""
        self.drop(key)
        indexed = list[str]()
        for name, name_cut in zip(all_names, cuts, strict=True):
            if name_cut is None:
                continue
            surface = _surface(key, name_cut)
            surfaces = self._surfaces.get(name_cut.fold, ())
            if surface in surfaces:
                continue
            indexed.append(name)
            self._surfaces[name_cut.fold] = (*surfaces, surface)
            first, count = name_cut.folded[0], len(name_cut.folded)
            lengths = self._lengths.setdefault(first, {})
            lengths[count] = lengths.get(count, 0) + 1
        if indexed:  # the caller's own tuple where it can be, shared by all who ask
            is_all = len(indexed) == len(all_names)
            self._names[key] = all_names if is_all else tuple(indexed)

    def drop(self, key: Key) -> None:
        """Forget the names of `key`."""
        for name in self._names.pop(key, ()):
            name_cut = cut(name)
            assert name_cut is not None  # else it would not be indexed
            folded, surface = name_cut.fold, _surface(key, name_cut)
            others = tuple(s for s in self._surfaces[folded] if s != surface)
            if others:
                self._surfaces[folded] = others
            else:
                del self._surfaces[folded]
            first, count = name_cut.folded[0], len(name_cut.folded)
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
                for surface in self._surfaces.get(name, ()) if stop <= len(folded) else ():
                    if _fits(text, start, stop, surface):
                        yield Spot(len(name), start, stop, surface.key)

    def find(self, text: str) -> list[Key]:
        """Whose names the text holds, in order of appearance, each key once."""
        tokens = Tokens.of(text)
        return self._named_by_all(tokens) or keys_of(self.spots(tokens))

    def named(self, name: str) -> list[Key]:
        """Whose name it is, in its case where that matters."""
        name_cut = cut(name)
        if name_cut is None:
            return []
        raw = "".join(name_cut.raw)
        surfaces = self._surfaces.get(name_cut.fold, ())
        if raw == raw.lower():  # who types so does not mark names
            return list(dict.fromkeys(s.key for s in surfaces))
        fitting = (s.key for s in surfaces if s.raw is None or s.raw == raw)
        return list(dict.fromkeys(fitting))

    def shared_with(self, other: NameIndex[Key]) -> Iterator[tuple[set[Key], set[Key]]]:
        """For each name in both indexes, in upper or lower case: the keys in this one, and those in the other."""
        for name in self._surfaces.keys() & other._surfaces.keys():
            yield (
                {surface.key for surface in self._surfaces[name]},
                {surface.key for surface in other._surfaces[name]},
            )

    def _named_by_all(self, text: Tokens) -> list[Key]:
        """Whose name all of the text is: then no shorter name in it counts."""
        count = len(text.folded)
        if not count or count not in self._lengths.get(text.folded[0], ()):
            return []
        surfaces = self._surfaces.get("".join(text.folded), ())
        fitting = (s.key for s in surfaces if _fits(text, 0, count, s))
        return list(dict.fromkeys(fitting))


def keys_of(spots: Iterable[Spot]) -> list[Any]:
    """The keys of the longest spots that do not overlap, the leftmost of equals; each once, in order.

    A place that several keys name is all of theirs.
    """
    kept: list[Spot] = []
    covered: dict[int, Spot] = {}
    for spot in sorted(spots, key=_longest_first):
        inside = [covered.get(index) for index in range(spot.start, spot.stop)]
        if any(inside) and not (inside[0] and inside[0][:3] == spot[:3]):
            continue
        kept.append(spot)
        covered.update(dict.fromkeys(range(spot.start, spot.stop), spot))
    kept.sort(key=_start)
    return list(dict.fromkeys(spot.key for spot in kept))


class Glance:
    """A quick first look for names: whether a text may hold one of them, wrong only in saying yes."""

    def __init__(self, names: Iterable[str]) -> None:
        cuts = filter(None, map(cut, names))
        self._longest = frozenset(max(c.folded, key=_word_length) for c in cuts)

    def may_hold(self, text: str) -> bool:
        """Some 5 microseconds for 500 characters and a few names, 40 for many."""
        plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
        if len(self._longest) <= _FEW:
            folded = plain.casefold()
            return any(token in folded for token in self._longest)
        return not self._longest.isdisjoint(token.casefold() for token in raw_tokens(plain))


def _surface(key: Hashable, name: CutName) -> _Surface:
    return _Surface(key, None if name.any_case else "".join(name.raw))


def _word_length(token: str) -> tuple[bool, int]:
    return token[0].isalnum(), len(token)


def _longest_first(spot: Spot) -> tuple[int, int]:
    return -spot.length, spot.start


def _start(spot: Spot) -> int:
    return spot.start


def _fits(text: Tokens, start: int, stop: int, surface: _Surface) -> bool:
    """Whether a span that reads like the name is the name: in its case, and no part of a longer word."""
    case_matters = surface.raw is not None and not text.lower
    if case_matters and "".join(text.raw[start:stop]) != surface.raw:
        return False
    return not (_begins_inside_word(text, start) or _ends_inside_word(text, stop))


def _begins_inside_word(text: Tokens, start: int) -> bool:
    """Whether the token before `start` belongs to the same word: Brien in O'Brien."""
    if not start:
        return False
    before = text.raw[start - 1]
    after_letter = start > 1 and before == "'" and _is_letter(text.raw[start - 2])
    return after_letter or _is_mark(before)


def _ends_inside_word(text: Tokens, stop: int) -> bool:
    """Whether the word goes on at `stop`: Don in "don't", unless as in "Don's"."""
    after = text.folded[stop : stop + 2]
    if len(after) == 2 and after[0] == "'":
        return _is_letter(after[1]) and after[1] not in _AFTER_APOSTROPHE
    return bool(after) and _is_mark(after[0])


def _is_letter(token: str) -> bool:
    """Whether an apostrophe joins the token to others; in scripts without spaces it is a quotation mark."""
    return token[0].isalnum() and not is_unspaced(token)


def _is_mark(token: str) -> bool:
    """A sign that belongs to the letter before it, as vowels do in Hindi."""
    return len(token) == 1 and not token.isascii() and unicodedata.category(token).startswith("M")
