"""Gists: what is told instead of words that are blurred. en, zh, ja."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from soulmem.language.details import DetailKind
from soulmem.language.grammars import ENGLISH_CODE, languages_of
from soulmem.language.scripts import HAN, is_unspaced
from soulmem.language.spaced_words import words
from soulmem.language.word_lists import alternatives, tables

_KANA = re.compile("[\u3041-\u30ff]")
_HAN = re.compile(f"[{HAN}]")


@dataclass(frozen=True, slots=True)
class Gists:
    """The type words of one language."""

    words: dict[
        str, str
    ]  # of a `DetailKind` by its value; of a question, speech, action, event
    kinds: tuple[tuple[str, frozenset[str], re.Pattern[str]], ...]
    is_spaced: bool

    def of_detail(self, kind: DetailKind) -> str:
        """What a detail is."""
        return self.words[kind.value]

    def of_clause(
        self,
        clause: str,
        tokens: Collection[str],
        *,
        is_question: bool,
        is_action: bool,
        is_spoken: bool,
    ) -> str:
        """What kind of thing a clause tells, by its words; else whether it asks, says, does or tells something.

        tokens  of the search
        """
        for gist, listed, pattern in self.kinds:
            if (
                not listed.isdisjoint(tokens)
                if self.is_spaced
                else pattern.search(clause)
            ):
                return gist
        if is_question:
            return self.words["question"]
        if is_action:
            return self.words["action"]
        return self.words["speech" if is_spoken else "event"]


def gist_language(text: str) -> str | None:
    """The language of a text as far as there are gists in it: `en`, `zh` or `ja`."""
    if is_unspaced(text):
        if _KANA.search(text):
            return "ja"
        return "zh" if _HAN.search(text) else None
    return ENGLISH_CODE if languages_of(words(text)) in ((ENGLISH_CODE,), ()) else None


@cache
def gists_of(language: str) -> Gists:
    """The type words of `en`, `zh` or `ja`."""
    table = tables(language)["gists"]
    kinds = [(gist, entries.split()) for gist, entries in table["kinds"].items()]
    return Gists(
        words={key: gist for key, gist in table.items() if key != "kinds"},
        kinds=tuple(
            (gist, frozenset(entries), re.compile(alternatives(entries)))
            for gist, entries in kinds
        ),
        is_spaced=language == ENGLISH_CODE,
    )
