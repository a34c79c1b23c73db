"""Questions: whether a text asks, and its parts where it asks for several things.

English and Chinese by word lists; in other languages only question marks count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from soulmem.language.function_words import CHINESE, CHINESE_SIGNS, ENGLISH
from soulmem.language.grammars import ENGLISH_CODE, languages_of
from soulmem.language.scripts import HAN, is_unspaced
from soulmem.language.segmentation import pieces
from soulmem.language.spaced_words import words as spaced_words
from soulmem.language.word_lists import alternatives, words

languages_of(())  # reads the lists now: later a recall would wait for the disk

_MARK = re.compile("[?\uff1f\u061f\u037e]")
_KANA = re.compile("[\u3041-\u30ff]")
_SIGN = re.compile(r"[^\W_]")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
# Words of a question that can be searched for by itself, where no list says more.
_FEW_WORDS = 3
_EDGES = " \t\n,;:\u2013\u2014-\uff0c\uff1b\u3001"


def _english(key: str) -> str:
    return alternatives(words("en", "questions", key))


def _chinese(key: str) -> str:
    return alternatives(words("zh", "questions", key))


_ASKING = rf"\b(?:{_english('words')})\b"
_AUXILIARY = rf"\b(?:{_english('auxiliaries')}|{_english('verbs_too')})\b"
_INVERTED = (
    rf"(?:{_AUXILIARY}\s+(?:(?:{_english('subjects')})\b|(?-i:[A-Z]))"
    rf"|\b(?:{_english('auxiliaries')})\s+(?:{_english('before_nouns')})\b)"
)
_SUBJECT = rf"(?:(?:{_english('subjects')}|{_english('before_nouns')})\b|(?-i:[A-Z]))"
_JOINT = rf"\b(?:{_english('joints')})\b"
_REQUEST = rf"\b(?:{_english('requests')})\b.*?{_ASKING}"
_BETWEEN = r"\s,;:\u2013\u2014-"
# "and what ..", "and did you ..", and without a joint ", where did you .."
_ENGLISH_CUT = re.compile(
    rf"(?<![{_BETWEEN}])[{_BETWEEN}]+"
    rf"(?={_JOINT}[\s,]+(?:(?:also|then|so)\b[\s,]+)?(?:{_ASKING}|{_INVERTED}))"
    rf"|[,;:\u2013\u2014]\s*(?={_ASKING}\s+{_AUXILIARY}|{_INVERTED})",
    re.IGNORECASE,
)
_ENGLISH_CLAUSE = re.compile(
    rf"^\W*(?:{_JOINT}\W+)?{_INVERTED}|{_ASKING}\s+{_AUXILIARY}|^\W*{_JOINT}.*?{_ASKING}"
    rf"|^\W*(?:who|what|which|whose|how|why)\b|{_REQUEST}",
    re.IGNORECASE | re.DOTALL,
)
_ENGLISH_ASKS = re.compile(
    rf"^\W*(?:{_JOINT}\W+)?{_ASKING}\s+{_AUXILIARY}\s+{_SUBJECT}|{_REQUEST}",
    re.IGNORECASE | re.DOTALL,
)
_ENGLISH_LEAD = re.compile(rf"^\W*{_JOINT}[\s,]+", re.IGNORECASE)
_NO_CONTENT = ENGLISH.union(
    *(words("en", "questions", key) for key in ("words", "auxiliaries", "verbs_too"))
)

_CHINESE_CUT = re.compile(rf"[,;\uff0c\uff1b]+\s*|(?<=.)(?={_chinese('joints')})")
_INDEFINITE = re.compile(_chinese("indefinite"))
_CHINESE_CLAUSE = re.compile(
    rf"{_chinese('words')}|(?:{_chinese('particles')})\W*$|{_MARK.pattern}"
)
_CHINESE_LEAD = re.compile(rf"^\W*(?:(?:{_chinese('joints')})\W*)+")
_CHINESE_IDLE = re.compile(
    alternatives(
        (
            *words("zh", "questions", "words"),
            *words("zh", "questions", "joints"),
            *sorted(CHINESE, key=len, reverse=True),
            *CHINESE_SIGNS,
        )
    )
)
_CHINESE_SIGN = re.compile(f"[{HAN}]|[^\\W\\d_]+")
_OF_FACTS = re.compile(rf"\b(?:{_english('of_facts')})\b|{_chinese('of_facts')}", re.IGNORECASE)
_OF_EVENTS = re.compile(rf"\b(?:{_english('of_events')})\b|{_chinese('of_events')}", re.IGNORECASE)
_OF_CAUSES = re.compile(rf"\b(?:{_english('of_causes')})\b|{_chinese('of_causes')}", re.IGNORECASE)
_RAISING = re.compile(rf"\b(?:{_english('raising')})\b|{_chinese('raising')}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Rules:
    """How questions of a language are told.

    cut          where a sentence that asks may be cut into clauses; None: nowhere
    asks         whether a sentence asks
    is_question  whether a clause of such a sentence asks by itself
    has_content  whether a clause names anything to search for
    lead         what joins a clause to the one before it
    """

    cut: re.Pattern[str] | None
    asks: Callable[[str], bool]
    is_question: Callable[[str], bool]
    has_content: Callable[[str], bool]
    lead: re.Pattern[str] | None


def is_question(text: str) -> bool:
    """Whether any sentence of the text asks something; what is told between asterisks asks nothing."""
    rules = _rules_of(text)
    return any(is_said and rules.asks(sentence) for sentence, is_said in _sentences(text))


def asks_for_fact(question: str) -> bool:
    """Whether words of the question ask who or what somebody or something is."""
    return _OF_FACTS.search(question) is not None


def asks_for_event(question: str) -> bool:
    """Whether words of the question ask what happened, when, where or why."""
    return _OF_EVENTS.search(question) is not None


def asks_for_cause(question: str) -> bool:
    """Whether words of the question ask why something is so or happened."""
    return _OF_CAUSES.search(question) is not None


def only_raises(question: str, names: Iterable[str]) -> bool:
    """Whether a question of one sentence brings these names up and asks nothing of them: "what about Ann?".

    It may be a proposal as well as a question.
    """
    for name in names:
        question = question.replace(name, " ")
    return _SIGN.search(_RAISING.sub("", question)) is None


def split_question(text: str) -> list[str]:
    """The parts of a text that asks for several things, in order; the whole text where it does not.

    A part is one question with the statements before it. Clauses that name nothing ("and what then?") stay with
    the part before them. Empty for a blank text.
    """
    rules = _rules_of(text)
    parts: list[str] = []
    begun = ""
    for clause, asks in _clauses(text, rules):
        begun += clause
        if asks and rules.has_content(begun):
            if parts and not rules.has_content(clause):
                parts[-1] += begun
            else:
                parts.append(begun)
            begun = ""
    if parts:
        parts[-1] += begun
    if len(parts) < 2:
        return [text.strip()] if text.strip() else []
    return [_bare(part, rules) for part in parts]


def _clauses(text: str, rules: _Rules) -> Iterator[tuple[str, bool]]:
    """The clauses of the text, uncut, and whether each asks by itself."""
    for sentence, is_said in _sentences(text):
        if not (is_said and rules.asks(sentence)):
            yield sentence, False
            continue
        clauses = _cut(sentence, rules.cut)
        asking = [rules.is_question(clause) for clause in clauses]
        if not any(asking):
            asking[-1] = True
        yield from zip(clauses, asking, strict=True)


def _sentences(text: str) -> Iterator[tuple[str, bool]]:
    """The sentences of the text, uncut, and whether each is said, rather than told between asterisks."""
    inside = False
    for sentence in pieces(text):
        yield sentence, not inside and not sentence.lstrip().startswith("*")
        inside ^= sentence.count("*") % 2 == 1


def _cut(sentence: str, cut: re.Pattern[str] | None) -> list[str]:
    """The sentence in clauses, each with the marks behind it; together they are all of it."""
    places = [] if cut is None else [match.end() for match in cut.finditer(sentence)]
    bounds = [0, *(place for place in places if place < len(sentence)), len(sentence)]
    return [sentence[start:end] for start, end in pairwise(bounds)]


def _bare(part: str, rules: _Rules) -> str:
    """The part without what joins it to others."""
    stripped = part.strip(_EDGES)
    return rules.lead.sub("", stripped, count=1) if rules.lead else stripped


def _rules_of(text: str) -> _Rules:
    if is_unspaced(text):
        return _OTHER if _KANA.search(text) else _CHINESE
    return _ENGLISH if languages_of(spaced_words(text)) == (ENGLISH_CODE,) else _OTHER


def _has_mark(sentence: str) -> bool:
    return _MARK.search(sentence) is not None


def _english_asks(sentence: str) -> bool:
    return _has_mark(sentence) or _ENGLISH_ASKS.search(sentence) is not None


def _english_content(clause: str) -> bool:
    found = _WORD.findall(clause.replace("\u2019", "'").lower())
    return not _NO_CONTENT.issuperset(found)


def _chinese_asks(clause: str) -> bool:
    return _CHINESE_CLAUSE.search(_INDEFINITE.sub("", clause)) is not None


def _chinese_content(clause: str) -> bool:
    return len(_CHINESE_SIGN.findall(_CHINESE_IDLE.sub("", clause))) > 1


def _many_words(clause: str) -> bool:
    return is_unspaced(clause) or len(_WORD.findall(clause)) >= _FEW_WORDS


_ENGLISH = _Rules(
    cut=_ENGLISH_CUT,
    asks=_english_asks,
    is_question=lambda clause: _ENGLISH_CLAUSE.search(clause) is not None,
    has_content=_english_content,
    lead=_ENGLISH_LEAD,
)
_CHINESE = _Rules(
    cut=_CHINESE_CUT,
    asks=_chinese_asks,
    is_question=_chinese_asks,
    has_content=_chinese_content,
    lead=_CHINESE_LEAD,
)
_OTHER = _Rules(
    cut=None,
    asks=_has_mark,
    is_question=_has_mark,
    has_content=_many_words,
    lead=None,
)
