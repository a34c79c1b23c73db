"""Questions of a quiz: a sentence of a memory with its rarest words left out, or as a player asks it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from soulmem.language.gists import gist_language, topic_of
from soulmem.language.grammars import ENGLISH_CODE
from soulmem.language.scripts import is_unspaced
from soulmem.language.segmentation import sentences
from soulmem.language.word_lists import tables

GAP = "___"

_FEWEST = 3  # words that say something: two to ask with, one to leave out
_MANY = 5  # of which two are left out
_LONGEST = 240  # characters of a sentence
_ENDING = r"\w{0,2}"  # of a word in the text that its base form lacks: houses, played

_LANGUAGES = (ENGLISH_CODE, "zh")  # with forms of a question

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class QuizQuestion:
    """A sentence with gaps, and the words that were there."""

    question: str
    answer: str


def quiz_question(
    text: str, keys: Iterable[str], frequency: Callable[[str], int]
) -> QuizQuestion | None:
    """A question about the text; None where no sentence says enough.

    keys       words that the text is about, in their base form, lower case
    frequency  in how many memories a word occurs
    """
    rarest_first = sorted(keys, key=lambda key: (frequency(key), key))
    asked = [_with_gaps(sentence, rarest_first) for sentence in sentences(text)]
    usable = [entry for entry in asked if entry is not None]
    return max(usable, key=lambda entry: entry[0])[1] if usable else None


def _with_gaps(
    sentence: str, rarest_first: Iterable[str]
) -> tuple[int, QuizQuestion] | None:
    """How much the sentence says, and the question; None where that is too little."""
    if len(sentence) > _LONGEST:
        return None
    words: list[list[Span]] = []  # the places of each
    taken: list[Span] = []
    for key in rarest_first:
        places = list(_places(sentence, key))
        if places and not any(_overlap(a, b) for a in places for b in taken):
            words.append(places)
            taken += places
    if len(words) < _FEWEST:
        return None
    gaps = sorted(chain.from_iterable(words[: 1 + (len(words) >= _MANY)]))
    answers: dict[str, str] = {}
    for start, stop in gaps:
        answers.setdefault(sentence[start:stop].casefold(), sentence[start:stop])
    question = sentence
    for start, stop in reversed(gaps):
        question = f"{question[:start]}{GAP}{question[stop:]}"
    return len(words), QuizQuestion(question, " … ".join(answers.values()))


def _places(sentence: str, key: str) -> Iterator[Span]:
    """Where the sentence has the word, in any case and with a short ending."""
    pattern = re.escape(key)
    if not is_unspaced(key):
        pattern = rf"(?<!\w){pattern}{_ENDING}(?!\w)"
    for match in re.finditer(pattern, sentence, re.IGNORECASE):
        yield match.span()


def _overlap(first: Span, second: Span) -> bool:
    return first[0] < second[1] and second[0] < first[1]


def question_about(
    quote: str, speaker: str, *, is_promise: bool, soul: str, player: str
) -> str | None:
    """A question that the quote answers, in its language; None where it is about nothing, or in another one.

    speaker  who says the quote, `soul` and `player` to each other
    """
    language, topic = gist_language(quote), topic_of(quote)
    if language not in _LANGUAGES or not topic:
        return None
    by = {soul: "yours", player: "mine"}.get(speaker, "others")
    form = f"promise_{by}" if is_promise else by
    if language == ENGLISH_CODE and topic[0].islower():
        topic = f"the {topic}"
    question: str = _forms(language)[form].format(topic=topic, who=speaker or player)
    return question


def question_about_nobody(language: str, is_known: Callable[[str], bool]) -> str | None:
    """A question about somebody of whom nothing can be known; None where all of the names are known."""
    forms = _forms(language if language in _LANGUAGES else _LANGUAGES[0])
    name = next((name for name in forms["strangers"] if not is_known(name)), None)
    return None if name is None else str(forms["never"].format(name=name))


def _forms(language: str) -> Any:
    return tables(language)["player_questions"]
