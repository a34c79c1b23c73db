"""Chinese names in Latin letters, and the sound that two spellings of a name have in common."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from soulmem.language.chinese_names import is_double, is_person_like

_TABLE = Path(__file__).parent / "data" / "pinyin.txt"
# Readings that names have, where another is the commonest.
_IN_NAMES = dict(
    pair.split(":") for pair in ["长:chang", "乐:le", "行:xing", "重:chong", "朝:zhao", "都:du"]
)
_AS_FAMILY = dict(
    pair.split(":")
    for pair in [
        "曾:zeng",
        "单:shan",
        "解:xie",
        "仇:qiu",
        "盖:ge",
        "查:zha",
        "朴:piao",
        "区:ou",
        "乐:yue",
    ]
)
_LATIN = re.compile(r"[A-Za-z]+(?:[ '\-][A-Za-z]+){0,2}")
_LONGEST, _SHORTEST = 18, 4  # letters of a name that may be pinyin


@cache
def _table() -> dict[str, str]:
    out: dict[str, str] = {}
    for line in _TABLE.read_text(encoding="utf-8").splitlines():
        reading, signs = line.split(" ")
        out.update(dict.fromkeys(signs, reading))
    return out


@cache
def _all_syllables() -> frozenset[str]:
    return frozenset(_table().values())


def romanised(name: str) -> tuple[str, ...]:
    """How a person's Chinese name is written in Latin letters, `Lin Yue` first; empty for any other name."""
    syllables = _syllables(name)
    if syllables is None:
        return ()
    split = 2 if is_double(name) else 1
    family, given_name = "".join(syllables[:split]), "".join(syllables[split:])
    forms = (
        f"{family.capitalize()} {given_name.capitalize()}",
        " ".join([family.capitalize(), *(s.capitalize() for s in syllables[split:])]),
        (family + given_name).capitalize(),
    )
    return tuple(dict.fromkeys(forms))


def sound(name: str) -> str | None:
    """What a person's Chinese name and its Latin spelling have in common; None for what is neither."""
    syllables = _syllables(name)
    if syllables is not None:
        return "".join(syllables)
    if not name.isascii() or _LATIN.fullmatch(name) is None:
        return None
    letters = re.sub("[^a-z]", "", name.lower())
    is_one = _SHORTEST <= len(letters) <= _LONGEST and _falls_apart(letters)
    return letters if is_one else None


def _falls_apart(letters: str) -> bool:
    """Whether the letters are nothing but syllables of Chinese."""
    syllables = _all_syllables()
    ends = [True] + [False] * len(letters)  # by length: whether the beginning is
    for stop in range(1, len(letters) + 1):
        ends[stop] = any(
            ends[start] and letters[start:stop] in syllables
            for start in range(max(0, stop - 6), stop)
        )
    return ends[-1]


def _syllables(name: str) -> list[str] | None:
    if not is_person_like(name):
        return None
    table = _table()
    out = [_IN_NAMES.get(sign) or table.get(sign, "") for sign in name]
    if not is_double(name):
        out[0] = _AS_FAMILY.get(name[0]) or table.get(name[0], "")
    return out if all(out) else None
