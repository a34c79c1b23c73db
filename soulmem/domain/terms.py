"""What is a concept of one text: the word or phrase that stands for it, and how much the text is about it."""

from __future__ import annotations

from dataclasses import dataclass

from soulmem.domain.errors import Unprocessable


@dataclass(frozen=True, slots=True)
class Term:
    """One concept of a text. Texts that hold the same key hold the same concept."""

    key: str  # base form, lower case; not blank
    salience: float  # 0..1

    def __post_init__(self) -> None:
        if not self.key.strip() or not 0.0 <= self.salience <= 1.0:
            raise Unprocessable(f"term {self.key!r} of salience {self.salience}: a key and 0..1 are needed")
