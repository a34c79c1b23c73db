"""Two names of one thing, where a line of talk says that they are one: "Tom, called Tommy", "陈伟小名叫伟伟"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from soulmem.language.described_names import is_unspaced_name, looks_like_name
from soulmem.language.function_words import NOBODY
from soulmem.language.names import names
from soulmem.language.scripts import CAPITALS, UNSPACED
from soulmem.language.word_lists import alternatives, signs, words

IsKnown = Callable[[str], bool]

_QUOTES = "\"'“”‘’「」『』"
_QUOTE = f"[{_QUOTES}]?"
_WORD = rf"[{CAPITALS}][^\W\d_]*(?:[’-][^\W\d_]+)*"
_SPACED_NAME = rf"{_WORD}(?: {_WORD}){{0,2}}"
_SPACED = re.compile(
    rf"(?<![\w'’-])({_SPACED_NAME}){_QUOTE}"
    rf"(?:{alternatives(words('en', 'aliases', 'between'))})"
    rf"\s+{_QUOTE}({_SPACED_NAME})"
)
_HINT = re.compile(rf"(?:{alternatives(words('en', 'aliases', 'hints'))})\b")
# The other name comes first.
_TURNED = re.compile(
    alternatives((*words("en", "aliases", "turned"), *words("zh", "aliases", "turned")))
)
_LONGEST = 4  # signs of a Chinese name
_BETWEEN = re.compile(alternatives(words("zh", "aliases", "between")))
_NEVER_END = tuple(signs("zh", "aliases", "never_end"))
_AFTER = re.compile(rf"\s*{_QUOTE}([{UNSPACED}·]+)")
_SIGN = re.compile(rf"[{UNSPACED}·]")
_FAR = 12  # signs before the words between two names that are looked at


def may_state_aliases(text: str) -> bool:
    """Whether the text has the form of such a line; much faster than reading it."""
    has_hint = _HINT.search(text) is not None
    return (has_hint and _SPACED.search(text) is not None) or (
        not text.isascii() and _BETWEEN.search(text) is not None
    )


def stated_aliases(text: str, is_known: IsKnown) -> list[tuple[str, str]]:
    """Pairs (name, other name), at least one of each pair known; "Liz is short for Elizabeth" is Elizabeth, Liz.

    is_known  whether a spelling is the name of something that the soul has a concept of: what nobody
              has heard of is more likely no name at all
    """
    pairs = dict.fromkeys((*_spaced(text, is_known), *_unspaced(text, is_known)))
    return [
        (name, other)
        for name, other in pairs
        if name.casefold() != other.casefold() and (is_known(name) or is_known(other))
    ]


def _spaced(text: str, is_known: IsKnown) -> Iterator[tuple[str, str]]:
    matches = list(_SPACED.finditer(text))
    listed = frozenset(names(text) if matches else ())

    def is_name(spelling: str) -> bool:
        return spelling in listed or is_known(spelling)

    for match in matches:
        name, other = _trimmed(match[1], is_name), _trimmed(match[2], is_name, -1)
        if _may_name(name) and _may_name(other):
            is_turned = _TURNED.search(match[0]) is not None
            yield (other, name) if is_turned else (name, other)


def _trimmed(phrase: str, is_name: IsKnown, end: int = 0) -> str:
    """The phrase without words at one end that are no part of the name; at least one word stays.

    end  0: the first words may be none, -1: the last ones
    """
    parts = phrase.split()
    while len(parts) > 1 and not is_name(" ".join(parts)):
        del parts[end]
    return " ".join(parts)


def _may_name(spelling: str) -> bool:
    return looks_like_name(spelling) and spelling.casefold() not in NOBODY


def _unspaced(text: str, is_known: IsKnown) -> Iterator[tuple[str, str]]:
    """Nothing separates names from other words here, so one of the two has to be known."""
    for match in _BETWEEN.finditer(text):
        before = _run_before(text, match.start())
        after = _AFTER.match(text, match.end())
        if after is None:
            continue
        name = _known_end(before, is_known)
        if name is None and _is_short(before):
            name = before
        other = _known_beginning(after[1], is_known)
        if other is None and _is_short(after[1]):
            other = after[1]
        if name is not None and other is not None:
            is_turned = _TURNED.search(match[0]) is not None
            yield (other, name) if is_turned else (name, other)


def _run_before(text: str, end: int) -> str:
    """The signs in a row that end there, at most `_FAR`."""
    run = ""
    for sign in reversed(text[max(0, end - _FAR) : end].rstrip(" " + _QUOTES)):
        if not _SIGN.match(sign):
            break
        run = sign + run
    return run


def _is_short(run: str) -> bool:
    """Whether what stands between two signs may be a name as a whole."""
    is_name = is_unspaced_name(run) and looks_like_name(run)
    is_other_word = run in NOBODY or run.endswith(_NEVER_END)
    return is_name and len(run) <= _LONGEST and not is_other_word


def _known_end(run: str, is_known: IsKnown) -> str | None:
    """The longest known name that the run ends with."""
    ends = (run[-length:] for length in range(min(_LONGEST, len(run)), 1, -1))
    return next(filter(is_known, ends), None)


def _known_beginning(run: str, is_known: IsKnown) -> str | None:
    """The longest known name that the run begins with."""
    starts = (run[:length] for length in range(min(_LONGEST, len(run)), 1, -1))
    return next(filter(is_known, starts), None)
