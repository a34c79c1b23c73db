"""Two names of one thing, where a line of talk says that they are one: "Tom, called Tommy", "陈伟小名叫伟伟"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from soulmem.language.base_forms import PLAIN_ADJECTIVES
from soulmem.language.described_names import is_unspaced_name, looks_like_name
from soulmem.language.english_names import CALENDAR
from soulmem.language.function_words import NOBODY
from soulmem.language.names import names
from soulmem.language.scripts import CAPITALS, UNSPACED
from soulmem.language.spaced_words import is_stop
from soulmem.language.word_lists import alternatives, signs, words

IsKnown = Callable[[str], bool]

_QUOTES = "\"'“”‘’「」『』"
_QUOTE = f"[{_QUOTES}]?"
_WORD = rf"[{CAPITALS}][^\W\d_]*(?:[’-][^\W\d_]+)*"
_SPACED_NAME = rf"{_WORD}(?: {_WORD}){{0,3}}"
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
# What stands before the first word of a sentence.
_BEFORE_SENTENCE = re.compile(rf"(?:\A|[.!?…:;*\n{_QUOTES}])[ \t]*\Z")
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
        starts = _BEFORE_SENTENCE.search(text[: match.start()]) is not None
        name = _name_in(match[1], is_name, starts=starts)
        other = _name_in(match[2], is_name)
        if _may_name(name) and _may_name(other):
            is_turned = _TURNED.search(match[0]) is not None
            yield (other, name) if is_turned else (name, other)


def _name_in(phrase: str, is_name: IsKnown, *, starts: bool = False) -> str:
    """The name that words with capitals are: all of them, but for words at the ends that no name has.

    starts  the first word starts a sentence, so that it would have a capital anyway
    """
    first, *rest = phrase.split()
    if is_name(phrase):
        return phrase
    if starts and rest and not _is_adjective(first) and is_name(" ".join(rest)):
        return " ".join(rest)
    parts = [first, *rest]
    while len(parts) > 1 and _is_no_part(parts[0]):
        del parts[0]
    while len(parts) > 1 and _is_no_part(parts[-1]):
        del parts[-1]
    return " ".join(parts)


def _is_no_part(word: str) -> bool:
    """Whether no name begins or ends with the word: it is of grammar, or a day or month."""
    low = word.lower()
    return low in CALENDAR or (is_stop(low) and not _is_adjective(word))


def _is_adjective(word: str) -> bool:
    """Whether a name may begin with the word though it is ordinary: Old Tom is not Tom."""
    return word.lower() in PLAIN_ADJECTIVES


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
