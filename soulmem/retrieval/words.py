"""Which words does a text hold, for matching by word: Chinese, Japanese, English and what is written like it?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from typing import Any

# Scripts written without spaces: kana, Han (with extensions), Hangul, Thai, Lao, Khmer, Burmese.
_KANA = "\u3041-\u309f\u30a0-\u30ff\u31f0-\u31ff"
_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_OTHER = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\uac00-\ud7af"
_UNSPACED = _KANA + _HAN + _OTHER
_RUN = re.compile(rf"([{_UNSPACED}]+)|((?:(?![{_UNSPACED}])\w)+(?:['\u2019](?:(?![{_UNSPACED}])\w)+)*)")
_HAS_KANA = re.compile(f"[{_KANA}]")
_HAS_HAN = re.compile(f"[{_HAN}]")
_SENTENCE_END = re.compile(r"(?:^|[.!?\u2026*\"\u201c\u201d:\n])[\s\"'*\u201c\u2018(]*$")


class Tokeniser:
    """Cuts text into tokens. `names` are kept whole, the longest first, and never brought to a base form.

    Cheap to make, safe to share between threads: the dictionaries behind it are loaded once per process.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        known = {_plain(name) for name in names} - {""}
        unspaced = sorted((n for n in known if _RUN.fullmatch(n) and _is_unspaced(n)), key=len, reverse=True)
        self._unspaced_name = re.compile("|".join(map(re.escape, unspaced))) if len(unspaced) else None
        self._name_words = {word for name in known for word in _words_of(name.lower())}

    def tokens(self, text: str) -> list[str]:
        """The tokens of `text` in order, lower case; punctuation is dropped."""
        text = _plain(text)
        japanese = bool(_HAS_KANA.search(text))
        out: list[str] = []
        for match in _RUN.finditer(text):
            run = match.group()
            if match.group(1):
                out += self._unspaced(run, japanese)
            else:
                out += self._spaced(run, starts=bool(_SENTENCE_END.search(text, max(0, match.start() - 8), match.start())))
        return out

    def _unspaced(self, run: str, japanese: bool) -> Iterator[str]:
        at = 0
        for match in self._unspaced_name.finditer(run) if self._unspaced_name else ():
            yield from _cut(run[at : match.start()], japanese)
            yield match.group()
            at = match.end()
        yield from _cut(run[at:], japanese)

    def _spaced(self, run: str, *, starts: bool) -> list[str]:
        word = run.lower().replace("\u2019", "'").removesuffix("'s")
        if word in self._name_words or not word.isascii() or not word.isalpha():
            return [word]
        if run[0].isupper() and not starts:
            return [word]  # a capital inside a sentence marks a name
        return list(dict.fromkeys([word, _lemma(word)])) if run[0].isupper() else [_lemma(word)]


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip()


def _is_unspaced(text: str) -> bool:
    return bool(re.match(f"[{_UNSPACED}]", text))


def _words_of(name: str) -> list[str]:
    return [match.group(2).replace("\u2019", "'").removesuffix("'s") for match in _RUN.finditer(name) if match.group(2)]


def _cut(run: str, japanese: bool) -> Iterator[str]:
    """Tokens of a run without spaces: dictionary words, and character pairs for what no dictionary knows."""
    if not run:
        return
    if japanese and (segmenter := _japanese()) is not None:
        yield from (m.dictionary_form() for m in segmenter.tokenize(run))
    elif not japanese and _HAS_HAN.search(run):
        yield from _chinese()(run)
    yield from _pairs(run)


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    yield from (run[i : i + 2] for i in range(len(run) - 1))


@cache
def _chinese() -> Any:
    return import_module("rjieba").cut


@cache
def _japanese() -> Any:
    """Sudachi's tokeniser, or None: it is an optional extra."""
    try:
        return import_module("sudachipy").Dictionary(dict="small").create()
    except Exception:
        return None


@cache
def _lemmatiser() -> Any:
    return import_module("simplemma").lemmatize


def _lemma(word: str) -> str:
    return str(_lemmatiser()(word, lang="en")).lower()
