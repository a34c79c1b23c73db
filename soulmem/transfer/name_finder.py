"""Names in a card or a world, with their aliases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from soulmem.domain.soul import KnownName
from soulmem.language.described_names import (
    aliases_in,
    is_unspaced_name,
    looks_like_name,
    prose_names,
    spelled,
)

_REGEX = re.compile(r"/.*/[a-z]*\Z", re.DOTALL)
_QUOTES = " \"“”'"
_SHORT_FORM = 3  # letters of a short form at least

Spellings = dict[str, str]  # how one name is written, by the spelling without case


def names_of_keys(keys: Sequence[str], title: str, text: str) -> list[KnownName]:
    """The names among the keys of an entry; spellings of the same name are aliases."""
    stripped = [key.strip() for key in keys]
    wanted = [spelled(k, f"{title}. {text}") for k in stripped if not _REGEX.match(k)]
    names = [key for key in dict.fromkeys(wanted) if looks_like_name(key)]
    folded = title.casefold()
    if looks_like_name(title) and folded in map(str.casefold, names):
        names = [title, *(key for key in names if key.casefold() != folded)]
    groups: list[list[str]] = []
    for name in names:
        _group_of(name, groups, len(names)).append(name)
    return [KnownName(first, tuple(rest)) for first, *rest in groups]


def names_in(text: str, *, is_prose: bool = True) -> list[KnownName]:
    """Names in a text, with aliases in brackets or after "also known as".

    is_prose  whether the text is sentences, so that a capital within them marks a name
    """
    single = [KnownName(name) for name in prose_names(text)] if is_prose else []
    return single + [KnownName(name, (alias,)) for name, alias in aliases_in(text)]


def own_names(text: str) -> list[str]:
    """The names in a list of them: "Mira, Mi; 米拉"."""
    parts = re.split(r"[,;/、，；|()（）]|\bor\b", text)
    return [name for p in parts if looks_like_name(name := p.strip(_QUOTES))]


def united(
    names: Iterable[KnownName], own: Sequence[str], player: str, source: str
) -> tuple[KnownName, ...]:
    """The names without duplicates and without the player's, aliases joined.

    own  the soul's name, then its aliases
    """
    spellings = _spellings(names, own, player)
    own_key = own[0].casefold()
    aliases = set[str]()
    for folded, written in spellings.items():
        aliases.update(written.keys() - {folded})
    alias_words = set(" ".join(aliases).split())
    out = []
    for folded, written in spellings.items():
        first, *rest = written.values()
        if not rest and (folded in aliases or folded in alias_words):
            continue  # an alias of another name, or a part of one
        if folded != own_key or rest:
            out.append(KnownName(first, tuple(rest), source))
    return tuple(out)


def _spellings(names: Iterable[KnownName], own: Sequence[str], player: str) -> dict[str, Spellings]:
    """All spellings of each name, by its first one without case; the soul's own first."""
    own_key, player_key = own[0].casefold(), player.casefold()
    own_keys = set(map(str.casefold, own))
    out: dict[str, Spellings] = {}
    for name in (KnownName(own[0], tuple(own[1:])), *names):
        key = name.name.casefold()
        if key == player_key:
            continue
        written = out.setdefault(own_key if key in own_keys else key, {})
        for spelling in (name.name, *name.aliases):
            written.setdefault(spelling.casefold(), spelling.strip())
    return out


def _group_of(name: str, groups: list[list[str]], count: int) -> list[str]:
    """The group of spellings that the name belongs to; a new empty one for a new name."""
    for group in groups:
        if any(_is_same(name, other, count) for other in group):
            return group
    groups.append([])
    return groups[-1]


def _is_same(key: str, other: str, count: int) -> bool:
    """Whether two keys of an entry name the same: either is a part, a short form, or the other script.

    count  how many names the entry has
    """
    first, second = key.casefold(), other.casefold()
    if first.isascii() and second.isascii():
        words, other_words = set(first.split()), set(second.split())
        short, long = sorted((first, second), key=len)
        is_short_form = len(short) >= _SHORT_FORM and long.startswith(short)
        return words <= other_words or other_words <= words or is_short_form
    if is_unspaced_name(key) is not is_unspaced_name(other):
        return count == 2
    return first in second or second in first
