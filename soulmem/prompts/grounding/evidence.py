"""Which lines of a passage bear out what a model wrote, and does it name anything that stands nowhere?

A memory is known wherever its lines are. So a draft's lines must hold all it says: one that tells of line 15
and cites line 1 would let a branch that forked between them know the future.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from soulmem.domain.drafts import Lines, Passage
from soulmem.language.foreign_names import nouns_have_capitals
from soulmem.language.grammars import languages_of
from soulmem.language.markup import plain
from soulmem.language.names import names
from soulmem.language.scripts import is_unspaced
from soulmem.language.segmentation import sentences
from soulmem.language.spaced_words import words
from soulmem.prompts.grounding.passage_words import (
    SIGNS,
    alike,
    content_words,
    names_alike,
    scripts,
    stands,
)

_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]{2,}")


# How strictly drafts are held to the passage.
# share of the passage's words that a script needs for a draft to be in it
_SCRIPT = 0.2
# share of a detail's words in the passage, for the passage to tell it
_DETAIL = 0.5
# .. of a habit's words in a line, for it to be one more time that it showed
_ALIKE = 0.6
_EARLIER = 2  # words of a line before those cited, from which it is evidence too
_WIDE = 8  # lines; a draft that needs more of them tells no one thing


class Grounds:
    """One passage, looked at from the side of what was written about it."""

    def __init__(self, passage: Passage) -> None:
        self._passage = passage
        text = "\n".join(line.text for line in passage.lines)
        text_words = words(plain(text))
        self.languages = () if is_unspaced(text) else languages_of(text_words)
        self._capitals_name = not nouns_have_capitals(text_words, self.languages)
        self.texts = {line.number: line.text.casefold() for line in passage.lines}
        self._lines = {
            line.number: self._keys(f"{line.speaker}\n{line.text}") for line in passage.lines
        }
        self._lines_by_key: dict[str, frozenset[int]] = {}
        whole = passage.text()
        self._whole = whole.casefold()
        known = (passage.soul, *passage.users, *passage.known_names)
        self._known = {name.casefold() for name in known}
        self._before = self._keys("\n".join((*known, passage.summary)))
        self._scripts = sum((scripts(line.text) for line in passage.lines), Counter())
        self._written = frozenset(scripts(whole))
        self._words = frozenset(word.low for word in words(whole))

    def _keys(self, text: str) -> frozenset[str]:
        return frozenset(word.key for word in content_words(text, self.languages))

    def lines_with(self, key: str) -> frozenset[int]:
        """The lines that have a form of the word, or its speaker has it as a name."""
        lines = self._lines_by_key.get(key)
        if lines is None:
            lines = frozenset(
                number
                for number, keys in self._lines.items()
                if key in keys or any(alike(key, other) for other in keys)
            )
            self._lines_by_key[key] = lines
        return lines

    def is_foreign(self, text: str) -> bool:
        """Whether the text is mostly in a script in which the lines are not."""
        mine = scripts(text)
        if not mine or not self._scripts:
            return False
        main = mine.most_common(1)[0][0]
        total = sum(self._scripts.values())
        if self._scripts["kana"] >= _SCRIPT * total and main == "han":
            return mine["han"] > 12 and not mine["kana"]  # Chinese written about a Japanese chat
        return self._scripts[main] < _SCRIPT * total

    def holds(self, name: str) -> bool:
        """Whether the name stands somewhere in the passage, in any case of letters."""
        return stands(name.casefold(), self._whole)

    def knows(self, name: str) -> bool:
        """Whether it, or each of its words in some form, stands in the passage."""
        if self.holds(name):
            return True
        if SIGNS.search(name):
            people = (self._passage.soul, *self._passage.users, *self._passage.names)
            if any(known and known in name for known in people):
                return True  # somebody of theirs
        keys = self._keys(name)
        spaced = [word.low for word in words(name) if not SIGNS.search(word.raw)]
        if spaced:
            return all(self._has_word(low) for low in spaced)
        return bool(keys) and all(self.lines_with(key) or key in self._before for key in keys)

    def unknown_names(self, text: str) -> tuple[str, ...]:
        """Names in the text of which no word stands in the passage; in a script without spaces every Latin
        word is taken for one, and none where all nouns have capitals.
        """
        if SIGNS.search(text):
            found: Iterable[str] = _LATIN.findall(text)
        elif self._capitals_name:
            found = names(text)
        else:
            return ()
        return tuple(
            name for name in found if not any(self._has_word(word.low) for word in words(name))
        )

    def _has_word(self, low: str) -> bool:
        return low in self._words or any(names_alike(low, other) for other in self._words)

    def is_strange(self, text: str) -> bool:
        """Whether it names somebody unknown, or has a sign of a script of which the passage has none."""
        others = (name for name in scripts(text) if name != "latin")
        return bool(self.unknown_names(text)) or not self._written.issuperset(others)

    def honest(self, text: str) -> str:
        """The sentences of the text, each once, that name nobody unknown; empty when none is left."""
        every = sentences(text)
        kept = dict[str, str]()
        for sentence in every:
            if not self.is_strange(sentence):
                kept.setdefault(_bare(sentence), sentence)
        if len(kept) == len(every):
            return text
        return ("" if is_unspaced(text) else " ").join(kept.values())

    def has(self, text: str) -> bool:
        """Whether a line has it word by word."""
        return any(text.casefold() in line for line in self.texts.values())

    def repeats(self, text: str) -> bool:
        """Whether it is a line of the passage, or a sentence of one, word by word."""
        bare = _bare(text)
        return any(
            bare == _bare(part) for line in self.texts.values() for part in (line, *sentences(line))
        )

    def share(self, text: str) -> float:
        """The share of the text's words that stand in the passage; 1 for a text without any."""
        mine = self._keys(text)
        there = [key for key in mine if self.lines_with(key) or key in self._before]
        return len(there) / len(mine) if mine else 1.0

    def tells(self, text: str) -> bool:
        """Whether the passage has at least half of the text's words, no name in it is made up, and it is in
        a script of the chat.
        """
        if not self._keys(text):
            return text.casefold() in self._whole
        is_said = self.share(text) >= _DETAIL
        return is_said and not self.unknown_names(text) and not self.is_foreign(text)

    def shown(self, cited: Iterable[int], action: str, soul: str) -> Lines:
        """The lines in which the soul does what the action says: those cited that it speaks or that name it,
        and those of its own that say most of the action.

        Where more than half of the soul's lines are cited, only those count that have words of the action.
        """
        folded = soul.casefold()
        spoken = {line.number for line in self._passage.lines if line.speaker.casefold() == folded}
        own = spoken | {n for n, text in self.texts.items() if stands(folded, text)}
        counts = self._counts(self._keys(action) - self._before)
        lines = {number for number in cited if number in own}
        if 2 * len(lines) > len(own):
            lines = {number for number in lines if counts[number]}
        most = len(self._keys(action) - self._before)
        if most > 1:
            lines |= {n for n in spoken if counts[n] >= _ALIKE * most}
        return tuple(sorted(lines))

    def _counts(self, keys: Iterable[str]) -> Counter[int]:
        """How many of the words each line has."""
        counts = Counter[int]()
        for key in keys:
            counts.update(self.lines_with(key))
        return counts

    def cited(self, numbers: Iterable[int]) -> Lines:
        """The cited lines that exist; none where they are too many to tell one thing."""
        kept = sorted(self._lines.keys() & set(numbers))
        return tuple(kept) if len(kept) <= _WIDE else ()

    def lines_of(self, cited: Lines, text: str, names: Iterable[str] = ()) -> Lines:
        """The cited lines with those that the text needs besides: what it says of later lines, or in several
        words of earlier ones, and one that holds each name. Empty when it needs too many.
        """
        keys = {key for key in self._keys(text) if len(key) > 1}
        missing = {key for key in keys if self._is_new(key, cited)}
        kept = list(cited)
        while missing and len(kept) <= _WIDE:
            counts = self._counts(missing)
            best = max(counts, key=lambda n: (counts[n], -abs(n - cited[0])))
            if best < cited[-1] and counts[best] < _EARLIER:
                break
            kept.append(best)
            missing = {key for key in missing if best not in self.lines_with(key)}
        for name in names:
            self._cite(name.casefold(), kept)
        return tuple(sorted(kept)) if len(kept) <= _WIDE else ()

    def _is_new(self, key: str, lines: Lines) -> bool:
        """Whether other lines have the word, and neither these nor what was known before."""
        there = self.lines_with(key)
        return bool(there) and there.isdisjoint(lines) and key not in self._before

    def _cite(self, name: str, kept: list[int]) -> None:
        """Add the nearest line that holds the name, unless one is there already, or it was known before."""
        if name in self._known:
            return
        where = [number for number, text in self.texts.items() if stands(name, text)]
        if where and not set(where) & set(kept):
            kept.append(min(where, key=lambda n: abs(n - kept[0]) if kept else n))


def _bare(sentence: str) -> str:
    return "".join(filter(str.isalnum, sentence.casefold()))
