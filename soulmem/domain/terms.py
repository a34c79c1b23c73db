"""What is a concept of one text: the word or phrase that stands for it, and how much the text is about it."""

from __future__ import annotations

from typing import NamedTuple


class Term(NamedTuple):
    """One concept of a text. Texts that hold the same key hold the same concept."""

    key: str  # base form, lower case; not blank
    salience: float  # 0..1
