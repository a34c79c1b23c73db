"""Fills in what a text of SillyTavern leaves to programs: macros become names, branches and code go.

What stands in a branch ("if .. {", `{% if .. %}`, `{{#if ..}}`) holds on a condition only, so it goes with its
code, and `BRANCH` is left. Where a program would print a value, `HOLE` is left: nobody knows what the sentence
around it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from soulmem.transfer.lore import Cast

HOLE, BRANCH = "\x00", "\x01"
_MARKS = re.compile("[\x00\x01]")

_NAMES = re.compile(r"\{\{\s*(char|user|bot|name)\s*\}\}|<(user|bot|char)>", re.IGNORECASE)
_COMMENT = re.compile(r"\{\{\s*//|<!--|<%#")
_COMMENT_ENDS = {"<!--": "-->", "<%#": "%>"}
_MARK = re.compile(r"<%|\{%|\{\{|\}\}")
_TEXTS = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|`[^`\n]*`")
_WORD = re.compile(r"[-~_]?\s*([#/]?[\w-]+)")
_ENDS = re.compile(r"\{%[-~]? ?end(\w{1,20})|\{\{ ?/ ?([\w-]{1,20})")
# Macros that print nothing.
_SILENT = frozenset({"setvar", "addvar", "setglobalvar", "addglobalvar", "trim", "noop"})


def without_marks(text: str) -> str:
    """A filled text without `HOLE` and `BRANCH`."""
    return _MARKS.sub("", text)


def named(text: str, cast: Cast) -> str:
    """The text with the macros for persons ({{user}}, <char>) replaced by their names."""

    def name(match: re.Match[str]) -> str:
        return cast.user if (match[1] or match[2]).lower() == "user" else cast.character

    return _NAMES.sub(name, text)


def filled(text: str, cast: Cast) -> str:
    """The text as it reads without programs: names for macros, no comments, no code, no branches."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _MARKS.sub("", text)
    return _Filler(named(_without_comments(text), cast)).filled()


def _without_comments(text: str) -> str:
    """The text without comments; a begin without an end is no comment, and is not searched again."""
    kept, position, endless = [], 0, set[str]()
    for begins in _COMMENT.finditer(text):
        end = _COMMENT_ENDS.get(begins[0], "}}")
        if begins.start() < position or end in endless:
            continue
        end_position = text.find(end, begins.end())
        if end_position < 0:
            endless.add(end)
            continue
        kept.append(text[position : begins.start()])
        position = end_position + len(end)
    return "".join(kept) + text[position:]


@dataclass(frozen=True, slots=True)
class _Code:
    """One piece of code: where it stands, its mark, and what is between its marks."""

    start: int
    end: int
    mark: str
    inner: str


class _Filler:
    """Walks through a text once, counting the branches that are open."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._closed = {a or b for a, b in _ENDS.findall(text)}
        self._braces = self._blocks = 0  # branches that are open

    def filled(self) -> str:
        kept, position = [], 0
        for code in _codes(self._text):
            was_in_branch = self._is_in_branch()
            if not was_in_branch:
                kept.append(self._text[position : code.start])
            printed = self._run(code)
            if not self._is_in_branch():
                kept.append(BRANCH if was_in_branch else printed)
            position = code.end
        if not self._is_in_branch():
            kept.append(self._text[position:])
        return "".join(kept)

    def _is_in_branch(self) -> bool:
        return self._braces + self._blocks > 0

    def _run(self, code: _Code) -> str:
        """What a piece of code prints; opens and closes branches."""
        if code.mark == "<%":
            if code.inner[:1] in ("=", "-"):
                return HOLE
            for sign in _TEXTS.sub("", code.inner):
                step = {"{": 1, "}": -1}.get(sign, 0)
                self._braces = max(0, self._braces + step)
            return ""
        match = _WORD.match(code.inner)
        word = match[1] if match else ""
        name = word.lstrip("#/")
        if word.startswith("/") or (code.mark == "{%" and word.startswith("end")):
            self._blocks = max(0, self._blocks - 1)
        elif name in self._closed and word != "else":
            self._blocks += 1
        elif code.mark == "{{" and name.lower() == "newline":
            return "\n"
        elif code.mark == "{{" and name.lower() not in _SILENT and word != "else":
            return HOLE
        return ""


def _codes(text: str) -> Iterator[_Code]:
    """The pieces of code in order; macros inside of macros belong to the outer one."""
    macros = dict(_macros(text))
    last_end = text.rfind("%}")  # one without an end is no code
    position = 0
    for mark in _MARK.finditer(text):
        start, end = mark.start(), 0
        if start < position:
            continue
        if mark[0] == "{{":
            end = macros.get(start, 0)
        elif mark[0] == "{%" and mark.end() <= last_end:
            end = text.index("%}", mark.end()) + 2
        elif mark[0] == "<%":  # one without an end is code up to the last sign
            end = text.find("%>", mark.end()) + 2
            end = len(text) if end < 2 else end
        if end:
            yield _Code(start, end, mark[0], text[mark.end() : max(mark.end(), end - 2)])
            position = end


def _macros(text: str) -> Iterator[tuple[int, int]]:
    """Begin and end of each macro that is closed, inner ones too."""
    open_marks: list[int] = []
    for mark in _MARK.finditer(text):
        if mark[0] == "{{":
            open_marks.append(mark.start())
        elif mark[0] == "}}" and open_marks:
            yield open_marks.pop(), mark.end()
