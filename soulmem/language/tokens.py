"""Tokens of the text search: words where a script has spaces, characters where it has none."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from soulmem.language.base_forms import dictionary_form
from soulmem.language.function_words import (
    CHINESE_GRAMMAR_SIGNS,
    ENGLISH_GRAMMAR,
    ENGLISH_WEAK,
)
from soulmem.language.scripts import HAN, UNSPACED

_RUN = re.compile(
    rf"([{UNSPACED}]+)|((?:(?![{UNSPACED}_])\w)+(?:['\u2019](?:(?![{UNSPACED}_])\w)+)*)"
)
# The same for a text of plain Latin letters, in a third of the time.
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+(?:'[A-Za-z0-9]+)*")
_ONE_HAN = re.compile(f"[{HAN}]")

_Run = tuple[
    str, list[str] | None
]  # a run of a cue and its tokens; None for a script without spaces
_REMEMBERED = 1 << 15  # words, some 8 MB
_READ_OF_LATE = 128  # texts: the lines of a query, and what is near it
_ENDINGS = frozenset(("", "re", "ve", "ll", "m", "d"))
_STOP_ENDS = "".join(sorted(CHINESE_GRAMMAR_SIGNS))


class Tokeniser:
    """Cuts text into tokens. Words of `names` are never brought to a base form.

    Chinese, Japanese and the like become single Han characters and pairs of neighbouring characters. On two
    Chinese sets that found more than dictionary words, alone or added; and it finds invented names that no
    dictionary holds. Safe to share between threads.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = set[str]()
        for name in names:
            for match in _RUN.finditer(_plain(name)):
                if match.group(2):
                    self._names.add(_bare(match.group(2)))
        # The tokens of the last words: finding a base form takes longest.
        self._tokens_by_word: dict[str, list[str]] = {}
        # One recall reads the same lines and memories for several scores.
        self._tokens_by_text: dict[str, tuple[str, ...]] = {}
        # The last query of `shared`, which compares it with many texts.
        self._query: tuple[str, tuple[_Run, ...]] = ("", ())

    def tokens(self, text: str) -> tuple[str, ...]:
        """The tokens of `text`, lower case; without punctuation and words that say nothing."""
        tokens = self._tokens_by_text.get(text)
        if tokens is None:
            if len(self._tokens_by_text) >= _READ_OF_LATE:
                self._tokens_by_text.clear()
            tokens = self._tokens_by_text[text] = tuple(self._cut(text))
        return tokens

    def _cut(self, text: str) -> list[str]:
        out: list[str] = []
        known = self._tokens_by_word
        if text.isascii():
            for word in _ASCII_WORD.findall(text):
                out += known.get(word) or self._words_of(word)
            return out
        for unspaced, word in _RUN.findall(_plain(text)):
            out += _characters(unspaced) if unspaced else self._words_of(word)
        return out

    def telling(self, text: str) -> frozenset[str]:
        """The tokens but for words that may be said of anything."""
        return frozenset(
            token
            for token in self.tokens(text)
            if token in self._names or token not in ENGLISH_WEAK
        )

    def parts(self, name: str) -> list[tuple[str, ...]]:
        """For each word of the name the tokens that stand for it in a text, in any case.

        Of scripts without spaces each two signs are a word, and a sign alone where it stands alone.
        """
        out: list[tuple[str, ...]] = []
        for match in _RUN.finditer(_plain(name)):
            run = match.group()
            if match.group(1):
                kept_pieces = set(_characters(run))
                pieces = [run[i : i + 2] for i in range(len(run) - 1)] or _ONE_HAN.findall(run)
                out += [(piece,) for piece in pieces if piece in kept_pieces]
            elif words := {
                *self._word(run),
                *self._word(run.lower()),
                *self._word(run.title()),
            }:
                out.append(tuple(sorted(words)))
        return out

    def shared(self, query: str, text: str) -> list[str]:
        """What `query` and `text` have in common, for people to read: words, and runs of unspaced script.

        As the query writes them, in its order, each once; without words that are in every other line.
        """
        last_query, runs = self._query
        if last_query != query:
            runs = tuple(self._runs(query))
            self._query = query, runs
        text_tokens = set(self.tokens(text))
        plain = _plain(text)
        out: dict[str, None] = {}
        for run, words in runs:
            if words is None:
                out.update(dict.fromkeys(_common_runs(run, plain)))
            elif not text_tokens.isdisjoint(words):
                out[run] = None
        return list(out)

    def _runs(self, query: str) -> Iterator[_Run]:
        """What of a query may be a reason, each once."""
        runs = dict.fromkeys(match.groups() for match in _RUN.finditer(_plain(query)))
        for unspaced, word in runs:
            if unspaced:
                yield unspaced, None
            elif not self._is_weak(words := self._words_of(word)):
                yield word, words

    def _words_of(self, run: str) -> list[str]:
        """The tokens of a word of a spaced script; nothing may be written to them."""
        words = self._tokens_by_word.get(run)
        if words is None:
            if len(self._tokens_by_word) >= _REMEMBERED:
                self._tokens_by_word.clear()
            words = self._tokens_by_word[run] = self._word(run)
        return words

    def _is_weak(self, words: list[str]) -> bool:
        return self._names.isdisjoint(words) and not ENGLISH_WEAK.isdisjoint(words)

    def _word(self, run: str) -> list[str]:
        word = _bare(run)
        if word in self._names:
            return [word]
        if word in ENGLISH_GRAMMAR:
            return []
        if not (word.isascii() and word.isalpha()):
            return [word]
        # A capital may mark a name, and names have no base form; it may as well mark the start of a sentence.
        return (
            list(dict.fromkeys((word, dictionary_form(word))))
            if run[0].isupper()
            else [dictionary_form(word)]
        )


def _plain(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _bare(run: str) -> str:
    """Lower case, without what follows an apostrophe: she's, we'll, don't."""
    word = run.lower().replace("\u2019", "'").removesuffix("'s")
    head, _, tail = word.partition("'")
    if tail == "t":
        return head.removesuffix("n")
    return head if tail in _ENDINGS else head + tail


def _characters(run: str) -> Iterator[str]:
    """Single Han characters, pairs and triples of neighbours, without what says nothing.

    Pairs find words. Triples find a name of three signs among others that share two of them: they cost
    nothing
    on MADial-Bench and role-play cues, and an invented name is found by nothing else.
    """
    yield from (c for c in run if c not in CHINESE_GRAMMAR_SIGNS and _ONE_HAN.match(c))
    if len(run) == 1 and not _ONE_HAN.match(run):
        yield run
    for i in range(len(run) - 1):
        if run[i] not in CHINESE_GRAMMAR_SIGNS or run[i + 1] not in CHINESE_GRAMMAR_SIGNS:
            yield run[i : i + 2]
    for i in range(len(run) - 2):
        if CHINESE_GRAMMAR_SIGNS.isdisjoint(run[i : i + 3]):
            yield run[i : i + 3]


def _common_runs(run: str, text: str) -> Iterator[str]:
    """Longest pieces of `run`, two characters at least, that `text` holds too; no stop characters at the
    ends.
    """
    start, size = 0, len(run)
    while start < size - 1:
        if run[start : start + 2] not in text:
            start += 1
            continue
        end = start + 2
        while end < size and run[start : end + 1] in text:
            end += 1
        common = run[start:end].strip(_STOP_ENDS)
        if len(common) > 1:
            yield common
        start = end
