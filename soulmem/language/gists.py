"""Gists: what is told instead of words that are blurred. en, zh, ja."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from soulmem.language.grammars import ENGLISH_CODE, languages_of
from soulmem.language.keywords import terms
from soulmem.language.scripts import HAN, is_unspaced
from soulmem.language.spaced_words import words
from soulmem.language.word_lists import tables

_KANA = re.compile("[\u3041-\u30ff]")
_HAN = re.compile(f"[{HAN}]")


def gist_language(text: str) -> str | None:
    """The language of a text as far as there are gists in it: `en`, `zh` or `ja`."""
    if is_unspaced(text):
        if _KANA.search(text):
            return "ja"
        return "zh" if _HAN.search(text) else None
    return ENGLISH_CODE if languages_of(words(text)) in ((ENGLISH_CODE,), ()) else None


@cache
def type_words(language: str) -> Mapping[str, str]:
    """What a detail is, by the value of its `DetailKind`, in `en`, `zh` or `ja`."""
    table: Mapping[str, str] = tables(language)["gists"]
    return {key: gist for key, gist in table.items() if key != "topic"}


def topic_of(clause: str) -> str:
    """What a clause is most about, in a word or two of its own; "" where it is about nothing.

    Its own words are true of it, whatever it says of them.
    """
    folded = clause.casefold()
    for term in terms(clause):
        place = folded.find(term.key)
        if place >= 0:
            return clause[place : place + len(term.key)]
    return ""


def topic_frame(text: str) -> str:
    """How a topic stands in a sentence of the text's language: "something about {}"."""
    language = gist_language(text)
    frame: str = tables(language)["gists"]["topic"] if language else "… {} …"
    return frame
