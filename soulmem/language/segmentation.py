"""Which single thoughts does a message hold?"""

from __future__ import annotations

import re

# After the mark that ends a sentence and the quotes or asterisks that close with it, at a line break, and
# where *what is done* ends and speech begins.
_END = re.compile(
    r"(?<=[.!?…])[\"”’'*)]*\s+|(?<=[。！？])[”’」』）*]*\s*|\n+|(?<=\*)\s+(?=[^*\s])"
)
_EDGE = " \t\"“”'‘’*「」『』"
_SHORT = 3  # bytes: Hm, Ok and the like say nothing alone


def sentences(text: str, most: int) -> list[str]:
    """The sentences of `text` in order, without quotes and asterisks round them, joined to `most` at most."""
    found = [
        piece
        for part in _END.split(text)
        if len((piece := part.strip(_EDGE)).encode()) > _SHORT
    ]
    if len(found) <= most:
        return found
    size = sum(map(len, found)) / most
    out: list[str] = []
    length = 0.0
    for piece in found:
        if not out or length >= size * len(out):
            out.append(piece)
        else:
            out[-1] = f"{out[-1]} {piece}"
        length += len(piece)
    return out
