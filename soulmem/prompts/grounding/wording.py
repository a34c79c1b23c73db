"""How does one sentence word a fact: who stands before the verb, and what behind it?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Person(Enum):
    """Whom a pronoun means."""

    SPEAKER = 1
    ADDRESSEE = 2
    OTHER = 3  # he, she, they


@dataclass(frozen=True, slots=True)
class Wording:
    """A fact as a sentence words it: its verb stands there word for word."""

    subject: (
        str | Person | None
    )  # who stands before the verb; None: that cannot be told
    verb: str  # with what changes its sense: "will fetch", "never liked"
    object: str | None  # the one asked for, when it stands with the verb
    persons: frozenset[Person]  # who is meant by pronouns with the verb
    instead: tuple[str, str] | None = None  # verb and object of the verb's own words
