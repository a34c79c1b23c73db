"""How well does a list of keys fit what was marked by hand?"""

from __future__ import annotations

from collections.abc import Collection


def f1(keys: Collection[str], marked: Collection[str]) -> float:
    """Harmonic mean of precision and recall, 0..1; a part of a marked phrase is neither right nor wrong."""
    right = [key for key in keys if key in marked]
    wrong = [
        key for key in keys if key not in marked and not any(is_part(key, one) for one in marked)
    ]
    if not right:
        return 0.0
    precision, recall = len(right) / (len(right) + len(wrong)), len(right) / len(marked)
    return 2 * precision * recall / (precision + recall)


def is_part(key: str, phrase: str) -> bool:
    """Whether the key is a word of the phrase, or a piece of one without spaces."""
    return key in phrase.split() or (not phrase.isascii() and key in phrase)
