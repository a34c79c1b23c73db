"""The plain words of a role-play message, without mark-up and talk about the game."""

from __future__ import annotations

import html
import re
import unicodedata

# Signs of a text that are analysed: no message needs more, and a runaway one must not cost more.
LONGEST = 20_000

_FENCED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_HIDDEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE
)
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,300}>")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,200})\]\([^()\s]{0,500}\)")
_ADDRESS = re.compile(r"\b(?:https?://|www\.)[^\s<>)\]）】」』。，]+", re.IGNORECASE)
_MACRO = re.compile(r"\{\{[^{}\n]{0,100}\}\}")
# Talk about the game inside a line of it: ((..)), (OOC: ..), [OOC ..] and their full-width signs; and
# `OOC: ..` to the end of its line.
_OUT_OF_CHARACTER = re.compile(
    r"\(\([^()]{0,2000}\)\)|（（[^（）]{0,2000}）））?|[(\[（［【]\s*OOC(?![A-Za-z])[^()\[\]（）［］【】]{0,2000}[)\]）］】]"
    r"|(?m:^[^\S\n]*OOC\s*[:：].*$)",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(
    r"(?<!\w)[*_~]{1,3}(?=\S)|(?<=\S)[*_~]{1,3}(?!\w)|[*~]{1,3}|\|\|"
)
_LINE_MARK = re.compile(r"(?m)^[ \t]*(?:#{1,6}|>+|[-+•]|\d{1,2}[.)])[ \t]+")
_BREAK = " \n"  # what separates what stood in different marks: the end of a sentence


class PlainText(str):
    """What `plain` returns. It tells the analysers that mark-up was removed already."""

    __slots__ = ()


def plain(text: str) -> PlainText:
    """The words of a message without mark-up and talk about the game; each action stands on a line.

    Only the first `LONGEST` signs are read, in Unicode form NFKC. A `PlainText` is returned as it is, so that
    several analysers of one text share one reading.
    """
    if isinstance(text, PlainText):
        return text
    text = unicodedata.normalize("NFKC", text[:LONGEST])[:LONGEST]
    if "`" in text or "~~~" in text:
        text = _FENCED.sub(_BREAK, text).replace("`", " ")
    if "<" in text:
        text = _TAG.sub(_BREAK, _HIDDEN.sub(_BREAK, text))
    if "&" in text:
        text = html.unescape(text)
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if "{{" in text:
        text = _MACRO.sub(" ", text)
    text = _OUT_OF_CHARACTER.sub(_BREAK, _ADDRESS.sub(" ", text))
    return PlainText(_LINE_MARK.sub(_BREAK, _EMPHASIS.sub(_BREAK, text)))
