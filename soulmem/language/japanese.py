"""Keys of a Japanese sentence: by sudachi where it is installed, else by script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from threading import Lock
from typing import Any

from soulmem.language.function_words import JAPANESE
from soulmem.language.scripts import HAN

NAME, COMPOUND, NOUN, VERB = 0.9, 0.85, 0.8, 0.5
_LONGEST_COMPOUND = 12  # signs
_KANJI, _KATAKANA = (
    rf"[{HAN}]{{2,6}}",
    r"[\u30a1-\u30fa\u30fc]{2,}(?:[\u30fb\uff65][\u30a1-\u30fa\u30fc]{2,})*",
)
_BY_SCRIPT = re.compile(rf"({_KATAKANA})|({_KANJI})|([{HAN}][\u3041-\u3096]{{1,4}})")
_INFLECTED = re.compile(rf"[{HAN}]{{1,2}}(?:しい|らか)")
_CONTENT = {"名詞": NOUN, "動詞": VERB, "形容詞": VERB, "形状詞": VERB}
_NOT_CONTENT = frozenset(("数詞", "助動詞語幹", "非自立可能"))


class _Sudachi:
    """One tokenizer, which must not be used by two threads at once."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._lock = Lock()

    def morphemes(self, sentence: str) -> list[tuple[str, str, tuple[str, ...]]]:
        """Surface, dictionary form and parts of speech of each morpheme."""
        with self._lock:
            morphemes = self._tokenizer.tokenize(sentence)
            return [
                (m.surface(), m.dictionary_form(), tuple(m.part_of_speech())) for m in morphemes
            ]


@cache
def _sudachi() -> _Sudachi | None:
    """The tokenizer; None where the library or its dictionary is not installed."""
    try:
        library = import_module("sudachipy")
        return _Sudachi(library.Dictionary(dict="small").tokenizer())
    except (ImportError, OSError, RuntimeError, ValueError, AttributeError):
        return None


def ranked(sentence: str) -> Iterator[tuple[str, float]]:
    """Keys with what they are worth, in order of appearance; a repeated key comes again."""
    sudachi = _sudachi()
    for key, worth in _by_script(sentence) if sudachi is None else _by_sudachi(sudachi, sentence):
        if len(key) > 1 and key not in JAPANESE:
            yield key, worth


def _by_script(sentence: str) -> Iterator[tuple[str, float]]:
    for match in _BY_SCRIPT.finditer(sentence):
        katakana, kanji, _ = match.groups()
        if katakana:
            yield katakana, NOUN
        elif kanji:
            yield kanji, NOUN
        elif inflected := _INFLECTED.match(match.group()):
            yield inflected.group(), VERB


def _by_sudachi(sudachi: _Sudachi, sentence: str) -> Iterator[tuple[str, float]]:
    before = ""  # nouns in a row are one name or compound as well
    for surface, form, (kind, sub, third, *_) in sudachi.morphemes(sentence):
        if kind == "接尾辞" and before:
            before += surface
            yield before, NOUN
            continue
        worth = _CONTENT.get(kind, 0.0)
        if not worth or sub in _NOT_CONTENT or third == "助数詞可能":
            before = ""
            continue
        yield form, NAME if sub == "固有名詞" else worth
        if kind == "名詞":
            if before and len(before + form) <= _LONGEST_COMPOUND:
                yield before + form, COMPOUND
            before = form
        else:
            before = ""
