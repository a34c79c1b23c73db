"""How much of a draft do its lines carry? A figure for its confidence, in any language.

Two questions, no grammar. How many of the draft's words do its lines have? And are they said of whom the
draft tells: each word is told of the person named before it, and a line may tell of who speaks it, of who is
spoken to, or of whom it names. The answer is compared with what it would be if the names were exchanged: where
others fit the same lines better, the draft has likely mixed them up.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from soulmem.domain.drafts import Lines, Passage
from soulmem.language.function_words import CHINESE_SIGNS, ENGLISH
from soulmem.language.scripts import is_unspaced
from soulmem.language.spaced_words import words
from soulmem.language.speech import language_of, speech_of
from soulmem.prompts.grounding.evidence import Grounds
from soulmem.prompts.grounding.passage_words import (
    PlacedWord,
    alike,
    content_words,
    grammar_words,
    stands,
)

# Most confidence in a draft of a model that failed its test. It uses words of the lines, but often states
# them of the wrong person, which a comparison of words does not show.
MOST_STRICT = 0.5
_CLAUSE_ENDS = re.compile("[,;:.!?，；：。！？]+")
# What somebody is quoted with: between marks, or a sentence behind a colon.
_QUOTED = re.compile(r'["“„«「『][^"”“»」』]*["”“»」』]?|[:：]\s*[^\s"“„«「『][^.!?。！？…]*')
_SENTENCE_ENDS = re.compile("[.!?…。！？]")
_BEFORE = (1, 2)  # lines back in which "he" or "she" may have been named
_NEAR = (-2, -1, 1)  # lines beside a cited one that the model may have meant as well


# What a draft's words and names must show for full confidence. Figures were set on chats of tests.
# share of the words in the lines, from which they carry all: a faithful retelling keeps a third
_CARRIED = 0.35
_STRICT_CARRIED = 0.7  # .. of a model that failed its test: it must copy
# words, or signs and pairs of signs, that one line must have for a strict reading to count them: a model
# at a loss takes one word from here and one from there
_TOGETHER = 2
_TOGETHER_SIGNS = 4
_BESIDE = 0.5  # what a word counts that only a line beside the cited ones has
# how far a word is told of who begins its clause, rather than of the last name
_FIRST = 0.7
# of a clause without a name, whether of who began the one before or of the last name
_INHERITED = 0.5
# exponent of how much worse the draft's names fit than others would; of a model that failed its test
_EXCHANGE = 2.0
_STRICT_EXCHANGE = 3.0
_NAMES = 0.5  # most that names alone carry of a draft that tells more
# factor for a name that neither the lines nor those just before them have
_ABSENT = 0.3
# .. that only lines just before them have, and tells no more than by the way
_NEARLY_ABSENT = 0.6
# factor for what a line denies and the draft states; most confidence in an end that no line denies
_DENIED = 0.5
_UNSAID = 0.5  # factor, in a strict reading, for a verb that the lines do not have
_UNNAMED = 0.5  # factor for "I" and "you", who may be anybody


class _Fit(NamedTuple):
    """How likely a line that does not name somebody tells of him, 0..1, by its words for persons."""

    plain: float
    i: float
    you: float
    both: float


_SPEAKER = _Fit(0.6, 1.0, 0.3, 0.9)
_LISTENER = _Fit(0.5, 0.1, 1.0, 0.65)
_CITED = _Fit(0.6, 0.6, 0.3, 0.6)  # named in another of the draft's lines
_NAMED_BEFORE = _Fit(0.65, 0.55, 0.55, 0.55)
_UNKNOWN_SPEAKER, _UNKNOWN_LISTENER = 0.7, 0.5  # in a language without lists
# that a speaker of the passage said a line of another speaker: one that names the former, any other
_SAID_OF, _SAID_BY_ANOTHER = 0.5, 0.1
_OF_ANOTHER = 0.6  # factor for a line that names somebody else and neither speaker nor listener


class _Mention(NamedTuple):
    start: int
    end: int
    name: str


class _Attribution(NamedTuple):
    """A word that the lines have, with who may be meant to do or be it."""

    lines: frozenset[int]
    first: str  # who begins its clause
    last: str  # who is named last before it
    share: float  # how far it is told of `first`
    is_quoted: bool = False  # they are who says it


class Support:
    """One passage, asked how far it carries what was written about it.

    names  whom the answer tells something of, besides the names of the passage
    """

    def __init__(
        self,
        passage: Passage,
        grounds: Grounds,
        names: Iterable[str] = (),
        *,
        is_strict: bool = False,
    ) -> None:
        self._grounds = grounds
        self._carried = _STRICT_CARRIED if is_strict else _CARRIED
        self._is_strict = is_strict
        self._exchange = _STRICT_EXCHANGE if is_strict else _EXCHANGE
        text = "\n".join(line.text for line in passage.lines)
        self._speech = speech_of(language_of(text))
        self._joint = is_unspaced(text)
        self._texts = {line.number: line.text for line in passage.lines}
        self._speaker = {line.number: line.speaker for line in passage.lines}
        people = (passage.soul, *passage.users, *self._speaker.values())
        self._people = tuple(dict.fromkeys(name for name in people if name))
        others = (*passage.names, *passage.known_names, *names)
        self._others = tuple(
            name
            for name in dict.fromkeys(others)
            if _may_be_somebody(name) and name not in self._people and grounds.holds(name)
        )
        self._named = {
            number: frozenset(n for n in self._others if self._stands(n, number))
            for number in self._texts
        }
        self._fits: dict[tuple[str, int, Lines, bool], float] = {}
        every = sorted((*self._people, *self._others), key=len, reverse=True)
        self._pattern = _pattern(every)
        self._by_fold = {name.casefold(): name for name in every}

    def of(self, text: str, lines: Lines, verb: str = "", thing: str = "") -> float:
        """Confidence in a text that cites these lines, 0..1. `verb` and `thing`, its object, of a fact."""
        mentions = self._mentions(text)
        telling = self._telling(text, mentions)
        others = {m.name for m in mentions}.difference(self._people)
        near = self._near(lines)
        attributions, carried = list[_Attribution](), 0.0
        together = self._together(telling, lines)
        for word in telling:
            where = self._grounds.lines_with(word.key)
            there = where & together
            carried += 1.0 if there else _BESIDE * (not where.isdisjoint(near))
            there = there or where & near
            if there and mentions and mentions[0].start < word.place:
                attributions.append(self._attribution(word.place, there, mentions, text))
        most = 1.0 if carried or not telling else _NAMES
        for name in others:
            carried += any(self._stands(name, number) for number in lines)
        count = len(telling) + len(others)
        share = carried / count if count else 0.0
        return (
            min(most, share / self._carried)
            * self._exchanged(attributions, mentions, lines)
            * self._absence(mentions, lines)
            * (_ABSENT if self._is_unmeant(thing, telling, lines) else 1.0)
            * self._contradiction(text, lines)
            * self._namelessness(text)
            * (_UNSAID if self._is_unsaid(verb, lines) else 1.0)
        )

    def copied(self, text: str) -> float:
        """Share of the clauses of which one line and the next have as many words as a strict reading wants."""
        telling = self._telling(text, self._mentions(text))
        ends = [match.end() for match in _CLAUSE_ENDS.finditer(text)]
        clauses = dict[int, list[PlacedWord]]()
        for word in telling:
            clauses.setdefault(bisect(ends, word.place), []).append(word)
        return sum(map(self._is_copied, clauses.values())) / max(1, len(clauses))

    def _is_copied(self, clause: Sequence[PlacedWord]) -> bool:
        counts = Counter[int]()
        for word in clause:
            lines = self._grounds.lines_with(word.key)
            counts.update(lines.union(number - 1 for number in lines))
        most = max(counts.values(), default=0)
        return most > 0 and most >= _STRICT_CARRIED * len(clause)

    def of_end(self, text: str, lines: Lines) -> float:
        """Most confidence in the claim that what the text says is over: for more, a line with words of it has to
        deny something, as the words of what was so say nothing of its end.
        """
        for word in self._telling(text, self._mentions(text)):
            for number in self._grounds.lines_with(word.key).intersection(lines):
                if self._speech.denied(self._texts[number]):
                    return 1.0
        return _DENIED

    def _is_unsaid(self, verb: str, lines: Lines) -> bool:
        """Whether a strict reading misses a word of the verb in the lines, be it as common as "brought"."""
        if not self._is_strict:
            return False
        text = "\n".join(self._grounds.texts[number] for number in lines)
        if self._joint:
            return any(sign not in CHINESE_SIGNS and sign not in text for sign in verb)
        return not all(_has(text, word.low, self._joint) for word in words(verb))

    def _together(self, telling: Sequence[PlacedWord], lines: Lines) -> frozenset[int]:
        """The lines whose words count: in a strict reading those that have several of them, or all."""
        if not self._is_strict:
            return frozenset(lines)
        least = min(len(telling), _TOGETHER_SIGNS if self._joint else _TOGETHER)
        counts = Counter[int]()
        for word in telling:
            counts.update(self._grounds.lines_with(word.key))
        return frozenset(number for number in lines if counts[number] >= least)

    def _telling(self, text: str, mentions: Sequence[_Mention]) -> list[PlacedWord]:
        """The words of the text besides its names."""
        return [
            word
            for word in content_words(text, self._grounds.languages)
            if not any(m.start <= word.place < m.end for m in mentions)
        ]

    def _near(self, lines: Lines) -> frozenset[int]:
        beside = {number + step for number in lines for step in _NEAR}
        return frozenset(beside.intersection(self._texts).difference(lines))

    def _mentions(self, text: str) -> list[_Mention]:
        return [
            _Mention(m.start(), m.end(), self._by_fold[m["name"].casefold()])
            for m in self._pattern.finditer(text)
        ]

    def _attribution(
        self, place: int, lines: frozenset[int], mentions: Sequence[_Mention], text: str
    ) -> _Attribution:
        before = [mention for mention in mentions if mention.start < place]
        quoting = _quoting(place, text, before)
        if quoting:
            share, first, last = _FIRST, quoting[0].name, quoting[-1].name
            return _Attribution(lines, first, last, share, is_quoted=True)
        ends = [0, *(m.end() for m in _CLAUSE_ENDS.finditer(text, 0, place))]
        first, share = before[0].name, _INHERITED
        for index in range(len(ends) - 1, -1, -1):
            mine = [m.name for m in before if m.start >= ends[index]]
            if mine:
                first = mine[0]
                if index == len(ends) - 1:
                    share = _FIRST
                break
        return _Attribution(lines, first, before[-1].name, share)

    def _exchanged(
        self,
        attributions: Sequence[_Attribution],
        mentions: Sequence[_Mention],
        lines: Lines,
    ) -> float:
        """How well the names fit, against the best that others in their places would fit, to the power."""
        if not attributions:
            return 1.0
        named = dict.fromkeys(mention.name for mention in mentions)
        others = (name for number in lines for name in sorted(self._named[number]))
        candidates = dict.fromkeys((*self._people, *others))
        mine = best = self._fit_of_all(attributions, lines, lambda name: name)
        for name in named:
            for other in candidates:
                if other != name:
                    swap = {name: other, other: name} if other in named else {name: other}
                    best = max(best, self._fit_of_all(attributions, lines, _swapped(swap)))
        return (mine / best) ** self._exchange if best else 0.0

    def _fit_of_all(
        self,
        attributions: Sequence[_Attribution],
        lines: Lines,
        called: Callable[[str], str],
    ) -> float:
        total = 0.0
        for word in attributions:
            first = self._best_fit(called(word.first), word, lines)
            last = self._best_fit(called(word.last), word, lines)
            total += word.share * first + (1.0 - word.share) * last
        return total / len(attributions)

    def _best_fit(self, name: str, word: _Attribution, cited: Lines) -> float:
        best = 0.0
        for number in word.lines:
            key = name, number, cited, word.is_quoted
            if key not in self._fits:
                fit = self._said_by if word.is_quoted else self._fit
                self._fits[key] = fit(name, number, cited)
            best = max(best, self._fits[key])
        return best

    def _said_by(self, name: str, number: int, cited: Lines) -> float:
        """How likely somebody of that name says the line, 0..1."""
        speaker = self._speaker[number]
        if name == speaker:
            return 1.0
        if not speaker or name not in self._people:
            return self._fit(name, number, cited)
        return _SAID_OF if self._stands(name, number) else _SAID_BY_ANOTHER

    def _fit(self, name: str, number: int, cited: Lines) -> float:
        """How likely the line tells of somebody of that name, 0..1."""
        if self._stands(name, number):
            return 1.0
        if name in self._people:
            is_speaker = self._speaker[number] == name
            if not self._speech.is_known:
                return _UNKNOWN_SPEAKER if is_speaker else _UNKNOWN_LISTENER
            return self._by_persons(_SPEAKER if is_speaker else _LISTENER, number)
        if any(self._stands(name, other) for other in cited):
            return self._by_persons(_CITED, number)
        if self._is_named_before(name, number):
            fit = _NAMED_BEFORE
            return fit.i if self._named[number] else self._by_persons(fit, number)
        return 0.0

    def _by_persons(self, fit: _Fit, number: int) -> float:
        text = self._texts[number]
        i, you = (
            self._speech.tells_of_speaker(text),
            self._speech.tells_of_listener(text),
        )
        if i:
            return fit.both if you else fit.i
        if you:
            return fit.you
        is_of_another = fit in (_SPEAKER, _LISTENER) and bool(self._named[number])
        return fit.plain * (_OF_ANOTHER if is_of_another else 1.0)

    def _is_named_before(self, name: str, number: int) -> bool:
        return any(self._stands(name, number - back) for back in _BEFORE)

    def _stands(self, name: str, number: int) -> bool:
        text = self._grounds.texts.get(number, "")
        return any(stands(form, text) for form in _forms(name))

    def _absence(self, mentions: Sequence[_Mention], lines: Lines) -> float:
        """Factor for names, besides those who talk, that the lines do not have."""
        factor = 1.0
        for name in dict.fromkeys(mention.name for mention in mentions):
            if name in self._people or any(self._stands(name, n) for n in lines):
                continue
            is_near = any(self._stands(name, number) for number in self._near(lines))
            if not is_near:
                factor *= _ABSENT
            elif name != mentions[0].name:
                factor *= _NEARLY_ABSENT
        return factor

    def _is_unmeant(self, thing: str, telling: Sequence[PlacedWord], lines: Lines) -> bool:
        """Whether the object of a fact is somebody who talks, and the lines with most of its words do not mean
        him: they neither name him nor have a word for him. A model at a loss names whoever is there.
        """
        name = self._by_fold.get(thing.casefold())
        if name not in self._people or not self._speech.is_known:
            return False
        counts = Counter(dict.fromkeys(lines, 0))
        for word in telling:
            counts.update(self._grounds.lines_with(word.key).intersection(lines))
        most = max(counts.values())
        for number in (line for line, count in counts.items() if count == most):
            text, speaks = self._texts[number], self._speaker[number] == name
            means = self._speech.tells_of_speaker if speaks else self._speech.tells_of_listener
            if self._stands(name, number) or means(text):
                return False
        return True

    def _contradiction(self, text: str, lines: Lines) -> float:
        """Factor for a word that the lines deny each time they have it, and the text does not."""
        may_be_denied = self._speech.may_be_denied(text)
        grammar = grammar_words(self._grounds.languages)
        names = {part for name in self._by_fold for part in name.split()}
        for number in lines:
            for word in self._speech.denied(self._texts[number]) - grammar - names:
                if _has(text, word, self._joint) and not any(
                    word in other or alike(word, other) for other in may_be_denied
                ):
                    return _DENIED
        return 1.0

    def _namelessness(self, text: str) -> float:
        is_open = self.is_anybody(_QUOTED.sub(" ", text))
        return _UNNAMED if is_open else 1.0

    def is_anybody(self, text: str) -> bool:
        """Whether it has a word for who speaks or who is spoken to."""
        speech = self._speech
        return speech.tells_of_speaker(text) or speech.tells_of_listener(text)


def _quoting(place: int, text: str, mentions: Sequence[_Mention]) -> list[_Mention]:
    """Who is named before the quotation that the place is in, in its sentence; empty outside of one."""
    for quoted in _QUOTED.finditer(text):
        if quoted.start() < place < quoted.end():
            ends = [m.end() for m in _SENTENCE_ENDS.finditer(text, 0, quoted.start())]
            begin = ends[-1] if ends else 0
            return [m for m in mentions if begin <= m.start < quoted.start()]
    return []


def _may_be_somebody(name: str) -> bool:
    """Whether it has a capital letter, or is of a script that has none."""
    return bool(name) and (name[0].isupper() or name[0] == name[0].swapcase())


def _swapped(swap: Mapping[str, str]) -> Callable[[str], str]:
    return lambda name: swap.get(name, name)


def _forms(name: str) -> Iterator[str]:
    """The name and its own words, lower case: "Ruiz" of "Captain Ruiz"."""
    yield name.casefold()
    parts = name.split()
    if len(parts) > 1:
        for part in parts:
            if len(part) > 2 and part[0].isupper() and part.lower() not in ENGLISH:
                yield part.casefold()


def _has(text: str, word: str, is_joint: bool) -> bool:
    if is_joint:
        return word in text
    return any(alike(word, other) for other in re.findall(r"\w+", text.lower()))


def _pattern(names: Sequence[str]) -> re.Pattern[str]:
    """Names, the longest first: whole words, or anywhere among signs of a script without spaces."""
    joint = [re.escape(name) for name in names if is_unspaced(name)]
    spaced = [re.escape(name) for name in names if not is_unspaced(name)]
    if spaced:
        joint.append(rf"(?<![^\W_])(?:{'|'.join(spaced)})(?=(?:['’]?s)?(?![^\W_]))")
    return re.compile(rf"(?P<name>{'|'.join(joint) or '(?!)'})", re.I)
