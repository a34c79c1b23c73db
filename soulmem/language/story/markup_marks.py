"""The marks in a message that are no words of it: tags, fences, macros, pictures, addresses."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import Enum

# Elements whose content nobody reads.
# fmt: off
HIDDEN = frozenset([
    "script", "style", "head", "title", "svg", "canvas", "iframe", "object",
    "embed", "template", "noscript", "select", "datalist", "meter", "progress",
    "audio", "video", "map", "math", "rt", "rp",
])
# Elements that stand inside a line and say how its words look.
INLINE = frozenset([
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "label", "mark", "nobr", "q", "ruby", "rb", "s",
    "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u",
    "var", "wbr",
])
# Elements that begin a new line.
BLOCKS = frozenset([
    "address", "article", "aside", "blockquote", "body", "br", "button", "caption",
    "center", "code", "dd", "details", "dialog", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
    "header", "hr", "html", "legend", "li", "main", "nav", "ol", "option", "p",
    "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul",
])
# fmt: on
CELLS = frozenset(("td", "th"))
# Elements without an end.
# fmt: off
_EMPTY = frozenset([
    "area", "base", "br", "col", "hr", "img", "input", "link", "meta", "param",
    "source", "track", "wbr",
])
# fmt: on
# What a block is called whose words think about the reply instead of being it.
_REASONING = re.compile(
    r"think|reason|reflect|analy[sz]|plann?(?:s|er|ing)?$|scratch|brainstorm|cot$|deliberat|draft"
    r"|\u601d\u8003|\u601d\u7ef4|\u601d\u7dad|\u601d\u8def|\u63a8\u7406|\u6784\u601d|\u69cb\u601d|\u5206\u6790|\uc0dd\uac01|\ucd94\ub860"
    r"|\u043c\u044b\u0441\u043b|\u0440\u0430\u0441\u0441\u0443\u0436\u0434|denk|\u00fcberleg|pensa|r[ae]zon|r\u00e9fl",
    re.IGNORECASE,
)
_THOUGHTS = re.compile(r"thoughts?$", re.IGNORECASE)
_PARTS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")

_MARK = re.compile(
    r"(?P<comment><!--)"
    r"|(?P<template><%)"
    r"|(?P<fence>^[ \t]*(?:`{3,}|~{3,})[^\n`]*$)"
    r"|(?P<tag><(?P<slash>/?)(?P<name>[^\W\d_][\w:.-]{0,60})(?P<rest>[^<>]*)>)"
    r"|(?P<special><\|/?(?P<special_name>[A-Za-z_ ]{1,40})/?\|>)"
    r"|(?P<square>\[(?P<square_slash>/?)(?P<square_name>[A-Za-z_]{3,40})\]"
    r"|\u25c1(?P<arrow_slash>/?)(?P<arrow_name>\w{3,40})\u25b7)"
    r"|(?P<macro>\{\{[^{}\n]{0,300}\}\})"
    r"|(?P<link>!?\[(?P<label>[^\[\]\n]{0,300})\]\((?P<address>[^()\s]*)(?:\s\"[^\"\n]{0,200}\")?\))"
    r"|(?P<data>\bdata:[\w.+-]{1,60}/[\w.+-]{1,60}[;,][A-Za-z0-9+/=%;,_.-]*)"
    r"|(?P<blob>(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{160,}=*)"
    r"|(?P<newline>\n)",
    re.MULTILINE,
)
_CLOSING = re.compile(r"</([^\W\d_][\w:.-]{0,60})[^<>]*>")
_REST_OF_LINE = re.compile(r"[ \t]*(?:\n|\Z)")
# Without any of these a text is all story, as far as it can be said without its neighbours.
_SUSPECT = re.compile(
    r"[<`{|\u25c1]|\]\(|~~~|\(\(|\uff08\uff08|\[/|data:|ooc|[^\s.]\);|&[\w#]{2,10};|[A-Za-z0-9+/_-]{160}",
    re.IGNORECASE,
)


class MarkKind(Enum):
    """What a mark is."""

    OPEN = "open"
    CLOSE = "close"
    LINE = "line"  # the end of a line
    LINK = "link"  # its label is read
    HIDDEN = "hidden"  # nobody reads it
    PICTURE = "picture"
    MACRO = "macro"
    FENCE = "fence"


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark at `start` .. `end` of a text; `name` of an element, in small letters, or the words it holds."""

    kind: MarkKind
    start: int
    end: int
    name: str = ""


def may_hold_marks(text: str) -> bool:
    """Whether anything in the text looks like more than prose."""
    return _SUSPECT.search(text) is not None


def is_reasoning(name: str, *, leads: bool) -> bool:
    """Whether a block of that name thinks about the reply; thoughts do only where they lead the message."""
    parts = [part for part in _PARTS.split(name) if part]
    if any(map(_REASONING.match, parts)):
        return True
    return leads and any(map(_THOUGHTS.match, parts))


def marks(text: str) -> Iterator[Mark]:
    """The marks of a text in order, none inside another. In time of its length."""
    position = 0
    ends = _Ends(text)
    closed = {match[1].lower() for match in _CLOSING.finditer(text)}
    while (match := _MARK.search(text, position)) is not None:
        mark = _mark(match, ends, closed)
        position = match.end()
        if mark is not None:
            position = mark.end
            yield mark


class _Ends:
    """Finds what ends a mark; what was once not found is not looked for again."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._folded = text.casefold() if "<" in text else ""
        self._missing: set[str] = set()

    def after(self, sign: str, position: int) -> int | None:
        """The position behind the next `sign`, None where there is none."""
        if sign in self._missing:
            return None
        # Folding case can change the length of a text; then tags are found as written.
        same = len(self._folded) == len(self._text)
        where = (self._folded if same else self._text).find(sign, position)
        if where < 0:
            self._missing.add(sign)
            return None
        return where + len(sign)


def _mark(match: re.Match[str], ends: _Ends, closed: Collection[str]) -> Mark | None:
    """The mark that matches; None where it is part of the prose. `closed`: names of elements that end."""
    start, end = match.span()
    if match["newline"]:
        return Mark(MarkKind.LINE, start, end)
    if match["tag"]:
        return _tag(match, ends, closed)
    if match["special"] or match["square"]:
        return _bracketed(match)
    if match["comment"] or match["template"]:
        close = ends.after("-->" if match["comment"] else "%>", end)
        return None if close is None else Mark(MarkKind.HIDDEN, start, close, "code")
    if match["fence"]:
        return Mark(MarkKind.FENCE, start, end, match["fence"].strip()[:3])
    if match["macro"]:
        return Mark(MarkKind.MACRO, start, end, match["macro"][2:-2].strip().lower())
    if match["link"]:
        is_picture = match["link"][0] == "!"
        return Mark(
            MarkKind.PICTURE if is_picture else MarkKind.LINK,
            start,
            end,
            match["label"],
        )
    if match["blob"] and not _is_encoded(match["blob"]):
        return None
    return Mark(MarkKind.PICTURE, start, end)


def _tag(match: re.Match[str], ends: _Ends, closed: Collection[str]) -> Mark | None:
    start, end, rest = match.start(), match.end(), match["rest"]
    name = match["name"].lower()
    if match["slash"]:
        return Mark(MarkKind.CLOSE, start, end, name)
    if name in ("user", "char", "bot", "charifnotgroup") and not rest.strip(" /"):
        return Mark(MarkKind.MACRO, start, end, name)
    if name == "img":
        return Mark(MarkKind.PICTURE, start, end)
    is_known = name in INLINE or name in BLOCKS or name in CELLS
    if name in HIDDEN and not rest.rstrip().endswith("/"):
        close = ends.after(f"</{name}>", end)
        if close is not None:
            return Mark(MarkKind.HIDDEN, start, close, name)
        return Mark(MarkKind.HIDDEN, start, end, name)
    words = rest.strip(" /")
    is_word = " " in words or (name not in closed and not _stands_alone(match))
    if not is_known and "=" not in words and is_word:
        return None  # "<she smiles and waves>", "<Mira> Hello."
    if name in _EMPTY or rest.rstrip().endswith("/"):
        return Mark(MarkKind.LINK if name not in BLOCKS else MarkKind.OPEN, start, end)
    return Mark(MarkKind.OPEN, start, end, name)


def _stands_alone(match: re.Match[str]) -> bool:
    """Whether nothing else stands in the line of the mark."""
    text, start = match.string, match.start()
    while start and text[start - 1] in " \t":
        start -= 1
    is_first = not start or text[start - 1] == "\n"
    return is_first and _REST_OF_LINE.match(text, match.end()) is not None


def _bracketed(match: re.Match[str]) -> Mark | None:
    """A mark of reasoning in other brackets, or a special token of a language model; else None."""
    start, end = match.span()
    special = match["special_name"]
    name = (special or match["square_name"] or match["arrow_name"]).lower()
    if is_reasoning(name, leads=False):
        is_end = match["square_slash"] or match["arrow_slash"] or name.startswith("end")
        return Mark(MarkKind.CLOSE if is_end else MarkKind.OPEN, start, end, "thinking")
    return Mark(MarkKind.HIDDEN, start, end, "code") if special else None


def _is_encoded(run: str) -> bool:
    """Whether a long run of signs without a blank is an encoded file, and no cry."""
    kinds = (str.isdigit, str.isupper, str.islower)
    return all(any(map(kind, run)) for kind in kinds)
