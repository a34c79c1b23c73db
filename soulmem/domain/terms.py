"""A term: a word or phrase that stands for a concept of a text."""

from __future__ import annotations

from typing import NamedTuple


class Term(NamedTuple):
    """One concept of a text. Texts with the same key share the concept."""

    key: str  # base form, lower case; not blank
    salience: float  # 0..1
