"""Reads JSON as small models write it: cut off, or with misplaced commas and quotes."""

from __future__ import annotations

import json
import re
from typing import Any

from soulmem.domain.texts import well_formed

_DEPTH = 12  # deeper than any requested answer
_CLOSERS = {'"': '"', "'": "'", "“": "”", "„": "“", "「": "」"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_WORD = re.compile(r"[^\s,:;\[\]{}\"'“”，：]+")
_SPACE = re.compile(r"(?:[\s,;，]|//[^\n]*|/\*.*?(?:\*/|\Z))*", re.S)
_NO_VALUE = re.compile(r"\s*[,，}\]]")
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_WORDS: dict[str, Any] = {
    "true": True,
    "false": False,
    "null": None,
    "none": None,
    "nan": None,
}


class Partial(str):
    """A text that was cut off."""

    __slots__ = ()


class _Missing:
    """Marks a value that was cut off before its first character."""


_MISSING = _Missing()


def read_json(text: str, start: int = 0) -> tuple[Any, int]:
    """The value that begins at `start`, and its end; what follows is ignored.

    A value that was cut off is closed: a list keeps its complete items, an object its complete members, and an
    incomplete text is a Partial. Raises ValueError when no value begins at `start`.
    """
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text, start)
        return _well_formed(value), end
    except (ValueError, RecursionError):
        reader = _Reader(text, start)
    value = reader.value(0)
    if isinstance(value, _Missing):
        raise ValueError("no value")
    return value, min(reader.position, len(text))


def _well_formed(value: Any) -> Any:
    """The value with well-formed texts, as an escape may be half of a surrogate pair."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, list):
        return [_well_formed(part) for part in value]
    if isinstance(value, dict):
        return {_well_formed(key): _well_formed(part) for key, part in value.items()}
    return value


class _Reader:
    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self.position = start

    def value(self, depth: int) -> Any:
        """The next value; _MISSING at the end of the text."""
        if depth > _DEPTH:
            raise ValueError("nested too deeply")
        character = self._peek()
        if character == "{":
            return self._object(depth)
        if character == "[":
            return self._list(depth)
        if character in _CLOSERS:
            return self._string(_CLOSERS[character])
        return self._word()

    def _peek(self) -> str:
        """The next character that is no space, comma or comment; empty at the end."""
        self._space()
        return self._text[self.position : self.position + 1]

    def _space(self) -> None:
        match = _SPACE.match(self._text, self.position)
        self.position = match.end() if match else self.position

    def _object(self, depth: int) -> dict[str, Any]:
        self.position += 1
        out: dict[str, Any] = {}
        while (character := self._peek()) not in ("", "}"):
            key = (
                self._string(_CLOSERS[character])
                if character in _CLOSERS
                else self._word()
            )
            if not isinstance(key, str) or isinstance(key, Partial):
                if self.position >= len(self._text):
                    break
                self._skip()
                continue
            if self._peek() not in (":", "："):
                continue  # a word without a value
            self.position += 1
            if _NO_VALUE.match(self._text, self.position):
                continue
            value = self.value(depth + 1)
            if isinstance(value, _Missing):
                break
            out[key] = value
        self.position += 1
        return out

    def _list(self, depth: int) -> list[Any]:
        self.position += 1
        out: list[Any] = []
        while (character := self._peek()) not in ("", "]"):
            if character in ("}", ":", "："):
                if character == "}":
                    return out  # the model forgot to close the list
                self._skip()
                continue
            value = self.value(depth + 1)
            if isinstance(value, _Missing):
                break
            out.append(value)
        self.position += 1
        return out

    def _string(self, closer: str) -> str:
        """The text up to its closing quote; quotes inside the text do not end it."""
        self.position += 1
        out: list[str] = []
        while self.position < len(self._text):
            character = self._text[self.position]
            if character == "\\":
                out.append(self._escape())
                continue
            self.position += 1
            if character == closer and self._ends():
                return "".join(out)
            out.append(character)
        return Partial("".join(out))

    def _ends(self) -> bool:
        """Whether the quote that was just read closes the text, by what follows it."""
        rest = self._text[self.position : self.position + 40].lstrip()
        return (
            not rest
            or rest[0] in ",:}]，："
            or "\n" in self._text[self.position : self.position + 2]
        )

    def _escape(self) -> str:
        kind = self._text[self.position + 1 : self.position + 2]
        if kind == "u":
            digits = _HEX.match(self._text, self.position + 2)
            self.position += 6 if digits else 2
            code = int(digits.group(), 16) if digits else 0xFFFD
            return chr(code) if not 0xD800 <= code <= 0xDFFF else self._pair(code)
        self.position += 2
        return _ESCAPES.get(kind, kind)

    def _pair(self, high: int) -> str:
        """The character of a surrogate pair; U+FFFD for a single surrogate."""
        digits = (
            _HEX.match(self._text, self.position + 2)
            if self._text.startswith("\\u", self.position)
            else None
        )
        low = int(digits.group(), 16) if digits else 0
        if not (high < 0xDC00 <= low <= 0xDFFF):
            return "\ufffd"
        self.position += 6
        return chr(0x10000 + ((high - 0xD800) << 10) + low - 0xDC00)

    def _word(self) -> Any:
        """A number or a bare word; _MISSING where there is none, or where it may have been cut off."""
        match = _WORD.match(self._text, self.position)
        if not match:
            if self.position < len(self._text):
                self._skip()
                return None
            return _MISSING
        self.position = match.end()
        if self.position >= len(self._text):
            return _MISSING  # may be 0.1 of 0.15
        word = match.group()
        if word.lower() in _WORDS:
            return _WORDS[word.lower()]
        try:
            return int(word)
        except ValueError:
            pass
        try:
            return float(word)
        except ValueError:
            return word

    def _skip(self) -> None:
        self.position += 1
