"""The plain words of a role-play message, without mark-up and talk about the game."""

from __future__ import annotations

import re
import unicodedata

from soulmem.language.story.leaving_out import story_text

# Signs of a text that are analysed: no message needs more, and a runaway one must not cost more.
LONGEST = 20_000

_ADDRESS = re.compile(r"\b(?:https?://|www\.)[^\s<>)\]）】」』。，]+", re.IGNORECASE)
_EMPHASIS = re.compile(r"(?<!\w)[*_~]{1,3}(?=\S)|(?<=\S)[*_~]{1,3}(?!\w)|[*~]{1,3}|\|\|")
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
    text = _ADDRESS.sub(" ", story_text(text).text)
    return PlainText(_LINE_MARK.sub(_BREAK, _EMPHASIS.sub(_BREAK, text)))
