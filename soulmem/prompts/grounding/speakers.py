"""Of whom can a line be saying something: of who speaks, of who is spoken to, or of whom it names?"""

from __future__ import annotations

import re

from soulmem.domain.drafts import Passage, PassageLine
from soulmem.language.scripts import is_unspaced
from soulmem.prompts.grounding.passage_words import stands

_FIRST = re.compile(
    r"\b(?:i|i['’]\w+|me|my|mine|myself|we|us|our)\b|[我咱俺僕]|私|在下|あたし", re.I
)
SECOND = re.compile(
    r"\b(?:you|you['’]\w+|your|yours|yourself)\b|[你您妳君]|あなた|お前", re.I
)
# who speaks and who listens
_BOTH = re.compile(r"\b(?:we|us|our|let['’]s)\b|[我咱俺]们|我ら|私たち", re.I)
_NAME = re.compile(r"[A-Z\u00c0-\u00de][\w'’-]*(?: [A-Z\u00c0-\u00de][\w'’-]*)* ")
_MARKS = re.compile(r"[^\w'’]+")
_SIGNS = 4  # of a script without spaces, that tell as much as three words
_BACK = 2  # lines before in which "he" or "she" may have been named
# share of lines with such words from which their absence tells something
_TELLING = 0.2


class Speakers:
    """One passage, by who speaks and whom it is about."""

    def __init__(self, passage: Passage) -> None:
        self._lines = passage.lines
        people = (
            passage.soul,
            *passage.users,
            *(line.speaker for line in passage.lines),
        )
        self._people = {name.casefold() for name in people if name}
        telling = sum(
            bool(_FIRST.search(line.text) or SECOND.search(line.text))
            for line in passage.lines
        )
        # In another language than those above nothing can be told by its pronouns.
        self._is_known = telling >= _TELLING * len(passage.lines)

    def may_be_about(self, number: int, subject: str) -> bool:
        """Whether the line of this number can be saying something of the subject."""
        if not self._is_known:
            return True
        index = next(
            (index for index, line in enumerate(self._lines) if line.number == number),
            None,
        )
        if index is None:
            return False
        line, plain = self._lines[index], subject.casefold()
        if stands(plain, line.text.casefold()):
            return True
        if plain == line.speaker.casefold():
            return _is_own(line)
        if plain in self._people:
            return bool(SECOND.search(line.text) or _BOTH.search(line.text))
        before = self._lines[max(0, index - _BACK) : index]
        return any(
            stands(plain, (b.speaker + "\n" + b.text).casefold()) for b in before
        )

    def is_swapped(self, sentence: str) -> bool:
        """Whether the sentence says a line's own words of somebody of whom that line says nothing.

        Looked at are the words right behind the name it begins with; small models copy a line and put the
        speaker in front of it.
        """
        name, run = self._beginning(sentence)
        if not run:
            return False
        copied = [line.number for line in self._lines if run in _words(line.text)]
        return bool(copied) and not any(
            self.may_be_about(number, name) for number in copied
        )

    def speaker_of(self, sentence: str) -> str:
        """Who says the sentence word for word, where that must be known: for "I", "you", a gesture. Else
        empty.
        """
        run = _words(sentence)
        is_open = "*" in sentence or _FIRST.search(sentence) or SECOND.search(sentence)
        if not is_open or len(run) < _SIGNS:
            return ""
        return next(
            (line.speaker for line in self._lines if run in _words(line.text)), ""
        )

    def _beginning(self, sentence: str) -> tuple[str, str]:
        """The name a sentence begins with, and the words behind it; empty when they are too few to tell."""
        if is_unspaced(sentence):
            plain = sentence.casefold()
            name = max(
                (n for n in self._people if plain.startswith(n)), key=len, default=""
            )
            run = _words(sentence[len(name) :])[:_SIGNS]
            return name, run if name and len(run) == _SIGNS else ""
        match = _NAME.match(sentence)
        if match is None:
            return "", ""
        words = _words(sentence[match.end() :]).split()[:3]
        return match.group().strip(), " ".join(words) if len(words) > 1 else ""


def _is_own(line: PassageLine) -> bool:
    """Whether who speaks may speak of himself: "I ..", or a gesture between asterisks. Where no "I" is
    needed, any line without "you" may.
    """
    if "*" in line.text or _FIRST.search(line.text):
        return True
    return is_unspaced(line.text) and not SECOND.search(line.text)


def _words(text: str) -> str:
    """The text without marks, its words one space apart."""
    return " ".join(_MARKS.sub(" ", text.casefold()).split())
