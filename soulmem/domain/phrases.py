"""Texts for the user that keep their code and values, so that a page can say them in its own language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Phrase:
    """One text for the user.

    code      names the text in every language; the page has it as `phrase_` with this code
    template  the English text, with `{name}` where a value stands
    values    by their names in `template`: text, numbers, and phrases of their own
    """

    code: str
    template: str
    values: Mapping[str, str | int | float | Phrase] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        """The English text."""
        return self.template.format(**self.values)

    def as_json(self) -> dict[str, Any]:
        """Code, English text and values, as clients get them; a value that is a phrase likewise."""
        values = {
            name: value.as_json() if isinstance(value, Phrase) else value
            for name, value in self.values.items()
        }
        return {"code": self.code, "text": str(self), "values": values}


# A text for the user; a plain one has no other language.
Wording = Phrase | str


def phrase(code: str, template: str, /, **values: object) -> Phrase:
    """The phrase with these values; what is neither a number nor a phrase is put down as text."""
    return Phrase(code, template, {name: _value(v) for name, v in values.items()})


def _value(value: object) -> str | int | float | Phrase:
    return value if isinstance(value, int | float | Phrase) else str(value)
