"""Scripts as ranges for a character class of `re`: those without spaces between words, and capital letters."""

from __future__ import annotations

import re

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
UNSPACED = (
    HAN + "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul, whose words carry their endings
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
)

# Capital letters of Latin, Greek, Cyrillic and Armenian.
CAPITALS = "".join(c for c in map(chr, range(0x41, 0x590)) if c.isupper())

_SIGN = re.compile(f"[{UNSPACED}]")
_SPACED_WORD = re.compile(rf"(?:(?![{UNSPACED}\d_])\w)+")


def is_unspaced(text: str) -> bool:
    """Whether the text is mostly in such scripts: a sign counts as much as a word of another script."""
    return not text.isascii() and len(_SIGN.findall(text)) > len(_SPACED_WORD.findall(text))
