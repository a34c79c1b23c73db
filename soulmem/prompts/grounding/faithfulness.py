"""Is a sentence of a model faithful to the passage: do the lines say it, near each other, of whom it is said?

Small models take a word from here and a name from there: "She brings a parrot to Ulric" of a parrot that
somebody's brother promised, and of Ulric to whom she brings bread. All its words stand in the passage. But
lines that are about one thing stand together, so what a clause takes from the passage must be found in a few
lines one after the other, and every name among them. What takes nothing from it is in other words: it can
only be believed as far as the rest of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from soulmem.domain.drafts import Passage, PassageLine
from soulmem.prompts.grounding.passage_words import sentences, stands, units
from soulmem.prompts.grounding.speakers import SECOND, Speakers
from soulmem.prompts.grounding.statements import Statement, Statements, standing

_AND = re.compile(r"\s*(?:,\s*and\s|,|，|、|and\s|和|与|跟)\s*")
_NO_SUBJECT = (
    "'s",
    "’s",
    "的",
    ":",
    "：",
)  # behind a name that owns the subject, or is quoted
_PRONOUN = re.compile(r"(?:he|she|they)\b|[他她它]们?", re.I)
_CLAUSE = re.compile(
    r"[,;:，；：]\s*|(?<!\s)\s+[-–—]+\s+|——"
    r"|\s(?:and|but|or|because|so|while|when|where|who|which|that|then|after|before|until|as|if|though)\s",
    re.I,
)


class Verdict(Enum):
    """What the passage has to a sentence."""

    SAID = 1  # its lines say most of it
    REWORDED = 2  # they say too little of it to tell
    UNFAITHFUL = 3  # they say it of somebody else, or its parts in different places


@dataclass(frozen=True, slots=True)
class FaithfulnessParams:
    """How near each other the parts of a sentence must be said, and how much of it."""

    window: int = 4  # lines one after the other that tell of one thing
    # share of what a clause takes from the passage that one window must have
    together: float = 0.6
    # words and names; a clause with more of them sums up more than one thing
    most: int = 9
    known_share: float = 0.5  # share of a sentence's words that stand in the passage, for it to be said there
    copied: float = 0.8  # share of its words that one line has, for that line to decide whom it is about
    wrong: float = 0.25  # share of unfaithful sentences from which a model is believed nothing else


class Kept(NamedTuple):
    """What is left of a text."""

    text: str  # empty when nothing is
    was_wrong: bool = False  # and not only said twice


class Faithfulness:
    """One passage, by what its lines say together."""

    def __init__(
        self, passage: Passage, params: FaithfulnessParams | None = None
    ) -> None:
        self._params = params or FaithfulnessParams()
        self._speakers = Speakers(passage)
        talkers = (
            passage.soul,
            *passage.users,
            *(line.speaker for line in passage.lines),
        )
        self._talkers = tuple(
            dict.fromkeys(name.casefold() for name in talkers if name)
        )
        other_names = (
            name.casefold() for name in (*passage.names, *passage.known_names)
        )
        self._others = tuple(
            name
            for name in dict.fromkeys(other_names)
            if name and name not in self._talkers
        )
        self._statements = Statements((*self._talkers, *self._others))
        self._name = self._statements.name
        self._lines = passage.lines
        self._said = {
            line.number: frozenset(units(line.text)) for line in passage.lines
        }
        self._windows = list(
            self._together([(line.speaker, line.text) for line in passage.lines])
        )
        # What was summed up before is as good as a line; each sentence of it tells of one thing.
        for sentence in sentences(passage.summary):
            self._windows += self._together([("", sentence)])
        self._known = frozenset[str]().union(*(words for _, words in self._windows))

    def _together(
        self, lines: Sequence[tuple[str, str]]
    ) -> Iterable[tuple[str, frozenset[str]]]:
        """Text and words of each run of lines that may tell of one thing."""
        for end in range(1, len(lines) + 1):
            run = lines[max(0, end - self._params.window) : end]
            text = "\n".join(map("\n".join, run)).casefold()
            yield text, frozenset(units("\n".join(text for _, text in run)))

    def kept(self, text: str) -> Kept:
        """What the text states, each thing once, as far as it is not unfaithful. What goes on about somebody
        goes with what it goes on from.

        Where many are unfaithful the model makes things up: then what it says without names must be said in
        one place, too, and what is in other words than the passage's is out.
        """
        every = self._statements.of(text)
        subjects, verdicts = list[str](), dict[Statement, Verdict]()
        for statement in every:
            goes_on = statement.goes_on or bool(_PRONOUN.match(statement.text))
            subjects = self._subjects(statement.text) or (subjects if goes_on else [])
            verdicts[statement] = self.of(statement.text, subjects)
        wrong = sum(verdict is Verdict.UNFAITHFUL for verdict in verdicts.values())
        is_doubtful = wrong >= max(1.0, self._params.wrong * len(every))

        def is_believed(statement: Statement) -> bool:
            if is_doubtful:
                return verdicts[statement] is Verdict.SAID and self._is_near(
                    statement.text
                )
            return verdicts[statement] is not Verdict.UNFAITHFUL

        return Kept(
            self._statements.told(standing(every, is_believed), text), wrong > 0
        )

    def can_be_looked_up(self, text: str) -> bool:
        """Whether it says anything besides names and little words, which any line may say."""
        return bool(self._words(text))

    def of(self, sentence: str, subjects: Sequence[str] | None = None) -> Verdict:
        """Whether it is faithful; of these subjects, where it is not they whom it begins with."""
        if self._is_of_others(
            sentence, self._subjects(sentence) if subjects is None else subjects
        ):
            return Verdict.UNFAITHFUL
        if any(
            self._named(clause) and not self._is_together(clause)
            for clause in _CLAUSE.split(sentence)
        ):
            return Verdict.UNFAITHFUL
        words = self._words(sentence)
        known_words = len(words & self._known)
        return (
            Verdict.SAID
            if words and known_words >= self._params.known_share * len(words)
            else Verdict.REWORDED
        )

    def _is_of_others(self, sentence: str, subjects: Sequence[str]) -> bool:
        """Whether the lines that say it can be saying it of none who talks among the subjects, or not of all
        others. Of two who talk one may be meant with the other: "To the mill." "So we go." What is quoted
        must be said by whom it is quoted from.
        """
        words = self._words(sentence)
        least = max(2.0, self._params.copied * len(words))
        saying = [
            line
            for line in self._lines
            if len(self._said[line.number] & words) >= least
        ]
        speaker = next(
            (
                n
                for n in self._talkers
                if sentence.casefold().startswith((n + ":", n + "："))
            ),
            "",
        )
        if speaker:
            return bool(saying) and all(
                line.speaker.casefold() != speaker for line in saying
            )
        if not saying or not subjects:
            return False
        aside = {name for name in self._named(sentence) if name not in subjects}
        fits = dict[str, bool]()
        for subject in subjects:
            fits[subject] = any(
                self._may_say_of(line, words, subject, aside) for line in saying
            )
        talking = [fits[subject] for subject in subjects if subject in self._talkers]
        return not (
            all(fits[subject] for subject in subjects if subject in self._others)
            and (any(talking) or not talking)
        )

    def _may_say_of(
        self, line: PassageLine, words: frozenset[str], subject: str, aside: Set[str]
    ) -> bool:
        """Whether the line can be saying the words of the subject. Who speaks need not say "I", unless the
        sentence is of "you" or names somebody of whom it may be said instead.
        """
        if self._speakers.may_be_about(line.number, subject):
            return True
        closest_sentence = max(
            sentences(line.text),
            key=lambda one: len(words & frozenset(units(one))),
            default="",
        )
        is_free = self._named(closest_sentence) <= aside and not SECOND.search(
            closest_sentence
        )
        return is_free and subject == line.speaker.casefold()

    def _is_near(self, sentence: str) -> bool:
        return all(map(self._is_together, _CLAUSE.split(sentence)))

    def _is_together(self, clause: str) -> bool:
        """Whether some window has all names of the clause and most of what it takes from the passage, or
        that cannot be asked of it.
        """
        names, words = self._named(clause), self._words(clause) & self._known
        if not 2 <= len(names) + len(words) <= self._params.most:
            return True
        most = -1
        for text, window_words in self._windows:
            if all(stands(name, text) for name in names):
                most = max(most, len(window_words & words))
        return most >= self._params.together * len(words)

    def _named(self, text: str) -> set[str]:
        """Who is named in it besides those who talk."""
        plain = text.casefold()
        return {name for name in self._others if stands(name, plain)}

    def _subjects(self, sentence: str) -> list[str]:
        """Whom the sentence begins with: two of "Al and Petra sold", none of "Al's boat" or "Al: I .."."""
        rest, subjects = sentence.casefold().strip(), list[str]()
        while True:
            names = (
                name
                for name in (*self._talkers, *self._others)
                if rest.startswith(name)
            )
            name = max(names, key=len, default="")
            rest = rest[len(name) :]
            is_part = rest[:1].isascii() and rest[:1].isalnum()
            if not name or is_part or rest.startswith(_NO_SUBJECT):
                return subjects
            subjects.append(name)
            more = _AND.match(rest)
            if more is None:
                return subjects
            rest = rest[more.end() :]

    def _words(self, text: str) -> frozenset[str]:
        """What it says besides the names; those of who talks are in every line."""
        return frozenset(units(self._name.sub("\n", text.casefold())))
