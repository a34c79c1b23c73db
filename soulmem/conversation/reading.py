"""What does a text tell besides its words? Read once, however many souls were there to hear it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from soulmem.domain.situation import Emotion
from soulmem.domain.terms import Term
from soulmem.language.feelings import feelings
from soulmem.language.keywords import terms
from soulmem.language.markup import plain
from soulmem.language.names import names
from soulmem.language.places import place_of


@dataclass(frozen=True, slots=True)
class Reading:
    """A function of the text alone."""

    terms: tuple[Term, ...]
    names: tuple[str, ...]  # new or known, as written
    location: str | None
    emotions: tuple[Emotion, ...]


def read(text: str) -> Reading:
    """Read a text: some 0.3 ms for a turn of 500 signs."""
    words = plain(text)
    felt = tuple(Emotion(label, intensity) for label, intensity in feelings(words))
    return Reading(terms(words), names(words), place_of(words), felt)


class Readings:
    """What was read ahead of a change, so that the change itself does not wait for it."""

    def __init__(self) -> None:
        self._known: dict[str, Reading] = {}

    def of(self, text: str) -> Reading:
        """What the text tells; read now unless it was before."""
        return self._known.get(text) or read(text)

    def ahead(self, texts: Iterable[str]) -> None:
        """Read these and keep it until `forget`. For any one thread."""
        for text in texts:
            if text not in self._known:
                self._known[text] = read(text)

    def forget(self) -> None:
        """The change is done."""
        self._known = {}
