"""Talk about the game inside a message: ((..)), (OOC: ..), [OOC ..], OOC: .., in half and full width."""

from __future__ import annotations

import re

_PAIRS = {
    ")": "(",
    "\uff09": "\uff08",
    "]": "[",
    "\uff3d": "\uff3b",
    "\u3011": "\u3010",
}
_BRACKET = re.compile("[()\uff08\uff09\\[\\]\uff3b\uff3d\u3010\u3011]")
_OOC = re.compile(r"\s*OOC(?![A-Za-z])", re.IGNORECASE)
_LINE = re.compile(r"^[^\S\n]*OOC\s*[:\uff1a].*$", re.IGNORECASE | re.MULTILINE)
_MAY_HOLD = re.compile(r"\(\(|\uff08\uff08|ooc", re.IGNORECASE)


def asides(text: str) -> list[tuple[int, int]]:
    """Start and end of each aside, in order, none inside another. In time of the text's length.

    `OOC:` goes to the end of its line. A bracket that is never closed holds none.
    """
    if _MAY_HOLD.search(text) is None:
        return []
    spans = _bracketed(text)
    spans += (match.span() for match in _LINE.finditer(text))
    spans.sort()
    out: list[tuple[int, int]] = []
    for start, end in spans:
        if not out or start >= out[-1][1]:
            out.append((start, end))
    return out


def _bracketed(text: str) -> list[tuple[int, int]]:
    """Spans of bracketed asides."""
    out = []
    open_at: dict[str, list[int]] = {sign: [] for sign in _PAIRS.values()}
    closed: dict[int, int] = {}  # by the position of an opening bracket, of its end
    for match in _BRACKET.finditer(text):
        sign, position = match[0], match.start()
        if sign in open_at:
            open_at[sign].append(position)
        elif open_at[_PAIRS[sign]]:
            start = open_at[_PAIRS[sign]].pop()
            closed[start] = position + 1
            is_double = closed.get(start + 1) == position and sign in ")\uff09"
            if is_double or _OOC.match(text, start + 1):
                out.append((start, position + 1))
    return out
