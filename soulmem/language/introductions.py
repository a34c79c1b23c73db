"""Names that a text introduces: "my sister Ada", "Inspector Quill", "the boy is called Nuri", "我姐林汐".

Who is introduced so need not be named again to be known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from soulmem.language.english_names import OF_PLACES
from soulmem.language.scripts import is_unspaced
from soulmem.language.word_lists import alternatives, words

_FILE = "introductions"
_QUOTE = "[“”‘’「『」』]?"  # works have them where words have spaces
_TITLES = alternatives(words(_FILE, "before", "titles"))
_SPACED = alternatives(
    (*words(_FILE, "before", "naming"), _TITLES, *words(_FILE, "before", "roles"))
)
_UNSPACED = alternatives(words(_FILE, "before", "unspaced"))
_BEFORE = re.compile(
    rf"(?<![\w'’])(?:{_SPACED})\s+\Z|(?:{_UNSPACED}){_QUOTE}\Z", re.IGNORECASE
)
_BEHIND = re.compile(rf"{_QUOTE}(?:{alternatives(words(_FILE, 'behind', 'unspaced'))})")
_TITLE = re.compile(rf"(?:{_TITLES})\s+(?!of\b|the\b)(?=\S)", re.IGNORECASE)
_WITHIN = re.compile(
    rf"{_TITLE.pattern}|(?:{alternatives(words(_FILE, 'within', 'unspaced'))})\Z",
    re.IGNORECASE,
)
_FAR = 24  # signs before a name that are looked at


def introduced(text: str, names: Iterable[str]) -> frozenset[str]:
    """Those of the names, found in the text, that it introduces."""
    return frozenset(name for name in names if _introduces(text, name))


def without_title(name: str) -> str:
    """Kaelith of Sir Kaelith; any other name as it is."""
    return _TITLE.sub("", name, count=1) if _TITLE.match(name) else name


def _introduces(text: str, name: str) -> bool:
    if name.split()[-1].lower() in OF_PLACES:
        return False
    if _WITHIN.match(name):
        return True
    return any(
        _BEFORE.search(text[max(at - _FAR, 0) : at])
        or _BEHIND.match(text, at + len(name))
        for at in _places(text, name)
    )


def _places(text: str, name: str) -> Iterator[int]:
    """Where the name stands as a word of its own."""
    is_whole = not is_unspaced(name)
    at = text.find(name)
    while at >= 0:
        stop = at + len(name)
        if not (is_whole and text[stop : stop + 1].isalnum()):
            yield at
        at = text.find(name, stop)
