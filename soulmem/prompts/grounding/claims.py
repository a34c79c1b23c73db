"""Does a passage say a drafted fact, and of whom?

Small models pick what is worth keeping and copy its words, but put them on whoever speaks, and take the
object from elsewhere. So where a sentence has the fact's verb it decides: who stands before the verb is its
subject, what stands behind it its object. What is said in no such words can only be believed or not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from soulmem.domain.drafts import Passage
from soulmem.language.scripts import is_unspaced
from soulmem.prompts.grounding import chinese_wording, english_wording
from soulmem.prompts.grounding.passage_sentences import Sentence, sentences
from soulmem.prompts.grounding.passage_words import stands, units
from soulmem.prompts.grounding.wording import Person, Wording

_BACK = 2  # lines before in which "he" or "she" may have been named
_AGAIN = 3  # lines beside the first that say a fact again: the last ones


class Truth(Enum):
    """What the passage has to a fact."""

    SAID = 1  # in these words
    MENDED = 2  # in these words, of somebody or something else
    REWORDED = 3  # not in these words
    DENIED = 4  # its words stand there and say something else


@dataclass(frozen=True, slots=True)
class Claim:
    """A fact as the passage has it."""

    truth: Truth
    subject: str
    verb: str
    object: str
    lines: tuple[int, ...] = ()  # that say it, the first and the last ones, ascending

    def says(self, other: Claim) -> bool:
        """Whether it is the same fact."""
        return replace(self, lines=()) == replace(other, lines=())


class Claims:
    """One passage, by what its sentences state."""

    def __init__(self, passage: Passage) -> None:
        self._passage = passage
        every = sentences(passage)
        self._stated = tuple(sentence for sentence in every if not sentence.asks)
        self._asked = tuple(sentence for sentence in every if sentence.asks)
        self._bare = {_bare(sentence.text) for sentence in every}
        self._names = tuple(
            dict.fromkeys(
                (*passage.names, *passage.known_names, passage.soul, *passage.users)
            )
        )
        self._lines = {
            line.number: f"{line.speaker}\n{line.text}" for line in passage.lines
        }
        text = "\n".join(line.text for line in passage.lines)
        # Other languages order their words otherwise: nothing can be told by it.
        self._is_known = chinese_wording.is_chinese(text) or english_wording.is_english(
            text
        )
        self._units = [frozenset(units(line)) for line in self._lines.values()]

    def of(self, subject: str, verb: str, thing: str) -> Claim:
        """The fact as the passage has it; the first of the best."""
        denied = Claim(Truth.DENIED, subject, verb, thing)
        if not self._is_known:
            return Claim(Truth.REWORDED, subject, verb, thing)
        if not self._is_verb(verb):
            return denied
        if self._is_sentence(thing):
            thing = ""
        claims = [
            claim
            for sentence in self._stated
            if (claim := self._claim(sentence, subject, verb, thing)) is not None
        ]
        best = min(claims, key=lambda claim: claim.truth.value, default=None)
        if best is not None and not (
            best.truth is Truth.DENIED and english_wording.is_plain(verb)
        ):
            return self._repeated(best, claims)
        is_asked = any(
            self._worded(sentence, subject, verb, thing) for sentence in self._asked
        )
        if is_asked or not self._is_thing(thing) or self._is_apart(verb, thing):
            return denied
        return Claim(Truth.REWORDED, subject, verb, thing)

    def _repeated(self, claim: Claim, claims: list[Claim]) -> Claim:
        """The claim with the lines that say it again: it is as new as where it is said last."""
        if (
            claim.truth is Truth.REWORDED
        ):  # perhaps not even the first tells of the same
            return claim
        saying = [other.lines for other in claims if other.says(claim)]
        lines = sorted(set[int]().union(*saying))
        return replace(claim, lines=(*lines[:1], *lines[1:][-_AGAIN:]))

    def _is_sentence(self, thing: str) -> bool:
        """Whether it is a whole sentence of the passage, and so no thing."""
        is_long = len(thing) > 4 if is_unspaced(thing) else len(thing.split()) > 2
        return is_long and thing not in self._names and _bare(thing) in self._bare

    def _worded(
        self, sentence: Sentence, subject: str, verb: str, thing: str
    ) -> Wording | None:
        if is_unspaced(sentence.text):
            return chinese_wording.worded(
                sentence.text, subject, verb, thing, self._names
            )
        return english_wording.worded(sentence.text, subject, verb, thing)

    def _is_thing(self, text: str) -> bool:
        return (
            chinese_wording.is_thing(text)
            if is_unspaced(text)
            else english_wording.is_thing(text)
        )

    def _is_verb(self, text: str) -> bool:
        return (
            chinese_wording.is_verb(text)
            if is_unspaced(text)
            else english_wording.is_verb(text)
        )

    def _claim(
        self, sentence: Sentence, subject: str, verb: str, thing: str
    ) -> Claim | None:
        """The fact as this sentence has it; None when it does not have the verb."""
        wording = self._worded(sentence, subject, verb, thing)
        if wording is None:
            return None
        denied = Claim(Truth.DENIED, subject, verb, thing)
        said_verb, said_thing = wording.verb, wording.object
        if said_thing is None and any(
            self._is_meant(sentence, person, thing) for person in wording.persons
        ):
            said_thing = thing
        if said_thing is None and wording.instead is not None:
            said_verb, said_thing = wording.instead
        if said_thing is None or not self._is_thing(said_thing):
            return denied
        who = self._who(sentence, wording.subject, subject)
        if who is None:
            return Claim(Truth.REWORDED, subject, verb, said_thing, (sentence.line,))
        if not who or who.casefold() == said_thing.casefold():
            return denied
        is_same = who.casefold() == subject.casefold() and said_thing == (
            thing or said_thing
        )
        return Claim(
            Truth.SAID if is_same else Truth.MENDED,
            who,
            said_verb,
            said_thing,
            (sentence.line,),
        )

    def _who(
        self, sentence: Sentence, named: str | Person | None, asked: str
    ) -> str | None:
        """Whom the sentence tells of, as the passage calls them; empty: not of whom was asked for; None: that
        cannot be told.
        """
        if isinstance(named, str):
            if named.casefold() == asked.casefold():
                return asked
            return named if is_unspaced(named) or named in self._names else None
        if named is None:
            return None
        if named is not Person.OTHER:
            return self._meant(sentence, named)
        if sentence.narrated:
            return asked if asked == sentence.speaker else None
        if asked in (sentence.speaker, self._addressee(sentence.speaker)):
            return ""
        return asked if self._is_near(sentence, asked, sentence.text) else None

    def _is_meant(self, sentence: Sentence, person: Person, thing: str) -> bool:
        if person is Person.OTHER:
            return bool(thing) and self._is_near(sentence, thing)
        return bool(thing) and thing == self._meant(sentence, person)

    def _is_near(self, sentence: Sentence, name: str, within: str = "") -> bool:
        """Whether it is named just before, or `within` the sentence: who "she" or what "it" may be."""
        plain = english_wording.without_article(name).casefold()
        before = [
            self._lines.get(sentence.line - back, "") for back in range(_BACK, 0, -1)
        ]
        before.append(
            self._lines[sentence.line].partition(sentence.text)[0] + "\n" + within
        )
        return any(stands(plain, text.casefold()) for text in before)

    def _meant(self, sentence: Sentence, person: Person) -> str | None:
        """Whom "I" or "you" means."""
        return (
            (sentence.speaker or None)
            if person is Person.SPEAKER
            else self._addressee(sentence.speaker)
        )

    def _addressee(self, speaker: str) -> str | None:
        """Whom they speak to, where only two talk."""
        soul, users = self._passage.soul, self._passage.users
        talking = {line.speaker for line in self._passage.lines} | {soul, *users}
        if len(users) != 1 or len(talking - {""}) > 2:
            return None
        return users[0] if speaker == soul else soul

    def _is_apart(self, verb: str, thing: str) -> bool:
        """Whether lines have words of the verb, but none near those of the thing."""
        mine, theirs = set(units(verb)), set(units(thing))
        saying = [
            index for index, line_units in enumerate(self._units) if mine & line_units
        ]
        return bool(saying) and not any(
            theirs <= frozenset().union(*self._units[max(0, index - 1) : index + 2])
            for index in saying
        )


def _bare(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum())
