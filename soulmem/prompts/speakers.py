"""Of whom can a line be saying something: of who speaks, of who is spoken to, or of whom it names?"""

from __future__ import annotations

import re
from collections.abc import Callable

from soulmem.domain.drafts import Passage, PassageLine

_FIRST = re.compile(r"\b(?:i|i['’]\w+|me|my|mine|myself|we|us|our)\b|[我咱俺僕]|私|在下|あたし", re.I)
_SECOND = re.compile(r"\b(?:you|you['’]\w+|your|yours|yourself)\b|[你您妳君]|あなた|お前", re.I)
_BACK = 2  # lines before in which "he" or "she" may have been named
_TELLING = 0.2  # share of lines with such words from which their absence tells something


class Speakers:
    """One passage, by who speaks and whom it is about."""

    def __init__(self, passage: Passage, stands: Callable[[str, str], bool]) -> None:
        """`stands(name, text)`: whether the name stands in the text, both in lower case."""
        self._lines = passage.lines
        self._stands = stands
        people = (passage.soul, *passage.users, *(line.speaker for line in passage.lines))
        self._people = {name.casefold() for name in people}
        telling = sum(bool(_FIRST.search(line.text) or _SECOND.search(line.text)) for line in passage.lines)
        # In another language than those above nothing can be told by its pronouns.
        self._is_known = telling >= _TELLING * len(passage.lines)

    def may_be_about(self, number: int, subject: str) -> bool:
        """Whether the line of this number can be saying something of the subject."""
        if not self._is_known:
            return True
        at = next((at for at, line in enumerate(self._lines) if line.number == number), None)
        if at is None:
            return False
        line, plain = self._lines[at], subject.casefold()
        if self._stands(plain, line.text.casefold()):
            return True
        if plain == line.speaker.casefold():
            return _is_own(line)
        if plain in self._people:
            return bool(_SECOND.search(line.text))
        before = self._lines[max(0, at - _BACK) : at]
        return any(self._stands(plain, (b.speaker + "\n" + b.text).casefold()) for b in before)


def _is_own(line: PassageLine) -> bool:
    """Whether who speaks may speak of himself: "I ..", a gesture between asterisks, or no "you" at all."""
    return "*" in line.text or bool(_FIRST.search(line.text)) or not _SECOND.search(line.text)
