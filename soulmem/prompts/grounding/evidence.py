"""Which lines of a passage bear out what a model wrote, and does it assert anything that stands nowhere?

A memory is known wherever its lines are. So a draft's lines must hold all it says: one that tells of line 15
and cites line 1 would let a branch that forked between them know the future.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from soulmem.domain.drafts import Lines, Passage
from soulmem.language.scripts import is_unspaced
from soulmem.prompts.grounding.passage_words import (
    PARTICLES,
    SIGNS,
    WORD,
    each_once,
    scripts,
    sentences,
    stands,
    units,
)
from soulmem.prompts.grounding.speakers import Speakers
from soulmem.prompts.grounding.statements import Statement, Statements, standing

_GESTURE = re.compile(r"\*([^*]+)\*")
_MID_WORD = re.compile(r"(?<=[\w,;:)\"”’…] )[^\W\d_][\w'’-]*")
_PERSONS = frozenset("我你您他她它们")


@dataclass(frozen=True, slots=True)
class EvidenceParams:
    """How strictly drafts are held to the passage."""

    # share of the passage's words that a script needs for a draft to be in it
    script: float = 0.2
    overlap: float = 0.2  # share of a draft's words that must stand in the passage: the rest is rewording
    # .. in one line, for that line to be taken when the model cites none
    inferred: float = 0.5
    alike: float = 0.6  # .. of a habit's words in a line, for it to be one more time that it showed
    capitals: float = 0.12  # share of capital words within sentences from which they mark no names (German)
    wrong: float = 0.25  # share of an answer's drafts up to which what it says in other words is believed
    copied: float = 0.8  # share of a sentence's words that one line has, for it to be said in the line's words
    wide: int = 8  # lines; a draft that needs more of them tells no one thing


class Grounds:
    """One passage, looked at from the side of what was written about it."""

    def __init__(self, passage: Passage, params: EvidenceParams | None = None) -> None:
        self._params = params or EvidenceParams()
        self._lines = {
            line.number: frozenset(units(line.speaker + "\n" + line.text))
            for line in passage.lines
        }
        self._plain = {
            line.number: (line.speaker + "\n" + line.text).casefold()
            for line in passage.lines
        }
        self._passage = passage
        self._speakers = Speakers(passage)
        whole = passage.text()
        self._whole = whole.casefold()
        self._units = frozenset(units(whole))
        self._before = frozenset(
            units(
                "\n".join(
                    (
                        passage.soul,
                        *passage.users,
                        *passage.known_names,
                        passage.summary,
                    )
                )
            )
        )
        self._known = {
            name.casefold()
            for name in (passage.soul, *passage.users, *passage.known_names)
        }
        self._statements = Statements((*self._known, *passage.names))
        script_counts = Counter[str]()
        for line in passage.lines:
            script_counts.update(scripts(line.text))
        self._scripts = script_counts
        self._written = frozenset(scripts(whole))
        self._words = frozenset(word.casefold() for word in WORD.findall(whole))
        mid = _MID_WORD.findall(whole)
        self._capitals_name = sum(
            word[0].isupper() for word in mid
        ) <= self._params.capitals * max(20, len(mid))

    def is_foreign(self, text: str) -> bool:
        """Whether the text is mostly in a script in which the lines are not."""
        mine = scripts(text)
        if not mine or not self._scripts:
            return False
        main = mine.most_common(1)[0][0]
        total = sum(self._scripts.values())
        if self._scripts["kana"] >= self._params.script * total and main == "han":
            return (
                mine["han"] > 12 and not mine["kana"]
            )  # Chinese written about a Japanese chat
        return self._scripts[main] < self._params.script * total

    def holds(self, name: str) -> bool:
        """Whether the name stands somewhere in the passage, in any case of letters."""
        return stands(name.casefold(), self._whole)

    def unknown_names(self, text: str) -> tuple[str, ...]:
        """Names in the text that stand nowhere in the passage: capital words within its sentences, and in a
        script without spaces every Latin word.
        """
        if SIGNS.search(text):
            names: Iterable[str] = re.findall(r"[A-Za-z\u00c0-\u024f]{2,}", text)
        elif self._capitals_name:
            names = (word for word in _MID_WORD.findall(text) if word[0].isupper())
        else:
            return ()
        return tuple(name for name in names if not self._knows(name))

    def _knows(self, name: str) -> bool:
        plain = re.sub(r"['’](?:s|m|ll|d|ve|re)?$", "", name.casefold())
        return (
            plain == "i"
            or plain in self._words
            or all(p in self._words for p in re.split(r"['’-]", plain))
        )

    def tells(self, text: str) -> bool:
        """Whether the passage has at least half of the text's words, no name in it is made up, and it is in
        a script of the chat.
        """
        if not units(text):
            return text.casefold() in self._whole
        is_said = self.share(text) >= self._params.inferred
        return is_said and not self.unknown_names(text) and not self.is_foreign(text)

    def is_gesture(self, text: str) -> bool:
        """Whether a gesture between asterisks begins so."""
        plain = text.casefold()
        gestures: list[str] = []
        for line in self._passage.lines:
            gestures += _GESTURE.findall(line.text)
        return any(gesture.strip().casefold().startswith(plain) for gesture in gestures)

    def share(self, text: str) -> float:
        """The share of the text's words that stand in the passage; 1 for a text without any."""
        mine = units(text)
        return sum(unit in self._units for unit in mine) / len(mine) if mine else 1.0

    def can_be_said_of(self, subject: str, what: str) -> bool:
        """Whether a line that says most of `what` can be saying it of the subject.

        True where no line has a word of it: it is said in other words.
        """
        telling = frozenset(units(what)) - self._before
        most = max(
            (len(line_units & telling) for line_units in self._lines.values()),
            default=0,
        )
        about = (
            number
            for number, line_units in self._lines.items()
            if len(line_units & telling) == most
        )
        return not most or any(
            self._speakers.may_be_about(number, subject) for number in about
        )

    def honest(self, text: str) -> str:
        """The sentences of the text, each once, that neither name somebody unknown nor put a line's words on
        somebody else; one that a line says as "I" or to "you" gets its speaker. Empty when none is left.
        """
        whole_sentences = sentences(text)
        kept = list[str]()
        for sentence in each_once(whole_sentences):
            speaker = self._speakers.speaker_of(sentence)
            true = f"{speaker}: {sentence}" if speaker else self._true(sentence)
            if true:
                kept.append(true)
        return (
            text
            if kept == whole_sentences
            else ("" if is_unspaced(text) else " ").join(kept)
        )

    def _is_strange(self, text: str) -> bool:
        """Whether it names somebody unknown, or has a sign of a script of which the passage has none."""
        others = (
            name for name in scripts(text) if name != "latin"
        )  # of Latin letters names are looked up
        return bool(self.unknown_names(text)) or not self._written.issuperset(others)

    def _true(self, sentence: str) -> str:
        """What of its statements names nobody unknown and is not put on somebody else. A Chinese sentence
        stands or falls as one: its clauses have one subject.
        """
        every = (
            [Statement(sentence, 0)]
            if is_unspaced(sentence)
            else self._statements.of(sentence)
        )
        kept = standing(
            every,
            lambda one: (
                not self._is_strange(one.text)
                and not self._speakers.is_swapped(one.text)
            ),
        )
        return sentence if kept == every else self._statements.told(kept, sentence)

    def copied(self, text: str) -> str:
        """The statements of the text that one line says in these words; empty when none is."""
        kept = []
        for statement in self._statements.of(text):
            mine = frozenset(units(statement.text))
            most = max(
                (len(line_units & mine) for line_units in self._lines.values()),
                default=0,
            )
            if mine and most >= self._params.copied * len(mine):
                kept.append(statement)
        return self._statements.told(kept, text)

    def shown(self, cited: Iterable[int], action: str, soul: str) -> Lines:
        """The lines in which the soul does what the action says: those cited that it speaks or that name it,
        and those of its own that say most of the action.

        Where more than half of the soul's lines are cited, only those count that have words of the action.
        """
        own = [
            number
            for number, text in self._plain.items()
            if stands(soul.casefold(), text)
        ]
        mine = frozenset(units(action)) - self._before
        lines = {number for number in cited if number in own}
        if 2 * len(lines) > len(own):
            lines = {number for number in lines if self._lines[number] & mine}
        spoken = {
            line.number
            for line in self._passage.lines
            if line.speaker.casefold() == soul.casefold()
        }
        if len(mine) > 1:
            lines |= {
                n
                for n in spoken
                if len(self._lines[n] & mine) >= self._params.alike * len(mine)
            }
        return tuple(sorted(lines))

    def lines_of(
        self, cited: Iterable[int], text: str, names: Iterable[str] = ()
    ) -> Lines:
        """The lines that bear out the text and hold each name; empty when they cannot be told.

        Cited lines that exist and say something of the text stay; what is said in none of them, nor before
        the passage, brings in the line that says most of it. Without a usable one the line that says
        at least half of the text is taken. Where so many are cited that it tells nothing, each sentence
        looks for its own.
        """
        lines = self._bearing(cited, text, names)
        if len(lines) > self._params.wide:
            each = [self._bearing((), sentence, names) for sentence in sentences(text)]
            lines = frozenset[int]().union(*each) if all(each) else frozenset[int]()
        return tuple(sorted(lines)) if len(lines) <= self._params.wide else ()

    def _bearing(
        self, cited: Iterable[int], text: str, names: Iterable[str]
    ) -> frozenset[int]:
        mine = frozenset(units(text))
        kept = [number for number in dict.fromkeys(cited) if number in self._lines]
        # a line is not about it for naming who speaks
        telling = mine - self._before or mine
        related = [
            number for number in kept if not mine or self._lines[number] & telling
        ]
        kept = related or (kept if not telling & self._units else [])
        if not kept:
            kept = self._nearest(mine)
        missing = (mine & self._units) - self._before
        for number in kept:
            missing -= self._lines[number]
        while missing and kept:
            best = max(
                self._lines,
                key=lambda n: (len(self._lines[n] & missing), -abs(n - kept[0])),
            )
            gained = self._lines[best] & missing
            if not gained:
                break
            kept.append(best)
            missing -= gained
        for name in names:
            self._cite(name, kept)
        return frozenset(kept)

    def _nearest(self, mine: frozenset[str]) -> list[int]:
        best = max(self._lines, key=lambda n: len(self._lines[n] & mine), default=None)
        if (
            best is None
            or not mine
            or len(self._lines[best] & mine) < self._params.inferred * len(mine)
        ):
            return []
        return [best]

    def _cite(self, name: str, kept: list[int]) -> None:
        """Add the nearest line that holds the name, unless one is there already, or it was known before."""
        plain = name.casefold()
        if plain in self._known:
            return
        where = [number for number, text in self._plain.items() if stands(plain, text)]
        if where and not set(where) & set(kept):
            kept.append(min(where, key=lambda n: abs(n - kept[0]) if kept else n))


def is_name_like(text: str) -> bool:
    """Whether the text may be a name: a few words, no gesture, no particle of Chinese."""
    return (
        "*" not in text and len(text.split()) <= 4 and not PARTICLES.intersection(text)
    )


def is_label_like(text: str) -> bool:
    """Whether the text may name a feeling: a word or two, or up to four signs."""
    signs = "".join(SIGNS.findall(text))
    return (
        "*" not in text
        and len(text.split()) <= 2
        and len(signs) <= 4
        and not _PERSONS.intersection(signs)
    )
