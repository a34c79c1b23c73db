"""Names of Chinese and Japanese texts: by book marks, family names, the dictionary, and titles behind them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate

from soulmem.language import chinese
from soulmem.language.function_words import (
    CHINESE,
    CHINESE_GRAMMAR_SIGNS,
    CHINESE_SIGNS,
)
from soulmem.language.scripts import HAN
from soulmem.language.word_lists import signs, words

_MARKED = re.compile(r"《([^《》\n]{1,20})》|『([^『』\n]{1,12})』|「([^「」\n]{1,6})」")
_CALLED = re.compile(rf"([{HAN}]{{1,4}}|[\u30a1-\u30fa\u30fc]{{2,10}})(?:さん|くん|ちゃん|さま|殿)")
_SENTENCE_SIGNS = re.compile("[。，！？、；：…,.!?:;~～]")
_SENTENCE = re.compile(r"[^\n。！？!?…]+")
_NAMED_SO = re.compile(rf"(?:叫[做作]?|[这那]位)([{HAN}]{{2,4}})\Z")
_QUOTED_SO = re.compile(rf"(?:人称|[这那]位)[“‘「『]([{HAN}]{{2,6}})[”’」』]")
_KANA = re.compile("[\u3041-\u3096]")
_HAN_RUN = re.compile(f"[{HAN}]+")
_PERSON_TAGS = frozenset(("nr", "nrt", "nrfg"))
_PLACE_TAG = "ns"
_FAMILIAR = frozenset(signs("zh", "names", "familiar"))
_NO_GIVEN_NAME = frozenset(signs("zh", "names", "no_given_name"))
_KIN = frozenset(signs("zh", "names", "kin"))
_KIN_BEHIND = frozenset(signs("zh", "names", "kin_behind"))
_NUMBERS = frozenset(signs("zh", "names", "born_as"))
_CALLED_BY = "阿"  # stands before a name and nothing else
_ENDING = "之"  # a word of grammar, and the end of many a given name
_TIME_TAG = "t"
# Tags of a single sign that follows a name of two signs rather than ending one of three
_BEHIND_NAMES = frozenset(("v", "p", "d", "m", "zg"))
_DOUBLE = words("zh", "names", "double_surnames")


def chinese_names(text: str) -> Iterator[str]:
    """The names of a plain text; with repeats."""
    yield from _marked(text)
    for pattern in (_CALLED, _QUOTED_SO):
        for match in pattern.finditer(text):
            yield match[1]
    for sentence in _SENTENCE.findall(text):
        if not _KANA.search(sentence):
            for run in _HAN_RUN.findall(sentence):
                yield from _of_run(run)


def asked_names(question: str) -> Iterator[str]:
    """What reads like a person's name in a plain question, though the dictionary takes its given name for a word.

    Of a text that tells something this would be too much: there a family name and a word are mostly two words.
    """
    if not _KANA.search(question):
        for run in _HAN_RUN.findall(question):
            yield from _asked_in_run(run)


def _asked_in_run(run: str) -> Iterator[str]:
    # What makes it a question belongs to no word: the dictionary has some that end so.
    if run[-1] in CHINESE_GRAMMAR_SIGNS and run[-1] != _ENDING:
        run = run[:-1]
    begins, ends = dict[int, tuple[str, str]](), set[int]()
    at = 0
    for word, tag in chinese.dictionary().tag(run, hmm=False):
        begins[at] = word, tag
        at += len(word)
        ends.add(at)
    taken = 0
    for start, (word, tag) in begins.items():
        is_whole = len(word) > 1 and tag not in _PERSON_TAGS
        for stop in (start + 3, start + 2) if start >= taken and not is_whole else ():
            name = run[start:stop]
            is_name = stop in ends and is_person_like(name)
            if is_name and name != word and name[-1] not in CHINESE_SIGNS:
                yield name
                taken = stop
                break


def is_person_like(name: str) -> bool:
    """Whether a name in Chinese signs reads like a person's: a family name and one or two signs."""
    if _HAN_RUN.fullmatch(name) is None:
        return False
    return (2 <= len(name) <= 3 and name[0] in chinese.SURNAMES) or (
        3 <= len(name) <= 4 and name.startswith(_DOUBLE)
    )


def is_place_word(name: str) -> bool:
    """Whether the dictionary has the whole name as a place."""
    tagged = list(chinese.dictionary().tag(name, hmm=False))
    return len(tagged) == 1 and tagged[0][1] == _PLACE_TAG


def is_double(name: str) -> bool:
    """Whether its family name has two signs."""
    return len(name) > 2 and name.startswith(_DOUBLE)


def _marked(text: str) -> Iterator[str]:
    """Titles of works, and what else stands in corner brackets unless it is speech."""
    for match in _MARKED.finditer(text):
        title, *quotes = (group and group.strip() for group in match.groups())
        if title:
            yield title
        for name in filter(None, quotes):
            if not _is_speech(name) and name not in CHINESE:
                yield name


def _is_speech(quote: str) -> bool:
    return (
        _SENTENCE_SIGNS.search(quote) is not None
        or _KANA.search(quote) is not None
        or quote[0] in CHINESE_SIGNS
    )


def _of_run(run: str) -> Iterator[str]:
    """Names in a run of Chinese: family name and given name, and what the dictionary knows as a name."""
    loose = ""  # signs that stand alone so far
    tagged = [(word, tag) for word, tag in chinese.dictionary().tag(run, hmm=False)]
    yield from _addressed(tagged)
    yield from _at_start(run, tagged)
    yield from _at_end(run)
    for word, tag in tagged:
        if word == _ENDING and len(loose) == 2 and is_person_like(loose):
            loose += word
            continue
        if len(word) == 1 and word not in CHINESE_SIGNS:
            loose += word
            continue
        family = loose if loose in chinese.SURNAMES and len(word) == 2 else ""
        yield from _of_loose(loose)
        loose = word if word in _DOUBLE else ""
        is_word = not loose and len(word) > 1 and word not in CHINESE
        if is_word and (tag == _PLACE_TAG or _is_person(word, tag)):
            yield family + word
    yield from _of_loose(loose)


def _at_start(run: str, tagged: Sequence[tuple[str, str]]) -> Iterator[str]:
    """A name of three signs at the start of a run, which more signs follow: 江别鹤想要..

    Its given name may be a word of the dictionary, or hold a word of grammar.
    """
    ends = dict(zip(accumulate(len(word) for word, _ in tagged), tagged, strict=True))
    name = run[:3]
    if 1 not in ends or 3 not in ends or len(run) == 3:
        return  # a word begins inside of the name, or nothing follows it
    has_grammar = CHINESE_GRAMMAR_SIGNS.intersection(name[1:]) - {_ENDING}
    is_shorter = 2 in ends and ends[3][1] in _BEHIND_NAMES
    if name[0] in chinese.SURNAMES and not has_grammar and not is_shorter:
        yield name


def _at_end(run: str) -> Iterator[str]:
    """The name that a run says somebody has, whatever the dictionary makes of it: 他叫江别雪."""
    match = _NAMED_SO.search(run)
    if match is None or not is_person_like(match[1]):
        return
    tagged = chinese.dictionary().tag(match[1], hmm=False)
    has_grammar = not CHINESE_GRAMMAR_SIGNS.isdisjoint(match[1])
    if len(list(tagged)) > 1 and not has_grammar:
        yield match[1]


def _addressed(tagged: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Names as people are called: 阿菱, 老周, 刘姨, 佟四娘."""
    alone = [word if len(word) == 1 else "" for word, _ in tagged] + ["", ""]
    for place, (word, tag) in enumerate(tagged):
        first, second, third = alone[place : place + 3]
        if tag == _TIME_TAG and word[0] in _FAMILIAR and word[1:] in chinese.SURNAMES:
            yield word  # the dictionary has some of them
        elif second and _is_familiar(first, second):
            yield first + second
        elif first and (first in chinese.SURNAMES or tag in _PERSON_TAGS):
            if second in _KIN_BEHIND:
                yield first + second
            elif second in _NUMBERS and third in _KIN_BEHIND:
                yield first + second + third


def _is_familiar(first: str, second: str) -> bool:
    """Whether a sign stands before a given name, or before a family name."""
    if first == _CALLED_BY:
        return second not in CHINESE_SIGNS and second not in _KIN
    return first in _FAMILIAR and second in chinese.SURNAMES


def _is_person(word: str, tag: str) -> bool:
    if tag not in _PERSON_TAGS:
        return False
    is_familiar = len(word) == 2 and word[0] in _FAMILIAR and word[1] not in _KIN
    return is_familiar or (len(word) > 2 and is_person_like(word))


def _of_loose(run: str) -> Iterator[str]:
    if run[:1] in _KIN_BEHIND:
        run = run[1:]  # 我姐林汐
    if is_person_like(run) and run[1] not in _NO_GIVEN_NAME:
        yield run
