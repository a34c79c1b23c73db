"""What does a text say, piece by piece, whatever script it is in?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from soulmem.language.scripts import HAN

_SCRIPTS = {
    "han": HAN,
    "kana": "\u3041-\u30ff\u31f0-\u31ff",
    "hangul": "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af",
    "latin": "A-Za-z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff",
    "greek": "\u0370-\u03ff\u1f00-\u1fff",
    "cyrillic": "\u0400-\u052f",
    "hebrew": "\u0590-\u05ff",
    "arabic": "\u0600-\u06ff\u0750-\u077f",
    "devanagari": "\u0900-\u097f",
    "thai": "\u0e00-\u0e7f",
}
_UNSPACED = (
    "han",
    "kana",
    "hangul",
    "thai",
)  # a sign counts as much as a word of the others
_RUNS = {
    name: re.compile(f"[{signs}]" + ("" if name in _UNSPACED else "+"))
    for name, signs in _SCRIPTS.items()
}
SIGNS = re.compile(f"[{HAN}{_SCRIPTS['kana']}{_SCRIPTS['hangul']}{_SCRIPTS['thai']}]+")
WORD = re.compile(
    rf"(?:(?![{HAN}{_SCRIPTS['kana']}{_SCRIPTS['hangul']}{_SCRIPTS['thai']}])[^\W_])+(?:['’]\w+)?"
)
_SENTENCE = re.compile(r"[^.!?。！？…\n]+(?:[.!?。！？…]+[\"'”’」』)）]*|\n|$)")
_BROKEN_OFF = re.compile(r"(?:[^.!?。！？，；\"'”’」』)）]|\.\.)$")
_COMMON_WORDS = """
about after again against also always among another around because been before being between both came
come could does doing down each even every feel feels felt first from gave give going gone have having
here into just keep kept knew know known knows later like made make makes many maybe more most much must
need never next only other over people really said same says should since some someone something still
such take takes tell tells than that their them then there these they thing things think this those though
through time told took toward towards under until very want wants went were what when where which while
will with within without would your
"""
_COMMON = frozenset(_COMMON_WORDS.split())

PARTICLES = frozenset(
    "的了是在我你您他她它们这那就也都和与着过得地不很会有到说要去来上下一个么吗呢吧啊把被让给对从为以而但又还再只很太更最后里"
)


def units(text: str) -> list[str]:
    """What a text says, piece by piece: words that mean something by their stems, pairs of unspaced signs."""
    out = [
        stem(word)
        for word in WORD.findall(text.casefold())
        if len(word) > 3 and word not in _COMMON
    ]
    out += [
        word
        for word in WORD.findall(text.casefold())
        if word.isdigit() and len(word) <= 3
    ]
    for run in SIGNS.findall(text):
        pairs = (run[index : index + 2] for index in range(len(run) - 1))
        out += [pair for pair in pairs if not PARTICLES.intersection(pair)]
    return out


def is_common(text: str) -> bool:
    """Whether it has words of Latin letters, and none but those that every text has."""
    words = WORD.findall(text.casefold())
    return bool(words) and not SIGNS.search(text) and _COMMON.issuperset(words)


def stem(word: str) -> str:
    """The word without an ending, roughly: so that walked, walks and walking are one."""
    plain = re.sub(r"['’]\w+$", "", word)
    for ending in ("ingly", "edly", "ing", "ed", "es", "s"):
        if plain.endswith(ending) and len(plain) - len(ending) > 3:
            return plain[: -len(ending)]
    return plain[:-1] if plain.endswith("e") and len(plain) > 4 else plain


def stands(name: str, text: str) -> bool:
    """Whether the name stands in the text as a whole word, or anywhere in a script without spaces."""
    if not name:
        return False
    if SIGNS.search(name):
        return name in text
    return re.search(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", text) is not None or (
        bool(SIGNS.search(text))
        and re.search(rf"(?<![a-z]){re.escape(name)}(?![a-z])", text) is not None
    )


def sentences(text: str) -> list[str]:
    """The sentences of a text, with their marks."""
    return [
        sentence
        for match in _SENTENCE.finditer(text)
        if (sentence := match.group().strip())
    ]


def each_once(parts: Sequence[str]) -> list[str]:
    """The sentences or clauses, each once. A model that runs on says one again and again until it is cut:
    what is left of the last is out, too.
    """
    bare = {part: "".join(filter(str.isalnum, part.casefold())) for part in parts}
    first: dict[str, str] = {}
    for part, bare_part in bare.items():
        first.setdefault(bare_part, part)
    out: list[str] = []
    for bare_part, part in first.items():
        goes_on = any(o != bare_part and o.startswith(bare_part) for o in first)
        if not (goes_on and _BROKEN_OFF.search(part)):
            out.append(part)
    return out


def scripts(text: str) -> Counter[str]:
    return Counter(
        {
            name: count
            for name, runs in _RUNS.items()
            if (count := len(runs.findall(text)))
        }
    )
