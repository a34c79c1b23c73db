"""Names in descriptions, such as cards and worlds, with the aliases that stand beside them.

Rather too few than too many: a name that is none ties together what has nothing to do with each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from soulmem.language.foreign_names import nouns_have_capitals
from soulmem.language.grammars import languages_of
from soulmem.language.names import names
from soulmem.language.scripts import CAPITALS, UNSPACED
from soulmem.language.spaced_words import words as words_of
from soulmem.language.word_lists import alternatives, word_set, words

_LONGEST = 60  # characters; what is longer is a sentence
_MOST_WORDS = 4
_LONGEST_UNSPACED = 12  # signs
_IS_UNSPACED = re.compile(f"[{UNSPACED}]")
_WORD = rf"[{CAPITALS}][^\W\d_]*(?:['’-][^\W\d_]+)*"
_NAME = rf"(?<![\w'’-]){_WORD}(?: (?:of |the |de |von |van |la |le |du )?{_WORD}){{0,3}}"
_IN_SENTENCE = re.compile(rf"(?<=[^\W_{CAPITALS}] )({_NAME})|(?<=[,)] )({_NAME})")
_BRACKETED = re.compile(rf"({_NAME}|[{UNSPACED}·]{{2,8}})\s*[(（]([^()（）\n]{{1,48}})[)）]")
_ALSO = re.compile(
    rf"({_NAME})[^\S\n]{{0,2}},?[^\S\n]{{0,2}}\(?\b"
    rf"(?:{alternatives(words('en', 'descriptions', 'also_called'))})\s+"
    rf"[\"“']?({_NAME})",
)
_ALSO_UNSPACED = re.compile(
    rf"([{UNSPACED}·]{{2,4}}?)[，,]?(?:{alternatives(words('zh', 'descriptions', 'also_called'))})"
    rf"(?:是|为)?[“「『\"：:]?([{UNSPACED}·]{{2,4}})"
)
_SENTENCE_SIGN = re.compile(r"[，。！？、：；,.!?:;\s]")
_NO_NAMES = word_set("en", "descriptions", "never_names")
_QUOTES = " \"“”'"


def looks_like_name(text: str) -> bool:
    """Whether a word or two by itself may be a name: a capital, or a script without capitals."""
    text = text.strip()
    if not 2 <= len(text) <= _LONGEST or text.casefold() in _NO_NAMES:
        return False
    if len(text.split()) > _MOST_WORDS:
        return False
    if is_unspaced_name(text):
        return len(text) <= _LONGEST_UNSPACED and not _SENTENCE_SIGN.search(text)
    is_shouted = text.isupper() and len(text) > 4
    return re.fullmatch(_NAME, text) is not None and not is_shouted


def is_unspaced_name(name: str) -> bool:
    """Whether the name has signs of a script without spaces."""
    return _IS_UNSPACED.search(name) is not None


def spelled(key: str, text: str) -> str:
    """`key` with the capitals it has in `text`, where it always has some there; else as it is."""
    written = re.findall(rf"(?<![^\W_]){re.escape(key)}(?![^\W_])", text, re.IGNORECASE)
    if written and all(word[:1].isupper() for word in written):
        return str(written[0])
    return key


def prose_names(text: str) -> Iterator[str]:
    """Names by their capitals within the sentences of prose.

    None of a list of traits or a line of titles, which write everything with a capital. Where nouns have
    capitals, too, the names that `names` finds.
    """
    text_words = words_of(text)
    codes = languages_of(text_words)
    if codes and nouns_have_capitals(text_words, codes):
        yield from filter(looks_like_name, names(text))
        return
    capitals = [word[0].isupper() for word in re.findall(r"[^\W\d_]+", text)]
    if 2 * sum(capitals) >= len(capitals):
        return
    for match in _IN_SENTENCE.finditer(text):
        name = match[1] or match[2]
        if looks_like_name(name):
            yield name


def aliases_in(text: str) -> Iterator[tuple[str, str]]:
    """(name, alias) where the text says so: in brackets, or after "also known as"."""
    for pattern in (_BRACKETED, _ALSO, _ALSO_UNSPACED):
        for match in pattern.finditer(text):
            name, alias = match[1], match[2].strip(_QUOTES)
            is_pair = (
                pattern is not _BRACKETED
                or is_unspaced_name(name) is not is_unspaced_name(alias)
                or "aka" in match[0].lower()
            )
            if is_pair and looks_like_name(name) and looks_like_name(alias):
                yield name, alias
